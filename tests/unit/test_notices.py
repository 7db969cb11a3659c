"""Warnings of steps reach their log and the run."""

from __future__ import annotations

from pathlib import Path

import pytest

from manynode.notices import NOTICE_FILE, Notices, progress, warn


def test_a_warning_reaches_log_and_run_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "notices").write_text('"of an earlier run"\n')
    notices = Notices(tmp_path / "notices")
    assert notices.new() == []
    for name, value in notices.environment().items():
        monkeypatch.setenv(name, value)
    warn("one\ntwo")
    warn("three")
    assert notices.new() == ["one\ntwo", "three"] and notices.new() == []
    warn("four")
    assert notices.new() == ["four"]
    assert "manynode: warning: three" in capsys.readouterr().err


def test_half_a_line_waits_for_its_end(tmp_path: Path) -> None:
    notices = Notices(tmp_path / "notices")
    (tmp_path / "notices").write_text('"whole"\n"ha')
    assert notices.new() == ["whole"]
    (tmp_path / "notices").write_text('"whole"\n"half"\n')
    assert notices.new() == ["half"]


def test_a_step_without_a_run_only_logs(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.delenv(NOTICE_FILE, raising=False)
    warn("alone")
    assert capsys.readouterr().err == "manynode: warning: alone\n"


def test_the_latest_progress_is_kept_apart_from_warnings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    notices = Notices(tmp_path / "notices.jsonl")
    for name, value in notices.environment().items():
        monkeypatch.setenv(name, value)
    assert notices.new() == [] and notices.progress == ""
    progress("replica 1: 5 % done")
    warn("a warning")
    progress("replica 1: 40 % done")
    assert notices.new() == ["a warning"]
    assert notices.progress == "replica 1: 40 % done"
