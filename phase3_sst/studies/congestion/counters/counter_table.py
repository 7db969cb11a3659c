"""The table of router counters, ``router-counters/1``: what each port of each router counted in each interval.

A port is an input of a router (direction ``in``) or its output towards a host (``out``); the class ``network`` are the
ports between routers (Aries' network tiles), ``host`` those to hosts (its processor tiles). Columns:

- start_s, end_s: the interval [s]; simulated time, or seconds since 1970 of real counters
- router: name; the simulated ones are those of links.csv
- port: name, unique in its router and direction; ``link-N`` is the simulated link N
- port_class: ``network`` or ``host``
- direction: ``in`` or ``out``; network ports are all ``in``
- link_class: class of the port's link, such as ``local``, ``global``, ``optical``; thresholds are per class
- peer: the router or host at the other end of the link, empty where it is not known
- flits: that passed the port
- stalls: time in which a flit that was ready could not go on [flit times]
- stalled_pct: the same in percent of the interval, at most 100
- credit_stalled_pct: percent of the interval in which the sender of the link had no credit for what it had to send
- used_pct: percent of the link's bandwidth

An unknown quantity is NaN. Rows are sorted by interval, router, direction and port.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from manynode import tables
from manynode.errors import InputError

SCHEMA = "router-counters/1"

NETWORK, HOST = "network", "host"
IN, OUT = "in", "out"

COLUMNS: Mapping[str, str] = {
    "start_s": "float64",
    "end_s": "float64",
    "router": "str",
    "port": "str",
    "port_class": "str",
    "direction": "str",
    "link_class": "str",
    "peer": "str",
    "flits": "float64",
    "stalls": "float64",
    "stalled_pct": "float64",
    "credit_stalled_pct": "float64",
    "used_pct": "float64",
}
_ORDER = ["start_s", "end_s", "router", "direction", "port"]
_AT_LEAST_ZERO = ["flits", "stalls", "stalled_pct", "credit_stalled_pct", "used_pct"]


@dataclass(frozen=True)
class Counters:
    """A table of counters, what was found and repaired in its source, and the router of each node that is known."""

    table: pd.DataFrame
    notes: Sequence[str] = ()
    router_of_node: Mapping[str, str] = field(default_factory=dict)


def ordered(frame: pd.DataFrame) -> pd.DataFrame:
    """Return ``frame`` with the table's columns, types and order; quantities that it lacks are unknown."""
    full = frame.reindex(columns=list(COLUMNS)).astype(dict(COLUMNS))
    return full.sort_values(_ORDER, kind="stable", ignore_index=True)


def check(frame: pd.DataFrame, where: str) -> pd.DataFrame:
    """Return ``frame`` in order; one that no counters can give is an :class:`InputError` at ``where``."""
    missing = [name for name in COLUMNS if name not in frame.columns]
    if missing:
        raise InputError("a table of counters lacks columns", where=where, found=f"no {', '.join(missing)}")
    table = ordered(frame)
    _refuse(table, table["end_s"] <= table["start_s"], "an interval does not end after it starts", where)
    _refuse(table, ~table["port_class"].isin([NETWORK, HOST]), "unknown class of port", where, f"{NETWORK}, {HOST}")
    _refuse(table, ~table["direction"].isin([IN, OUT]), "unknown direction of a port", where, f"{IN}, {OUT}")
    for name in _AT_LEAST_ZERO:
        _refuse(table, table[name] < 0, f"{name} is negative", where, "0 or more")
    _refuse(table, table.duplicated(_ORDER), "a port has two rows for one interval", where)
    return table


def _refuse(table: pd.DataFrame, wrong: pd.Series[bool], what: str, where: str, allowed: str | None = None) -> None:
    if bool(wrong.any()):
        row = table[wrong].iloc[0]
        found = f"router {row['router']}, port {row['port']}, {row['start_s']:.6g} to {row['end_s']:.6g} s"
        raise InputError(what, where=where, found=f"{found}, and {int(wrong.sum()) - 1} more rows", allowed=allowed)


def write(path: Path, counters: Counters, provenance: Mapping[str, Any] | None = None) -> None:
    """Write a table of counters; its notes become part of the provenance."""
    known = {**(provenance or {}), "notes": list(counters.notes), "router_of_node": dict(counters.router_of_node)}
    tables.write_table(path, SCHEMA, check(counters.table, str(path)), known)


def read(path: Path) -> Counters:
    """Return the table of counters at ``path``."""
    table = check(tables.read_table(path, SCHEMA, list(COLUMNS)), str(path))
    known = tables.read_provenance(path, SCHEMA)
    return Counters(table, known.get("notes", []), known.get("router_of_node", {}))


def window(counters: Counters, start_s: float | None, end_s: float | None) -> Counters:
    """Return the intervals that lie wholly within a time window [s]; none there is an :class:`InputError`."""
    table = counters.table
    inside = pd.Series(True, index=table.index)
    if start_s is not None:
        inside &= table["start_s"] >= start_s
    if end_s is not None:
        inside &= table["end_s"] <= end_s
    if not bool(inside.any()):
        raise InputError(
            "no interval of the counters lies within the time window",
            found=f"{start_s} to {end_s} s",
            allowed=f"within {table['start_s'].min():.6f} to {table['end_s'].max():.6f} s",
        )
    return Counters(table[inside].reset_index(drop=True), counters.notes, counters.router_of_node)
