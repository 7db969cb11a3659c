"""HPCG from the application to the projection with its node under a real gem5. Skipped by name without a gem5."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from pathlib import Path

import gem5_jobs
import pandas as pd
import pipeline
import pytest

from manynode.tables import read_provenance
from manynode.timing_profile import read_timing_profile
from phase2_nodesim.compare import compare_engines
from phase2_nodesim.engines.gem5 import MALLOC

PLAIN_PROCESSOR = ",".join(
    f"-{name}" for name in "AVX512F AVX512VL AVX2 AVX BMI2 ERMS FSRM SSE4_2 SSE4_1 SSSE3".split()
)
TECHNIQUES = ["no-ext-const", "no-ext-var", "ext-const", "ext-var"]
# Ranks on the simulated node, nodes: four external ranks beside two or four simulated ones.
JOBS = {"two ranks": (2, 3), "four ranks": (4, 2)}


def run(folder: Path, engine: str, ranks: int, nodes: int) -> Path:
    """Run the experiment in ``folder`` and return its results."""
    content = pipeline.tiny(
        application={
            "name": "hpcg",
            "parameters": {"nx": 8, "ny": 8, "nz": 8, "levels": 2, "iterations": 3},
            "timeout_s": 1800,
        },
        ranks_per_node=ranks,
        profile={"source": "callgrind", "nodes": [1, nodes], "repetitions": 1},
        nodesim={"engine": engine, "nodes": nodes},
        techniques=TECHNIQUES,
    )
    done = pipeline.run(pipeline.write(folder, content), folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "results" / "tiny"


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Return a function from the name of a job to its results; each job runs once."""
    gem5_jobs.gem5_or_skip()
    return functools.cache(lambda name: run(tmp_path_factory.mktemp("gem5"), "gem5", *JOBS[name]))


@pytest.mark.parametrize("name", JOBS)
def test_all_techniques_are_projected_from_both_timing_profiles(results: Callable[[str], Path], name: str) -> None:
    projection = pd.read_parquet(results(name) / "projection.parquet")
    assert sorted(projection["technique"].unique()) == sorted(TECHNIQUES)
    for mode in ("ext", "no-ext"):
        profile = read_timing_profile(results(name) / f"nodesim/timing-profile-{mode}.json")
        assert profile.engine == "gem5" and profile.external == (mode == "ext")
        assert profile.ranks == JOBS[name][0] * (JOBS[name][1] if mode == "ext" else 1)


@pytest.mark.parametrize("name", JOBS)
def test_the_guests_compute_what_the_native_ranks_compute(results: Callable[[str], Path], name: str) -> None:
    check_checksums(results(name))


def check_checksums(results: Path) -> None:
    """The engine compares them and fails the step; here: that there were some."""
    paths = [
        path for mode in ("ext", "no-ext") for path in (results / "nodesim" / mode).glob("node-*/segments.parquet")
    ]
    assert len(paths) >= 2
    for path in paths:
        told = read_provenance(path, "segments/1")["checksum_as_profiled"]
        assert re.fullmatch(r"-?\d+\.\d+(e[-+]\d+)?", str(told)), path


@pytest.mark.parametrize("name", pipeline.SMALL)
def test_every_application_runs_to_its_projection(tmp_path: Path, name: str) -> None:
    gem5_jobs.gem5_or_skip()
    application = {"name": name, "parameters": pipeline.SMALL[name], "timeout_s": 600}
    content = pipeline.tiny(
        name=name,
        application=application,
        profile={"source": "callgrind", "nodes": [1, 2], "repetitions": 1},
        nodesim={"engine": "gem5", "nodes": 2},
    )
    done = pipeline.run(pipeline.write(tmp_path, content), tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    results = tmp_path / "results" / name
    check_checksums(results)
    assert sorted(pd.read_parquet(results / "projection.parquet")["technique"].unique()) == sorted(TECHNIQUES)


def test_the_report_shows_where_the_cycles_go(results: Callable[[str], Path]) -> None:
    page = (results("two ranks") / "report.html").read_text()
    assert '<figure id="figure-cpi-stacks"' in page


def test_phases_have_as_many_instructions_as_under_callgrind(
    results: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory
) -> None:
    # Under callgrind the C library takes other variants of memset and its like than on gem5's processor.
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GLIBC_TUNABLES", f"{MALLOC}:glibc.cpu.hwcaps={PLAIN_PROCESSOR}")
        other = run(tmp_path_factory.mktemp("valgrind"), "valgrind", *JOBS["two ranks"])
    table = compare_engines(
        [folder / "nodesim" / "ext" / "segments.parquet" for folder in (results("two ranks"), other)]
    ).set_index("phase")
    large = table[(table["gem5_instructions"] > 5000) & ~table.index.str.contains(" -> ")]
    assert {"symgs", "spmv", "residual", "initial"} <= set(large.index)
    apart = (large["gem5_instructions"] - large["valgrind_instructions"]).abs()
    # Entry to and exit from calls count, and are some 200 instructions longer in the markers than in the bridge.
    assert (apart <= (0.02 * large["valgrind_instructions"]).clip(lower=400)).all(), large


def test_the_log_has_an_estimate_and_progress(results: Callable[[str], Path]) -> None:
    log = (results("two ranks") / "logs" / "phase2_simulate_node" / "ext-0.log").read_text()
    assert re.search(r"gem5: about [\d.]+ million instructions on 2 ranks", log)
    assert re.search(r"gem5: [\d.]+ million instructions of about", log)
