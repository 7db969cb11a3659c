"""The engine sst with a real SST: a whole run, the same draws as the fast engine, and every way in which it fails."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pipeline
import pytest

from manynode import artefacts, seal
from manynode.config.sst import SstSection
from manynode.errors import ManynodeError
from manynode.paths import build_dir
from manynode.process_tree import descendants
from phase3_sst.engines.sst.run.sst_installation import find_sst


def _what_lacks() -> str:
    try:
        find_sst(SstSection())
    except ManynodeError as error:
        return f"{error.what} ({error.found})"
    return ""


LACKS = _what_lacks()
pytestmark = pytest.mark.skipif(bool(LACKS), reason=f"the engine sst cannot be used: {LACKS}")

# Two leaves of two hosts each: a small machine is built in a second.
NETWORK = {
    "name": "small",
    "topology": {"kind": "fat-tree", "children": [2, 2], "parents": [1, 2], "parallel_links": [1, 1]},
}
TECHNIQUES = ["no-ext-const", "no-ext-var", "ext-const", "ext-var"]


def experiment(
    folder: Path,
    engine: str = "sst",
    sst: dict[str, Any] | None = None,
    techniques: Sequence[str] = ("ext-var",),
    nodes: Sequence[int] = (4,),
    **simulate: Any,
) -> Path:
    """The tiny experiment on a small network; without the pre-flight check, which has a test of its own."""
    chosen = {"engine": engine, "replicas": 2, "preflight": {"enabled": False}, **simulate}
    if sst is not None:
        chosen["sst"] = sst
    content = pipeline.tiny(network=NETWORK, nodes=list(nodes), techniques=list(techniques), simulate=chosen)
    return pipeline.write(folder, content)


def run(path: Path, folder: Path, finished: Path, env: dict[str, str] | None = None) -> subprocess.CompletedProcess:
    """``manynode run`` with the measurements of the tiny experiment."""
    options = ["--cores", 2, "--directory", folder, "--measurements-from", finished]
    return pipeline.manynode("run", path, *options, env=env)


def fails(done: subprocess.CompletedProcess, code: int, *words: str) -> str:
    text = str(done.stdout + done.stderr)
    assert done.returncode == code, text
    assert "Traceback" not in text, text
    for word in words:
        assert word in text, f"{word!r} is not in:\n{text}"
    return text


def points(folder: Path) -> list[str]:
    """The finished points; nothing half-written may be beside them."""
    results = folder / "results" / "tiny" / "simulate"
    found = sorted(str(path.parent.relative_to(results)) for path in results.rglob("result.json"))
    assert not list(results.rglob(".sst.*")) and not list(results.rglob("*.part"))
    return found


@pytest.fixture(scope="module")
def both(finished: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Results of the same experiment with sst and with fast."""
    found = {}
    for engine in ("sst", "fast"):
        folder = tmp_path_factory.mktemp(engine)
        done = run(experiment(folder, engine, techniques=TECHNIQUES, nodes=(1, 4)), folder, finished)
        assert done.returncode == 0, done.stdout + done.stderr
        found[engine] = folder / "results" / "tiny"
    return found


def test_a_whole_run_has_all_techniques_and_the_report_has_the_figures_of_the_fast_engine(
    both: dict[str, Path],
) -> None:
    frames = {engine: pd.read_parquet(folder / "projection.parquet") for engine, folder in both.items()}
    assert sorted(frames["sst"]["technique"].unique()) == sorted(TECHNIQUES)
    assert list(frames["sst"]["nodes"].unique()) == list(frames["fast"]["nodes"].unique())
    figures = {
        engine: re.findall(r'<figure id="([^"]+)"', (folder / "report.html").read_text())
        for engine, folder in both.items()
    }
    assert figures["sst"] == figures["fast"] and figures["sst"]
    tools = json.loads((both["sst"] / "provenance.json").read_text())["tools"]
    assert "ember" in tools["sst"]


@pytest.mark.parametrize("technique", TECHNIQUES)
@pytest.mark.parametrize("nodes", [1, 4])
def test_ranks_compute_as_long_as_in_the_fast_engine_to_the_nanosecond(
    both: dict[str, Path], technique: str, nodes: int
) -> None:
    seconds = []
    for engine in ("sst", "fast"):
        ranks = pd.read_parquet(both[engine] / "simulate" / technique / f"nodes-{nodes}" / "ranks.parquet")
        compute = ranks[ranks["operation"] == "compute"].set_index(["replica", "job", "rank"])
        seconds.append(compute[["seconds", "calls"]])
    assert (seconds[0]["calls"] == seconds[1]["calls"]).all()
    assert (seconds[0]["seconds"] - seconds[1]["seconds"]).abs().max() < 1e-9


