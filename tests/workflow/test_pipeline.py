"""The whole pipeline on a tiny experiment: its files, the same bytes twice, killed and resumed."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pipeline
import pytest

from manynode import tables
from manynode.rank_classes import read_rank_classes
from manynode.timing_profile import read_timing_profile


def test_every_contract_is_in_force(finished: Path) -> None:
    assert read_rank_classes(finished / "profile/rank-classes.json")["representative_nodes"]
    for mode, external in (("ext", True), ("no-ext", False)):
        profile = read_timing_profile(finished / f"nodesim/timing-profile-{mode}.json")
        assert profile.external is external and profile.engine == pipeline.engine()
        tables.read_table(finished / f"nodesim/{mode}/segments.parquet", "segments/1", ["rank", "phase", "compute_s"])
    for name, schema in (("projection", "projection/1"), ("makespans", "makespans/1"), ("breakdown", "breakdown/1")):
        assert len(tables.read_table(finished / f"{name}.parquet", schema)) > 0
    provenance = tables.read_json(finished / "provenance.json", "provenance/1")
    assert provenance["seed"] == 1 and {"fast", pipeline.engine()} <= set(provenance["tools"])


def test_all_points_are_projected_and_lie_in_their_intervals(finished: Path) -> None:
    frame = pd.read_parquet(finished / "projection.parquet")
    assert len(frame) == 4 * 2
    assert (frame["low_s"] <= frame["time_s"]).all() and (frame["time_s"] <= frame["high_s"]).all()
    assert (frame.loc[frame["nodes"] == 1, "efficiency"] == 1).all()


def test_constant_timings_have_the_mean_of_variable_ones(finished: Path) -> None:
    """The replicas of variable timings differ; in the mean over ranks and replicas both compute for the same time."""
    frame = pd.read_parquet(finished / "makespans.parquet")
    assert frame[(frame["nodes"] == 4) & (frame["technique"] == "ext-var")]["makespan_s"].nunique() == 3
    compute = pd.read_parquet(finished / "breakdown.parquet").set_index(["technique", "nodes", "operation"])["seconds"]
    assert compute["ext-const", 4, "compute"] == pytest.approx(compute["ext-var", 4, "compute"], rel=0.02)


def test_compute_and_operations_add_up_to_the_ranks_time(finished: Path) -> None:
    breakdown = pd.read_parquet(finished / "breakdown.parquet").groupby(["technique", "nodes"])["seconds"].sum()
    times = pd.read_parquet(finished / "projection.parquet").set_index(["technique", "nodes"])["time_s"]
    times = times.reindex(breakdown.index)
    # The mean rank ends a little before the slowest one.
    assert (breakdown <= times * (1 + 1e-9)).all() and (breakdown > 0.8 * times).all()


def test_replayed_compute_time_is_that_of_the_profile(finished: Path) -> None:
    """With constant timings, the ranks' compute time is that of one rank in the profile."""
    profile = read_timing_profile(finished / "nodesim/timing-profile-ext.json")
    segments = pd.read_parquet(finished / "nodesim/ext/segments.parquet")
    measured = segments[segments["labelled"]].groupby("rank")["compute_s"].sum().mean()
    breakdown = pd.read_parquet(finished / "breakdown.parquet").set_index(["technique", "nodes", "operation"])
    replayed = breakdown.loc[("ext-const", 4, "compute"), "seconds"]
    assert profile.ranks == 2
    assert replayed == pytest.approx(measured, rel=0.02)


def test_the_multigrid_pattern_is_found(finished: Path) -> None:
    """Three levels: 0 1 2 1 0 in every V-cycle, found by the tool (Eyerman et al., section 3.4)."""
    profile = read_timing_profile(finished / "nodesim/timing-profile-ext.json")
    phase = next(phase for phase in profile.classes[0].phases if phase.name == "symgs")
    assert phase.pattern.kind == "sequence"
    assert phase.pattern.sequence == [0, 1, 2, 1, 0]
    assert phase.pattern.repeat == 8
    means = [cluster.mean_s for cluster in phase.clusters]
    assert means == sorted(means, reverse=True)


def test_finished_steps_are_not_repeated(finished: Path) -> None:
    again = pipeline.run(finished.parent.parent / "experiment.yaml", finished.parent.parent)
    assert again.returncode == 0
    assert "rule" not in again.stdout and "steps" not in again.stdout


def test_a_change_repeats_only_what_depends_on_it(finished: Path, tmp_path: Path) -> None:
    shutil.copytree(finished, tmp_path / "results" / "tiny")
    shutil.copytree(finished.parent.parent / ".snakemake", tmp_path / ".snakemake")
    content = pipeline.tiny(nodes=[1, 2, 4])
    done = pipeline.manynode(
        "run", pipeline.write(tmp_path, content), "--cores", 2, "--directory", tmp_path, "--dry-run"
    )
    counts = dict(re.findall(r"^(\w+)\s+(\d+)$", done.stdout, re.MULTILINE))
    assert counts.get("phase3_simulate_point") == "4", done.stdout
    assert "phase2_simulate_node" not in counts and "phase1_profile_ranks" not in counts


