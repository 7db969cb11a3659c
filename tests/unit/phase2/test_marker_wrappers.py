"""The wrappers of the markers library, as they are generated from the table of prototypes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import phase2_nodesim
from phase2_nodesim.markers.generate import Prototype, large_variant, read_table, wrapper

TABLE = Path(phase2_nodesim.__file__).parent / "markers" / "prototypes.txt"
COLLECTIVES = (
    "Barrier", "Bcast", "Gather", "Gatherv", "Scatter", "Scatterv", "Allgather", "Allgatherv", "Alltoall", "Alltoallv",
    "Alltoallw", "Reduce", "Allreduce", "Reduce_scatter", "Reduce_scatter_block", "Scan", "Exscan",
    "Neighbor_allgather", "Neighbor_allgatherv", "Neighbor_alltoall", "Neighbor_alltoallv", "Neighbor_alltoallw",
)  # fmt: skip
UNFOLLOWED = {
    **{f"{name}_init": "persistent collectives" for name in COLLECTIVES},
    "Psend_init": "partitioned messages",
    "Precv_init": "partitioned messages",
    "Session_init": "sessions",
    "Comm_spawn": "spawned processes",
    "Comm_spawn_multiple": "spawned processes",
    "Comm_accept": "processes of another job",
    "Comm_connect": "processes of another job",
    "Comm_join": "processes of another job",
}


def prototype(name: str) -> Prototype:
    (found,) = [one for one in read_table(TABLE, {name}) if one.name == name]
    return found


@pytest.mark.parametrize(("name", "why"), UNFOLLOWED.items())
def test_what_is_not_followed_says_so_and_is_called(name: str, why: str) -> None:
    text = wrapper(prototype(name), {name})
    assert f'mk_not_followed_call("MPI_{name}", "{why}", site);' in text
    assert re.search(rf"mk_real\.{name}\(", text) and f"int MPI_{name}(" in text and f"int PMPI_{name}(" in text


def test_persistent_collectives_take_counts_of_both_sizes() -> None:
    (large,) = [one for one in read_table(TABLE, {"Allreduce_init_c"}) if one.name == "Allreduce_init_c"]
    assert "MPI_Count count" in large.declared_arguments and "MPI_Info info" in large.declared_arguments
    assert large.declared_arguments == large_variant(prototype("Allreduce_init")).declared_arguments


@pytest.mark.parametrize("name", ["Iprobe", "Win_test", "Request_get_status"])
def test_a_call_in_vain_is_marked(name: str) -> None:
    assert "if (!*flag) record->flags |= MK_RECORD_IN_VAIN;" in wrapper(prototype(name), {name})
