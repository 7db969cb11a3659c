"""The source of counters ``qemu`` without starting anything: its job, and marker files as they would be read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from manynode import paths
from manynode.errors import EngineFailedError, InputError
from manynode.markers import MarkerFile
from manynode.qemu.installation import Installation
from phase1_profile import marker_counts
from phase1_profile.sources import qemu
from phase1_profile.sources.interface import SOURCES, CountedJob


@pytest.fixture(autouse=True)
def _installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(qemu, "find_qemu", lambda: Installation(Path("/bin/qemu-x86_64"), "7.2", Path("/lib/v1.so")))
    monkeypatch.setattr(paths, "native_library", lambda name: Path("/lib") / name)
    for name in ("SLURM_JOB_ID", "SLURM_JOB_NUM_NODES"):
        monkeypatch.delenv(name, raising=False)


def test_the_markers_are_loaded_into_the_program_and_not_into_qemu(tmp_path: Path) -> None:
    job = CountedJob(tmp_path, "mpich", 4, 2, threads=3)
    source = SOURCES.get("qemu")()
    words, environment = source.prefix(job), source.environment(job)
    assert words[0] == "/bin/qemu-x86_64" and "LD_PRELOAD=/lib/libmanynode_markers_mpich.so" in words
    assert "LD_PRELOAD" not in environment
    assert environment["MANYNODE_MARKERS_COUNTERS"] == "qemu" and environment["MANYNODE_MARKERS_RANKS_PER_NODE"] == "2"
    content = json.loads(Path(environment["MANYNODE_NODE_RUN"]).read_text())
    assert (content["ranks"], content["threads"], content["node"]) == (4, 3, None)


def test_jobs_on_several_hosts_choose_their_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    job = CountedJob(tmp_path, "mpich", 4, 2)
    assert SOURCES.get("qemu")().environment(job)["UCX_TLS"] == "self,sm"
    monkeypatch.setenv("SLURM_JOB_NUM_NODES", "2")
    assert "UCX_TLS" not in SOURCES.get("qemu")().environment(job)


def give(monkeypatch: pytest.MonkeyPatch, directory: Path, counters: dict[str, list[float]], **report: Any) -> None:
    """One rank's markers with ``counters``, and its report."""
    records = pd.DataFrame(
        {
            **{"rank": 0, "node": 0, "sequence": range(4), "compute_s": 0.5},
            **{"phase": pd.Categorical(["", "work", "", "work"]), **counters},
        }
    )
    metadata = {"rank": 0, "pid": 100, "counters": list(counters)}
    file = MarkerFile(Path("rank-000000.mnmk"), metadata, records)
    monkeypatch.setattr(marker_counts, "read_marker_directory", lambda *_, **__: [file])
    content = {"rank": 0, "threads": 1, "threads_too_many": 0, "injected_bytes": 0, **report}
    (directory / "node-report.0.json").write_text(json.dumps(content))
    SOURCES.get("qemu")().environment(CountedJob(directory, "mpich", 1))  # writes the job's run file


COUNTS = {
    "ticks": [0.0] * 4,
    "instructions": [0.0, 10.0, 20.0, 40.0],
    "loads": [0.0, 1.0, 2.0, 3.0],
    "stores": [0.0, 1.0, 1.0, 1.0],
    "branches": [0.0, 2.0, 3.0, 4.0],
}


def test_counts_of_all_phases_and_of_named_ones(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    give(monkeypatch, tmp_path, COUNTS)
    table = SOURCES.get("qemu")().read(tmp_path, None).set_index("phase")
    assert table.loc["", ["instructions", "loads", "stores", "branches"]].tolist() == [70, 6, 3, 9]
    assert table.loc["work", "instructions"] == 50
    assert "seconds" not in table and "cycles" not in table and "ticks" not in table


def test_a_rank_without_the_plugin_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    give(monkeypatch, tmp_path, {})
    with pytest.raises(InputError, match="without the node model's plugin"):
        SOURCES.get("qemu")().read(tmp_path, None)


def test_threads_that_were_not_counted_are_an_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    give(monkeypatch, tmp_path, COUNTS, threads=1, threads_too_many=3)
    with pytest.raises(EngineFailedError, match="more threads than the experiment says"):
        SOURCES.get("qemu")().read(tmp_path, None)


def test_a_failure_is_explained_from_the_log(tmp_path: Path) -> None:
    log = tmp_path / "job.log"
    log.write_text("qemu: uncaught target signal 4 (Illegal instruction) - core dumped\n")
    error = EngineFailedError("the application failed")
    assert "QEMU does not emulate" in SOURCES.get("qemu")().explained(error, log).what
    assert SOURCES.get("callgrind")().explained(error, log) is error
