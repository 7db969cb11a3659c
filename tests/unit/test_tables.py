"""Files between the phases: whole or not at all, refused when they are of another schema, same content same bytes."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from manynode import artefacts, seal, tables
from manynode.errors import InputError, OutputError

FRAME = pd.DataFrame({"rank": [0, 1], "seconds": [0.5, 0.25]})


def test_a_table_reads_back_with_its_provenance(tmp_path: Path) -> None:
    path = tmp_path / "a" / "t.parquet"
    tables.write_table(path, "counters/1", FRAME, {"seed": 1})
    pd.testing.assert_frame_equal(tables.read_table(path, "counters/1", ["rank"]), FRAME)
    assert tables.read_provenance(path, "counters/1") == {"seed": 1}


def test_the_same_content_gives_the_same_bytes(tmp_path: Path) -> None:
    tables.write_table(tmp_path / "a", "counters/1", FRAME)
    tables.write_table(tmp_path / "b", "counters/1", FRAME)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_another_schema_is_refused_with_found_and_allowed(tmp_path: Path) -> None:
    tables.write_table(tmp_path / "t", "counters/2", FRAME)
    with pytest.raises(InputError) as caught:
        tables.read_table(tmp_path / "t", "counters/1")
    assert "counters/2" in caught.value.render() and "counters/1" in caught.value.render()


def test_a_missing_column_is_named(tmp_path: Path) -> None:
    tables.write_table(tmp_path / "t", "counters/1", FRAME)
    with pytest.raises(InputError, match="no column loads"):
        tables.read_table(tmp_path / "t", "counters/1", ["loads"])


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_a_damaged_table_brings_no_traceback(data: st.DataObject, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("t") / "t.parquet"
    tables.write_table(path, "counters/1", FRAME)
    content = bytearray(path.read_bytes())[: data.draw(st.integers(0, path.stat().st_size))]
    for _ in range(data.draw(st.integers(0, 4))):
        if content:
            content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    changed = bytes(content) != path.read_bytes()
    path.write_bytes(bytes(content))
    try:
        tables.read_table(path, "counters/1")
        assert not changed
    except InputError as error:
        assert str(path) in error.render()


@pytest.mark.parametrize("kind", ["parquet", "json", "html"])
def test_no_flipped_bit_is_read(kind: str, tmp_path: Path) -> None:
    """Every byte of a file counts, also those of its metadata and of its checksum."""
    path = tmp_path / f"x.{kind}"
    with artefacts.bound(tmp_path, lambda _place: artefacts.Identity("d")):
        write = {
            "parquet": lambda: tables.write_table(path, "counters/1", FRAME, {"seed": 1}),
            "json": lambda: tables.write_json(path, "a/1", {"value": [1, 2.5, "x"]}),
            "html": lambda: tables.write_page(path, "<html>\n<head>\n</head>\n<body>1</body></html>"),
        }[kind]
        write()
    sound = path.read_bytes()
    assert seal.checksum(sound) is not None
    for position in range(len(sound)):
        damaged = bytearray(sound)
        damaged[position] ^= 1 << (position % 8)
        assert seal.checksum(bytes(damaged)) is None, position


def test_a_file_of_another_place_or_experiment_is_refused(tmp_path: Path) -> None:
    first, second = tmp_path / "ext.json", tmp_path / "no-ext.json"
    digest = "one"
    with artefacts.bound(tmp_path, lambda _place: artefacts.Identity(digest)):
        for path in (first, second):
            tables.write_json(path, "a/1", {"value": path.name})
        second.write_bytes(first.read_bytes())
        with pytest.raises(InputError, match=r"no-ext\.json[^$]*it is 'ext\.json'"):
            tables.read_json(second, "a/1")
        digest = "two"
    with artefacts.bound(tmp_path, lambda _place: artefacts.Identity(digest)):
        with pytest.raises(InputError, match="another experiment"):
            tables.read_json(first, "a/1")


def test_a_step_writes_what_its_files_were_made_from(tmp_path: Path) -> None:
    def identity_of(place: str) -> artefacts.Identity | None:
        return artefacts.Identity("d", measured=place == "measured.json") if place.endswith(".json") else None

    with artefacts.bound(tmp_path, identity_of):
        tables.write_json(tmp_path / "other.json", "a/1", {})
        tables.write_json(tmp_path / "measured.json", "a/1", {})
    with artefacts.bound(tmp_path, identity_of):
        tables.read_json(tmp_path / "measured.json", "a/1")
        tables.write_json(tmp_path / "made.json", "a/1", {})
    told = {name: json.loads((tmp_path / name).read_text()) for name in ("measured.json", "made.json")}
    assert "made_from" not in told["measured.json"]
    checksum = told["measured.json"]["checksum"].removeprefix("sha256:")
    assert told["made.json"]["made_from"] == {"measured.json": checksum}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "1",
        '{"schema": "other/1"}',
        '{"a": 1}',
        "\x00\xff",
        "[" * 100_000,
        '{"schema": "timing-profile/1", "a": "\\ud800"}',
    ],
)
def test_a_document_that_is_not_ours_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "x.json"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(InputError):
        tables.read_json(path, "timing-profile/1")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")
def test_a_full_disk_keeps_the_old_file_and_names_the_remedy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.json"
    tables.write_json(path, "a/1", {"value": 1})

    def fill(self: Path, *_args: object, **_kwargs: object) -> None:
        with open("/dev/full", "w") as sink:
            sink.write("x" * 100_000)

    monkeypatch.setattr(Path, "write_bytes", fill)
    with pytest.raises(OutputError, match="free space"):
        tables.write_json(path, "a/1", {"value": 2})
    assert tables.read_json(path, "a/1")["value"] == 1
    assert [entry.name for entry in tmp_path.iterdir()] == ["x.json"]
