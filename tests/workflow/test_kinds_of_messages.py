"""Small programs of messages between ranks: what their derivation gives, with each MPI."""

from __future__ import annotations

from pathlib import Path

import pytest
from kinds import DEEP, POWERS, SQUARES, Kind, check, compiled

KINDS = [
    Kind("ring", "agreed"),
    Kind("line", "agreed"),
    Kind("null-peers", "agreed"),
    Kind("faces-2d", "agreed"),
    Kind("torus-2d", "agreed"),
    Kind("faces-3d", "agreed", ranks=DEEP),
    Kind("torus-3d", "agreed", ranks=DEEP),
    Kind("boxes-2d", "agreed"),
    Kind("corners-2d", "agreed"),
    Kind("boxes-3d", "agreed", ranks=DEEP),
    Kind("edges-3d", "agreed", ranks=DEEP),
    Kind("wait-one-by-one", "agreed", ranks=DEEP),
    Kind("wait-for-any", "agreed", says="which of them came first is not kept", ranks=DEEP),
    Kind("own-grid", "agreed"),
    Kind("high-grid", "agreed", says="at 64 ranks, parts of a box with the least surface", ranks=DEEP),
    Kind("waitany", "agreed", says="which of them came first is not kept"),
    Kind("persistent", "agreed"),
    Kind("even-and-odd", "agreed"),
    Kind("pipeline", "agreed"),
    Kind("sweeps", "agreed"),
    Kind("from-the-first", "agreed"),
    Kind("to-the-first-in-order", "agreed"),
    Kind("to-the-first-from-any", "agreed", says="receives from any source"),
    Kind("to-the-first-of-a-row", "approximate"),
    Kind("tree", "approximate"),
    Kind("doubling", "agreed", ranks=POWERS),
    Kind("doubling-sizes", "agreed", ranks=POWERS),
    Kind("dissemination", "agreed"),
    Kind("around-the-ring", "agreed"),
    Kind("all-shifts", "agreed"),
    Kind("all-pairs", "approximate", ranks=POWERS),
    Kind("transposed", "agreed", ranks=SQUARES),
    Kind("opposite", "approximate"),
    Kind("half-away", "approximate"),
    Kind("two-away", "agreed"),
]

pytestmark = [
    pytest.mark.long,
    pytest.mark.usefixtures("no_busy_start"),
    pytest.mark.parametrize("mpi", ["mpich", "openmpi"]),
]


@pytest.mark.parametrize("kind", KINDS, ids=[kind.name for kind in KINDS])
def test_a_kind_of_messages(kind: Kind, mpi: str, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    check(kind, compiled("messages.c", mpi, tmp_path_factory.getbasetemp()), tmp_path)
