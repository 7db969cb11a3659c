"""From a machine file to the node model's run file: plain numbers, shares, refused machines; places of the ranks."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml
from phase2_cases import MACHINES, machine

from manynode.config.experiment import QemuSection
from manynode.config.machine import Machine
from manynode.errors import UsageError
from phase2_nodesim.placement import blocks, core_places, require_cores
from phase2_nodesim.qemu.run_file import run_file

TLBS = {
    "l1i": {"entries": 128, "associativity": 8},
    "l1d": {"entries": 64, "associativity": 4},
    "l2": {"entries": 1536, "associativity": 6},
    "l2_latency": 7,
    "walk_latency": 12,
}


def changed(name: str, *where: str, to: Any) -> Machine:
    """Return a shipped machine with one key changed."""
    content = yaml.safe_load((MACHINES / f"{name}.yaml").read_text())
    at = content
    for key in where[:-1]:
        at = at[key]
    at[where[-1]] = to
    return Machine.model_validate(content)


def made(node: Machine, ranks: int, threads: int = 1, **settings: Any) -> dict[str, Any]:
    return run_file(
        node,
        QemuSection.model_validate(settings),
        ranks=ranks,
        threads=threads,
        first_rank=2 * ranks,
        directory=Path("/results/node"),
        shared_memory=Path("/dev/shm/name"),
    )


def places(node: Machine, ranks: int, threads: int, binding: str) -> list[tuple[int, int]]:
    """Return the last-level cache and the memory domain of each thread."""
    return [(place.last_level, place.domain) for place in core_places(node, ranks, threads, binding)]


def test_broadwell_in_plain_numbers() -> None:
    content = made(machine("broadwell"), 4)
    assert (content["ranks"], content["threads"], content["first_rank"]) == (4, 1, 8)
    assert (content["directory"], content["shared_memory"]) == ("/results/node", "/dev/shm/name")
    assert content["shares"] is True
    assert content["last_level_of_slot"] == content["domain_of_slot"] == [0, 0, 1, 1]
    node = content["node"]
    assert node["core"] == {
        **{
            "width": 4,
            "sustained_width": 0,
            "reorder_buffer": 192,
            "scheduler": 60,
            "store_queue": 42,
            "integer_units": 4,
        },
        **{"forward_latency": 5, "vector_forward_latency": 6, "fetch_bits": 0},
        **{"load_queue": 72, "float_add_units": 0, "float_issue": 2, "transfer_latency": 1, "vector_load_latency": 5},
        **{"load_ports": 2, "store_ports": 1, "vector_load_ports": 2, "vector_store_ports": 1},
        **{"float_units": 2, "vector_bytes": 32, "frontend_depth": 12},
        **{"multiply_latency": 3, "divide_latency": 26, "divide_interval": 10},
        **{
            "float_latency": 3,
            "float_add_latency": 3,
            "float_divide_latency": 14,
            "float_divide_interval": 5,
            "predictor": "tage",
        },
    }
    l1d = {"sets": 64, "ways": 8, "latency_cycles": 4, "line_interval": 0, "prefetcher": "stride"}
    assert node["l1d"] == {**l1d, "line_fill": 0, "write_interval": 0}
    l2 = {"sets": 512, "ways": 8, "latency_cycles": 12, "line_interval": 2.6, "prefetcher": "stream"}
    assert node["l2"] == {**l2, "line_fill": 0, "write_interval": 0} and node["last_level"]["line_interval"] == 4.6
    assert (node["last_level"]["sets"], node["last_level"]["ways"]) == (45 * 2**20 // 64 // 20, 20)
    assert (node["fill_buffers"], node["l2_fill_buffers"], node["line_bits"]) == (10, 16, 6)
    memory = node["memory"]
    assert memory["latency_cycles"] == pytest.approx(90e-9 * 2.3e9)
    assert memory["remote_cycles"] == pytest.approx(135e-9 * 2.3e9)
    assert memory["injection_to_last_level"] is True and node["last_level"]["inclusion"] == "inclusive"
    # 65 GB/s of each socket's memory, which has four of the eight channels.
    assert memory["line_cycles"] == pytest.approx(64 / 65e9 * 2.3e9) and memory["channels"] == 4
    assert (node["last_levels"], node["domains"]) == (2, 2)
    assert node["tlbs"]["l1d"] == {"sets": 16, "ways": 4} and node["tlbs"]["page_bits"] == 12
    assert node["quantum_cycles"] == 9200
    json.dumps(content, allow_nan=False)


def test_generic_gets_the_defaults_of_empty_keys() -> None:
    node = made(machine("generic"), 16, quantum="2 us", seed=7)["node"]
    assert (node["core"]["scheduler"], node["core"]["store_queue"]) == (224 * 5 // 16, 224 * 7 // 32)
    assert (node["core"]["integer_units"], node["core"]["predictor"]) == (4, "tage")
    assert (node["last_levels"], node["domains"], node["l2_fill_buffers"]) == (1, 1, 2 * 12)
    assert node["memory"]["remote_cycles"] == node["memory"]["latency_cycles"]
    # Channels that are not counted give 20 GB/s each.
    assert node["memory"]["channels"] == round(150 / 20)
    assert (node["quantum_cycles"], node["seed"]) == (5000, 7)


def test_what_others_load_is_lines_per_cycle_of_one_last_level() -> None:
    node = changed("broadwell", "caches", "last_level", "other_traffic", to="23 GB/s")
    shared, private = (made(node, 16, sharing=sharing)["node"]["last_level"] for sharing in ("shared", "private"))
    assert shared["others"] == pytest.approx(23e9 / 64 / 2.3e9)
    assert private["others"] == pytest.approx(shared["others"] * private["sets"] / shared["sets"], rel=0.01)
    assert made(machine("broadwell"), 16)["node"]["last_level"]["others"] == 0


def test_a_private_node_has_each_ranks_part() -> None:
    shared, private = (made(machine("generic"), 8, sharing=sharing) for sharing in ("shared", "private"))
    assert private["shares"] is False and set(private["last_level_of_slot"]) == {0}
    assert private["node"]["last_level"]["sets"] * 8 == shared["node"]["last_level"]["sets"]
    memory = {name: content["node"]["memory"] for name, content in (("shared", shared), ("private", private))}
    assert memory["private"]["line_cycles"] == pytest.approx(8 * memory["shared"]["line_cycles"])
    assert (memory["shared"]["channels"], memory["private"]["channels"]) == (8, 1)
    assert (private["node"]["last_levels"], private["node"]["domains"]) == (1, 1)


def test_ranks_on_two_sockets_share_with_their_own_socket_alone() -> None:
    shared, private = (made(machine("broadwell"), 6, sharing=sharing)["node"] for sharing in ("shared", "private"))
    assert private["last_level"]["sets"] == round(shared["last_level"]["sets"] / 3)
    assert private["memory"]["line_cycles"] == pytest.approx(3 * shared["memory"]["line_cycles"])


@pytest.mark.parametrize(("ranks", "threads", "part"), [(2, 4, 2), (1, 8, 1), (4, 2, 4)])
def test_the_threads_of_a_rank_share_its_part(ranks: int, threads: int, part: int) -> None:
    content = made(machine("generic"), ranks, threads, sharing="private")
    assert len(content["last_level_of_slot"]) == ranks * threads
    assert content["node"]["last_level"]["sets"] == 32768 // part


def test_a_rank_below_two_caches_has_both() -> None:
    private = made(machine("broadwell"), 1, 36, sharing="private")["node"]
    assert private["last_level"]["sets"] == 2 * 36864
    assert private["memory"]["line_cycles"] == pytest.approx(64 / 130e9 * 2.3e9)


def test_address_translation_is_described_where_the_machine_has_it() -> None:
    tlbs = made(changed("generic", "tlbs", to=TLBS), 1)["node"]["tlbs"]
    assert tlbs["page_bits"] == 12 and tlbs["l2"] == {"sets": 256, "ways": 6}
    assert (tlbs["l2_cycles"], tlbs["walk_cycles"]) == (7, 12)


def test_translation_takes_no_time_where_the_machine_has_no_tlbs() -> None:
    assert made(changed("generic", "tlbs", to=None), 1)["node"]["tlbs"] is None


def test_a_node_without_second_level_has_none() -> None:
    assert made(changed("generic", "caches", "l2", to=None), 1)["node"]["l2"] is None


@pytest.mark.parametrize(
    ("where", "value", "message", "named"),
    [
        (("caches", "l1d", "size"), "48 KiB", "power of two", "machine: caches: l1d"),
        (("caches", "l2", "associativity"), 12, "power of two", "machine: caches: l2"),
        (("caches", "l1d", "prefetcher"), "ampm", "does not model", "machine: caches: l1d: prefetcher"),
        (("caches", "l2", "prefetcher"), "best-offset", "does not model", "machine: caches: l2: prefetcher"),
        (("core", "branch_predictor"), "tournament", "does not model", "machine: core: branch_predictor"),
    ],
)
def test_what_the_model_lacks_is_refused_by_name(where: tuple[str, ...], value: Any, message: str, named: str) -> None:
    with pytest.raises(UsageError, match=message) as caught:
        made(changed("generic", *where, to=value), 1)
    assert caught.value.where == named


def test_more_threads_than_cores_are_refused() -> None:
    require_cores(machine("generic"), 4, 4)
    with pytest.raises(UsageError, match="too few cores") as caught:
        made(machine("generic"), 6, 3)
    assert caught.value.found == "6 ranks of 3 threads" and "16 threads" in str(caught.value.allowed)


def test_blocks_are_nearly_equal_and_never_empty() -> None:
    assert blocks([0, 1, 2, 3, 4], 2) == [[0, 1], [2, 3, 4]]
    assert blocks([0, 1], 5) == [[0], [1]]


@pytest.mark.parametrize(
    ("slots", "levels", "domains"),
    [
        (1, [0], [0]),
        (2, [0, 1], [0, 1]),
        (5, [0, 0, 1, 1, 1], [0, 0, 1, 1, 1]),
        (36, [0] * 18 + [1] * 18, [0] * 18 + [1] * 18),
    ],
)
def test_threads_fill_the_last_level_caches_in_equal_blocks(slots: int, levels: list[int], domains: list[int]) -> None:
    assert places(machine("broadwell"), slots, 1, "balanced") == list(zip(levels, domains, strict=True))


@pytest.mark.parametrize(
    ("name", "ranks", "by_domain"),
    [
        ("epyc-9654", 16, [2] * 8),
        ("epyc-7742", 20, [3, 2, 3, 2, 3, 2, 3, 2]),
        ("epyc-7742", 24, [3] * 8),
        ("epyc-7742", 2, [1, 1]),
    ],
)
def test_ranks_on_few_of_many_caches_are_spread_over_all_memory_domains(
    name: str, ranks: int, by_domain: list[int]
) -> None:
    found = Counter(domain for _, domain in places(machine(name), ranks, 1, "balanced"))
    assert [found[domain] for domain in sorted(found)] == by_domain


def test_caches_that_do_not_divide_the_cores_are_refused() -> None:
    node = changed("generic", "caches", "last_level", "shared_by", to=6)
    with pytest.raises(UsageError, match="do not divide the cores equally") as caught:
        made(node, 4)
    assert caught.value.found == "6 of 16 cores" and "shared_by" in str(caught.value.where)
    assert made(changed("generic", "caches", "last_level", "shared_by", to=64), 4)["node"]["last_levels"] == 1


@pytest.mark.parametrize(("ranks", "sets"), [(4, 1024), (8, 512), (16, 256)])
def test_cores_that_share_a_second_level_have_equal_parts(ranks: int, sets: int) -> None:
    """Four clusters of four cores; ranks are spread over them by their last-level caches."""
    content = yaml.safe_load((MACHINES / "generic.yaml").read_text())
    content["caches"]["l2"] |= {"size": "512 KiB", "associativity": 8, "shared_by": 4}
    content["caches"]["last_level"]["shared_by"] = 4
    assert made(Machine.model_validate(content), ranks)["node"]["l2"]["sets"] == sets


def test_a_machine_that_auto_may_have_met_is_told_of_another_engine() -> None:
    with pytest.raises(UsageError) as caught:
        made(changed("generic", "caches", "l2", "prefetcher", to="best-offset"), 1)
    assert "nodesim: engine: valgrind" in str(caught.value.remedy)


def test_a_socket_may_have_several_memory_domains() -> None:
    node = changed("generic", "memory", "domains", to=4)
    assert places(node, 16, 1, "balanced") == [(0, 0)] * 4 + [(0, 1)] * 4 + [(0, 2)] * 4 + [(0, 3)] * 4
    shared = made(node, 16)["node"]
    assert shared["domains"] == 4 and shared["memory"]["line_cycles"] == pytest.approx(64 / (150e9 / 4) * 2.5e9)


def test_packed_ranks_fill_one_socket_after_the_other() -> None:
    assert places(machine("broadwell"), 10, 2, "packed") == [(0, 0)] * 18 + [(1, 1)] * 2


@pytest.mark.parametrize(("ranks", "first"), [(2, 1), (16, 9), (32, 18), (36, 18)])
def test_domains_of_ranks_need_not_divide_the_sockets(ranks: int, first: int) -> None:
    """16 ranks on 2 x 18 cores: domains of 2 cores, of which 9 fill the first socket."""
    found = places(machine("broadwell"), ranks, 1, "domains")
    assert found == [(0, 0)] * first + [(1, 1)] * (ranks - first)
    assert places(machine("broadwell"), 3, 6, "domains") == [(0, 0)] * 12 + [(1, 1)] * 6


def test_a_private_share_is_that_of_the_fullest_cache() -> None:
    content = made(machine("broadwell"), 16, sharing="private", binding="domains")
    assert content["node"]["last_level"]["sets"] == round(45 * 2**20 / 64 / 20 / 9)


def test_several_caches_of_a_socket_lie_in_its_domain() -> None:
    node = changed("generic", "caches", "last_level", to={**LAST_LEVEL, "shared_by": 4})
    assert places(node, 4, 1, "balanced") == [(level, 0) for level in range(4)]
    assert places(node, 2, 1, "balanced") == [(0, 0), (1, 0)]


LAST_LEVEL = {"size": "24 MiB", "associativity": 12, "latency": 55}
