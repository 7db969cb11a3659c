"""When and where an experiment was run: once per code and host, in the logs and in the report."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import report_fixture as fixture

from manynode import run_record
from manynode.report.load import load
from manynode.report.page import render
from manynode.run_record import Run, record_run, recorded_runs


def test_a_run_is_recorded_once_per_code_and_host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert recorded_runs(tmp_path) == []
    monkeypatch.setattr(run_record, "_commit", lambda: "c0ffee")
    for day, host in ((0, "a"), (86400, "a"), (86400, "b")):
        monkeypatch.setenv("SOURCE_DATE_EPOCH", str(day))
        monkeypatch.setattr("platform.node", lambda host=host: host)
        record_run(tmp_path)
    first, second = recorded_runs(tmp_path)
    assert first == Run(day="1970-01-01", host="a", commit="c0ffee")
    assert second == Run(day="1970-01-02", host="b", commit="c0ffee")
    (tmp_path / "logs/run-record.json").write_text("{")
    record_run(tmp_path)
    assert [run.host for run in recorded_runs(tmp_path)] == ["b"]


def test_the_commit_is_that_of_the_checkout() -> None:
    assert re.fullmatch(r"([0-9a-f]{12,40}(-dirty)?)?", run_record._commit())


def test_the_report_has_day_host_and_commit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("manynode.report.page.vega_bundle", lambda: "")
    monkeypatch.setattr(run_record, "_commit", lambda: "c0ffee")
    monkeypatch.setattr("platform.node", lambda: "<host>")
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    fixture.write_results(tmp_path, parts=())
    assert "<dt>run</dt>" not in render(load(tmp_path))
    record_run(tmp_path)
    assert "<dt>run</dt><dd>1970-01-01 on &lt;host&gt;, commit <code>c0ffee</code></dd>" in render(load(tmp_path))