def test_measurements_of_another_experiment_are_refused(finished: Path, tmp_path: Path) -> None:
    experiment = pipeline.write(tmp_path, pipeline.tiny(machine="generic"))
    done = pipeline.run(experiment, tmp_path, options=["--measurements-from", finished])
    assert done.returncode == 2
    assert "another experiment" in done.stderr and "machine" in done.stderr


ORDERS = [(signal.SIGKILL, signal.SIGINT), (signal.SIGINT, signal.SIGKILL)]


@pytest.mark.long
@pytest.mark.parametrize("signals", ORDERS if os.environ.get("MANYNODE_FUZZ") == "all" else ORDERS[:1])
def test_a_run_that_is_killed_twice_ends_with_the_same_bytes(
    finished: Path, small: Path, tmp_path: Path, signals: tuple[int, int]
) -> None:
    """Everything after the measured runs is computed twice; ``MANYNODE_FUZZ=all`` takes each order of the signals."""
    experiment = Path(shutil.copy(small.parent.parent / "experiment.yaml", tmp_path))
    options = ["--measurements-from", str(finished)]
    for milestone, signum in zip(("phase3_simulate_point", "phase3_analyse_points"), signals, strict=True):
        text = _kill_at(milestone, experiment, tmp_path, signum, options)
        if signum == signal.SIGINT:
            assert "interrupted" in text and "Traceback" not in text
        assert "phase2_simulate_node" not in text, "it was measured again"
    done = pipeline.run(experiment, tmp_path, options=options)
    assert done.returncode == 0, done.stdout + done.stderr
    assert pipeline.tables(small) == pipeline.tables(tmp_path / "results" / "tiny")


@pytest.mark.long
def test_a_run_that_is_killed_while_it_measures_goes_on(small: Path, tmp_path: Path) -> None:
    """Phase 1 and phase 2 are killed in the middle of their MPI jobs; the result agrees but for the measurement."""
    experiment = Path(shutil.copy(small.parent.parent / "experiment.yaml", tmp_path))
    for milestone in ("phase1_profile_ranks", "phase2_simulate_node"):
        _kill_at(milestone, experiment, tmp_path, signal.SIGKILL, [])
    done = pipeline.run(experiment, tmp_path, ["--until", "phase3_analyse_points"])
    assert done.returncode == 0, done.stdout + done.stderr
    first = pd.read_parquet(small / "projection.parquet")["time_s"]
    second = pd.read_parquet(tmp_path / "results" / "tiny" / "projection.parquet")["time_s"]
    assert (second / first - 1).abs().max() < 0.02


def _kill_at(milestone: str, experiment: Path, folder: Path, signum: int, options: list[str]) -> str:
    """Start a run, kill its whole process group when a step of that name has begun, return its output."""
    command = [sys.executable, "-m", "manynode", "run", str(experiment), "--cores", "2", "--directory", str(folder)]
    with subprocess.Popen(
        [*command, *options], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True,
        env={**os.environ, **pipeline.SAME_DAY},
    ) as child:  # fmt: skip
        assert child.stdout is not None
        before = []
        for line in child.stdout:
            if milestone in line:
                break
            before.append(line)
        else:
            raise AssertionError(f"the run ended before {milestone}: {''.join(before)}")
        # In the step: on an idle host it and the last one take less than half a second.
        time.sleep(0.1)
        os.killpg(child.pid, signum)
        text = child.stdout.read()
        assert child.wait() != 0
    return "".join(before) + text


def test_snakemake_itself_runs_the_experiment(finished: Path, tmp_path: Path) -> None:
    """The second way to start it: plain snakemake, here with its own report of a finished run."""
    base = [sys.executable, "-m", "snakemake", "--snakefile", pipeline.ROOT / "Snakefile", "--cores", "2"]
    folder = finished.parent.parent
    words = ["--configfile", folder / "experiment.yaml", "--directory", folder, "--report", tmp_path / "workflow.html"]
    done = subprocess.run([*base, *words], cwd=pipeline.ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / "workflow.html").stat().st_size > 0


def test_a_run_ends_with_all_jobs_of_the_rule_that_is_named(finished: Path, tmp_path: Path) -> None:
    """Jobs that follow from the rank classes are known only when these are there."""
    experiment = pipeline.write(tmp_path, pipeline.tiny())
    results = tmp_path / "results" / "tiny"
    words = ["--measurements-from", finished, "--until"]
    done = pipeline.run(experiment, tmp_path, [*words, "phase2_fit_profil"])
    assert done.returncode == 2 and "did you mean 'phase2_fit_profile'?" in done.stderr
    assert not (results / "profile" / "rank-classes.json").exists()
    for rule, there in (
        ("phase2_fit_profile", "nodesim/timing-profile-*.json"),
        ("phase2_write_series", "nodesim/series-*.json"),
    ):
        done = pipeline.run(experiment, tmp_path, [*words, rule])
        assert done.returncode == 0, done.stdout + done.stderr
        assert len(list(results.glob(there))) == 2 and not (results / "simulate").exists()
    done = pipeline.run(experiment, tmp_path, [*words, "phase3_confirm_variant"])
    assert done.returncode == 0 and "the experiment has no step phase3_confirm_variant" in done.stdout
