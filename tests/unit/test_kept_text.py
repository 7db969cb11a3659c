"""Texts kept between runs."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from manynode.kept_text import kept_text


def test_a_text_is_made_once(tmp_path: Path) -> None:
    path = tmp_path / "cache" / "text"
    assert kept_text(path, lambda: "first\nsecond") == "first\nsecond"
    assert kept_text(path, lambda: pytest.fail("made again")) == "first\nsecond"


@pytest.mark.parametrize("damage", [b"", b"first\nsecond", b"\xff\xfe", b"0" * 64 + b"\nfirst"])
def test_a_damaged_file_is_made_again(tmp_path: Path, damage: bytes) -> None:
    path = tmp_path / "text"
    path.write_bytes(damage)
    assert kept_text(path, lambda: "whole") == "whole"
    assert kept_text(path, lambda: pytest.fail("made again")) == "whole"


def test_where_nothing_can_be_written_the_text_is_made_each_time(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for text in ("one", "other"):
        assert kept_text(tmp_path / "file" / "text", lambda text=text: text) == text
    assert os.listdir(tmp_path) == ["file"]
