"""Reading callgrind's dumps: totals by sequence number; cut or damaged files are InputErrors and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from manynode.callgrind import parse_totals
from manynode.errors import InputError

# Written by callgrind 3.19.0 with --combine-dumps=yes; the bodies are cut to a few lines.
PREFIX = """# callgrind format
version: 1
creator: callgrind-3.19.0
pid: 5198
cmd:  ./halo
"""
PART = """part: {part}


desc: I1 cache: 32768 B, 64 B, 8-way associative
desc: D1 cache: 32768 B, 64 B, 8-way associative
desc: LL cache: 8388608 B, 64 B, 16-way associative

desc: Timerange: Basic block 0 - 6509740
desc: Trigger: {trigger}

positions: line
events: Ir Dr Dw I1mr D1mr D1mw ILmr DLmr DLmw Bc Bcm Bi Bim
summary: 29494646 9995356 2930329 42822 175842 45712 10729 38653 28031 5757901 153987 144796 30862


ob=(9) /usr/lib/libuct.so.0.0.0
fl=(288) ???
fn=(3092) uct_init
0 2 0 1 1 0 0 1
cfn=(3100) uct_self_init
calls=1 0
0 2137 710 302 10 37 4 8 0 0 335 9 6 4

totals: {totals}

"""


def dump(part: int, trigger: str, totals: str) -> str:
    return PART.format(part=part, trigger=trigger, totals=totals)


GOOD = (
    PREFIX
    + dump(
        1,
        "Client Request: 0",
        "25310439 7487821 2929058 42808 174135 45754 10730 38655 28029 4925286 154296 144450 30872",
    )
    + dump(2, "Client Request: 1", "191 48 43")
    + dump(3, "Client Request: 2", "206363 80800 16243 23 2074 2058 0 0 0 32671 3126 7 3")
    + dump(4, "Program termination", "999 1 1")
)


def write(tmp_path: Path, text: str, name: str = "callgrind.5198") -> Path:
    path = tmp_path / name
    path.write_text(text)
    return path


def test_totals_are_read_by_sequence(tmp_path: Path) -> None:
    table = parse_totals(write(tmp_path, GOOD))
    assert list(table.columns) == "sequence Ir Dr Dw I1mr D1mr D1mw ILmr DLmr DLmw Bc Bcm Bi Bim".split()
    assert list(table["sequence"]) == [0, 1, 2]
    assert list(table["Ir"]) == [25310439, 191, 206363]
    assert list(table["Bcm"]) == [154296, 0, 3126], "callgrind leaves trailing zeros away"


def test_a_file_per_dump_is_the_same_table(tmp_path: Path) -> None:
    whole = parse_totals(write(tmp_path, GOOD))
    parts = GOOD[len(PREFIX) :].split("part: ")[1:]
    paths = [write(tmp_path, f"{PREFIX}part: {text}", f"part.{i}") for i, text in enumerate(parts)]
    assert parse_totals(reversed(paths)).equals(whole)


def test_threads_are_kept_apart_or_summed(tmp_path: Path) -> None:
    first = dump(1, "Client Request: 0", "100 10 1").replace("part: 1\n", "part: 1\nthread: 1\n")
    second = dump(1, "Client Request: 0", "7 2").replace("part: 1\n", "part: 1\nthread: 2\n")
    path = write(tmp_path, PREFIX + first + second + dump(2, "Program termination", "1"))
    assert parse_totals(path)[["Ir", "Dr", "Dw"]].to_numpy().tolist() == [[100, 10, 1]]
    assert parse_totals(path, thread=2)[["Ir", "Dr", "Dw"]].to_numpy().tolist() == [[7, 2, 0]]
    assert parse_totals(path, thread=None)[["Ir", "Dr", "Dw"]].to_numpy().tolist() == [[107, 12, 1]]


def test_a_process_that_was_killed_is_found_out(tmp_path: Path) -> None:
    path = write(tmp_path, GOOD[: GOOD.index("part: 4")])
    with pytest.raises(InputError, match="last dump"):
        parse_totals(path)
    assert len(parse_totals(path, complete=False)) == 3


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "empty"),
        ("hello\n", "not a callgrind file"),
        (GOOD[:-200], "cut off"),
        (GOOD.rstrip("\n"), "cut off"),
        (GOOD[len(PREFIX) + 200 :], "middle of a dump"),
        (GOOD.replace("totals: 191 48 43", "totals: 191 x 43"), "not numbers"),
        (GOOD.replace("totals: 191 48 43", "totals: 99999999999999999999"), "not numbers"),
        (GOOD.replace("totals: 191 48 43", "totals: 9999999999999999999"), "too large"),
        (GOOD.replace("totals: 191 48 43", "totals: " + "1 " * 14), "do not fit"),
        (GOOD.replace("Request: 1", "Request: abc"), "no sequence number"),
        (GOOD.replace("Request: 2", "Request: 1"), "same sequence number"),
        (GOOD.replace("Client Request", "Other"), "no marker named"),
        (GOOD.replace("events: Ir", "events: Cy", 1), "different events"),
        (GOOD.replace("part: 3", "pid: 7\npart: 3"), "more than one process"),
    ],
)
def test_damage_is_named(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        parse_totals(write(tmp_path, text))
    assert "callgrind.5198" in (caught.value.where or "")


def test_a_missing_file_is_an_input_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        parse_totals(tmp_path / "none")
    with pytest.raises(InputError, match="no callgrind file was given"):
        parse_totals([])


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_any_damage_gives_an_input_error_or_a_table(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    content = bytearray(GOOD.encode())
    for _ in range(data.draw(st.integers(0, 5))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    path = tmp_path_factory.getbasetemp() / "fuzzed"
    path.write_bytes(bytes(content[: data.draw(st.integers(0, len(content)))]))
    try:
        parse_totals(path)
    except InputError:
        pass


def test_the_dumps_of_two_processes_cannot_be_exchanged(tmp_path: Path) -> None:
    path = tmp_path / "callgrind.5198"
    path.write_text(GOOD)
    assert len(parse_totals(path, pid=5198)) > 0
    with pytest.raises(InputError, match=r"(?s)from the process in its name.*pid 5198.*pid 5199"):
        parse_totals(path, pid=5199)
