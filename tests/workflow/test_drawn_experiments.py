"""What `config check` accepts runs to its end, or stops with an error that could not have been known before.

24 experiments are drawn, with ``MANYNODE_FUZZ=all`` 100. MANYNODE_DRAWN_EXPERIMENTS says another number,
MANYNODE_DRAWN_FIRST the number of the first.
"""

from __future__ import annotations

import os
import shutil
import signal
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pipeline
import pytest
import typer
from drawn_experiments import Draw

from manynode import tables
from manynode.checks import check_experiment
from manynode.config.loader import resolve
from manynode.config.resolved import RESOLVED_SCHEMA, Resolved
from manynode.config.studies import all_points, study_named
from manynode.errors import CheckFailedError, InputError, ManynodeError, UsageError
from phase2_nodesim import cli as nodesim
from phase3_sst import cli

COUNT = int(os.environ.get("MANYNODE_DRAWN_EXPERIMENTS", "100" if os.environ.get("MANYNODE_FUZZ") == "all" else "24"))
FIRST = int(os.environ.get("MANYNODE_DRAWN_FIRST", "0"))
# Limit of each call. An idle machine needs less than a tenth; MANYNODE_DRAWN_SECONDS=10 enforces that.
MOST_SECONDS = int(os.environ.get("MANYNODE_DRAWN_SECONDS", "60"))


class TooLong(BaseException):
    """No Exception: nothing in between may catch it as its own."""


@contextmanager
def limited(seconds: int) -> Iterator[None]:
    def ring(_signal: int, _frame: object) -> None:
        raise TooLong

    before = signal.signal(signal.SIGALRM, ring)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def checked(draw: Draw) -> Resolved | None:
    """Return the experiment as `config check` resolves it, None if it is refused; only its changes may be refused."""
    try:
        resolved = resolve(draw.content, where="the file", base=pipeline.ROOT)
        missing = check_experiment(resolved, "the file")
    except (UsageError, InputError) as error:
        assert draw.changes, error.render()
        assert "the file" in error.render() or error.where, error.render()
        return None
    return None if missing else resolved


def step(command: Callable[..., None], *arguments: Any, **options: Any) -> None:
    """Call a command as its command line does."""
    with typer.Context(typer.main.get_command(cli.app)) as context:
        command(context, *arguments, **options)


def simulated(resolved: Resolved, finished: Path, results: Path) -> None:
    """Phase 3 of an experiment, step by step as the workflow runs it."""
    content = resolved.content
    experiment = results / "experiment.json"
    tables.write_json(experiment, RESOLVED_SCHEMA, {"experiment": content})
    classes = finished / "profile" / "rank-classes.json"

    def point(technique: str, nodes: int, folder: Path, variant: str | None = None) -> Path:
        profile = finished / "nodesim" / f"timing-profile-{technique.rsplit('-', 1)[0]}.json"
        result = folder / "result.json"
        step(cli.run, experiment, technique, nodes, classes, profile, result, variant=variant)
        return result

    if content["simulate"]["preflight"]["enabled"]:
        step(cli.preflight, experiment, results / "preflight.json")
    found = [
        point(technique, nodes, results / "simulate" / technique / f"nodes-{nodes}")
        for technique in content["techniques"]
        for nodes in content["nodes"]
    ]
    for one in all_points(resolved):
        point(one.technique, one.nodes, results / one.folder, f"{one.study}/{one.variant.name}")
    count = content["simulate"]["profile_bootstrap"]
    for technique in content["techniques"] if count else ():
        mode = technique.rsplit("-", 1)[0]
        samples, segments = results / f"resamples-{mode}.json", finished / "nodesim" / mode / "segments.parquet"
        step(nodesim.resample, experiment, mode, classes, count, samples, segments)
        profile = finished / "nodesim" / f"timing-profile-{mode}.json"
        for nodes in content["nodes"]:
            table = results / "resamples" / technique / f"nodes-{nodes}.parquet"
            step(cli.resamples, experiment, technique, nodes, classes, profile, samples, table)
    step(cli.analyse, experiment, results / "projection.parquet", found)
    for study in (study_named("sensitivity"), study_named("scaling")):
        if study.asked(resolved):
            study.write(study.conclude(resolved, results), results)


def outcome(draw: Draw, finished: Path, results: Path) -> str:
    """What became of a drawn experiment; anything that should not be is a text that begins with 'defect'."""
    try:
        with limited(MOST_SECONDS):
            resolved = checked(draw)
        if resolved is None:
            return "refused"
        with limited(MOST_SECONDS):
            simulated(resolved, finished, results)
        return "run to its end"
    except TooLong:
        return f"defect: longer than {MOST_SECONDS} s\n{traceback.format_exc()}"
    except CheckFailedError as error:
        return f"stopped: {error.what}"
    except ManynodeError as error:
        # A mistake or an engine's failure that only the simulation found.
        return f"defect: exit code {error.exit_code} after the check\n{error.render()}"
    except Exception:
        return f"defect: traceback\n{traceback.format_exc()}"
    finally:
        shutil.rmtree(results, ignore_errors=True)


@pytest.mark.long
def test_what_is_accepted_runs_to_its_end(finished: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    outcomes: Counter[str] = Counter()
    defects = []
    for number in range(FIRST, FIRST + COUNT):
        draw = Draw(number)
        found = outcome(draw, finished, tmp_path / str(number))
        outcomes[found.split("\n")[0] if found.startswith("defect") else found] += 1
        if found.startswith("defect"):
            defects.append(f"experiment {number} ({'; '.join(draw.changes)}): {found}")
    with capsys.disabled():
        print("".join(f"\n{count:5} {words}" for words, count in outcomes.most_common()))
    assert not defects, "\n".join(defects)
    # The draws are worth something only where both happen often.
    assert outcomes["run to its end"] > COUNT / 5 and outcomes["refused"] > COUNT / 5


@pytest.mark.long
def test_some_run_through_the_whole_workflow(finished: Path, tmp_path: Path) -> None:
    """From the same measured runs, with the command line that a user has, to the report."""
    wanted = max(1, COUNT // 50)
    number = FIRST
    while wanted:
        draw = Draw(number, measured=True)
        number += 1
        resolved = checked(draw)
        if resolved is None:
            continue
        wanted -= 1
        folder = tmp_path / str(number)
        experiment = pipeline.write(folder, draw.content)
        done = pipeline.run(experiment, folder, ["--measurements-from", finished])
        said = f"experiment {number - 1} ({'; '.join(draw.changes)}): {done.stdout}{done.stderr}"
        assert "Traceback" not in said and done.returncode in (0, CheckFailedError.exit_code), said
        assert done.returncode or (folder / "results" / "tiny" / "report.html").is_file()
