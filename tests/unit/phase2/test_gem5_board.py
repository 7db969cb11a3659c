"""From a machine file to gem5's board: geometry, latencies, places of the ranks, refused machines."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from phase2_cases import machine
from pydantic import ValidationError

from manynode.config.machine import Machine
from manynode.errors import UsageError
from phase2_nodesim.gem5.board_file import (
    CORE_CYCLES,
    CROSSBAR_CYCLES,
    DIVIDE_STEPS,
    OPERATIONS,
    RESPONSE_CYCLES,
    BoardFiles,
    GuestProcess,
    board_file,
    cache_parameters,
    core_parameters,
    memory_parameters,
    own_latencies,
    place,
)

SHIPPED = ("broadwell", "broadwell-hbm", "wide-core", "generic")
NODES = {name: machine(name) for name in SHIPPED}


def guests(count: int) -> list[GuestProcess]:
    return [GuestProcess(rank, ["app.bridge", "--nx", "8"], ["A=b"], Path("/tmp")) for rank in range(count)]


@pytest.mark.parametrize("name", SHIPPED)
def test_the_way_of_a_load_adds_up_to_the_machines_latencies(name: str) -> None:
    node = machine(name)
    own = own_latencies(node)
    hop = CROSSBAR_CYCLES + RESPONSE_CYCLES
    way = CORE_CYCLES + own["l1d"]
    assert way == round(node.caches.l1d.latency)
    if node.caches.l2 is not None:
        way += hop + own["l2"]
        assert way == round(node.caches.l2.latency)
    way += hop + own["last_level"]
    assert way == round(node.caches.last_level.latency)
    rest = memory_parameters(node, 2)["latency_s"]
    assert (way + hop) / node.frequency + rest == pytest.approx(node.memory.latency)


@pytest.mark.parametrize("name", SHIPPED)
def test_caches_are_legal_for_gem5_and_near_what_is_wanted(name: str) -> None:
    for level, cache in cache_parameters(machine(name)).items():
        sets = cache["size_bytes"] / (cache["associativity"] * 64)
        assert sets == int(sets) and int(sets) & (int(sets) - 1) == 0, level
        assert cache["size_bytes"] == pytest.approx(cache["wanted_bytes"], rel=0.1), level


def test_a_core_takes_its_queues_from_the_file_or_from_its_reorder_buffer() -> None:
    core = machine("broadwell").core
    given_ones = core_parameters(core)["o3"]
    assert (core.load_queue, core.store_queue) == (72, 42)
    assert (given_ones["LQEntries"], given_ones["SQEntries"]) == (90, 59)  # loads and stores of 16 bytes are two
    wide = machine("wide-core").core
    assert (wide.reorder_buffer, wide.load_queue, wide.store_queue) == (512, None, None)
    derived = core_parameters(wide)
    assert (derived["o3"]["LQEntries"], derived["o3"]["SQEntries"]) == (240, 157)
    assert derived["o3"]["issueWidth"] == 12 and derived["units"]["load"] == 3
    # Fetch to dispatch: decode to rename and rename to dispatch are three cycles of gem5's own.
    assert given_ones["fetchToDecodeDelay"] + 3 == machine("broadwell").core.frontend_depth


def test_widths_and_queues_are_in_the_micro_operations_of_gem5() -> None:
    core = machine("broadwell").core
    found = core_parameters(core)
    widths = {found["o3"][f"{stage}Width"] for stage in ("decode", "rename", "dispatch", "commit")}
    assert widths == {7} and core.dispatch_width == 4
    assert (found["o3"]["numROBEntries"], core.reorder_buffer) == (346, 192)
    # Loads keep their entry there until they have their data.
    assert (found["o3"]["numIQEntries"] - found["o3"]["LQEntries"], core.scheduler) == (108, 60)
    assert (found["units"]["integer"], core.integer_units) == (7, 4)
    assert (found["o3"]["fetchWidth"], core_parameters(machine("wide-core").core)["o3"]["decodeWidth"]) == (12, 12)


def test_only_threads_that_share_memory_keep_the_order_of_their_stores() -> None:
    core = machine("broadwell").core
    assert not core_parameters(core)["o3"]["needsTSO"]
    assert core_parameters(core, threads=2)["o3"]["needsTSO"]


def test_divisions_take_the_machines_latency_and_interval() -> None:
    core = machine("broadwell").core
    units = core_parameters(core)["units"]
    # gem5 divides whole numbers in steps that depend on each other.
    assert DIVIDE_STEPS * units["divide_step"] == pytest.approx(core.divide_latency, abs=DIVIDE_STEPS / 2)
    # Each unit has one division at a time; two micro-operations divide a vector of 16 bytes.
    assert units["float_divide_latency"] == core.float_divide_latency
    interval = units["float_divide_latency"] / units["float_divide"]
    assert OPERATIONS * interval == pytest.approx(core.float_divide_interval, rel=0.1)


def test_additions_have_a_latency_of_their_own_or_that_of_multiplications() -> None:
    for name, latencies in (("sapphire-rapids-8480p", (4, 2)), ("broadwell", (3, 3))):
        units = core_parameters(machine(name).core)["units"]
        assert (units["float_latency"], units["float_add_latency"]) == latencies


def test_the_board_finds_every_unit_that_it_asks_for() -> None:
    # The board's own code runs inside gem5 alone.
    source = (Path(__file__).parents[3] / "phase2_nodesim/gem5/board/cores.py").read_text(encoding="utf-8")
    asked = set(re.findall(r'units\["(\w+)"\]', source))
    assert asked == set(core_parameters(machine("broadwell").core)["units"])


def test_code_of_the_first_level_comes_in_one_cycle() -> None:
    assert machine("broadwell").caches.l1i.latency == 4
    assert cache_parameters(machine("broadwell"))["l1i"]["latency"] == 1


def test_a_core_is_no_wider_than_gem5_allows() -> None:
    wide = machine("wide-core").core
    assert core_parameters(wide)["o3"]["issueWidth"] == 12
    with pytest.raises(UsageError, match="MaxWidth"):
        core_parameters(wide.model_copy(update={"dispatch_width": 13}))


def test_ranks_are_spread_over_the_last_level_caches_in_blocks() -> None:
    assert place(machine("broadwell"), 4) == [[[0], [1]], [[2], [3]]]
    assert place(machine("broadwell"), 1) == [[[0]]]
    full = place(machine("broadwell"), 36)
    assert [len(block) for block in full] == [18, 18] and full[1][0] == [18]


@given(st.sampled_from(SHIPPED), st.integers(1, 64))
def test_every_slot_has_one_place(name: str, slots: int) -> None:
    node = NODES[name]
    slots = min(slots, node.cores())
    blocks = place(node, slots)
    assert [slot for block in blocks for members in block for slot in members] == list(range(slots))
    assert all(members for block in blocks for members in block)
    assert all(sum(len(members) for members in block) <= node.caches.last_level.shared_by for block in blocks)


def test_more_threads_than_cores_are_refused() -> None:
    files = BoardFiles(Path("states"), None)
    with pytest.raises(UsageError, match="too few cores") as caught:
        board_file(machine("generic"), guests(5), files, threads=4)
    assert caught.value.found == "5 ranks of 4 threads" and "16" in str(caught.value.allowed)


def test_a_board_is_plain_data() -> None:
    board = board_file(machine(), guests(2), BoardFiles(Path("states"), Path("counts")), threads=2, helpers=True)
    assert [guest["rank"] for guest in board["guests"]] == [0, 1]
    assert board["last_levels"] == [[[0], [1]], [[2], [3]]]
    assert board["memory"]["dram"] == "DDR4_2400_8x8" and board["memory"]["channels"] == 8


def test_a_memory_that_is_faster_than_the_way_to_it_is_refused() -> None:
    content = machine("generic").model_dump()
    content["memory"] |= {"latency": 20e-9}
    with pytest.raises(UsageError, match="faster than the caches"):
        memory_parameters(Machine.model_construct(**_models(content)), 1)


def _models(content: dict[str, object]) -> dict[str, object]:
    node = machine("generic")
    memory = node.memory.model_copy(update={"latency": 20e-9})
    return {**dict(node), "memory": memory, "name": content["name"]}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"dram": "DDR4_2400_8x8"}, "belong together"),
        ({"dram": "DDR4_2400_8x8", "channels": 6}, "must be a power of two"),
        ({"dram": "DDR9", "channels": 4}, "DDR4_2400_8x8"),
    ],
)
def test_wrong_channels_are_refused(change: dict[str, object], words: str) -> None:
    memory = {"latency": "90 ns", "bandwidth": "100 GB/s", **change}
    with pytest.raises(ValidationError, match=words):
        type(machine().memory).model_validate(memory)
