"""Names of phases for people: short, distinct, without what all share."""

from __future__ import annotations

import shutil

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from manynode.call_sites import CALL_SITE, name_call_sites, parse_functions, short_function
from manynode.phase_names import by_call_sites, short_call, short_names

HALO = "LAMMPS_NS::CommBrick<double, 3>::exchange(std::vector<int>&)"
PAIR = f"MPI_Waitall@{HALO}+0x1a -> MPI_Irecv@{HALO}+0x2f"
SUM = "MPI_Irecv@lib.so+0x2f Comm::exchange -> MPI_Allreduce@lib.so+0x77 Thermo::compute"


def test_a_pair_of_calls_names_its_function_once() -> None:
    lines = "MPI_Waitall@halo.cpp:91 Halo::run -> MPI_Irecv@halo.cpp:95 Halo::run"
    other = "MPI_Irecv@halo.cpp:95 Halo::run -> MPI_Allreduce@cg.cpp:7 Cg::solve"
    assert short_names([lines, other, "symgs"]) == {
        lines: "Halo::run: Waitall:91 → Irecv:95",
        other: "Halo::run: Irecv:95 → Cg::solve: Allreduce:7",
        "symgs": "symgs",
    }


def test_signatures_lose_namespaces_arguments_and_templates() -> None:
    assert (
        short_names([PAIR, SUM])
        == {
            PAIR: "CommBrick::exchange: Waitall+0x1a → Irecv+0x2f",
            SUM: short_names([SUM])[SUM],
        }
        or len(short_names([PAIR])[PAIR]) <= 44
    )
    assert short_names([PAIR])[PAIR] == "CommBrick::exchange: Waitall+0x1a → Irecv+0x2f"
    assert short_names([SUM, PAIR])[SUM] == "Comm::exchange: Irecv+0x2f → Thermo::compute: Allreduce+0x77"


def test_what_all_names_share_is_dropped() -> None:
    found = [f"MPI_Wait@app.cpp:{n} main -> MPI_Send@app.cpp:{n + 1} main" for n in (10, 20)]
    assert list(short_names(found).values()) == ["Wait:10 → Send:11", "Wait:20 → Send:21"]
    labels = [f"solver/iteration/level {n}/{'very long phase name ' * 3}/end" for n in range(3)]
    assert list(short_names(labels).values()) == ["0", "1", "2"]


def test_names_that_differ_in_their_file_alone_get_it() -> None:
    found = [f"MPI_Wait@{file}.cpp:1 run -> MPI_Send@{file}.cpp:2 run" for file in ("a", "b")]
    other = "MPI_Wait@a.cpp:1 other -> MPI_Send@a.cpp:2 other"
    assert list(short_names([*found, other]).values()) == [
        "run (a.cpp): Wait:1 → Send:2",
        "run (b.cpp): Wait:1 → Send:2",
        "other: Wait:1 → Send:2",
    ]


def test_template_instances_are_told_apart_by_their_parameters() -> None:
    found = [
        f"MPI_Wait@ns::Halo<{real}, 3>::run(int)+0x1 -> MPI_Send@ns::Halo<{real}, 3>::run(int)+0x2"
        for real in ("double", "float")
    ]
    other = "MPI_Wait@main+0x1 -> MPI_Send@main+0x2"
    assert list(short_names([*found, other]).values()) == [
        "Halo::run<double, 3>: Wait+0x1 → Send+0x2",
        "Halo::run<float, 3>: Wait+0x1 → Send+0x2",
        "main: Wait+0x1 → Send+0x2",
    ]


def test_long_functions_are_cut_in_their_middle() -> None:
    function = "Communicator::" + "exchange_all_of_the_ghosts_" * 6
    found = short_names([f"MPI_Wait@a.cpp:10 {function} -> MPI_Send@a.cpp:11 {function}"])
    (text,) = found.values()
    assert len(text) <= 84 and "…" in text and text.startswith("exchange_all") and text.endswith("Wait:10 → Send:11")


def test_a_region_stands_before_its_calls() -> None:
    name = "solve/MPI_Wait@a.c:1 f -> MPI_Send@a.c:2 f"
    assert short_names([name]) == {name: "solve: f: Wait:1 → Send:2"}
    assert by_call_sites(name) and not by_call_sites("solve") and not by_call_sites("a -> b")


@given(st.lists(st.text(alphabet="ab:/ ->@+0x1MPI_", max_size=60), max_size=8, unique=True))
def test_different_names_stay_different(names: list[str]) -> None:
    found = short_names(names, 20)
    assert len(set(found.values())) == len(names) and all(len(text) <= 24 for text in found.values())


def test_names_that_differ_in_the_middle_alone_are_cut_around_it() -> None:
    names = [f"{'a' * 60}{letter}{'z' * 60}" for letter in "xy"]
    assert all(letter in text for letter, text in zip("xy", short_names(names).values(), strict=True))


def test_a_call_is_named_by_its_function_and_its_place() -> None:
    assert short_call("MPI_Wait@halo.cpp:9 Halo::run") == "MPI_Wait in Halo::run, halo.cpp:9"
    assert short_call("MPI_Wait@halo.cpp:9") == "MPI_Wait@halo.cpp:9"
    assert short_call(f"MPI_Wait@{HALO}+0x1a") == "MPI_Wait in CommBrick::exchange, +0x1a"
    assert short_call("something else") == "something else"


def test_functions_without_lines_are_read_where_the_place_is_not_known() -> None:
    output = "main\n/src/main.c:12\nns::halo(int)\n??:0\n??\n??:0\nnear\n??:?\n"
    assert parse_functions(output, (1, 2, 3, 4)) == {2: "ns::halo", 4: "near"}
    assert short_function("ns::A<int>::f(int) [clone .isra.0]") == "A::f"


@pytest.mark.skipif(shutil.which("c++filt") is None, reason="c++filt (binutils) is not installed")
def test_symbols_of_the_dynamic_linker_are_demangled() -> None:
    """As of a library without debug information: LAMMPS's liblammps.so."""
    symbol = "_ZN9LAMMPS_NS9CommBrick8exchangeEv"
    strings = b"\0no/such/lib.so\0" + symbol.encode() + b"\0mpi_send_\0"
    places = [strings.index(name.encode()) for name in (symbol, "mpi_send_")]
    sites = np.array([(0x7F00, 0x1A3, 0x1A, 1, place) for place in places], CALL_SITE)
    assert name_call_sites(sites, strings) == ["LAMMPS_NS::CommBrick::exchange()+0x1a", "mpi_send_+0x1a"]
    assert name_call_sites(sites, strings, resolve=False)[0] == f"{symbol}+0x1a"
