"""The recorded calls of a rank, as a skeleton writes them.

In: the :class:`~manynode.markers.MarkerFile` of one rank. Out: its calls in order, each with the requests that it makes
and completes, and the bytes of each block where a call has many. A skeleton has one form for several of MPI's calls:

- every kind of send is ``MPI_Send`` or ``MPI_Isend``, every kind of receive ``MPI_Recv`` or ``MPI_Irecv``;
- a persistent request is a new ``MPI_Isend`` or ``MPI_Irecv`` at each start;
- a test that completes requests is the wait for them; a test in vain is left out, as is MPI_Wait for a null request;
- a receive that was cancelled was never posted;
- probes and calls that move no data of the application are left out.

Calls on windows stay as they are: :mod:`phase2_nodesim.one_sided` needs all ranks for their form.

All functions here are pure, but for :func:`without_collector`.
"""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import pandas as pd

from manynode.errors import InputError
from manynode.markers import ANY_SOURCE_PEER, CPU_TIME, NO_PEER, UNKNOWN, MarkerFile

END = "MPI_Finalize"
UNKNOWN_REQUEST = -1

_LEFT_OUT = (
    "MPI_Init", "MPI_Comm_", "MPI_Cart_", "MPI_Graph_", "MPI_Dist_graph_", "MPI_Dims_", "MPI_Intercomm_",
    "MPI_Probe", "MPI_Iprobe", "MPI_Mprobe", "MPI_Improbe", "MPI_Request_", "MPI_Win_sync",
)  # fmt: skip
_STARTS = ("MPI_Start", "MPI_Startall")
_POLLS = ("MPI_Test", "MPI_Iprobe", "MPI_Improbe", "MPI_Win_test", "MPI_Request_get_status")
_MOST_BETWEEN_POLLS_S = 5e-6
"""Loops around tests need a tenth, also where ranks share cores; a task is longer."""
_MOST_LOST = 0.01
_LOST_BY_CHANCE_S = 1e-3
"""On a busy host interrupts and pages cost a rank as much that tests a hundred times."""
_WHOLE_RUN = "record a run that ends well, with fewer iterations if it was cut off"
_LABEL = "give what the program computes while it waits a label (MPI_Pcontrol), or let it wait in MPI_Wait"
_AT_ONCE = 1 << 14
"""Records whose columns are lists of Python's at one time."""
_READ = (
    "phase", "operation", "detail", "peer", "peer2", "bytes", "bytes2", "tag", "communicator", "any_source",
    "call_site_name",
)  # fmt: skip
"""The columns of a record that are read, beside the number of its request."""
REMOTE = {
    "MPI_Put", "MPI_Get", "MPI_Accumulate", "MPI_Get_accumulate", "MPI_Fetch_and_op", "MPI_Compare_and_swap",
    "MPI_Rput", "MPI_Rget", "MPI_Raccumulate", "MPI_Rget_accumulate",
}  # fmt: skip
_AS = {
    "MPI_Bsend": "MPI_Send", "MPI_Ssend": "MPI_Send", "MPI_Rsend": "MPI_Send",
    "MPI_Ibsend": "MPI_Isend", "MPI_Issend": "MPI_Isend", "MPI_Irsend": "MPI_Isend",
    "MPI_Mrecv": "MPI_Recv", "MPI_Imrecv": "MPI_Irecv", "MPI_Sendrecv_replace": "MPI_Sendrecv",
    "MPI_Test": "MPI_Wait", "MPI_Testall": "MPI_Waitall", "MPI_Testany": "MPI_Waitany",
    "MPI_Testsome": "MPI_Waitsome",
}  # fmt: skip


