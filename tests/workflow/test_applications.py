"""The shipped experiment of each application from its mini-app to the report, at small sizes; then with SST."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pipeline
import pytest
import yaml

from manynode.config.sst import SstSection
from manynode.errors import ManynodeError
from phase3_sst.engines.sst.run.sst_installation import find_sst

# Experiment -> problem sizes of a million instructions or so.
SMALL: dict[str, dict[str, int]] = {"demo": {"nx": 8, "ny": 8, "nz": 8, "levels": 2, "iterations": 3}, **pipeline.SMALL}
# The demo has all four: they are no application's own.
TECHNIQUES = ["ext-var"]
# Of the shipped 1 to 64: with one node nothing crosses the network, with eight of them everything does.
NODES = [1, 8]
# Of the shipped 1 to 8, with 2 ranks on a node at most: each rank under QEMU takes half a second to start.
MEASURED, RANKS_PER_NODE = 2, 2


def run(name: str, folder: Path, options: list[Any] | None = None, **simulate: Any) -> Path:
    """Run ``configs/NAME.yaml`` with small sizes, two replicas, few ranks and node counts; return its results."""
    content: dict[str, Any] = yaml.safe_load((pipeline.ROOT / "configs" / f"{name}.yaml").read_text())
    content["application"]["parameters"] = SMALL[name]
    content["simulate"] |= {"replicas": 2, **simulate}
    content |= {"nodes": NODES, "techniques": TECHNIQUES}
    content["ranks_per_node"] = min(content["ranks_per_node"], RANKS_PER_NODE)
    content["profile"]["nodes"] = [MEASURED]
    content["nodesim"]["nodes"] = MEASURED
    done = pipeline.run(pipeline.write(folder, content), folder, options)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "results" / name


def times(results: Path) -> pd.Series:
    return pd.read_parquet(results / "projection.parquet").set_index(["technique", "nodes"])["time_s"]


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Return a function from the name of an experiment to its results; each runs once."""
    return functools.cache(lambda name: run(name, tmp_path_factory.mktemp(name)))


# The demo runs in test_demo.py.
@pytest.mark.long
@pytest.mark.parametrize("name", sorted(SMALL.keys() - {"demo"}))
def test_a_shipped_experiment_runs_from_the_mini_app_to_its_report(results: Callable[[str], Path], name: str) -> None:
    wanted = [(technique, nodes) for technique in TECHNIQUES for nodes in NODES]
    assert sorted(times(results(name)).index) == sorted(wanted)
    assert (results(name) / "report.html").stat().st_size > 100_000


@pytest.mark.parametrize("name", SMALL)
def test_sst_projects_nearly_the_times_of_the_engine_fast(
    results: Callable[[str], Path], tmp_path: Path, name: str
) -> None:
    try:
        find_sst(SstSection())
    except ManynodeError as error:
        pytest.skip(f"the engine sst cannot be used: {error.what} ({error.found})")
    found = times(run(name, tmp_path, ["--measurements-from", results(name)], engine="sst"))
    assert len(found) == len(TECHNIQUES) * len(NODES)
    apart = found / times(results(name)).reindex(found.index) - 1
    # On one node SST's sends are synchronous (phase3_sst/engines/sst/machine/README.md): SNAP's pipeline notices, by a
    # quarter.
    limits = apart.index.get_level_values("nodes").map({1: 0.3, 8: 0.1})
    assert (apart.abs() < limits).all(), apart
