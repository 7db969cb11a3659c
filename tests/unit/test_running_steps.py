"""Snakemake's lines -> a line at each step's start, and signs of life while it runs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from manynode.errors import UsageError
from manynode.heartbeat import INTERVAL, interval_s, running_words
from manynode.measured_runs import KnownRuns, MeasuredRun, SlowDown
from manynode.native_trial import Trial
from manynode.running_steps import RunningSteps
from manynode.snakemake_run import ERROR_FILE, run_snakemake
from manynode.study_progress import StudyProgress

RUN = MeasuredRun(
    rule="phase1_profile_ranks", wildcards={"nodes": "2", "repetition": "0"}, output="o", step="s", tool="callgrind",
    ranks=4, slowed=4, threads=1, slow_down=SlowDown(50, 100),
)  # fmt: skip
STARTED = """\
[a date]
rule phase1_profile_ranks:
    output: x
    log: y
    jobid: 3
    reason: Missing output files: x
    wildcards: nodes=2, repetition=0
    threads: 2
    resources: tmpdir=/tmp, mpi=mpiexec, tasks=4
"""


class Clock:
    """A clock that is set by hand."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


def steps(known: KnownRuns | None = None) -> tuple[RunningSteps, Clock]:
    clock = Clock()
    return RunningSteps(known, clock), clock


def read(running: RunningSteps, text: str) -> list[str]:
    return [said for line in text.splitlines() if (said := running.read(line))]


def test_a_step_is_named_when_it_starts_and_not_when_it_ends() -> None:
    """Snakemake writes nothing after a step's description until the step has ended."""
    running, clock = steps()
    assert read(running, STARTED) == [] and running.words() == []
    assert running.described() == "phase1_profile_ranks (nodes=2, repetition=0)"
    assert running.described() == ""
    clock.now += 45
    assert running.words() == ["phase1_profile_ranks (nodes=2, repetition=0): running for 45 s"]
    read(running, "[a date]\nFinished jobid: 3 (Rule: phase1_profile_ranks)\n")
    assert running.words() == [] and running.longest() == ""


def test_a_measured_step_says_its_tool_and_counts_down() -> None:
    trial = Trial(1, 4, 4, 2.0, True)
    running, clock = steps(KnownRuns([RUN], trial))
    read(running, STARTED)
    assert running.described() == (
        "phase1_profile_ranks (nodes=2, repetition=0): callgrind, 4 ranks, "
        "typically 50 to 100 times slower than native, 2 to 3 min"
    )
    clock.now += 40
    assert running.longest() == "running for 40 s, about 60 s to 3 min left"


def test_two_steps_beside_each_other_and_one_that_fails() -> None:
    running, clock = steps()
    read(running, STARTED)
    second = STARTED.replace("jobid: 3", "jobid: 4").replace("rule phase1", "localcheckpoint phase1")
    assert read(running, second) == ["phase1_profile_ranks (nodes=2, repetition=0)"]
    running.described()
    clock.now += 5
    assert len(running.words()) == 2
    read(running, "Error in rule phase1_profile_ranks:\n    message: None\n    jobid: 4\n    output: x\n")
    assert len(running.words()) == 1
    assert read(running, "rule all:\n    input: x\n    jobid: 0\n[a date]") == []


def test_runs_that_are_made_again_are_announced_when_snakemake_plans_them() -> None:
    """Their tables exist, and the announcement left them out; but their code has changed."""
    planned = (
        "job                     count\nphase1_profile_ranks        4\nphase2_simulate_node        1\ntotal    5\n"
    )
    running, _ = steps(KnownRuns([RUN], None, {"phase1_profile_ranks": 1, "phase2_simulate_node": 2}))
    (line,) = read(running, planned)
    assert line.startswith("4 runs of phase1_profile_ranks to come, 3 more than announced: ")
    assert read(running, planned) == []


def test_many_steps_are_counted() -> None:
    running, _ = steps()
    for job in range(7):
        read(running, STARTED.replace("jobid: 3", f"jobid: {job}") + "[a date]")
    assert len(running.words()) == 5 and running.words()[-1] == "and 3 more"


def test_time_left_is_said_as_far_as_it_is_known() -> None:
    assert running_words(30, None) == "running for 30 s"
    assert running_words(30, (60, 120)) == "running for 30 s, about 30 s to 2 min left"
    assert running_words(90, (60, 120)) == "running for 2 min, at most about 30 s left"
    assert running_words(130, (60, 120)) == "running for 2 min, longer than the estimate (2 min)"


def test_the_interval_is_set_by_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(INTERVAL, raising=False)
    assert interval_s() == 30
    monkeypatch.setenv(INTERVAL, "0.5")
    assert interval_s() == 0.5
    for wrong in ("soon", "0", "-1", "inf", "nan"):
        monkeypatch.setenv(INTERVAL, wrong)
        with pytest.raises(UsageError, match=INTERVAL):
            interval_s()


def test_start_and_signs_of_life_stand_in_output_that_is_no_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A child that writes as Snakemake does: a step's description, nothing while it runs, its end."""
    monkeypatch.setenv(INTERVAL, "0.2")
    program = (
        f"import sys, time\nsys.stdout.write({STARTED!r})\nsys.stdout.flush()\ntime.sleep(2)\n"
        "print('[a date]\\nFinished jobid: 3 (Rule: x)\\n1 of 1 steps (100%) done')"
    )
    run_snakemake([sys.executable, "-c", program], tmp_path / "log", StudyProgress({}))
    lines = capsys.readouterr().out.splitlines()
    step = "phase1_profile_ranks (nodes=2, repetition=0)"
    assert lines[0] == step and lines[-1] == "1 of 1 steps (100%) done"
    beats = lines[1:-1]
    assert beats and all(line.startswith(f"{step}: running for ") for line in beats)
    kept = (tmp_path / "log").read_text()
    assert beats[0] in kept and STARTED in kept


def test_a_step_has_start_and_signs_of_life_in_its_own_log(tmp_path: Path) -> None:
    program = "import sys, time; from manynode import cli; "
    program += "cli._add_phases = lambda: None; cli.app = lambda **_: time.sleep(1.2); cli.main()"
    words = [sys.executable, "-c", program, "profile", "run", "--nodes", "2"]
    environment = {**os.environ, INTERVAL: "0.3", ERROR_FILE: str(tmp_path / "errors")}
    done = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=60)
    lines = done.stderr.splitlines()
    assert done.returncode == 0 and lines[0] == "manynode profile run: started"
    assert len(lines) >= 2 and all(line.startswith("manynode profile run: running for") for line in lines[1:])
    environment.pop(ERROR_FILE)
    assert subprocess.run(words, env=environment, capture_output=True, text=True, timeout=60).stderr == ""
