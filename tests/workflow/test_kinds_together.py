"""Small programs of collectives, communicators, sizes and loops: what their derivation gives, with each MPI."""

from __future__ import annotations

from pathlib import Path

import pytest
from kinds import DEEP, DIVIDED, HALF, Kind, check, compiled

KINDS = [
    Kind("reductions", "agreed"),
    Kind("gathers", "agreed"),
    Kind("roots", "agreed"),
    Kind("rotating-roots", "approximate"),
    Kind("alltoall", "agreed"),
    Kind("blocks", "agreed"),
    Kind("scans", "agreed"),
    Kind("nonblocking", "agreed"),
    Kind("neighborhoods", "approximate", says="neighbours of a collective over neighbours cannot be derived"),
    Kind("one-color", "agreed"),
    Kind("halves", "agreed"),
    Kind("parities", "agreed"),
    Kind("fours", "agreed"),
    Kind("reversed", "agreed"),
    Kind("some", "agreed"),
    Kind("duplicated", "agreed"),
    Kind("rows", "agreed"),
    Kind("columns", "agreed"),
    Kind("planes", "agreed", ranks=DEEP),
    Kind("first-half", "agreed", ranks=HALF),
    Kind("even-parts", "agreed", ranks=DIVIDED, target=48),
    Kind("uneven-parts", "agreed", ranks=DIVIDED, target=48),
    Kind("parts-with-borders", "agreed", ranks=DIVIDED, target=48),
    Kind("points-of-parts", "agreed", ranks=DIVIDED, target=48),
    Kind("larger-parts-last", "agreed", ranks=DIVIDED, target=48),
    Kind("rounded-up", "agreed", ranks=DIVIDED, target=48),
    Kind("sizes-of-ranks", "agreed"),
    Kind("sizes-of-levels", "agreed"),
    Kind("alternating-sizes", "agreed"),
    Kind("growing-sizes", "agreed"),
    Kind("nested-loops", "agreed"),
    Kind("now-and-then", "agreed"),
    Kind("turns-of-ranks", "agreed"),
    Kind("turns-of-levels", "agreed"),
]

pytestmark = [
    pytest.mark.long,
    pytest.mark.usefixtures("no_busy_start"),
    pytest.mark.parametrize("mpi", ["mpich", "openmpi"]),
]


@pytest.mark.parametrize("kind", KINDS, ids=[kind.name for kind in KINDS])
def test_a_kind_together(kind: Kind, mpi: str, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    check(kind, compiled("together.c", mpi, tmp_path_factory.getbasetemp()), tmp_path)
