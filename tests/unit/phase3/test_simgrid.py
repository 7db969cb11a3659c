"""The engine simgrid: listed by the doctor, refused by name if it is not built, and close to the fast engine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from phase3_cases import demo_point, experiment

from manynode.errors import EngineMissingError
from manynode.paths import native_program
from phase3_sst.engines.fast.engine import FastEngine
from phase3_sst.engines.simgrid.engine import SimgridEngine
from phase3_sst.point.point_experiment import PointExperiment
from phase3_sst.point.run_file import run_of

# Relative to the makespan; the two differ in how messages share links (phase3_sst/engines/simgrid/README.md).
BAND = 0.03


def test_a_build_without_it_names_the_package(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("MANYNODE_BUILD_DIR", str(tmp_path))
    probe = SimgridEngine().probe()
    assert not probe.available
    assert "libsimgrid-dev" in probe.remedy
    with pytest.raises(EngineMissingError, match="simgrid") as caught:
        SimgridEngine().simulate(demo_point(), tmp_path / "out")
    assert "libsimgrid-dev" in str(caught.value.remedy)


def hpcg(nodes: int, ranks_per_node: int) -> dict[str, Any]:
    """HPCG without compute times: nothing hides the messages."""
    parameters = {"nx": 16, "ny": 16, "nz": 16, "iterations": 3}
    job = {
        "name": "main",
        "application": {"name": "hpcg", "parameters": parameters},
        "nodes": nodes,
        "ranks_per_node": ranks_per_node,
    }
    known = PointExperiment.read(experiment())
    return run_of(known.network, known.simulate.collectives, [job], seed=1, replicas=[0])


@pytest.mark.parametrize(("nodes", "ranks_per_node"), [(8, 1), (8, 4)])
def test_hpcg_takes_as_long_as_on_the_fast_engine(nodes: int, ranks_per_node: int) -> None:
    try:
        native_program("manynode-simgrid")
    except EngineMissingError:
        pytest.skip("manynode-simgrid is not part of this build (needs libsimgrid-dev)")
    run = hpcg(nodes, ranks_per_node)
    fast, simgrid = FastEngine().measure(run), SimgridEngine().measure(run)
    assert simgrid.makespan_s == pytest.approx(fast.makespan_s, rel=BAND)
    assert simgrid.link_classes == fast.link_classes