class RecordedCall(NamedTuple):
    """One call. Peers are ranks of MPI_COMM_WORLD or ``manynode.markers``' special ones; sizes are in bytes.

    ``phase`` joins the labels since the call before by ``+``. Requests are numbered from 0 in the order in which they
    are made; ``completes`` lists those that a wait completes, in its order, without null ones, and has
    ``UNKNOWN_REQUEST`` for one that the recording does not know. ``sent`` and ``received`` are the bytes of each block
    of a collective with counts, whose ``bytes`` are what the rank contributes (of MPI_Scatterv, what it gets), without
    ``bytes2``. ``wild``: a receive from any source. ``site`` names the call's place in the program, where the recording
    knows it. ``gaps`` are the numbers (``sequence``) of the records since the call before, this one included: the
    compute phases before them come before this call. Without a label, a phase between two tests or probes is left out:
    the program only waits. ``window`` are the words of a call on a window (``format.h``): its number among the rank's,
    then what the call adds, such as its group. ``record`` is the number of the call's own record. Calls that differ
    only in ``site``, ``gaps``, ``record`` and ``wild`` are equal: a skeleton does not have them.
    """

    operation: str
    phase: str
    peer: int = NO_PEER
    peer2: int = NO_PEER
    bytes: int = 0
    bytes2: int = 0
    tag: int = -1
    receive_tag: int = -1
    communicator: int = -1
    request: int = -1
    completes: tuple[int, ...] = ()
    sent: tuple[int, ...] = ()
    received: tuple[int, ...] = ()
    window: tuple[int, ...] = ()
    site: str = ""
    gaps: tuple[int, ...] = ()
    record: int = -1
    wild: bool = False

    def but(self, **fields: Any) -> RecordedCall:
        """Return the call with other values of some fields."""
        return self._replace(**fields)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RecordedCall) and self[:_COMPARED] == other[:_COMPARED]

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(self[:_COMPARED])

    def __repr__(self) -> str:
        words = [f"{name}={value!r}" for name, value in zip(self._fields[:_SHOWN], self, strict=False)]
        return f"RecordedCall({', '.join(words)})"


def called(call: RecordedCall) -> tuple[Any, ...]:
    """Return what a call is by itself: all that is compared but its phase and its requests."""
    return (call[0], *call[2:_REQUEST], *call[_REQUEST + 2 : _COMPARED])


def _without(calls: list[RecordedCall], requests: set[int]) -> list[RecordedCall]:
    """Return the calls but those that made these requests; the next call has their phases, requests are renumbered."""
    found: list[RecordedCall] = []
    number: dict[int, int] = {UNKNOWN_REQUEST: UNKNOWN_REQUEST}
    labels: list[str] = []
    gaps: tuple[int, ...] = ()
    for call in calls:
        if call.phase:
            labels.append(call.phase)
        gaps += call.gaps
        if call.request in requests:
            continue
        if call.request >= 0:
            number[call.request] = len(number) - 1
        completes = tuple(number[request] for request in call.completes)
        own = call.but(request=number[call.request], completes=completes, phase="+".join(labels), gaps=gaps)
        found.append(own)
        labels, gaps = [], ()
    return found


def _at(call: RecordedCall, phase: str, site: str, gaps: tuple[int, ...], record: int) -> RecordedCall:
    """As :meth:`RecordedCall.but`, for every call of a recording."""
    return RecordedCall._make((call[0], phase, *call[2:_COMPARED], site, gaps, record, call.wild))


def _numbered(call: RecordedCall, request: int) -> RecordedCall:
    return RecordedCall._make((*call[:_REQUEST], request, *call[_REQUEST + 1 :]))


_REQUEST = RecordedCall._fields.index("request")
_COMPARED = RecordedCall._fields.index("site")
_SHOWN = _COMPARED + 1


