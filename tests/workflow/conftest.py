"""Whole runs of the tiny experiment and of the demo, shared by the tests that look at their results."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import marker_jobs
import pipeline
import pytest

from manynode.hostlock import exclusive

# Each MPI library in turn.
mpi = marker_jobs.mpi


def shared_folder(factory: pytest.TempPathFactory) -> Path:
    """Return the folder of all processes that run tests."""
    own = factory.getbasetemp()
    return own.parent if "PYTEST_XDIST_WORKER" in os.environ else own


def made_once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], None]) -> Path:
    """Return a folder that ``make`` has filled, once for all processes that run tests."""
    shared = shared_folder(factory)
    folder, made = shared / name, shared / f"{name}.made"
    with exclusive(shared / f"{name}.lock", purpose=f"making of {name}"):
        if not made.exists():
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            make(folder)
            made.touch()
    return folder


@pytest.fixture(scope="module")
def no_busy_start() -> Iterator[None]:
    """MPICH's ranks meet through its process manager and not in loops over shared memory.

    Recordings of many ranks on few cores then take half the processor time. Their calls are the same.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MPIR_CVAR_NOLOCAL", "1")
        yield


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The results folder of the tiny experiment, run to its end."""

    def make(folder: Path) -> None:
        done = pipeline.run(pipeline.write(folder, pipeline.tiny()), folder)
        assert done.returncode == 0, done.stdout + done.stderr

    return made_once(tmp_path_factory, "tiny", make) / "results" / "tiny"


@pytest.fixture(scope="session")
def small(finished: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The results of two points from the measurements of the tiny experiment: it has every kind of file."""

    def make(folder: Path) -> None:
        experiment = pipeline.write(folder, pipeline.tiny(**pipeline.TWO_POINTS))
        done = pipeline.run(experiment, folder, ["--measurements-from", finished])
        assert done.returncode == 0, done.stdout + done.stderr

    return made_once(tmp_path_factory, "small", make) / "results" / "tiny"


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The results folder of the demo experiment with fewer ranks and replicas, and more executions of each phase."""
    changes = ["ranks_per_node=4", "simulate.replicas=4", "application.parameters.iterations=8"]

    def make(folder: Path) -> None:
        done = pipeline.run(
            pipeline.ROOT / "configs" / "demo.yaml", folder, [word for one in changes for word in ("--set", one)]
        )
        assert done.returncode == 0, done.stdout + done.stderr

    return made_once(tmp_path_factory, "demo", make) / "results" / "demo"


@pytest.fixture(scope="session")
def compared(finished: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a comparison of the engines fast and simgrid, from the measurements of the tiny experiment."""
    from phase3_sst.point.contract import engines

    if not engines.get("simgrid")().probe().available:
        pytest.skip("the engine simgrid is not installed")

    def make(folder: Path) -> None:
        two = {"nodes": [1, 8], "techniques": ["no-ext-const", "ext-var"]}
        experiment = pipeline.write(folder, pipeline.tiny(**two))
        done = pipeline.manynode(
            *("compare-engines", experiment, "--engines", "fast,simgrid", "--output", folder / "out", "--cores", 2),
            *("--set", "ranks_per_node=1", "--measurements-from", finished),
        )
        assert done.returncode == 0, done.stdout + done.stderr

    return made_once(tmp_path_factory, "compared", make) / "out"
