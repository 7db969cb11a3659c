"""Converts SST's statistics of merlin's ports to rows of the common tables ``links``, ``link_jobs`` and ``series``.

A pure function. In: the text of the CSV files of SST's processes (``statistics.csv``, or ``statistics_P.csv`` of
process P), and the run. Out: one row per link that carried packets, ordered by number; with ``counters``, rows per
interval. Bytes are those on the wire, with firefly's headers. Packets count as chunks.

A link's busy time is its bits over its rate. Its stall time, which is also its credit stall, is merlin's
``output_port_stalls``: the time in which packets were ready for the link, but the buffer behind it was full. The fast
engine's stall time is the time in the queue before a busy link; merlin has no counter for it. The inq stall is
``xbar_stalls`` of the input port behind the link: crossbar cycles in which the port had a packet, but none moved.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from manynode.errors import EngineFailedError
from phase3_sst.engines.sst.machine.links import link_of_port, switch_behind_port
from phase3_sst.engines.sst.machine.rates import rates_of
from phase3_sst.engines.sst.machine.sst_run_file import Run
from phase3_sst.engines.sst.machine.switches import crossbar_period_s
from phase3_sst.engines.sst.machine.wiring import Link, wiring_of

# SST's default core time base.
_TICKS_PER_SECOND = 1e12
_COLUMNS = ("ComponentName", "StatisticName", "StatisticSubId", "SimTime", "Sum.u64", "Count.u64")


@dataclass(frozen=True)
class Use:
    """The use of a link up to a time."""

    bits: int = 0
    packets: int = 0
    stall_ticks: int = 0
    inq_ticks: int = 0

    def since(self, before: Use) -> Use:
        """Return the difference to the earlier use ``before``."""
        return self.plus(Use(-before.bits, -before.packets, -before.stall_ticks, -before.inq_ticks))

    def plus(self, other: Use) -> Use:
        """Return the sum of both."""
        return Use(
            self.bits + other.bits,
            self.packets + other.packets,
            self.stall_ticks + other.stall_ticks,
            self.inq_ticks + other.inq_ticks,
        )


class PortCounts:
    """All counts of a run, per link and per time of writing."""

    def __init__(self, run: Run, files: Iterable[str]) -> None:
        self._run = run
        rates = rates_of(run.network, wiring_of(run.network["topology"]))
        self._rates = rates.classes
        self._periods = [crossbar_period_s(run, rates, switch) for switch in range(len(rates.routers))]
        self._knows_inq = None not in self._periods
        self._behind = switch_behind_port(run)
        self._links: dict[int, Link] = {}
        self._counts: dict[int, dict[int, dict[str, int]]] = {}
        self._inq_ticks: dict[tuple[int, int], int] = {}  # (link, time)
        ports = link_of_port(run)
        for text in files:
            for row in _rows(text):
                self._add(row, ports)

    def _add(self, row: Mapping[str, str], ports: Mapping[tuple[str, str], Link]) -> None:
        # SST reports a part of a component under the component's name; some releases, under both names.
        place = row["ComponentName"].split(":")[0], row["StatisticSubId"]
        if row["StatisticName"] == "xbar_stalls" and place in self._behind:
            before, switch = self._behind[place]
            cycles, period = int(row["Sum.u64"]), self._periods[switch] or 0.0
            self._inq_ticks[before.id, int(row["SimTime"])] = round(cycles * period * _TICKS_PER_SECOND)
            return
        link = ports.get(place)
        if link is None:
            return
        self._links[link.id] = link
        counts = self._counts.setdefault(link.id, {}).setdefault(int(row["SimTime"]), {})
        counts[row["StatisticName"]] = int(row["Sum.u64"])
        if row["StatisticName"] == "send_bit_count":
            counts["packets"] = int(row["Count.u64"])

    def _use(self, link: int, time: int) -> Use:
        counts = self._counts[link][time]
        return Use(
            counts.get("send_bit_count", 0),
            counts.get("packets", 0),
            counts.get("output_port_stalls", 0),
            self._inq_ticks.get((link, time), 0),
        )

    def links(self) -> list[dict[str, Any]]:
        """Return the rows of ``links`` without the column replica."""
        rows = []
        for number, link in sorted(self._links.items()):
            use = self._use(number, max(self._counts[number]))
            if use.packets:
                rows.append(
                    {
                        "link": number,
                        "class": link.cls,
                        "source": link.source,
                        "target": link.target,
                        **self._load(link.cls, use),
                        **self._stalls(use),
                        "queue_max_bytes": None,
                    }
                )
        return rows

    def _load(self, cls: str, use: Use) -> dict[str, Any]:
        return {
            "bytes": use.bits // 8,
            "chunks": use.packets,
            "busy_s": use.bits / 8 / self._rates[cls],
            "stall_s": use.stall_ticks / _TICKS_PER_SECOND,
        }

    def _stalls(self, use: Use) -> dict[str, float | None]:
        return {
            "credit_stall_s": use.stall_ticks / _TICKS_PER_SECOND,
            "inq_stall_s": use.inq_ticks / _TICKS_PER_SECOND if self._knows_inq else None,
        }

    def link_jobs(self) -> list[dict[str, Any]]:
        """Return the rows of ``link_jobs`` without the column replica; empty where several jobs share the links."""
        if len(self._run.jobs) > 1:
            return []
        sums: dict[str, dict[str, Any]] = {}
        for row in self.links():
            of_class = sums.setdefault(row["class"], {"bytes": 0, "chunks": 0, "busy_s": 0.0, "stall_s": 0.0})
            for key in of_class:
                of_class[key] += row[key]
        order = wiring_of(self._run.network["topology"]).classes
        return [{"job": 0, "class": cls, **sums[cls]} for cls in order if cls in sums]

    def series(self) -> list[dict[str, Any]]:
        """Return the rows of ``series`` without the column replica: only intervals with traffic."""
        if self._run.counters is None:
            return []
        per_link = self._run.counters["per"] == "link"
        rows: dict[tuple[int, int, str, int | None], Use] = {}
        for number, link in sorted(self._links.items()):
            start, before = 0, Use()
            for time in sorted(self._counts[number]):
                now = self._use(number, time)
                use = now.since(before)
                key = (start, time, link.cls, number if per_link else None)
                if use != Use():
                    rows[key] = rows.get(key, Use()).plus(use)
                start, before = time, now
        order = {cls: place for place, cls in enumerate(wiring_of(self._run.network["topology"]).classes)}
        found = []
        for (start, end, cls, of_link), use in sorted(rows.items(), key=lambda row: (row[0][:2], order[row[0][2]])):
            load = self._load(cls, use)
            del load["chunks"]
            found.append(
                {
                    "start_s": start / _TICKS_PER_SECOND,
                    "end_s": end / _TICKS_PER_SECOND,
                    "class": cls,
                    "link": of_link,
                    **load,
                    **self._stalls(use),
                    "queue_bytes": None,
                }
            )
        return found


def _rows(text: str) -> Iterable[dict[str, str]]:
    reader = csv.DictReader(io.StringIO(text), skipinitialspace=True)
    missing = [name for name in _COLUMNS if name not in (reader.fieldnames or ())]
    if missing:
        raise EngineFailedError(
            "SST's statistics have other columns",
            found=", ".join(reader.fieldnames or ()) or "an empty file",
            allowed=", ".join(_COLUMNS),
            remedy="this release of SST writes them differently; see phase3_sst/engines/sst/machine/statistics_file.py",
        )
    return reader