@contextlib.contextmanager
def without_collector() -> Iterator[None]:
    """Look for no reference cycles: calls are many and in none, and the search takes a quarter of the time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


@without_collector()
def rank_calls(file: MarkerFile, *, matched: bool = False, windows: bool = False) -> list[RecordedCall]:
    """Return the calls of one rank; the last is ``MPI_Finalize``, whose phase no other call follows.

    With ``matched``, a receive from any source names the rank whose message it got, where that is known. Without
    ``windows``, a call on a window is an :class:`InputError`.
    """
    calls = _Reader(file, matched).calls()
    first = next((call for call in calls if call.window), None)
    if first is not None and not windows:
        raise InputError(
            "one-sided calls can be replayed, but neither derived nor compared with a skeleton",
            where=str(file.path),
            found=f"{first.operation} at {first.site}",
            remedy="replay this run at its own number of ranks (application: recorded)",
        )
    return calls


def check_whole(files: Sequence[MarkerFile], what: str) -> None:
    """Raise :class:`InputError`, beginning with ``what``, for a recording without something that its rank did."""
    for file in files:
        if found := _lacking(file):
            raise InputError(what, where=str(file.path), found=found, remedy=_WHOLE_RUN)
        if found := _computes_between_polls(file):
            raise InputError(what, where=str(file.path), found=found, remedy=_LABEL)


def _lacking(file: MarkerFile) -> str:
    rank = file.metadata["rank"]
    if file.metadata["incomplete"]:
        return f"it ended before MPI_Finalize on rank {rank}"
    if file.metadata["truncated"]:
        return f"its last calls are missing on rank {rank}"
    if file.records["error"].any():
        row = file.records[file.records["error"]].iloc[0]
        return f"a call that failed: {row['operation']}@{row['call_site_name']}"
    return ""


def _computes_between_polls(file: MarkerFile) -> str:
    """Return where a rank computes without a label between two tests in vain, and more than a loop needs."""
    records = file.records
    computes_s = records[CPU_TIME] * 1e-9 if CPU_TIME in records else records["compute_s"]
    polls = _named(records["operation"], _POLLS)
    in_vain = polls & ~(_named(records["operation"], ("MPI_Test",)) & (records["detail"] != 0))
    only_waits = polls & in_vain.shift(fill_value=False) & (records["phase"] == "")
    waits = records[only_waits]
    place = waits["operation"].astype(str) + "@" + waits["call_site_name"].astype(str)
    found = pd.DataFrame({"place": place, "compute_s": computes_s[only_waits], "calls": 1 + waits["bytes2"]})
    sums = found.groupby("place").sum()
    long = sums[sums["compute_s"] > _MOST_BETWEEN_POLLS_S * sums["calls"]].sort_values("compute_s")
    lost_s = long["compute_s"].sum()
    if lost_s <= max(_MOST_LOST * computes_s.sum(), _LOST_BY_CHANCE_S):
        return ""
    most, share = long.iloc[-1], lost_s / computes_s.sum()
    return (
        f"{most['compute_s'] / most['calls'] * 1e6:.3g} us outside MPI before each {most.name} in vain, {share:.0%} of "
        f"what rank {file.metadata['rank']} computes"
    )


def _named(operations: pd.Series, beginnings: tuple[str, ...]) -> pd.Series:
    """Say of each record whether its call's name has one of the beginnings; the names are few, the records many."""
    return operations.isin([name for name in operations.unique() if str(name).startswith(beginnings)])


class _Row(NamedTuple):
    """What equal records have in common, made once; ``call`` is that of a record that is one call by itself."""

    operation: str
    phase: str
    site: str
    detail: list[int]
    polls: bool
    in_vain: bool
    peer: int
    tag: int
    call: RecordedCall | None