def test_links_carry_the_same_messages_as_in_the_fast_engine(both: dict[str, Path]) -> None:
    tables = [
        pd.read_parquet(both[engine] / "simulate" / "ext-var" / "nodes-4" / "links.parquet")
        for engine in ("sst", "fast")
    ]
    keys = ["replica", "link", "class", "source", "target"]
    merged = tables[0].merge(tables[1], on=keys, suffixes=("", "_fast"))
    assert len(merged) == len(tables[0]) == len(tables[1])
    # The headers of firefly's packets come on top: 45 bytes for each message.
    assert (merged["bytes"] >= merged["bytes_fast"]).all()


def test_the_same_seed_gives_the_same_results_whatever_the_threads(
    both: dict[str, Path], finished: Path, tmp_path: Path
) -> None:
    """The files themselves differ: each says of which experiment it is, and so how many threads."""
    done = run(experiment(tmp_path, sst={"threads": 2}), tmp_path, finished)
    assert done.returncode == 0, done.stdout + done.stderr
    point = Path("simulate") / "ext-var" / "nodes-4"
    folders = (tmp_path / "results" / "tiny" / point, both["sst"] / point)
    for name in ("ranks.parquet", "links.parquet"):
        tables = [pd.read_parquet(folder / name) for folder in folders]
        pd.testing.assert_frame_equal(*tables, check_exact=True)
    documents = [json.loads((folder / "result.json").read_text()) for folder in folders]
    for document in documents:
        for key in (seal.KEY, artefacts.OF, artefacts.MADE_FROM):
            document.pop(key)
    assert documents[0] == documents[1]


def test_the_preflight_check_passes(tmp_path: Path) -> None:
    done = pipeline.manynode("simulate", "preflight", "--experiment", experiment(tmp_path))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "passed  line rate" in done.stdout and "passed  bisection" in done.stdout


def test_a_wrong_library_path(finished: Path, tmp_path: Path) -> None:
    done = run(experiment(tmp_path, sst={"library": str(tmp_path / "nothing")}), tmp_path, finished)
    fails(done, 4, "simulate: sst: library", "libmanynode.so", "correct the path")
    assert points(tmp_path) == []


def test_an_sst_that_is_not_there(finished: Path, tmp_path: Path) -> None:
    done = run(experiment(tmp_path, sst={"executable": "sst-not-installed"}), tmp_path, finished)
    fails(done, 4, "sst-not-installed was not found", "installation guide")


def test_an_sst_whose_ember_sources_are_gone(finished: Path, tmp_path: Path) -> None:
    """A native build without the library, as CMake leaves it if it finds no sources."""
    build = tmp_path / "build"
    build.mkdir()
    (build / "bin").symlink_to(build_dir() / "bin")
    env = {"MANYNODE_BUILD_DIR": str(build), "MANYNODE_EMBER_SOURCES": str(tmp_path / "gone")}
    done = run(experiment(tmp_path), tmp_path, finished, env)
    fails(done, 4, "ember's sources are gone", "MANYNODE_EMBER_SOURCES", "make build")


def copied_library(folder: Path) -> Path:
    target = folder / "library"
    shutil.copytree(build_dir() / "lib" / "sst", target)
    return target


def test_a_library_that_was_built_against_another_sst(finished: Path, tmp_path: Path) -> None:
    library = copied_library(tmp_path)
    record = json.loads((library / "built-against.json").read_text())
    (library / "built-against.json").write_text(json.dumps({**record, "version": "SST-Core Version (13.0.0)"}))
    done = run(experiment(tmp_path, sst={"library": str(library)}), tmp_path, finished)
    fails(done, 4, "built against another SST", "'13.0.0'", "make build")


def test_a_library_that_sst_cannot_load(finished: Path, tmp_path: Path) -> None:
    library = copied_library(tmp_path)
    (library / "libmanynode.so").write_text("not a library")
    done = run(experiment(tmp_path, sst={"library": str(library)}), tmp_path, finished)
    text = fails(done, 4, "SST failed", "make build", "SST's output is in")
    log = re.search(r"SST's output is in (\S+)", text)
    assert log is not None and (tmp_path / log[1]).is_file()


def test_an_element_that_refuses_its_parameters(finished: Path, tmp_path: Path) -> None:
    extra = {"merlin.hr_router": {"link_bw": "100 s"}}
    done = run(experiment(tmp_path, sst={"extra_parameters": extra}), tmp_path, finished)
    text = fails(done, 5, "SST failed", "link_bw must be specified in either b/s or B/s")
    assert "_ZN3SST" not in text


def test_a_simulation_that_outgrows_its_memory(finished: Path, tmp_path: Path) -> None:
    done = run(experiment(tmp_path, sst={"memory": "2 MiB"}), tmp_path, finished)
    fails(done, 5, "more memory than allowed", "2 MiB", "simulate: sst: memory")
    assert points(tmp_path) == []


