"""Refused writes: the folder is named, whichever process met the full disk and however it reported it."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from manynode import hostlock, refused_writes
from manynode.errors import EngineFailedError, OutputError
from manynode.snakemake_run import StepFailedError, run_snakemake

FULL = Path("/dev/full")


class Silent:
    """Tells nothing beside the steps."""

    def read(self, line: str) -> None:
        pass

    def words(self) -> str:
        return ""


def workflow(folder: Path, script: str, log: Path | None = None) -> None:
    """Run a script in the place of Snakemake."""
    command = [sys.executable, "-c", script, "--directory", str(folder)]
    run_snakemake(command, log or folder / "logs" / "snakemake.log", Silent())


def full_below(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """Let nothing be written to ``folder``."""

    def refused(tried: Path) -> OSError | None:
        return OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)) if tried == folder else None

    monkeypatch.setattr(refused_writes, "refused", refused)


@pytest.mark.skipif(not FULL.exists(), reason="the system has no /dev/full")
def test_a_write_to_an_open_file_gets_the_name_that_the_system_leaves_out(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="No space left") as caught, open(FULL, "wb", buffering=0) as file:
        with refused_writes.writes_to(tmp_path / "x.log"):
            file.write(b"x")
    assert caught.value.where == str(tmp_path / "x.log")


def test_what_has_a_name_and_what_is_no_refusal_stay_as_they_are(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError), refused_writes.writes_to(tmp_path):
        open(tmp_path / "missing")
    with pytest.raises(OSError, match="Interrupted"), refused_writes.writes_to(tmp_path):
        raise InterruptedError(errno.EINTR, os.strerror(errno.EINTR))


@pytest.mark.skipif(not FULL.exists(), reason="the system has no /dev/full")
def test_a_log_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    log = tmp_path / "snakemake.log"
    log.symlink_to(FULL)
    with pytest.raises(OutputError, match="No space left") as caught:
        workflow(tmp_path, "print('a step', flush=True)", log)
    assert caught.value.where == str(log)


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES], ids=errno.errorcode.get)
def test_snakemakes_own_traceback_becomes_an_error_with_the_folder(tmp_path: Path, number: int) -> None:
    with pytest.raises(OutputError) as caught:
        workflow(tmp_path, f"import os; raise OSError({number}, os.strerror({number}))")
    assert caught.value.where == str(tmp_path) and caught.value.found == os.strerror(number)
    assert "Traceback" not in caught.value.render()


def test_what_a_shell_says_of_a_log_that_it_cannot_open_is_understood(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="No space left"):
        workflow(tmp_path, "print('bash: logs/a.log: No space left on device'); raise SystemExit(1)")


def test_a_folder_that_takes_nothing_is_named_where_nobody_tells(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    full_below(monkeypatch, tmp_path)
    with pytest.raises(OutputError) as caught:
        workflow(tmp_path, "raise SystemExit(1)")
    assert caught.value.where == str(tmp_path)


def test_a_failure_of_another_kind_is_still_the_workflows(tmp_path: Path) -> None:
    with pytest.raises(EngineFailedError, match="the workflow failed"):
        workflow(tmp_path, "print('AttributeError: x'); raise SystemExit(1)")


def test_a_steps_error_is_shown_although_a_full_disk_cut_the_next_one_short(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = json.dumps({"message": "the counters are damaged", "exit_code": 3})
    script = f"import os; open(os.environ['MANYNODE_ERROR_FILE'], 'w').write({whole!r} + chr(10) + '{{\"mess'); exit(1)"
    with pytest.raises(StepFailedError, match="the counters are damaged") as caught:
        workflow(tmp_path, script)
    assert caught.value.exit_code == 3 and "nothing can be written" not in str(caught.value)
    full_below(monkeypatch, tmp_path)
    with pytest.raises(StepFailedError, match="nothing can be written below") as caught:
        workflow(tmp_path, script)
    assert caught.value.exit_code == 3 and str(tmp_path) in str(caught.value)


def test_a_lock_that_the_file_system_does_not_know_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def flock(*_: Any) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", flock)
    with pytest.raises(OutputError) as caught, hostlock.exclusive(tmp_path / ".lock", purpose="run"):
        pass
    assert caught.value.where == str(tmp_path / ".lock")


def test_an_unnamed_refusal_is_that_of_a_folder_of_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inputs, results = tmp_path / "inputs", tmp_path / "results"
    inputs.mkdir()
    results.mkdir()
    words = ["run", str(inputs / "experiment.yaml"), f"--directory={results}"]
    assert refused_writes.candidates(words)[:2] == [inputs, results]
    full_below(monkeypatch, results)
    error = refused_writes.unnamed(OSError(errno.ENOSPC, "No space left on device"), words)
    assert error.where == str(results) and "free space" in str(error.remedy)
    # Read-only is not full.
    other = refused_writes.unnamed(OSError(errno.EROFS, "Read-only file system"), words)
    assert other.found == "Read-only file system"
