"""A recording -> the stream of calls that the skeleton ``recorded`` replays, schema ``recorded-stream/2``.

In: the marker files of all ranks of a run. Out: a mapping to write as JSON: the distinct calls of the job, and for each
rank the numbers of its calls in order. Requests count backwards from the call (1: the last one made before it). A
recording that cannot be replayed exactly is an :class:`InputError`: an incomplete one, requests that the markers could
not follow, calls that skeletons do not have.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from manynode import tables
from manynode.errors import InputError
from manynode.markers import NO_PEER, UNKNOWN, MarkerFile, read_marker_directory
from phase2_nodesim.communicators import NEIGHBOUR, Member, communicators
from phase2_nodesim.one_sided import with_windows
from phase2_nodesim.recording import UNKNOWN_REQUEST, RecordedCall, called, check_whole, rank_calls
from phase2_nodesim.segments import segment_table

SCHEMA = "recorded-stream/2"
_REFUSED = "a recording cannot be replayed"
FILE = "recorded-stream.json"
# Fields with these values are left out.
_UNSAID = {
    "bytes": 0, "receive_bytes": 0, "receive_tag": -1, "peer": NO_PEER, "source": NO_PEER, "communicator": 0, "tag": -1,
    "window": 0,
}  # fmt: skip


def write_recorded_stream(recording: Path, output: Path) -> dict[str, Any]:
    """Write the stream of the marker files in ``recording`` to ``output`` unless it is there; return it.

    Its ``digest`` is that of the marker files.
    """
    digest = recording_digest(recording)
    if output.is_file():
        try:
            head = tables.read_json(output, SCHEMA)
        except InputError:
            head = {}  # cut off, or of an older version: it is written again
        if head.get("digest") == digest and "by_node" in head:
            return head
    stream = {**recorded_stream(read_marker_directory(recording), str(recording)), "digest": digest}
    tables.write_json(output, SCHEMA, stream)
    return stream


def recording_digest(recording: Path) -> str:
    """Return a digest of the marker files in a folder."""
    total = hashlib.sha256()
    for path in sorted(recording.glob("rank-*.mnmk")):
        total.update(path.name.encode() + hashlib.sha256(path.read_bytes()).digest())
    return total.hexdigest()[:16]


def recorded_stream(files: list[MarkerFile], where: str) -> dict[str, Any]:
    """Return the content of a ``recorded-stream/2`` file; ``where`` names the recording in errors."""
    ordered = sorted(files, key=lambda file: file.metadata["rank"])
    check_whole(ordered, _REFUSED)
    known = communicators(ordered)
    job = _Job(where)
    calls = with_windows(
        [rank_calls(file, matched=True, windows=True) for file in ordered],
        known,
        lambda rank, found: _refused(ordered[rank].path.name, where, found, "record a run without these calls"),
    )
    streams = [job.stream(*rank) for rank in zip(ordered, calls, known, strict=True)]
    groups: dict[int, set[tuple[int, ...]]] = {}
    for members in known:
        for member in members.values():
            groups.setdefault(member.number, set()).add(member.members)
    return {
        "ranks": len(ordered),
        "phases": list(job.phases),
        "communicators": [sorted(groups.get(number, ())) for number in range(1, max(groups, default=0) + 1)],
        # What the skeleton needs not: on other nodes these have other members.
        "by_node": sorted({member.number for members in known for member in members.values() if member.by_node}),
        "calls": [json.loads(call) for call in job.calls],
        "streams": streams,
    }


def _refused(file: str, where: str, found: str, remedy: str = "record a run that ends well") -> InputError:
    return InputError(_REFUSED, where=f"{where}: {file}", found=found, remedy=remedy)


class _Job:
    """Numbers the phases and the distinct calls of all ranks."""

    def __init__(self, where: str) -> None:
        self.where = where
        self.phases: dict[str, int] = {}
        self.calls: dict[str, int] = {}

    def stream(self, file: MarkerFile, calls: list[RecordedCall], members: dict[int, Member]) -> list[int]:
        """Return the numbers of the calls of one rank."""
        segments = segment_table(file.records)
        names = dict(zip(segments["sequence"], segments["phase"], strict=True))
        made = 0
        waited: set[int] = set()
        numbers = []
        # Most calls of a rank are repeated.
        known: dict[tuple[Any, ...], int] = {}
        for call in calls[:-1]:
            requests: tuple[int, ...] = ()
            if call.completes or call.operation == "MPI_Start":
                if UNKNOWN_REQUEST in call.completes or call.operation == "MPI_Start":
                    what = f"{call.operation} of a request that the markers do not know"
                    raise _refused(file.path.name, self.where, what)
                waited.update(call.completes)
                requests = tuple(made - request for request in call.completes)
            phases = tuple(self._phases(call, names))
            key = (*called(call), requests, phases)
            if key not in known:
                known[key] = self._number(self._described(call, members, requests, phases, file))
            numbers.append(known[key])
            made += call.request >= 0
        # A skeleton completes what it starts. What the program freed completes at the end of the run.
        left = [made - request for request in range(made) if request not in waited]
        if left:
            numbers.append(self._number({"call": "MPI_Waitall", "requests": left}))
        # The compute phases after the last call.
        numbers.append(self._number({"phases": self._phases(calls[-1], names)}))
        return numbers

    def _number(self, call: dict[str, Any]) -> int:
        return self.calls.setdefault(json.dumps(call, sort_keys=True), len(self.calls))

    def _phases(self, call: RecordedCall, names: dict[int, str]) -> list[int]:
        return [self.phases.setdefault(names[gap], len(self.phases)) for gap in call.gaps if gap in names]

    def _described(
        self, call: RecordedCall, members: dict[int, Member], requests: Sequence[int], phases: Sequence[int],
        file: MarkerFile,
    ) -> dict[str, Any]:  # fmt: skip
        """Return a call with its fields, without those that have nothing to say."""
        member = members.get(call.communicator)
        fields: dict[str, Any] = {"bytes": call.bytes, "receive_bytes": call.bytes2, "receive_tag": call.receive_tag}
        if member is not None:
            for name, peer in (("peer", call.peer), ("source", call.peer2)):
                if peer == UNKNOWN:
                    raise _refused(file.path.name, self.where, f"{call.operation} with a process that is no rank of it")
                fields[name] = NO_PEER if peer == NO_PEER else member.rank_of(peer)
            fields |= {"communicator": member.number, "tag": call.tag}
            if NEIGHBOUR in call.operation:
                fields |= {"sources": member.sources, "destinations": member.destinations}
        fields |= {
            "requests": requests,
            "sent": call.sent,
            "received": call.received,
            "phases": phases,
            "window": call.window[0] if call.window else 0,
            "group": call.window[1:],
        }
        said = {key: value for key, value in fields.items() if value != _UNSAID.get(key) and value not in ([], ())}
        return {"call": call.operation, **said}
