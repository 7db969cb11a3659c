"""The campaign of runs: the draws of each, and refused settings."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import ValidationError

from manynode.config.network import Network
from manynode.errors import UsageError
from manynode.seeds import generator
from phase3_sst.studies.congestion.contract import Workload
from phase3_sst.studies.congestion.situation_runs import Runs
from phase3_sst.studies.congestion.variability.drawn_runs import Kind, _background, situations
from phase3_sst.studies.congestion.variability.part import Variability
from phase3_sst.studies.congestion.variability.variability_settings import BackgroundSection, VariabilitySection

WORKLOADS = {name: Workload(name, "milc", {"nx": 4}, 2, None) for name in ("small", "large")}
PRESS = Kind(
    Workload("press", "patterns", {"pattern": "press", "bytes": 1, "pause_us": 0.0}, 1, None), ["bytes", "pause_us"]
)


def settings(**changes: object) -> VariabilitySection:
    given = {"runs": 6, "nodes": [8, 16], "background": {"congestors": [], "nodes": [2, 8]}, **changes}
    return VariabilitySection.model_validate(given)


def test_every_workload_and_size_has_its_runs() -> None:
    found = situations(WORKLOADS, settings(), 64, 1)
    assert len(found) == 2 * 2 * 6 and len({one.name for one in found}) == 24
    assert found[0].name == "variability-small-8-0000"


def test_no_node_belongs_to_two_jobs_and_all_are_on_the_machine() -> None:
    for one in situations(WORKLOADS, settings(), 64, 1):
        nodes = [node for member in one.members for node in member.hosts]
        assert len(set(nodes)) == len(nodes) and 0 <= min(nodes) and max(nodes) < 64


def test_placements_differ_from_run_to_run_and_repeat_with_the_seed() -> None:
    one, two = (situations(WORKLOADS, settings(), 64, seed) for seed in (1, 1))
    assert one == two
    assert len({tuple(run.members[0].hosts) for run in one}) == len(one)
    assert situations(WORKLOADS, settings(), 64, 2)[0] != one[0]


def test_a_larger_campaign_begins_with_a_smaller_one() -> None:
    few, many = (situations(WORKLOADS, settings(runs=runs), 64, 1) for runs in (3, 6))
    assert {one.name: one for one in few}.items() <= {one.name: one for one in many}.items()


def test_the_background_ranges_from_none_to_a_full_machine() -> None:
    found = situations(WORKLOADS, settings(runs=60, nodes=[16]), 64, 1)
    taken = [sum(len(member.hosts) for member in one.members[1:]) for one in found]
    assert min(taken) <= 4 and max(taken) >= 44 and max(taken) <= 48
    assert all(member.background for one in found for member in one.members[1:])


def test_without_background_the_application_is_alone() -> None:
    alone = settings(background={"congestors": [], "most_share": 0})
    assert all(len(one.members) == 1 for one in situations(WORKLOADS, alone, 64, 1))


def test_of_the_workloads_only_the_named_ones_run_beside_it() -> None:
    first = next(iter(WORKLOADS))
    background = {"congestors": [], "workloads": [first]}
    found = situations(WORKLOADS, settings(background=background), 64, 1)
    beside = [member for one in found for member in one.members[1:]]
    assert len(WORKLOADS) > 1 and beside and all(member.name.endswith(f"-{first}") for member in beside)


def test_a_congestor_presses_as_hard_as_was_drawn() -> None:
    section = BackgroundSection.model_validate({"bytes": ["1 KiB", "4 KiB"], "most_pause": "10 us", "nodes": [2, 4]})
    jobs = [job for run in range(9) for job in _background(section, [PRESS], list(range(30)), generator(run, "test"))]
    lengths = [int(job.parameters["bytes"]) for job in jobs]
    assert len(jobs) > 5 and min(lengths) >= 1024 and max(lengths) <= 4096 and len(set(lengths)) > 3
    assert all(0 <= float(job.parameters["pause_us"]) <= 10 for job in jobs)
    assert all(2 <= len(job.hosts) <= 4 for job in jobs)


def test_compute_times_are_the_same_in_all_runs_unless_asked() -> None:
    assert len({one.seed for one in situations(WORKLOADS, settings(), 64, 1)}) == 1
    assert len({one.seed for one in situations(WORKLOADS, settings(draws="each"), 64, 1)}) == 24


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"nodes": [8, 8]}, "given twice"),
        ({"background": {"nodes": [8, 2]}}, "the smaller value comes first"),
        ({"background": {"congestors": [], "workloads": False}}, "name congestors"),
        ({"runs": 0}, "greater than or equal to 1"),
    ],
)
def test_settings_that_mean_nothing_are_refused(changes: dict[str, object], words: str) -> None:
    with pytest.raises(ValidationError, match=words):
        settings(**changes)


def machine(tmp_path: Path, flow_control: str = "credits") -> Runs:
    topology = {"kind": "dragonfly", "groups": 4, "routers_per_group": 4, "hosts_per_router": 4, "global_links": 3}
    network = Network.model_validate(
        {
            "name": "small",
            "topology": topology,
            "link": {"bandwidth": "100 Gbit/s", "latency": "90 ns"},
            "switch_latency": "110 ns",
            "chunk": "2 KiB",
            "flow_control": flow_control,
            "host": {
                "overhead_send": "350 ns", "overhead_recv": "350 ns", "gap": "10 ns", "eager_limit": "8 KiB",
                "nic_bandwidth": "100 Gbit/s", "nic_latency": "150 ns", "reduce_bandwidth": "5 GB/s",
            },
            "intranode": {"latency": "300 ns", "bandwidth": "8 GB/s"},
        }
    )  # fmt: skip
    return Runs(network, network.model_dump(mode="json"), {"engine": "fast"}, 1, 0.95, WORKLOADS, tmp_path)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"workloads": ["smal"]}, "did you mean 'small'"),
        ({"nodes": [65]}, "at most 64"),
        ({"runs": 10}, "set runs to 25 or more"),
    ],
)
def test_a_campaign_that_cannot_be_is_refused_before_it_begins(
    tmp_path: Path, changes: dict[str, object], words: str
) -> None:
    with pytest.raises(UsageError, match=words):
        Variability().check(machine(tmp_path), settings(**changes))


def test_a_network_whose_ports_never_stall_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="flow_control: credits"):
        Variability().check(machine(tmp_path, flow_control="none"), settings(runs=25))


def test_a_sound_campaign_passes(tmp_path: Path) -> None:
    Variability().check(machine(tmp_path), settings(runs=25))
