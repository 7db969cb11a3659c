"""Which fields each call of a derived skeleton has: one table for the checks of a file.

``skeletons/derived/call_forms.cpp`` is the same in C++.
"""

from __future__ import annotations

from dataclasses import dataclass

WAITS_FOR_ONE = ("MPI_Wait", "MPI_Waitany")
BLOCKS = ("sent", "received")
"""Fields that are expressions of ``k``, the number of a block."""
WAITS = (*WAITS_FOR_ONE, "MPI_Waitall", "MPI_Waitsome")


@dataclass(frozen=True)
class CallForm:
    """Fields that a call must have and may have, besides ``when``."""

    required: tuple[str, ...]
    optional: tuple[str, ...] = ()

    @property
    def fields(self) -> tuple[str, ...]:
        return (*self.required, *self.optional)


_DRAWN_BLOCKS = ("MPI_Alltoallv", "MPI_Alltoallw", "MPI_Ialltoallv", "MPI_Ialltoallw")
_ROOTED = ("peer", "bytes")
_SIZED = ("bytes",)
_NEIGHBORS = ("sources", "destinations")
_MESSAGES: dict[str, tuple[str, ...]] = {"Send": ("peer", "bytes"), "Recv": ("peer", "bytes")}
_COLLECTIVES: dict[str, tuple[str, ...]] = {
    "Barrier": (),
    "Bcast": _ROOTED,
    "Reduce": _ROOTED,
    "Allreduce": _SIZED,
    "Scan": _SIZED,
    "Exscan": _SIZED,
    "Gather": _ROOTED,
    "Gatherv": (*_ROOTED, "received"),
    "Allgather": _SIZED,
    "Allgatherv": ("received",),
    "Scatter": _ROOTED,
    "Scatterv": (*_ROOTED, "sent"),
    "Alltoall": _SIZED,
    "Alltoallv": ("sent", "received"),
    "Alltoallw": ("sent", "received"),
    "Reduce_scatter_block": _SIZED,
    "Reduce_scatter": ("received",),
    "Neighbor_allgather": (*_SIZED, *_NEIGHBORS),
    "Neighbor_allgatherv": (*_SIZED, "received", *_NEIGHBORS),
    "Neighbor_alltoall": (*_SIZED, *_NEIGHBORS),
    "Neighbor_alltoallv": ("sent", "received", *_NEIGHBORS),
    "Neighbor_alltoallw": ("sent", "received", *_NEIGHBORS),
}


def _forms() -> dict[str, CallForm]:
    forms = {
        "MPI_Sendrecv": CallForm(
            ("peer", "bytes", "source"), ("tag", "receive_bytes", "receive_tag", "communicator")
        ),
    }  # fmt: skip
    for name, fields in _MESSAGES.items():
        forms[f"MPI_{name}"] = CallForm(fields, ("tag", "communicator"))
        forms[f"MPI_I{name.lower()}"] = CallForm((*fields, "request"), ("tag", "communicator"))
    for name, fields in _COLLECTIVES.items():
        forms[f"MPI_{name}"] = CallForm(fields, ("communicator",))
        forms[f"MPI_I{name.lower()}"] = CallForm((*fields, "request"), ("communicator",))
    forms |= {name: CallForm(("requests",), ("order", "take")) for name in WAITS}
    return forms | {"MPI_Wait": CallForm(("requests",), ("order", "take", "each"))}


CALL_FORMS = _forms()
"""MPI's name -> its form, of all calls of ``skeletons/include/manynode/mpi.hpp``."""
COLLECTIVES = frozenset(f"MPI_{way}" for name in _COLLECTIVES for way in (name, f"I{name.lower()}"))
"""MPI's names of the calls that all ranks of a communicator make together."""


def draws_blocks(operation: str) -> bool:
    """Say whether the blocks of a collective may be drawn: the ranks that send and receive one know the same size."""
    return operation in _DRAWN_BLOCKS


def block_fields(operation: str) -> tuple[str, ...]:
    """Return the fields of a call that have the bytes of each of its blocks; none of a call without counts."""
    form = CALL_FORMS.get(operation)
    return tuple(field for field in BLOCKS if form is not None and field in form.required)
