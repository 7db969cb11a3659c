"""Whole runs of the tiny experiment and of the demo, shared by the tests that look at their results."""

from __future__ import annotations

from pathlib import Path

import pipeline
import pytest


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The results folder of the tiny experiment, run to its end."""
    folder = tmp_path_factory.mktemp("tiny")
    done = pipeline.run(pipeline.write(folder, pipeline.tiny()), folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "results" / "tiny"


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The results folder of the demo experiment, as `make demo` runs it."""
    folder = tmp_path_factory.mktemp("demo")
    done = pipeline.run(pipeline.ROOT / "configs" / "demo.yaml", folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "results" / "demo"


@pytest.fixture(scope="session")
def compared(finished: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a comparison of the engines fast and simgrid, from the measurements of the tiny experiment."""
    from phase3_sst.point.contract import engines

    if not engines.get("simgrid")().probe().available:
        pytest.skip("the engine simgrid is not installed")
    folder = tmp_path_factory.mktemp("compared")
    experiment = pipeline.write(folder, pipeline.tiny(nodes=[1, 8]))
    done = pipeline.manynode(
        *("compare-engines", experiment, "--engines", "fast,simgrid", "--output", folder / "out", "--cores", 2),
        *("--set", "ranks_per_node=1", "--measurements-from", finished),
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "out"
