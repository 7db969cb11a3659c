"""Counts of each compute phase, read at the guests' marks around MPI calls: one line of JSON per phase."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import m5

from phase2_nodesim.gem5.board.ending import stop
from phase2_nodesim.gem5.board.node import Node, Slot

Source = tuple[str, Callable[[], float]]
_COMMANDS = ("ReadReq", "ReadExReq", "ReadSharedReq", "ReadCleanReq", "WriteReq", "UpgradeReq")
_KNOWN = "manynode knows releases 24 and 25; without counts: nodesim: gem5: statistics: false"


class Counts:
    """Counts of a rank's cores; those between ``begin`` and ``end`` belong to a compute phase.

    A phase ends with a recorded call; the row is written when that call has been made, since one that the bridge
    refuses is none. A pause takes its time out of the phase.
    """

    def __init__(self, board: dict[str, Any], node: Node, path: str | None) -> None:
        threads = board["threads"]
        self._ranks = [guest["rank"] for guest in board["guests"]]
        self._output = None if path is None else open(path, "w", encoding="utf-8")
        self._instructions = [_scalar("instructions", slot.cpu, "commitStats0.numInsts") for slot in node.slots]
        self._sources = [
            [_sources(slot) for slot in _of(node.slots, index, threads)] for index in range(len(self._ranks))
        ]
        self._names = [name for name, _ in self._sources[0][0]]
        self._start: list[list[float] | None] = [None for _ in self._ranks]
        self._sum = [self._zeros() for _ in self._ranks]
        self._ended: list[int | None] = [None for _ in self._ranks]
        self._sequence = [0 for _ in self._ranks]
        # Ticks of all pauses so far, which are no part of a rank's time, and when the one that goes on began.
        self._away = [0 for _ in self._ranks]
        self._paused: list[int | None] = [None for _ in self._ranks]
        self._write({"columns": ["rank", "sequence", "tick", *self._names]})

    def begin(self, rank: int, is_call: bool) -> None:
        """Handle the mark after a call or a pause."""
        if self._output is None:
            return
        index = rank - self._ranks[0]
        ended = self._ended[index]
        if is_call and ended is not None:
            self._write([rank, self._sequence[index], ended, *self._sum[index]])
            self._sequence[index] += 1
            self._ended[index] = None
            self._sum[index] = self._zeros()
        paused = self._paused[index]
        if not is_call and paused is not None:
            self._away[index] += m5.curTick() - paused
            self._paused[index] = None
        self._start[index] = self._read(index)

    def end(self, rank: int, is_call: bool) -> None:
        """Handle the mark before a call or a pause."""
        if self._output is None:
            return
        index = rank - self._ranks[0]
        start = self._start[index]
        if start is not None:
            now = self._read(index)
            self._sum[index] = [total + b - a for total, a, b in zip(self._sum[index], start, now, strict=True)]
            self._start[index] = None
        if not is_call:
            self._paused[index] = m5.curTick()
        elif self._ended[index] is None:
            self._ended[index] = m5.curTick() - self._away[index]

    def instructions(self) -> float:
        """Return the instructions of all ranks so far."""
        return sum(read() for _, read in self._instructions)

    def close(self) -> None:
        """Write the remaining counts."""
        if self._output is not None:
            self._output.close()

    def _zeros(self) -> list[float]:
        return [0.0] * len(self._names)

    def _read(self, index: int) -> list[float]:
        columns = zip(*([read() for _, read in sources] for sources in self._sources[index]), strict=True)
        return [sum(column) for column in columns]

    def _write(self, line: Any) -> None:
        if self._output is not None:
            self._output.write(json.dumps(line) + "\n")


def _of(slots: list[Slot], index: int, threads: int) -> list[Slot]:
    return slots[index * threads : (index + 1) * threads]


def _sources(slot: Slot) -> list[Source]:
    """Return (name, reader) for every recorded count of one core."""
    cpu = slot.cpu
    # Demand only: what a prefetcher brings is counted under a name of its own.
    # gem5 names requestors without the system that they are in.
    name = cpu.path().partition(".")[2]
    data, code = f"{name}.data", f"{name}.inst"
    found = [
        _scalar("cycles", cpu, "numCycles"),
        _scalar("idle_cycles", cpu, "idleCycles"),
        _scalar("instructions", cpu, "commitStats0.numInsts"),
        _scalar("operations", cpu, "commitStats0.numOps"),
        _scalar("loads", cpu, "commitStats0.numLoadInsts"),
        _scalar("stores", cpu, "commitStats0.numStoreInsts"),
        _scalar("branch_misses", cpu, "commit.branchMispredicts"),
        _scalar("fetch_icache_stall_cycles", cpu, "fetchStats0.icacheStallCycles"),
        _cycles_with_commits(cpu),
        _scalar("dtlb_read_misses", cpu.mmu.dtb, "rdMisses"),
        _scalar("dtlb_write_misses", cpu.mmu.dtb, "wrMisses"),
        _of_requestor("l1i_misses", cpu.icache, "mshrMisses", code),
        _of_requestor("l1d_misses", cpu.dcache, "mshrMisses", data),
        _of_requestor("l1d_miss_ticks", cpu.dcache, "mshrMissLatency", data),
    ]
    for level, below in (("l2", slot.l2), ("last_level", slot.last_level)):
        if below is not None:
            found.append(_of_requestor(f"{level}_misses", below, "mshrMisses", data))
            found.append(_of_requestor(f"{level}_code_misses", below, "mshrMisses", code))
    return found


def _stat(owner: Any, name: str) -> Any:
    try:
        return owner.resolveStat(name)
    except KeyError:
        return None


def _needed(owner: Any, statistic: str) -> Any:
    stat = _stat(owner, statistic)
    if stat is None:
        stop(f"this gem5 has no statistic {statistic} of {owner.path()}; {_KNOWN}")
    return stat


def _scalar(name: str, owner: Any, statistic: str) -> Source:
    stat = _needed(owner, statistic)
    return name, lambda: float(stat.value)


def _cycles_with_commits(cpu: Any) -> Source:
    """Return the cycles in which the core committed at least one operation."""
    stat = _needed(cpu, "commit.numCommittedDist")

    def read() -> float:
        stat.prepare()  # distributions are read from a copy
        return float(sum(stat.values[1:]) + stat.overflow)

    return "commit_cycles", read


def _of_requestor(name: str, cache: Any, statistic: str, requestor: str) -> Source:
    """Return the counts of ``cache`` for ``requestor``, summed over the kinds of request."""
    kinds = [stat for stat in (_stat(cache, f"{command}.{statistic}") for command in _COMMANDS) if stat is not None]
    if not kinds:
        stop(f"this gem5 has no statistic {statistic} of {cache.path()}; {_KNOWN}")
    # Requestors get their numbers when the simulation begins.
    place: list[int] = []

    def read() -> float:
        if not place:
            place.extend(number for number, text in enumerate(kinds[0].subnames) if text == requestor)
            if not place:
                stop(f"{cache.path()} does not count {requestor} apart; {_KNOWN}")
        return float(sum(stat.value[place[0]] for stat in kinds))

    return name, read
