"""What the engine says while it runs, in a log and on a terminal."""

from __future__ import annotations

import pytest

from phase3_sst.point.point_progress import shown


def test_in_a_log_each_line_stays(capfd: pytest.CaptureFixture[str]) -> None:
    with shown(True) as sink:
        assert sink is not None
        sink("replica 0: 1 s simulated [a]")
        sink("replica 0: 2 s simulated [b]")
    assert capfd.readouterr().err.splitlines() == ["replica 0: 1 s simulated [a]", "replica 0: 2 s simulated [b]"]


def test_on_a_terminal_the_lines_of_each_process_renew_themselves(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    with shown(True) as sink:
        assert sink is not None
        for line in ("process 1 of 2: a", "process 2 of 2: b", "process 1 of 2: [c]"):
            sink(line)
    text = capfd.readouterr().err
    assert "process 1 of 2: [c]" in text and "process 2 of 2: b" in text


def test_nobody_asks_nothing_is_said() -> None:
    with shown(False) as sink:
        assert sink is None
