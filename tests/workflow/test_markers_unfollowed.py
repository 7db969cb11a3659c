"""What the markers do not follow is named, with both MPIs, and nothing of such a run is kept."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from marker_jobs import LIMIT_S, Mpi

from manynode.errors import InputError
from manynode.process import run
from phase2_nodesim.record import record_run


def refused(mpi: Mpi, folder: Path, *words: str) -> str:
    """Record the program of everything that the markers do not follow; return what the refusal names."""
    with pytest.raises(InputError, match="what recordings do not follow") as caught:
        record_run(folder, [str(mpi.program("unfollowed.c")), *words], mpi.flavour, 2, timeout_s=LIMIT_S)
    assert not folder.exists(), "nothing is kept"
    return str(caught.value.found)


def test_what_the_markers_do_not_follow_is_named_before_a_recording_is_kept(mpi: Mpi, tmp_path: Path) -> None:
    found = refused(mpi, tmp_path / "run")
    for words in (
        "unfollowed_c: MPI functions of its own",
        "MPI: calls of more than one thread",
        "MPI_Cancel: of a message that is no receive",
        "MPI_Send: an error returned to the program",
    ):
        assert words in found
    if mpi.version >= 4:
        assert "MPI_Allreduce_init: persistent collectives" in found
        assert "MPI_Psend_init: partitioned messages" in found
        assert refused(mpi, tmp_path / "session", "session") == "MPI_Session_init: sessions"


def test_mpi_past_the_markers_is_named(mpi: Mpi, tmp_path: Path) -> None:
    listing = run(["ldd", mpi.program("halo.c")], what="its libraries").output
    library = re.search(r"(libmpi(?:ch)?\.so\.\d+)", listing)
    assert library is not None
    assert refused(mpi, tmp_path / "run", library[1]) == "MPI_Init: looked up by the program itself (dlopen, dlsym)"
