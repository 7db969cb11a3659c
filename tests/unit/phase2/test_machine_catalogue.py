"""The shipped machines: each file loads, fits every node model, and says where each of its figures is from."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml
from phase2_cases import MACHINES, machine

from manynode.config.caches import Cache
from phase2_nodesim.cache_geometry import LastLevel, simulated_caches
from phase2_nodesim.gem5.board_file import core_parameters, memory_parameters

FILES = sorted(MACHINES.glob("*.yaml"))
TAG = re.compile(r"\[([a-z-]+)\]")
FIGURE = re.compile(r"^(?!name|description)\s*[a-z_0-9]+: *[^\s#]")


def used(text: str) -> set[str]:
    return {tag for line in text.splitlines() if not line.startswith("#") for tag in TAG.findall(line)}


def declared(text: str) -> list[str]:
    return re.findall(r"^# \[([a-z-]+)\]", text, flags=re.MULTILINE)


@pytest.fixture(params=FILES, ids=lambda file: file.stem)
def file(request: pytest.FixtureRequest) -> Path:
    path: Path = request.param
    return path


def test_the_catalogue_has_the_machines_that_the_documentation_names() -> None:
    assert {"broadwell", "icelake-8360y", "sapphire-rapids-8480p", "xeon-max-9480"} <= {path.stem for path in FILES}
    assert {"epyc-7742", "epyc-9654", "epyc-9754", "grace", "a64fx", "generic"} <= {path.stem for path in FILES}


def test_a_machine_has_the_name_of_its_file(file: Path) -> None:
    assert machine(file.stem).name == file.stem


def test_every_figure_names_its_source(file: Path) -> None:
    lines = file.read_text().splitlines()
    figures = [line for line in lines if not line.startswith("#") and FIGURE.match(line)]
    assert len(figures) > 30
    assert [line for line in figures if not TAG.search(line.partition("#")[2])] == []


def test_the_sources_are_listed_once_and_all_are_used(file: Path) -> None:
    text = file.read_text()
    assert sorted(declared(text)) == sorted(used(text))


def test_everything_that_the_dynamic_model_asks_for_is_there(file: Path) -> None:
    content = yaml.safe_load(file.read_text())
    assert {"core", "caches", "tlbs", "memory"} <= content.keys()
    assert {"domains", "injection"} <= content["memory"].keys()
    assert "remote_latency" in content["memory"] or content["memory"]["domains"] == 1
    assert {"integer_units", "multiply_latency", "divide_latency", "divide_interval"} <= content["core"].keys()
    assert {"float_units", "float_latency", "float_divide_latency", "float_divide_interval"} <= content["core"].keys()


def test_private_caches_have_a_power_of_two_of_sets(file: Path) -> None:
    def sets(cache: Cache) -> float:
        return cache.size / cache.line / cache.associativity

    caches = machine(file.stem).caches
    private = [caches.l1i, caches.l1d, *([caches.l2] if caches.l2 else [])]
    assert [
        cache for cache in private if sets(cache) != int(sets(cache)) or int(sets(cache)) & int(sets(cache)) - 1
    ] == []


def test_latencies_rise_from_level_to_level_in_time(file: Path) -> None:
    node = machine(file.stem)
    last = node.caches.last_level.latency / node.frequency
    assert last < node.memory.latency <= (node.memory.remote_latency or node.memory.latency)


def test_gem5_takes_the_core_and_the_memory(file: Path) -> None:
    node = machine(file.stem)
    assert core_parameters(node.core)["o3"]["issueWidth"] <= 12
    assert memory_parameters(node, 4)["latency_s"] > 0


def test_callgrind_takes_the_caches(file: Path) -> None:
    node = machine(file.stem)
    levels: list[LastLevel] = ["shared", "private"] if node.caches.l2 else ["shared"]
    for level in levels:
        assert len(simulated_caches(node, node.cores(), level).options()) == 3


def test_no_core_shares_a_cache_with_another_domain_s(file: Path) -> None:
    node = machine(file.stem)
    shared = node.caches.last_level.shared_by
    assert node.cores() % shared == 0
    per_domain = node.cores() // (node.memory.domains or node.sockets)
    assert per_domain % shared == 0 or shared % per_domain == 0
