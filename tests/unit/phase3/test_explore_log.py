"""The log of questions survives a killed server, and several servers share it."""

from __future__ import annotations

from pathlib import Path

import pytest

from manynode.errors import UsageError
from phase3_sst.explore.question import Question, question_of
from phase3_sst.explore.question_log import MOST_OF_A_NOTE, QuestionLog


def question(nodes: int) -> Question:
    return question_of({"nodes": nodes})


def test_questions_notes_and_the_pin_are_kept_in_order(tmp_path: Path) -> None:
    log, other = (QuestionLog(tmp_path / "questions.jsonl") for _ in range(2))
    log.asked("a", question(4))
    other.asked("b", question(8))
    other.asked("b", question(8))
    log.note("a", "slow\nlinks")
    log.pin("b")
    log.asked("a", question(4))
    first, second = other.entries()
    assert (first["digest"], first["note"], first["pinned"]) == ("a", "slow\nlinks", False)
    assert first["time"] > first["first"] and question_of(first["question"]) == question(4)
    assert (second["digest"], second["pinned"], other.pinned()) == ("b", True, "b")
    assert len((tmp_path / "questions.jsonl").read_text().splitlines()) == 5, "asked twice in a row is asked once"
    log.pin(None)
    assert other.pinned() is None and not any(entry["pinned"] for entry in log.entries())


def test_half_a_line_of_a_killed_server_costs_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "questions.jsonl"
    log = QuestionLog(path)
    log.asked("a", question(4))
    with open(path, "ab") as sink:
        sink.write(b'{"kind": "asked", "digest": "b", "que')
    assert [entry["digest"] for entry in log.entries()] == ["a"]
    log.asked("c", question(8))
    assert [entry["digest"] for entry in QuestionLog(path).entries()] == ["a", "c"]


def test_a_note_has_a_limit(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="too long"):
        QuestionLog(tmp_path / "log").note("a", "x" * (MOST_OF_A_NOTE + 1))


def test_a_log_that_is_not_there_is_empty(tmp_path: Path) -> None:
    assert QuestionLog(tmp_path / "none" / "log").entries() == []
