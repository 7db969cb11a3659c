"""The real fast engine at the end of simulated time, and the bisection check on machines drawn at random.

Run files are changed behind the back of the experiment's own bounds: what engines read, they check themselves.
"""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pipeline
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from machines_drawn import dragonflies, fat_trees, hosts_of, tori

from manynode.config.loader import load_experiment
from manynode.config.variation import with_value
from manynode.errors import EngineFailedError, ManynodeError, UsageError
from phase3_sst.checks.preflight import check_bisection
from phase3_sst.checks.probes import Prober
from phase3_sst.engines import native_engine
from phase3_sst.engines.fast.engine import FastEngine
from phase3_sst.point.run_file import run_of

DEMO = load_experiment(pipeline.ROOT / "configs" / "demo.yaml")


def demo_run(size_bytes: int = 1 << 20, iterations: int = 10, **network: Any) -> dict[str, Any]:
    """An allreduce on the demo's machine with changes to the network of its run file."""
    parameters = {"pattern": "collective", "collective": "allreduce", "bytes": size_bytes, "iterations": iterations}
    job = {"application": {"name": "patterns", "parameters": parameters}, "nodes": 16, "ranks_per_node": 1}
    run = run_of(DEMO.network, DEMO.simulate.collectives, [job], seed=1, replicas=[0])
    for section, values in network.items():
        run["network"][section] = {**run["network"][section], **values} if isinstance(values, dict) else values
    return run


def test_measurements_side_by_side_are_the_same_and_no_more_than_allowed_at_a_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = [demo_run(size) for size in (1 << 20, 1 << 10, 1 << 16, 1 << 12)]
    alone = [FastEngine().measure(run) for run in runs]
    log, program = tmp_path / "log", native_engine.native_program(FastEngine.program)
    told = tmp_path / "told"
    told.write_text(
        f'#!/bin/sh\necho +1 >> {log}\nsleep 0.2\n{program} "$@"\nended=$?\necho -1 >> {log}\nexit $ended\n'
    )
    told.chmod(0o755)
    monkeypatch.setattr(native_engine, "native_program", lambda _name: told)
    assert FastEngine().measure_all(runs, processes=2) == alone
    busy = list(itertools.accumulate(int(line) for line in log.read_text().split()))
    assert max(busy) == 2 and len(busy) == 2 * len(runs) and busy[-1] == 0


def error_of(run: dict[str, Any]) -> ManynodeError:
    with pytest.raises(ManynodeError) as caught:
        FastEngine().measure(run)
    assert "Traceback" not in caught.value.render()
    return caught.value


@pytest.mark.parametrize(
    ("network", "key"),
    [
        ({"host": {"reduce_bandwidth_Bps": 1e-20}}, "network.host.reduce_bandwidth"),
        ({"host": {"reduce_bandwidth_Bps": 1e-3}}, "network.host.reduce_bandwidth"),
        ({"host": {"collective_step_s": 1e6}}, "network.host.collective_step"),
        ({"link": {"bandwidth_Bps": 1e-9, "latency_s": 0}}, "network.link.bandwidth"),
        ({"link": {"bandwidth_Bps": 1e-2, "latency_s": 0}}, "network.link.bandwidth"),
        ({"link": {"bandwidth_Bps": 1e300, "latency_s": 0}}, "network.link.bandwidth"),
        ({"switch_latency_s": 1e7}, "network.switch_latency"),
        ({"switch_latency_s": float("inf")}, "network.switch_latency"),
    ],
)
def test_times_that_no_run_can_hold_are_refused_with_their_key(network: dict[str, Any], key: str) -> None:
    error = error_of(demo_run(**network))
    assert isinstance(error, UsageError) and error.exit_code == 2
    assert error.where is not None and error.where.startswith(key)
    assert error.remedy


def test_times_that_add_up_beyond_the_end_are_told_with_their_largest_parts() -> None:
    error = error_of(demo_run(iterations=1000, switch_latency_s=9e4))
    assert isinstance(error, EngineFailedError) and error.exit_code == 5
    assert "has passed 8e+06 s" in error.what
    assert "network.switch_latency, 9e+04 s" in str(error.details)
    assert "MPI_Allreduce" in str(error.details)


def test_a_number_without_an_end_is_named_before_the_engine_starts() -> None:
    run = demo_run()
    run["jobs"][0]["start_s"] = float("nan")
    assert error_of(run).where == "jobs[0].start_s"


def prober(topology: dict[str, Any], flow_control: str = "none", rails: int = 1) -> Prober:
    experiment = with_value(with_value(DEMO, "nodes", [1], "test"), "network.topology", topology, "test")
    host = experiment.network.host.model_copy(update={"rails": rails})
    network = experiment.network.model_copy(update={"flow_control": flow_control, "host": host})
    return Prober(experiment.model_copy(update={"network": network}), FastEngine())


@settings(deadline=None, max_examples=60, derandomize=True)
@given(
    st.one_of(fat_trees, fat_trees, tori, dragonflies), st.sampled_from(["none", "none", "credits"]), st.integers(1, 3)
)
@example({"kind": "fat-tree", "children": [6, 5, 3], "parents": [1, 3, 2], "parallel_links": [1, 1, 2]}, "none", 1)
@example({"kind": "torus", "shape": [6], "hosts_per_switch": 5, "links_per_direction": 1}, "none", 1)
def test_no_sound_machine_is_refused(topology: dict[str, Any], flow_control: str, rails: int) -> None:
    if hosts_of(topology) % rails or hosts_of(topology) < 2 * rails:
        return
    check = check_bisection(prober(topology, flow_control, rails))
    assert check.passed, check.line()
