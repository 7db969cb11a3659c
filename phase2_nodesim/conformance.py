"""Compares a skeleton's operations with those that the markers recorded of its application.

In: the text stream of ``manynode-skeleton stream --sink text`` and the marker files of a run. Out: the first call that
differs, as a message, or None. For each rank, the comparison covers in order: operation, label of the compute phase
before the call, peers as world ranks, bytes (also of each block), tags, communicator, and which requests a wait
completes. All functions here are pure.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from manynode.errors import InputError
from manynode.markers import NO_PEER, MarkerFile
from phase2_nodesim.arrivals import in_one_order
from phase2_nodesim.communicators import NEIGHBOUR, communicators
from phase2_nodesim.derive.recorded.places import passed, placed
from phase2_nodesim.derive.recorded.tested import goes_on, later_waits, with_later_waits
from phase2_nodesim.recording import END, RecordedCall, rank_calls

# As the fields of RecordedCall; the communicator is the last.
COLUMNS = [
    "rank", "operation", "phase", "peer", "peer2", "bytes", "bytes2", "tag", "receive_tag", "completes", "sent",
    "received", "communicator",
]  # fmt: skip

# The text sink's keys and the columns that they fill.
_KEYS = {
    "peer": "peer", "root": "peer", "source": "peer2", "bytes": "bytes", "receive_bytes": "bytes2", "tag": "tag",
    "communicator": "communicator", "receive_tag": "receive_tag",
}  # fmt: skip
_LISTS = {"ids": "completes", "sent": "sent", "received": "received"}
# Sums of what the lists hold, and what follows from them and the communicator.
_IGNORED_KEYS = {"size", "requests", "sources", "destinations"}
_CONTEXT_CALLS = 3


def promised_calls(text: str) -> pd.DataFrame:
    """Return one row per call of a text stream, with the columns ``COLUMNS``; the phase is the one before the call.

    Each rank ends with a row ``MPI_Finalize``, which carries a phase that no call follows. A line not of the text
    sink's form is an :class:`InputError`.
    """
    rows: list[dict[str, Any]] = []
    pending: list[str] = []
    made: dict[int, int] = {}  # number in a step -> number in the rank's order
    given = 0
    rank: int | None = None
    for number, line in enumerate(text.splitlines(), start=1):
        try:
            rank_word, _, operation, *pairs = line.split(" ")
            line_rank = int(rank_word)
            if rank is not None and line_rank != rank:
                rows.append(_row(rank, _call(END, pending)))
                pending, made, given = [], {}, 0
            rank = line_rank
            if operation == "compute":
                # A name may have spaces: call sites have.
                pending.append(line.split(" phase=", 1)[1])
                continue
            values = dict(pair.split("=", 1) for pair in pairs)
            row = _row(rank, _call(operation, pending))
            for key, value in values.items():
                if key == "request":
                    made[int(value)], given = given, given + 1
                elif key in _LISTS:
                    row[_LISTS[key]] = tuple(int(word) for word in value.split(",") if word)
                elif key not in _IGNORED_KEYS:
                    row[_KEYS[key]] = int(value)
            if row["received"]:
                row["bytes2"] = 0  # their sum
            # as the markers record them
            if operation.endswith("educe_scatter"):
                row["bytes"] = sum(row["received"])
            elif operation.endswith("eighbor_allgatherv"):
                row["sent"] = ()
            row["completes"] = tuple(made[number] for number in row["completes"])
        except (ValueError, KeyError, IndexError) as error:
            raise InputError(
                "a line of the operation stream cannot be read",
                where=f"line {number}",
                found=line,
                allowed="<rank> <number> <operation> key=value...",
                remedy=f"give the output of `manynode-skeleton stream --sink text` ({error})",
            ) from None
        rows.append(row)
        pending = []
    if rank is not None:
        rows.append(_row(rank, _call(END, pending)))
    return pd.DataFrame(rows, columns=COLUMNS)


def recorded_calls(files: list[MarkerFile], *, derived: bool = False) -> pd.DataFrame:
    """Return the calls of marked ranks with the columns ``COLUMNS``, as a skeleton writes them (:mod:`.recording`).

    In place of any source, a ``derived`` skeleton has those whose messages came, in ascending order; tests that only
    move a wait are in vain. A label before a call that is left out is joined to the next call's and is not lost.
    """
    calls = {int(file.metadata["rank"]): _rank_calls(file, derived) for file in files}
    if derived and any(map(goes_on, files)) and not any(call.phase for made in calls.values() for call in made):
        at = {rank: placed(made, file) for (rank, made), file in zip(calls.items(), files, strict=True)}
        tests = later_waits(at.values())
        at = {rank: with_later_waits(made, tests) for rank, made in at.items()}
        calls = {rank: [call for call in made if not passed(call.operation)] for rank, made in at.items()}
    return calls_frame(calls)


def calls_frame(calls: Mapping[int, Sequence[RecordedCall]]) -> pd.DataFrame:
    """Return the calls by rank with the columns ``COLUMNS``, one row per call."""
    return pd.DataFrame([_row(rank, call) for rank in sorted(calls) for call in calls[rank]], columns=COLUMNS)


def _rank_calls(file: MarkerFile, derived: bool) -> list[RecordedCall]:
    calls = in_one_order(rank_calls(file, matched=True)) if derived else rank_calls(file)
    if not any(NEIGHBOUR in call.operation for call in calls):
        return calls
    (members,) = communicators([file])
    return [members[call.communicator].without_nobody(call) if NEIGHBOUR in call.operation else call for call in calls]


def first_difference(recorded: pd.DataFrame, promised: pd.DataFrame) -> str | None:
    """Return the first difference between two frames of ``COLUMNS``, with the calls before it, or None.

    Communicators are numbered by their makers: each number recorded must stand for one promised number throughout a
    rank, whichever it is.
    """
    ranks = sorted(set(recorded["rank"]) | set(promised["rank"]))
    for rank in ranks:
        left = recorded[recorded["rank"] == rank].to_dict("records")
        right = promised[promised["rank"] == rank].to_dict("records")
        if not left or not right:
            return f"rank {rank} is only in the {'recording' if left else 'skeleton'}"
        right = _without_freed(left, right)
        communicators: dict[int, int] = {}
        for index in range(max(len(left), len(right))):
            application = left[index] if index < len(left) else None
            skeleton = right[index] if index < len(right) else None
            fields = _differing(application, skeleton, communicators)
            if fields:
                return _message(rank, index, fields, left, right)
    return None


def _without_freed(application: list[dict[str, Any]], skeleton: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Leave out where a skeleton completes what the application freed or forgot: a simulated rank has to.

    These are the waits that the application does not have, for requests that it never completes.
    """
    done = {request for call in application for request in call["completes"]}

    def freed(call: dict[str, Any]) -> bool:
        waits = call["operation"] == "MPI_Waitall" and call["completes"] and not call["phase"]
        return bool(waits) and not done & {*call["completes"]}

    left = [call for call in skeleton if not freed(call)]
    waits = [sum(call["operation"] == "MPI_Waitall" for call in calls) for calls in (application, left)]
    return left if waits[0] == waits[1] else skeleton


