"""CSV text with a column per counter: what LDMS and tools on PAPI have in common."""

from __future__ import annotations

import csv
from collections.abc import Sequence

import pandas as pd

from manynode.errors import InputError
from phase3_sst.studies.congestion.counters.cumulative import Samples
from phase3_sst.studies.congestion.counters.readers.interface import chosen

TIMES = {"time": 1.0, "time_s": 1.0, "timestamp": 1.0, "time_msec": 1e-3, "time_ms": 1e-3}
ROUTERS = ("aries_rtr_id", "router", "router_id", "rtr_id")
MESH = ("nettopo_mesh_coord_x", "nettopo_mesh_coord_y", "nettopo_mesh_coord_z")
PRODUCERS = ("producername", "component_id", "node", "nid", "hostname", "rank")


def header_of(line: str) -> list[str]:
    """Return the names in a header line, without the mark of a comment and quotes; none where it is no CSV."""
    try:
        names = next(csv.reader([line.lstrip("# \t")], skipinitialspace=True))
    except csv.Error:
        return []
    return [name.strip().strip('"').strip() for name in names]


def samples_of(names: Sequence[str], lines: Sequence[tuple[int, str]], source: str) -> Samples:
    """Return the samples in ``lines`` (their numbers and text) under the header ``names``."""
    used, unused = chosen(list(names), f"{source}: header")
    lower = {name.lower(): place for place, name in reversed(list(enumerate(names)))}
    time = next((name for name in TIMES if name in lower), None)
    if time is None:
        raise InputError(
            "samples of counters have no time", where=f"{source}: header", found=", ".join(names[:5]),
            allowed=f"a column {', '.join(TIMES)}",
        )  # fmt: skip
    rows = [_row(line, number, len(names), source) for number, line in lines]
    if not rows:
        raise InputError("a file of counters has no sample", where=source)
    frame = pd.DataFrame(rows, columns=range(len(names)), dtype=str)
    seconds = pd.to_numeric(frame[lower[time]], errors="coerce") * TIMES[time]
    # Text of a year's seconds with microseconds has 16 digits: just what a double holds.
    if bool((~(seconds >= 0)).any()):
        place = int((~(seconds >= 0)).to_numpy().argmax())
        raise InputError(
            "a sample's time is no number", where=f"{source}:{lines[place][0]}", found=repr(frame[lower[time]][place])
        )
    if time == "time_msec" and "time_usec" in lower:
        # store_csv with time_format=1: what is left beside the milliseconds.
        seconds = seconds + pd.to_numeric(frame[lower["time_usec"]], errors="coerce").fillna(0.0) * 1e-6
    producer = _first(frame, lower, PRODUCERS)
    router = _router(frame, lower)
    if router is None and producer is None:
        raise InputError(
            "samples of counters name neither router nor node", where=f"{source}: header", found=", ".join(names[:8]),
            allowed=f"a column {', '.join((*ROUTERS, *PRODUCERS))}",
        )  # fmt: skip
    router, producer = producer if router is None else router, router if producer is None else producer
    columns = {name: frame[list(names).index(name)] for name in used}
    result = pd.DataFrame({"time_s": seconds, "router": router, "producer": producer, **columns})
    nodes = {}
    for name in PRODUCERS:
        if name in lower:
            pairs = pd.DataFrame({"node": frame[lower[name]], "router": router}).drop_duplicates("node")
            nodes.update(dict(zip(pairs["node"], pairs["router"], strict=True)))
    return Samples(result, used, source, unused, router_of_node=nodes)


def _row(line: str, number: int, width: int, source: str) -> list[str]:
    try:
        cells = [cell.strip() for cell in next(csv.reader([line], skipinitialspace=True))]
    except csv.Error as error:
        raise InputError("a sample is no CSV", where=f"{source}:{number}", found=str(error)) from None
    if len(cells) != width:
        raise InputError(
            "the numbers of values and of names in the header differ",
            where=f"{source}:{number}",
            found=f"{len(cells)} values",
            allowed=f"{width}",
            remedy="remove a line that was cut off during writing",
        )
    return cells


def _first(frame: pd.DataFrame, lower: dict[str, int], names: Sequence[str]) -> pd.Series[str] | None:
    place = next((lower[name] for name in names if name in lower), None)
    return None if place is None or not bool((frame[place] != "").all()) else frame[place]


def _router(frame: pd.DataFrame, lower: dict[str, int]) -> pd.Series[str] | None:
    own = _first(frame, lower, ROUTERS)
    if own is not None:
        return own
    if all(name in lower for name in MESH):
        x, y, z = (frame[lower[name]] for name in MESH)
        return "gemini-" + x + "-" + y + "-" + z
    return None
