"""SST's port statistics (CSV of sst.statOutputCSV) -> rows of ``links.csv`` and ``link_jobs.csv``.

merlin counts per port of a router, and per link control of a NIC: bits and packets sent, the time during which a packet
was ready and had no credit or output (stalls), and the idle time; times are in the time base of SST's core, 1 ps.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

import pandas as pd

from manynode.errors import EngineFailedError

_SECONDS = 1e-12
_COLUMNS = ("ComponentName", "StatisticName", "StatisticSubId", "SimTime", "Sum.u64", "Count.u64")
_BITS, _STALLS, _IDLE = "send_bit_count", "output_port_stalls", "idle_time"


class Link(Protocol):
    """A link as ``phase3_sst.sst_machine`` describes it."""

    @property
    def id(self) -> int: ...
    @property
    def cls(self) -> str: ...
    @property
    def source(self) -> str: ...
    @property
    def target(self) -> str: ...


def read_ports(files: Sequence[Path]) -> pd.DataFrame:
    """Return component, port, bits, packets, stalls and idle time [s] and the end [s] of each port that sent."""
    frames = []
    for path in files:
        try:
            frames.append(pd.read_csv(path, usecols=list(_COLUMNS), keep_default_na=False, skipinitialspace=True))
        except (OSError, ValueError) as error:
            raise EngineFailedError(
                "SST's statistics cannot be read",
                where=str(path),
                found=str(error).splitlines()[0],
                allowed="columns " + ", ".join(_COLUMNS),
                remedy="this release of SST may write them otherwise: report it with the file",
            ) from None
    if not frames:
        raise EngineFailedError("SST left no statistics", remedy="see SST's output for what it says about its files")
    table = pd.concat(frames, ignore_index=True)
    # The link control of a NIC may be nested in others: "host_5:rtrLink:networkIF".
    table["component"] = table["ComponentName"].str.split(":").str[0]
    sums = _pivot(table, "Sum.u64")
    ports = pd.DataFrame(
        {
            "bits": sums.get(_BITS, 0),
            "packets": _pivot(table, "Count.u64").get(_BITS, 0),
            "stall_s": _SECONDS * sums.get(_STALLS, 0.0),
            "idle_s": _SECONDS * sums.get(_IDLE, 0.0),
            "end_s": _SECONDS * table.groupby(["component", "StatisticSubId"])["SimTime"].max(),
        }
    ).rename_axis(["component", "port"])
    return ports[ports["bits"] > 0].reset_index()


def _pivot(table: pd.DataFrame, values: str) -> pd.DataFrame:
    return table.pivot_table(
        index=["component", "StatisticSubId"], columns="StatisticName", values=values, aggfunc="sum", fill_value=0
    )


def link_rows(ports: pd.DataFrame, links: Mapping[tuple[str, str], Link], replica: int) -> pd.DataFrame:
    """Return the rows of ``links.csv`` of one replica, by link."""
    rows = []
    for port in ports.itertuples(index=False):
        link = links.get((port.component, port.port))
        if link is None:
            continue
        rows.append(
            {
                "replica": replica,
                "link": link.id,
                "class": link.cls,
                "source": link.source,
                "target": link.target,
                "bytes": round(port.bits / 8),
                "chunks": float(port.packets),
                "busy_s": max(0.0, port.end_s - port.idle_s),
                "stall_s": port.stall_s,
                # Queues are in merlin's buffers, which it does not report.
                "queue_max_bytes": float("nan"),
            }
        )
    columns = ["replica", "link", "class", "source", "target", "bytes", "chunks", "busy_s", "stall_s"]
    return pd.DataFrame(rows, columns=[*columns, "queue_max_bytes"]).sort_values("link", ignore_index=True)


def class_rows(links: pd.DataFrame, jobs: int, replica: int) -> pd.DataFrame:
    """Return the rows of ``link_jobs.csv``; with several jobs none: merlin's ports do not know whose packets pass."""
    columns = ["bytes", "chunks", "busy_s", "stall_s"]
    summed = links.groupby("class", as_index=False, sort=False)[columns].sum()
    summed.insert(0, "job", 0)
    summed.insert(0, "replica", replica)
    return summed if jobs == 1 else summed.iloc[:0]