class Started:
    """``manynode run`` in the background, until SST runs below it."""

    def __init__(self, path: Path, folder: Path, finished: Path) -> None:
        options = ["--cores", "1", "--directory", str(folder), "--measurements-from", str(finished)]
        self.child = subprocess.Popen(
            [sys.executable, "-m", "manynode", "run", str(path), *options],
            cwd=pipeline.ROOT,
            # Without a fork server the steps, and SST, are below this process.
            env={**os.environ, "MANYNODE_FORK_SERVER": ""},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def simulator(self) -> int:
        """Wait for SST, which has begun with its machine, and return its process id."""
        deadline = time.monotonic() + 300
        while time.monotonic() < deadline and self.child.poll() is None:
            for pid in descendants(self.child.pid):
                try:
                    words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
                except OSError:
                    continue
                if words[0].endswith(b"sst") and any(word.endswith(b"machine.py") for word in words):
                    return pid
            time.sleep(0.01)
        raise AssertionError("SST was not started: " + self.ended()[1])

    def ended(self) -> tuple[int, str]:
        output, _ = self.child.communicate(timeout=300)
        return self.child.returncode, output


@pytest.mark.parametrize(
    ("signum", "words"),
    [(signal.SIGKILL, "killed by signal 9"), (signal.SIGSEGV, "signal 11"), (signal.SIGTERM, "")],
)
def test_a_killed_simulator_is_an_error_and_the_next_run_goes_on(
    finished: Path, tmp_path: Path, signum: int, words: str
) -> None:
    path = experiment(tmp_path, techniques=("no-ext-const", "ext-var"))
    started = Started(path, tmp_path, finished)
    os.kill(started.simulator(), signum)
    code, text = started.ended()
    assert code == 5 and "the engine sst" in text and words in text and "Traceback" not in text, text
    before = points(tmp_path)
    assert len(before) < 2
    done = run(path, tmp_path, finished)
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(points(tmp_path)) == 2


def test_a_simulator_that_stands_still_is_ended(finished: Path, tmp_path: Path) -> None:
    started = Started(experiment(tmp_path, sst={"hang_limit": "5 s"}), tmp_path, finished)
    pid = started.simulator()
    os.kill(pid, signal.SIGSTOP)
    code, text = started.ended()
    assert code == 5 and "the simulated time stands still" in text and "hang_limit" in text, text
    assert not Path(f"/proc/{pid}").exists()


def test_a_point_that_takes_too_long_is_ended(finished: Path, tmp_path: Path) -> None:
    done = run(experiment(tmp_path, time_limit="100 ms"), tmp_path, finished)
    fails(done, 5, "did not end in time")
    assert points(tmp_path) == []


def test_ranks_that_never_finish_are_an_error_that_names_them(finished: Path, tmp_path: Path) -> None:
    """A job that is to start when all simulations are stopped: its ranks wait for ever."""
    parameters = {"pattern": "ping-pong", "bytes": 8, "iterations": 1}
    late = {
        "name": "late",
        "application": {"name": "patterns", "parameters": parameters},
        "nodes": 2,
        "start": "1000000 s",
        "background": False,
    }
    content = pipeline.tiny(network=NETWORK, nodes=[1, 2], techniques=["ext-var"])
    content["simulate"] = {"engine": "sst", "replicas": 1, "preflight": {"enabled": False}, "jobs": [late]}
    done = run(pipeline.write(tmp_path, content), tmp_path, finished)
    fails(done, 5, "the simulation ended with 2 unfinished ranks", "rank 0 of job late", "rank 1 of job late")
    assert not list(tmp_path.rglob("result.json"))


def test_a_deadlock_of_the_skeleton_names_who_waits_for_whom(finished: Path, tmp_path: Path) -> None:
    def beside(size: int) -> subprocess.CompletedProcess:
        parameters = {"pattern": "blocking-ring", "bytes": size, "iterations": 1}
        ring = {"name": "ring", "application": {"name": "patterns", "parameters": parameters}, "nodes": 3}
        content = pipeline.tiny(network=NETWORK, nodes=[1], techniques=["no-ext-const"])
        content["simulate"] = {"engine": "sst", "replicas": 1, "preflight": {"enabled": False}, "jobs": [ring]}
        return run(pipeline.write(tmp_path, content), tmp_path, finished)

    failed = beside(1 << 20)
    fails(
        failed, 5, "the simulation ended with 3 unfinished ranks", "rank 0 of job ring waits in MPI_Send", "for rank 1"
    )
    assert not list(tmp_path.rglob("result.json"))
    done = beside(1 << 10)  # eager
    assert done.returncode == 0, done.stdout + done.stderr
