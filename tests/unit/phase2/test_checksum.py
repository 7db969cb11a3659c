"""The result of an application under an engine, compared with its native result."""

from __future__ import annotations

from pathlib import Path

import pytest

from manynode.errors import EngineFailedError
from phase2_nodesim.checksum import check_against_profiled


def job(folder: Path, **logs: str) -> Path:
    folder.mkdir()
    for name, text in logs.items():
        (folder / f"{name.replace('_', '-')}.log").write_text(text)
    return folder


def test_the_same_checksum_is_returned_from_whichever_log_has_it(tmp_path: Path) -> None:
    native = job(tmp_path / "native", job="a: 1\nchecksum: 12.5\n") / "job.log"
    assert check_against_profiled(native, job(tmp_path / "1", job="checksum: 12.5\n"), "it") == "12.5"
    guests = job(tmp_path / "2", job="nothing", guests_0="warn: x\nchecksum: 12.5\n")
    assert check_against_profiled(native, guests, "it") == "12.5"


def test_another_checksum_is_an_error(tmp_path: Path) -> None:
    native = job(tmp_path / "native", job="checksum: 12.5\n") / "job.log"
    with pytest.raises(EngineFailedError, match="it computed a different result") as caught:
        check_against_profiled(native, job(tmp_path / "1", guests_0="checksum: 12.6\n"), "it")
    assert caught.value.found == "checksum 12.6" and "12.5" in str(caught.value.allowed)


def test_without_a_checksum_there_is_nothing_to_compare(tmp_path: Path) -> None:
    native = job(tmp_path / "native", job="checksum: 12.5\n") / "job.log"
    assert check_against_profiled(native, job(tmp_path / "1", job="done\n"), "it") is None
    assert check_against_profiled(tmp_path / "absent", tmp_path / "1", "it") is None
