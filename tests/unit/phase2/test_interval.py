"""Interval model: each component alone equals the sum of named latencies."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from manynode.config.machine import Machine
from manynode.errors import InputError, UsageError
from phase2_nodesim.cache_geometry import legal_geometry, simulated_caches
from phase2_nodesim.interval import COMPONENTS, COUNTS, interval_cycles, memory_level_parallelism, power_law_misses

MACHINES = Path(__file__).resolve().parents[3] / "configs" / "machines"


def machine(name: str = "broadwell") -> Machine:
    return Machine.model_validate(yaml.safe_load((MACHINES / f"{name}.yaml").read_text()))


def cycles(name: str = "broadwell", ranks: int = 1, **counts: float) -> pd.Series:
    node = machine(name)
    frame = pd.DataFrame([{column: float(counts.get(column, 0)) for column in COUNTS}])
    return interval_cycles(frame, node, simulated_caches(node, ranks), ranks).iloc[0]


def test_instructions_alone_are_dispatched_at_full_width() -> None:
    assert cycles(Ir=4000)["cycles"] == 1000.0


def test_nothing_takes_no_time() -> None:
    assert cycles()["cycles"] == 0.0


def test_a_mispredicted_branch_costs_resolution_refill_and_a_partial_dispatch_group() -> None:
    got = cycles(Ir=4000, Bcm=9, Bim=1)
    assert got["branch"] == 10 * (6 + 12)
    assert got["base"] == pytest.approx(1000 + 10 * 3 / 8)
    assert got["cycles"] == pytest.approx(got["base"] + got["branch"])


def test_an_instruction_miss_to_memory_costs_the_whole_latency() -> None:
    assert cycles(Ir=4000, I1mr=2, ILmr=2)["icache"] == pytest.approx(2 * 90 * 2.3)


def test_an_instruction_miss_without_last_level_misses_is_served_by_the_second_level() -> None:
    assert cycles(Ir=4000, I1mr=5)["icache"] == 5 * 12


def test_a_data_miss_in_the_second_level_is_hidden_by_the_window() -> None:
    got = cycles(Ir=400_000, D1mr=10)
    assert got["llc"] == 0.0
    assert got["cycles"] == 100_000.0


def test_a_short_window_hides_a_part_of_a_data_miss() -> None:
    """16 instructions at 4 a cycle hide 4 of the 12 cycles of the second level."""
    content = yaml.safe_load((MACHINES / "broadwell.yaml").read_text())
    content["core"]["reorder_buffer"] = 16
    node = Machine.model_validate(content)
    counts = pd.DataFrame([{column: 0.0 for column in COUNTS} | {"Ir": 1e9, "D1mr": 10.0}])
    assert interval_cycles(counts, node, simulated_caches(node, 1))["llc"].iloc[0] == pytest.approx(10 * (12 - 4))


def test_isolated_long_misses_cost_the_memory_latency_each() -> None:
    got = cycles(Ir=1e9, D1mr=100, DLmr=100)
    overlap = 1 + 192 * 100 / 1e9
    assert got["memory"] == pytest.approx(100 / overlap * 90 * 2.3)


def test_dense_long_misses_are_limited_by_the_fill_buffers() -> None:
    got = cycles(Ir=1000, D1mr=1000, DLmr=1000)
    assert got["memory"] == pytest.approx(1000 / 10 * 207)


def test_store_misses_cost_only_bandwidth() -> None:
    got = cycles(Ir=400, D1mw=100, DLmw=100)
    assert got["memory"] == 0.0
    assert got["bandwidth"] + got["base"] == pytest.approx(100 * 207 / 10)


def test_ranks_share_the_memory_bandwidth() -> None:
    got = cycles(ranks=36, Ir=1000, D1mr=1000, DLmr=1000)
    lines_at_share = 1000 * 64 / (130e9 / 36) * 2.3e9
    assert got["cycles"] == pytest.approx(lines_at_share)
    assert got["bandwidth"] > 0


def test_misses_split_between_levels_by_the_power_law() -> None:
    inner, outer = np.array([1000.0]), np.array([10.0])
    halfway = power_law_misses(inner, outer, 2**15, 2**25, 2**20)
    assert halfway[0] == pytest.approx(100.0)
    assert power_law_misses(inner, outer, 2**15, 2**25, 2**14)[0] == 1000.0
    assert power_law_misses(inner, outer, 2**15, 2**25, 2**26)[0] == 10.0


def test_private_last_level_extrapolates_by_the_square_root_rule() -> None:
    node = machine()
    caches = simulated_caches(node, 36, "private")
    frame = pd.DataFrame([{**dict.fromkeys(COUNTS, 0.0), "Ir": 1e9, "D1mr": 1000.0, "DLmr": 1000.0}])
    memory = 1000 * np.sqrt(262144 / 2621440)
    got = interval_cycles(frame, node, caches, 36).iloc[0]
    assert got["memory"] == pytest.approx(memory / (1 + 192 * memory / 1e9) * 207)


@given(
    st.lists(st.integers(0, 10**9), min_size=len(COUNTS), max_size=len(COUNTS)),
    st.sampled_from(["broadwell", "wide-core", "generic"]),
    st.integers(1, 64),
)
def test_components_are_not_negative_and_add_up(values: list[int], name: str, ranks: int) -> None:
    got = cycles(name, ranks, **dict(zip(COUNTS, values, strict=True)))
    assert all(got[part] >= 0 and np.isfinite(got[part]) for part in COMPONENTS)
    assert got["cycles"] == pytest.approx(sum(got[part] for part in COMPONENTS))


@given(st.integers(0, 10**6), st.integers(1, 10**9))
def test_overlap_is_between_one_and_the_fill_buffers(misses: int, instructions: int) -> None:
    got = memory_level_parallelism(np.array([float(misses)]), np.array([float(instructions)]), 192, 10.0)
    assert 1.0 <= got[0] <= 10.0


@pytest.mark.parametrize("value", [-1.0, float("nan"), float("inf")])
def test_a_wrong_count_is_named(value: float) -> None:
    with pytest.raises(InputError, match="DLmr"):
        cycles(Ir=1, DLmr=value)


def test_a_missing_count_is_named() -> None:
    node = machine()
    with pytest.raises(InputError, match="branch-sim"):
        interval_cycles(pd.DataFrame({"Ir": [1.0]}), node, simulated_caches(node, 1))


def test_broadwell_with_a_rank_per_core_has_an_exact_share() -> None:
    caches = simulated_caches(machine(), 36)
    assert caches.options() == ["--I1=32768,8,64", "--D1=32768,8,64", "--LL=2621440,20,64"]
    assert caches.describe()["LL"]["wanted_bytes"] == 2621440


def test_a_rank_never_has_more_than_one_last_level_cache() -> None:
    assert simulated_caches(machine(), 1).ll.wanted_bytes == 45 * 2**20
    assert simulated_caches(machine(), 2).ll.wanted_bytes == 45 * 2**20


@given(st.floats(64, 2**34), st.integers(1, 64), st.sampled_from([16, 32, 64, 128]))
def test_every_geometry_is_legal_for_valgrind(wanted: float, ways: int, line: int) -> None:
    got = legal_geometry(wanted, ways, line)
    sets, rest = divmod(got.size_bytes, got.associativity * got.line_bytes)
    assert rest == 0
    assert sets & (sets - 1) == 0 and sets >= 1
    assert got.size_bytes > got.line_bytes
    if wanted >= 4 * line * ways:
        assert 0.7 < got.size_bytes / wanted < 1.42


def test_private_without_second_level_is_refused() -> None:
    content = yaml.safe_load((MACHINES / "generic.yaml").read_text())
    del content["caches"]["l2"]
    with pytest.raises(UsageError, match="l2"):
        simulated_caches(Machine.model_validate(content), 1, "private")