def _call(operation: str, phases: list[str]) -> RecordedCall:
    local = operation.startswith("MPI_Wait") or operation == END
    return RecordedCall(operation, "+".join(phases), communicator=-1 if local else 0)


def _row(rank: int, call: RecordedCall) -> dict[str, Any]:
    return {"rank": rank} | {column: getattr(call, column) for column in COLUMNS[1:]}


def _differing(
    application: dict[str, Any] | None, skeleton: dict[str, Any] | None, communicators: dict[int, int]
) -> list[str]:
    if application is None or skeleton is None:
        return ["operation"]
    fields = [column for column in COLUMNS[1:-1] if application[column] != skeleton[column]]
    if communicators.setdefault(application["communicator"], skeleton["communicator"]) != skeleton["communicator"]:
        fields.append("communicator")
    return fields


def _message(rank: int, index: int, fields: list[str], left: list[dict[str, Any]], right: list[dict[str, Any]]) -> str:
    lines = [f"rank {rank}, call {index}: the skeleton differs from the application in {', '.join(fields)}"]
    lines += [f"  both         {_render(call)}" for call in left[max(0, index - _CONTEXT_CALLS) : index]]
    lines.append(f"  application  {_render(left[index]) if index < len(left) else 'has ended'}")
    lines.append(f"  skeleton     {_render(right[index]) if index < len(right) else 'has ended'}")
    return "\n".join(lines)


def _render(call: dict[str, Any]) -> str:
    words = [f"[{call['phase'] or 'no label'}] {call['operation']}"]
    words += [f"{column}={call[column]}" for column in COLUMNS[3:] if call[column] not in (NO_PEER, 0, ())]
    return " ".join(words)
