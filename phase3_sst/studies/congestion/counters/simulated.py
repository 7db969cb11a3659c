"""Simulated links -> the table of router counters.

In: links.parquet or series.parquet of one replica (:mod:`phase3_sst.point.contract`), the flit size, and the
topology, so that ports without traffic count as ports, too. The counters of a link belong to the router that it leads
to, as those of Aries' tiles do (their ``INQ`` counters sit at the input queue); a link to a host is an output of its
router.

Flits are bytes over the flit size. A flit time is a flit over the link's rate, and the rate is known from the link
itself: busy_s / bytes. What an engine says of stalls is read in one place, :func:`_stalled`:

- the input queue of a network port: ``inq_stall_s`` (a flit at its head could not go on)
- the output to a host: ``credit_stall_s`` (the host's NIC had no room)
- without flow control both are 0, because nothing ever holds a link or an input back
- a result that tells neither (link-load/2): ``stall_s``, the waiting of all chunks for the link, at most the
  interval. That is waiting in the output queue before the link, and chunks that wait together are counted together up
  to that bound.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from manynode.errors import InputError
from phase3_sst.engines.sst.machine.wiring import Wiring, wiring_of
from phase3_sst.studies.congestion.counters.counter_table import HOST, IN, NETWORK, OUT, ordered

FLIT_BYTES = 8
"""Bytes of a flit by default: those of the engine sst. Ratios of stalls to flits do not depend on it."""
_HOST_PREFIX = "host-"


def all_links(topology: Mapping[str, Any]) -> pd.DataFrame:
    """Return link, class, source and target of every link of a resolved topology, with traffic or without."""
    wiring = _wiring(topology)
    links = [end for cable in wiring.cables for end in (cable.forward, cable.backward)]
    links += [end for port in wiring.hosts for end in (port.up, port.down)]
    rows = [{"link": link.id, "class": link.cls, "source": link.source, "target": link.target} for link in links]
    return pd.DataFrame(rows)


def router_of_host(topology: Mapping[str, Any]) -> dict[int, str]:
    """Return the router to which each host of a resolved topology is attached."""
    return {port.host: port.up.target for port in _wiring(topology).hosts}


def _wiring(topology: Mapping[str, Any]) -> Wiring:
    # Routing changes no link, and the sst engine lacks some that the fast engine has.
    return wiring_of({key: value for key, value in topology.items() if key != "routing"})


def simulated(
    links: pd.DataFrame,
    makespan_s: float,
    flit_bytes: float = FLIT_BYTES,
    *,
    topology: Mapping[str, Any] | None = None,
) -> pd.DataFrame:
    """Return the counters of a whole run, one interval from 0 to ``makespan_s`` [s].

    ``links`` is links.parquet of one replica. Without ``topology`` only links with traffic are ports.
    """
    return _counters(links.assign(start_s=0.0, end_s=float(makespan_s)), links, flit_bytes, topology)


def simulated_series(
    series: pd.DataFrame,
    links: pd.DataFrame,
    flit_bytes: float = FLIT_BYTES,
    *,
    topology: Mapping[str, Any] | None = None,
) -> pd.DataFrame:
    """Return the counters over time: ``series`` and ``links`` are those tables of one replica, counted per link."""
    if series["link"].isna().any():
        raise InputError(
            "the simulated counters are sums over classes of links",
            where="series.parquet: column link",
            found="empty",
            remedy="simulate with counters: {per: link}",
        )
    ends = links[["link", "source", "target"]]
    own = series.assign(link=series["link"].astype("int64")).merge(ends, on="link", how="left")
    return _counters(own, links, flit_bytes, topology)


def _counters(
    rows: pd.DataFrame, links: pd.DataFrame, flit_bytes: float, topology: Mapping[str, Any] | None
) -> pd.DataFrame:
    if not flit_bytes > 0:
        raise InputError("the flit size is not positive", found=flit_bytes, allowed="more than 0 bytes")
    if rows["replica"].nunique() > 1:
        raise InputError(
            "counters are those of one replica", found=f"{rows['replica'].nunique()} replicas", remedy="choose one"
        )
    if topology is not None:
        rows = _with_idle(rows, all_links(topology))
    interval = rows["end_s"] - rows["start_s"]
    flit_s = _flit_times(rows, links, flit_bytes)
    to_host = rows["target"].str.startswith(_HOST_PREFIX)
    from_host = rows["source"].str.startswith(_HOST_PREFIX)
    credit, inq = _stalled(rows, interval)
    stalled = credit.where(to_host, inq)
    return ordered(
        pd.DataFrame(
            {
                "start_s": rows["start_s"],
                "end_s": rows["end_s"],
                "router": rows["source"].where(to_host, rows["target"]),
                "port": "link-" + rows["link"].astype(str),
                "port_class": np.where(to_host | from_host, HOST, NETWORK),
                "direction": np.where(to_host, OUT, IN),
                "link_class": rows["class"],
                "peer": rows["target"].where(to_host, rows["source"]),
                "flits": rows["bytes"] / flit_bytes,
                "stalls": (stalled / flit_s).where(stalled > 0, 0.0),
                "stalled_pct": 100 * stalled / interval,
                "credit_stalled_pct": 100 * credit / interval,
                "used_pct": 100 * rows["busy_s"] / interval,
            }
        )
    )


def _stalled(rows: pd.DataFrame, interval: pd.Series[float]) -> tuple[pd.Series[float], pd.Series[float]]:
    """Return the seconds without credit and those in which the input queue behind a link could not go on."""
    waited = rows["stall_s"].fillna(0.0)
    credit = rows["credit_stall_s"].fillna(waited) if "credit_stall_s" in rows else waited
    inq = rows["inq_stall_s"].fillna(waited) if "inq_stall_s" in rows else waited
    return np.minimum(credit, interval), np.minimum(inq, interval)


def _flit_times(rows: pd.DataFrame, links: pd.DataFrame, flit_bytes: float) -> pd.Series[float]:
    """Return the seconds that each row's link needs for a flit, of a link without traffic those of its class."""
    used = links[(links["bytes"] > 0) & (links["busy_s"] > 0)]
    each = (used["busy_s"] / used["bytes"] * flit_bytes).groupby(used["link"]).first()
    of_class = (used["busy_s"] / used["bytes"] * flit_bytes).groupby(used["class"]).median()
    return rows["link"].map(each).fillna(rows["class"].map(of_class))


def _with_idle(rows: pd.DataFrame, every: pd.DataFrame) -> pd.DataFrame:
    """Return ``rows`` with a row of zeros for each link and interval that had no traffic."""
    ends = rows[["link", "source", "target"]].drop_duplicates()
    strange = ends.merge(every, on=["link", "source", "target"], how="left")["class"].isna()
    # The sst engine lacks further cables of a dragonfly whose ports do not divide: those are links all the same.
    strange &= ends["link"].isin(every["link"]).to_numpy()
    if bool(strange.any()):
        row = ends[strange.to_numpy()].iloc[0]
        raise InputError(
            "links are not those of the topology", found=f"link {row['link']} from {row['source']} to {row['target']}"
        )
    intervals = rows[["replica", "start_s", "end_s"]].drop_duplicates()
    grid = intervals.merge(every, how="cross")
    idle = grid.merge(rows[["start_s", "link"]], on=["start_s", "link"], how="left", indicator=True)
    idle = idle[idle["_merge"] == "left_only"].drop(columns="_merge")
    zeros = dict.fromkeys(rows.columns.difference([*idle.columns]), 0)
    return pd.concat([rows, idle.assign(**zeros)[list(rows.columns)]], ignore_index=True)
