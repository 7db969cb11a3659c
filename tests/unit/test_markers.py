"""Reading marker files: a written file comes back, a damaged one is an InputError and nothing else."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from manynode import markers, tables
from manynode.call_sites import CALL_SITE, parse_addr2line, short_function
from manynode.errors import InputError

STRINGS = b"\0stencil\0/no/such/prog\0exchange_halo\0"
PHASE, MODULE, SYMBOL = 1, 9, 23
DETAILS = [0, 3, 2, -4, 0]  # nothing at 0; at 1 a detail of three words


def build_file(
    *, rank: int = 0, size: int = 2, counters: tuple[str, ...] = ("instructions",), node: int = -1, host: str = "a",
    records: int = 4, flags: int = 0, metadata: object = None,
) -> bytes:  # fmt: skip
    """Return the bytes of a marker file with ``records`` calls, 10 us apart and 4 us long."""
    if metadata is None:
        metadata = {"host": host, "counters": counters, "operations": {"0": "MPI_Init", "9": "MPI_Isend"}}
    text = json.dumps(metadata).encode()
    text += b" " * (-len(text) % 8)
    strings = STRINGS + b"\0" * (-len(STRINGS) % 8)
    sites = np.zeros(2, CALL_SITE)
    sites["address"] = [0x401136, 0x7F0000001234]
    sites["module_offset"] = [0x1136, 0x1234]
    sites["symbol_offset"] = [0x1A, 0]
    sites["module"] = MODULE
    sites["symbol"] = [SYMBOL, 0]
    table = np.zeros(records, np.dtype([*markers.RECORD_FIELDS, ("counters", "<u8", (len(counters),))]))
    table["time_in_ns"] = 1_000_000 + 10_000 * np.arange(records)
    table["time_out_ns"] = table["time_in_ns"] + 4_000
    table["operation"][1:] = 9
    table["call_site"][1:] = 1
    table["bytes"], table["peer"], table["tag"] = 80, 1, 7
    table["phase"][2:] = PHASE
    table["flags"] = 1
    table["flags"][3:] |= markers.PHASE_INHERITED
    table["counters"] = 500
    table["request"] = np.arange(records) - 1
    table["detail"][2:] = 1
    words = np.array(DETAILS, np.int64)
    body = text + strings + sites.tobytes() + words.tobytes() + table.tobytes()
    header = np.zeros(1, markers.HEADER)
    header["magic"], header["version"], header["header_bytes"] = markers.MAGIC, markers.VERSION, 128
    header["rank"], header["world_size"], header["node"], header["flags"] = rank, size, node, flags
    header["record_bytes"], header["counter_count"] = table.dtype.itemsize, len(counters)
    header["call_site_count"], header["record_count"] = len(sites), records
    header["metadata_offset"], header["metadata_bytes"] = 128, len(text)
    header["strings_offset"], header["strings_bytes"] = 128 + len(text), len(strings)
    header["call_sites_offset"] = 128 + len(text) + len(strings)
    header["detail_words"] = len(words)
    header["records_offset"] = header["call_sites_offset"] + sites.nbytes + words.nbytes
    header["file_bytes"] = 128 + len(body) + 24
    header["start_ns"] = 1_000_000
    end = np.zeros(1, markers.END)
    end["record_count"], end["magic"] = records, markers.MAGIC_END
    return seal(header.tobytes() + body + end.tobytes())


def seal(data: bytes) -> bytes:
    """Return ``data`` with both checksums corrected, as far as it is long enough."""
    out = bytearray(data)
    if len(out) >= 152:
        words = np.frombuffer(bytes(out[:120]), "<u8")
        out[120:128] = np.add.reduce(words, dtype="u8").tobytes()
        body = bytes(out[128 : 128 + (len(out) - 152) // 8 * 8])
        out[-16:-8] = np.add.reduce(np.frombuffer(body, "<u8"), dtype="u8").tobytes()
    return bytes(out)


def parse(data: bytes) -> markers.MarkerFile:
    return markers.parse_marker_bytes(data, Path("rank-000000.mnmk"), resolve=False)


def test_a_written_file_comes_back() -> None:
    file = parse(build_file(node=3))
    table = file.records
    assert list(table.columns) == [*markers.COLUMNS, "instructions"]
    assert list(table["operation"]) == ["MPI_Init", "MPI_Isend", "MPI_Isend", "MPI_Isend"]
    assert list(table["phase"]) == ["", "", "stencil", "stencil"]
    assert list(table["phase_inherited"]) == [False, False, False, True]
    assert table["compute_s"].to_numpy() == pytest.approx([0, 6e-6, 6e-6, 6e-6])
    assert table["time_in_s"].to_numpy() == pytest.approx([0, 10e-6, 20e-6, 30e-6])
    assert list(table["call_site_name"][:2]) == ["exchange_halo+0x1a", "prog+0x1234"]
    assert (table["node"] == 3).all() and (table["instructions"] == 500).all()
    assert not file.metadata["incomplete"] and not file.metadata["truncated"]


def test_details_of_calls_come_back() -> None:
    file = parse(build_file())
    assert list(file.records["request"]) == [-1, 0, 1, 2]
    assert [file.detail(offset) for offset in file.records["detail"]] == [[], [], [2, -4, 0], [2, -4, 0]]


@pytest.mark.parametrize("length", [0, 4, -1, 1 << 40])
def test_a_detail_of_impossible_length_is_named(length: int) -> None:
    content = build_file()
    words = np.array(DETAILS, np.int64).tobytes()
    changed = np.array([0, length, *DETAILS[2:]], np.int64).tobytes()
    assert content.count(words) == 1
    with pytest.raises(InputError, match="impossible length"):
        parse(seal(content.replace(words, changed)))


def test_a_file_without_records_is_an_empty_table() -> None:
    table = parse(build_file(records=0)).records
    assert len(table) == 0 and list(table.columns) == [*markers.COLUMNS, "instructions"]


def test_flags_of_the_file_are_told() -> None:
    metadata = parse(build_file(flags=3)).metadata
    assert metadata["incomplete"] and metadata["truncated"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d[:100], "not a marker file"),
        (lambda d: b"", "not a marker file"),
        (lambda d: b"GARBAGE!" + d[8:], "not a marker file"),
        (lambda d: seal(d[:8] + b"\1\0\0\0" + d[12:]), "another version"),
        (lambda d: d[:-1], "cut off"),
        (lambda d: d + b"\0" * 8, "cut off"),
        (lambda d: d[:200] + b"?" + d[201:], "damaged"),
        (lambda d: d[:20] + b"\x01" + d[21:], "damaged"),
        (lambda d: seal(d[:119] + b"\x80" + d[120:]), "start time in a marker file is impossible"),
        (lambda d: seal(d[:-8] + b"\0" * 8), "the end of a marker file is damaged"),
    ],
)
def test_a_damaged_file_is_named(change, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        parse(change(build_file()))
    assert caught.value.where == "rank-000000.mnmk" and caught.value.remedy


@pytest.mark.parametrize(
    "metadata",
    [
        [],
        {"host": "a", "counters": ["rank"], "operations": {}},
        {"host": "a", "counters": [], "operations": {"0": "MPI_Init"}},
        {"host": "a", "counters": ["instructions"], "operations": {"0": "MPI_Init"}},
        {"host": "a", "counters": ["instructions"], "operations": {"x": "MPI_Init"}},
        {"counters": ["instructions"], "operations": {}},
    ],
)
def test_metadata_that_does_not_fit_is_an_input_error(metadata: object) -> None:
    with pytest.raises(InputError):
        parse(build_file(metadata=metadata))


@settings(max_examples=400, deadline=None)
@given(st.data())
def test_any_damage_gives_an_input_error_or_a_table(data: st.DataObject) -> None:
    content = bytearray(build_file())
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(content) - 1))
        content[at] = data.draw(st.integers(0, 255))
    cut = data.draw(st.integers(0, len(content)))
    damaged = bytes(content[:cut]) if data.draw(st.booleans()) else bytes(content)
    # with the checksums made right again, the checks behind them are reached
    for candidate in (damaged, seal(damaged)):
        try:
            parse(candidate)
        except InputError:
            pass


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 8 * 2000), st.binary(max_size=300))
def test_a_flipped_bit_never_passes(bit: int, garbage: bytes) -> None:
    content = bytearray(build_file())
    bit %= 8 * len(content)
    content[bit // 8] ^= 1 << (bit % 8)
    with pytest.raises(InputError):
        parse(bytes(content))
    with pytest.raises(InputError):
        parse(garbage)


def write_files(folder: Path, *files: bytes) -> None:
    for number, data in enumerate(files):
        (folder / f"rank-{number:06d}.mnmk").write_bytes(data)


def test_a_packed_file_is_read_as_it_was(tmp_path: Path) -> None:
    write_files(tmp_path, build_file())
    path = tmp_path / "rank-000000.mnmk"
    whole = markers.read_marker_file(path, resolve=False)
    tables.pack(path)
    assert path.read_bytes()[:2] == b"\x1f\x8b"
    packed = markers.read_marker_file(path, resolve=False)
    assert packed.records.equals(whole.records) and packed.metadata == whole.metadata
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(InputError, match="cannot be unpacked"):
        markers.read_marker_file(path, resolve=False)


def test_nodes_are_numbered_by_host(tmp_path: Path) -> None:
    write_files(tmp_path, *(build_file(rank=r, size=4, host=h) for r, h in enumerate(["b", "a", "b", "a"])))
    files = markers.read_marker_directory(tmp_path, resolve=False)
    assert [file.metadata["node"] for file in files] == [0, 1, 0, 1]
    assert list(markers.concatenate(files).groupby("rank")["node"].first()) == [0, 1, 0, 1]


def test_a_missing_rank_is_an_error_that_names_it(tmp_path: Path) -> None:
    write_files(tmp_path, build_file(rank=0, size=3), build_file(rank=2, size=3))
    (tmp_path / "rank-000001.error").write_text("the marker file could not be written: No space left on device\n")
    with pytest.raises(InputError, match=r"1 of 3 ranks missing: \[1\]") as caught:
        markers.read_marker_directory(tmp_path)
    assert "No space left" in str(caught.value)
    assert len(markers.read_marker_directory(tmp_path, complete=False, resolve=False)) == 2


def test_files_of_two_runs_are_an_error(tmp_path: Path) -> None:
    write_files(tmp_path, build_file(rank=0, size=2), build_file(rank=1, size=4))
    with pytest.raises(InputError, match="come from different runs"):
        markers.read_marker_directory(tmp_path)


def test_a_folder_without_files_or_no_folder_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no marker file"):
        markers.read_marker_directory(tmp_path)
    with pytest.raises(InputError, match="does not exist"):
        markers.read_marker_directory(tmp_path / "none")
    with pytest.raises(InputError, match="cannot be read"):
        markers.read_marker_file(tmp_path / "rank-000000.mnmk")


def test_addr2line_output_is_read_by_pairs() -> None:
    output = "main\n/src/main.c:12 (discriminator 3)\n??\n??:0\nhalo\n/src/halo.c:?\n"
    assert parse_addr2line(output, (1, 2, 3)) == {1: "main.c:12 main"}
    assert parse_addr2line("one line\n", (1,)) == {}


@pytest.mark.parametrize(
    ("signature", "name"),
    [
        ("main", "main"),
        ("solver::Matrix::exchange(std::vector<double, std::allocator<double> >&) const", "Matrix::exchange"),
        ("solver::(anonymous namespace)::run(int, char**)", "solver::run"),
        ("void apply<std::pair<int, int> >(int)", "apply"),
        ("Functor::operator()(int) const", "Functor::operator"),
    ],
)
def test_functions_are_named_without_arguments_and_namespaces(signature: str, name: str) -> None:
    assert short_function(signature) == name