class _Reader:
    def __init__(self, file: MarkerFile, matched: bool) -> None:
        self.file = file
        self.matched = matched
        self.made = 0  # requests that the recording has numbered so far
        self.given = 0  # requests of the calls returned
        self.number: dict[int, int] = {}  # recorded number -> number of its latest start in the calls returned
        self.persistent: dict[int, RecordedCall] = {}
        self.labels: list[str] = []
        self.gaps: list[int] = []
        self.polled = False  # the record before was a test in vain or a probe
        self.cancelled: set[int] = set()  # of the requests given

    def calls(self) -> list[RecordedCall]:
        records = self.file.records
        found: list[RecordedCall] = []
        known: dict[tuple[Any, ...], _Row] = {}
        for start in range(0, len(records), _AT_ONCE):
            part = [records[name].iloc[start : start + _AT_ONCE].tolist() for name in ("request", *_READ)]
            for sequence, (request, *values) in enumerate(zip(*part, strict=True), start):
                key = tuple(values)
                if (row := known.get(key)) is None:
                    row = known[key] = self._row(dict(zip(_READ, values, strict=True)))
                self._add(row, sequence, request, found)
        return _without(found, self.cancelled) if self.cancelled else found

    def _row(self, row: dict[str, Any]) -> _Row:
        operation, detail = str(row["operation"]), self.file.detail(row["detail"])
        polls = operation.startswith(_POLLS)
        by_itself = not operation.startswith((*_STARTS, "MPI_Wait", "MPI_Test", "MPI_Cancel", *_LEFT_OUT))
        return _Row(
            operation, str(row["phase"] or ""), str(row["call_site_name"]), detail, polls,
            polls and not (operation.startswith("MPI_Test") and detail), int(row["peer"]), int(row["tag"]),
            self._call(operation, row, detail) if by_itself else None,
        )  # fmt: skip

    def _add(self, row: _Row, sequence: int, request: int, found: list[RecordedCall]) -> None:
        """Add the calls that a record stands for."""
        if row.phase:
            self.labels.append(row.phase)
        if row.phase or not (row.polls and self.polled):
            self.gaps.append(sequence)
        self.polled = row.in_vain
        if row.call is not None and not row.operation.endswith("_init"):
            calls = [row.call]
        else:
            calls = self._of_requests(row, request)
        if request >= 0:
            self.made = request + 1
            if calls:
                calls = [_numbered(calls[0], self._give(request))]
        if not calls:
            return
        phase, gaps = "+".join(self.labels), tuple(self.gaps)
        self.labels, self.gaps = [], []
        for call in calls:
            found.append(_at(call, phase, row.site, gaps, sequence))
            phase, gaps = call.phase, call.gaps

    def _of_requests(self, row: _Row, request: int) -> list[RecordedCall]:
        """Return the calls of a record that starts or completes requests, or is left out."""
        if row.operation.endswith("_init"):
            assert row.call is not None
            self.persistent[request] = row.call
            return []
        if row.operation in _STARTS:
            calls = [self._started(number) for number in self._absolute(row.detail)]
            return [calls[0].but(peer=row.peer, tag=row.tag)] if self.matched and len(calls) == 1 else calls
        if row.operation.startswith(("MPI_Wait", "MPI_Test")):
            return self._waits(row.operation, row.detail)
        if row.operation == "MPI_Cancel":
            self.cancelled.update(self.number[number] for number in self._absolute(row.detail))
        return []

    def _absolute(self, detail: list[int]) -> list[int]:
        """Return the recorded numbers of the requests in a detail, without null ones."""
        return [UNKNOWN_REQUEST if back == UNKNOWN else self.made - back for back in detail if back != 0]

    def _give(self, recorded: int) -> int:
        self.number[recorded] = self.given
        self.given += 1
        return self.number[recorded]

    def _started(self, recorded: int) -> RecordedCall:
        call = self.persistent.get(recorded)
        if call is None:
            return RecordedCall("MPI_Start", "", request=UNKNOWN_REQUEST)
        operation = "MPI_Irecv" if call.operation == "MPI_Recv_init" else "MPI_Isend"
        return call.but(operation=operation, request=self._give(recorded))

    def _waits(self, operation: str, detail: list[int]) -> list[RecordedCall]:
        if operation.startswith("MPI_Test") and not detail:
            return []
        completes = tuple(self.number.get(number, UNKNOWN_REQUEST) for number in self._absolute(detail))
        call = RecordedCall(_AS.get(operation, operation), "", completes=completes)
        # A wait for one request, a null one, returns at once.
        return [call] if completes or call.operation in ("MPI_Waitall", "MPI_Waitsome") else []

    def _call(self, operation: str, row: dict[str, Any], detail: list[int]) -> RecordedCall:
        if operation == END:
            return RecordedCall(END, "")
        call = RecordedCall(
            _AS.get(operation, operation), "", peer=int(row["peer"]), peer2=int(row["peer2"]), bytes=int(row["bytes"]),
            bytes2=int(row["bytes2"]), tag=int(row["tag"]), communicator=int(row["communicator"]),
        )  # fmt: skip
        if operation in REMOTE or operation.startswith("MPI_Win_"):
            return call.but(window=tuple(detail))
        if "endrecv" in operation:
            source = ANY_SOURCE_PEER if row["any_source"] and not self.matched else call.peer2
            return call.but(peer2=source, receive_tag=detail[0] if detail else -1, wild=bool(row["any_source"]))
        if row["any_source"]:
            call = call.but(wild=True) if self.matched else call.but(peer=ANY_SOURCE_PEER)
        if len(detail) > 1:
            sent = tuple(detail[1 : 1 + detail[0]])
            received = tuple(detail[2 + len(sent) :])
            own = call.bytes2 if "catterv" in operation else call.bytes
            return call.but(bytes=own, bytes2=0, sent=sent, received=received)
        return call
