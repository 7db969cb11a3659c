"""The start of ``manynode explore``: the link comes once an answer no longer waits for imports."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import explore_bases
import explore_site
import pytest
from conftest import made_once

from manynode import fork_server
from phase3_sst.explore import rehearsal
from phase3_sst.explore.base import Base
from phase3_sst.explore.explorer import Explorer
from phase3_sst.explore.rehearsal import rehearse
from phase3_sst.explore.steps import Step

PATIENCE_S = 60.0
# A library that every step of a point uses, and the fork server itself does not.
LIBRARY = "pandas"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made_once(tmp_path_factory, "explore-small", explore_bases.run_small) / "results" / "small"


@pytest.fixture
def results(made: Path, tmp_path: Path) -> Path:
    return explore_bases.copied(made, tmp_path)


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder of temporary files; at the end nothing is left in it."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    yield folder
    assert list(folder.iterdir()) == []


def watched(monkeypatch: pytest.MonkeyPatch, stop_after: int | None = None) -> list[str]:
    """Return the list to which the names of the steps that have run are added; set their event after so many."""
    names: list[str] = []
    run = rehearsal.run_step

    def run_step(planned: object, step: Step, processes: int, cancelled: threading.Event) -> None:
        run(planned, step, processes, cancelled)  # type: ignore[arg-type]
        names.append(step.name)
        if len(names) == stop_after:
            cancelled.set()

    monkeypatch.setattr(rehearsal, "run_step", run_step)
    return names


def files(folder: Path) -> dict[str, int]:
    return {str(path.relative_to(folder)): path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()}


def test_a_rehearsal_runs_every_step_elsewhere_each_time(
    results: Path, temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names, before = watched(monkeypatch), files(results)
    for _ in range(2):
        names.clear()
        rehearse(Base(results), threading.Event(), PATIENCE_S)
        assert names == ["preflight", "flow control", "1 nodes", "analysis"]
        assert files(results) == before, "a rehearsal is no question of the base"


def test_a_rehearsal_ends_when_the_server_does_or_when_it_takes_too_long(
    results: Path, temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = watched(monkeypatch, stop_after=1)
    rehearse(Base(results), threading.Event(), PATIENCE_S)
    assert names == ["preflight"]
    names.clear()
    rehearse(Base(results), threading.Event(), 0.0)
    assert len(names) <= 1, "it gives up at once"


def libraries(process: Path) -> str:
    """Return the names of the files that a process has in memory."""
    return "\n".join({line.split()[-1] for line in (process / "maps").read_text().splitlines() if "/" in line})


def forking(server: int) -> Path:
    """Return the fork server of an explore server."""
    children = Path(f"/proc/{server}/task").glob("*/children")
    found = [Path("/proc") / child for file in children for child in file.read_text().split()]
    (one,) = [each for each in found if b"manynode.fork_server.server" in (each / "cmdline").read_bytes()]
    return one


async def ask_what_a_page_asks_first(results: Path) -> None:
    explorer = Explorer(results, cores=2)
    await explorer.answer(explorer.start())
    await explorer.close()


@pytest.mark.long
def test_at_the_link_the_fork_server_has_the_libraries_where_everything_was_asked_before(
    results: Path, temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asyncio.run(ask_what_a_page_asks_first(results))
    monkeypatch.delenv(fork_server.ADDRESS, raising=False)
    with explore_site.exploring(results) as site:
        loaded = libraries(forking(site.process.pid))
        # The server imports what the last step has imported when the next one comes: all but the analysis.
        assert re.search(rf"/{LIBRARY}/_libs/", loaded), loaded
        start = site.get("/api/state")["baseline"]["question"]
        assert site.answered(start)["state"] == "finished"


def test_a_server_that_is_ended_before_its_link_leaves_nothing(results: Path, temporary: Path) -> None:
    command = [sys.executable, "-m", "manynode", "explore", str(results)]
    mark = "explore-ended-early"
    environment = {**os.environ, explore_site.MARK: mark, fork_server.ADDRESS: ""}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as server:
        assert server.stdout is not None
        assert "getting ready" in server.stdout.readline()
        time.sleep(1.0)  # amid a step
        server.send_signal(signal.SIGTERM)
        printed = server.stdout.read()
        assert server.wait(explore_site.STOP_S) == 0
    assert "http://" not in printed
    assert explore_site.Site(server, "", 0, mark).left_after(20) == []
