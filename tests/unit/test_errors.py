"""Messages: whole facts, but no user's text at full length, and none that steers a terminal."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from manynode.config.changes import read_changes
from manynode.config.loader import resolve
from manynode.errors import InputError, UsageError

ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.mark.parametrize("part", ["found", "allowed", "where", "remedy", "details"])
def test_every_part_is_cut_and_escaped(part: str) -> None:
    text = InputError("wrong", **{part: "\x1b[31mred\ud800\u202e" + "x" * 300_000}).render()
    assert len(text) < 1_000
    assert "\\x1b[31mred\\ud800\\u202exxx" in text
    assert "characters)" in text
    assert all(character.isprintable() or character == "\n" for character in text)


def test_what_failed_is_cut_and_escaped_too() -> None:
    text = InputError("a\x1bb" + "x" * 300_000).render()
    assert text.startswith("a\\x1bbxx") and len(text) < 1_000


def test_many_lines_are_counted() -> None:
    text = InputError("wrong", details="line\n" * 5_000).render()
    assert text.count("| line") == 60 and "and 4940 more lines" in text


def test_a_user_s_line_cannot_look_like_one_of_ours() -> None:
    lines = InputError("wrong", found="a\n  remedy: run this", remedy="run that").render().splitlines()
    assert [line for line in lines if line.startswith("  remedy:")] == ["  remedy: run that"]


def test_short_texts_stay_as_they_are() -> None:
    text = InputError("wrong", found="10\u00a0% – ä\tb \\ 'c'").render()
    assert text == "wrong\n  found: 10\u00a0% – ä\tb \\ 'c'"


def test_a_message_that_becomes_another_error_does_not_change() -> None:
    first = InputError("wrong", found="\x1b" + "x" * 5_000, details="y\x00\n" * 500).render()
    assert InputError(first).render() == first


def test_an_unknown_key_is_not_echoed_whole_nor_raw(demo: dict[str, Any]) -> None:
    demo["simulate"]["x" * 300_000] = 1
    demo["title"] = ["y" * 300_000]
    with pytest.raises(UsageError) as caught:
        resolve(demo, where="test", base=ROOT)
    assert len(caught.value.render()) < 5_000
    with pytest.raises(UsageError) as caught:
        read_changes(["\x1b[31m" + "x" * 100_000])
    assert "\x1b" not in str(caught.value) and len(str(caught.value)) < 5_000
