"""Small programs of requests and of what follows data: what their derivation gives, with each MPI."""

from __future__ import annotations

from pathlib import Path

import pytest
from kinds import Kind, check, compiled

KINDS = [
    Kind("sendrecv-replace", "agreed"),
    Kind("synchronous", "agreed"),
    Kind("to-itself", "agreed"),
    Kind("tags", "agreed"),
    Kind("any-tag", "agreed"),
    Kind("forgotten", "agreed"),
    Kind("freed", "agreed"),
    Kind("cancelled", "agreed"),
    Kind("asked-until-there", "agreed"),
    Kind("probed", "agreed"),
    Kind("from-any-neighbour", "agreed", says="receives from any source"),
    Kind("until-converged", "agreed"),
    Kind("turns-by-luck", "approximate"),
    Kind("partners-by-luck", "approximate"),
    Kind("sizes-by-luck", "agreed"),
    Kind("numbers-by-luck", "approximate"),
    Kind("puts", "refused", says="one-sided calls can be replayed"),
    Kind("two-worlds", "refused", says="skeletons have no intercommunicators"),
]

pytestmark = [
    pytest.mark.long,
    pytest.mark.usefixtures("no_busy_start"),
    pytest.mark.parametrize("mpi", ["mpich", "openmpi"]),
]


@pytest.mark.parametrize("kind", KINDS, ids=[kind.name for kind in KINDS])
def test_a_kind_loose(kind: Kind, mpi: str, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    check(kind, compiled("loose.c", mpi, tmp_path_factory.getbasetemp()), tmp_path)
