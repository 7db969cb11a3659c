"""A snapshot of the network's counters: for each link, the share of time stalled and of bandwidth used.

In: the links of a simulated situation (``link-load``), a measured CSV table, or counters of routers
(``router-counters/1``). Out: a :class:`Snapshot`, both in percent and by the machine's number of the link. Links
missing in a source were idle.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd

from manynode import input_file
from manynode.errors import InputError, nearest
from phase3_sst.studies.congestion.counters.counter_table import NETWORK, Counters

Floats = npt.NDArray[np.float64]

MEASURED = ["source", "target", "percent_stalled", "percent_bandwidth"]
CABLES = ["router", "port", "source", "target"]


@dataclass(frozen=True)
class Snapshot:
    """``percent_stalled`` and ``percent_bandwidth`` of each link of the machine, by its number, 0 to 100."""

    percent_stalled: Floats
    percent_bandwidth: Floats


def of_simulation(loads: pd.DataFrame, duration_s: float, machine_links: pd.DataFrame) -> Snapshot:
    """Return the snapshot of one replica's table of links over a run of ``duration_s``.

    ``machine_links`` is as :class:`phase3_sst.studies.congestion.mapping.link_paths.Routes` has it; all engines number
    links alike.
    """
    size = int(machine_links.index.max()) + 1
    number = loads["link"].to_numpy(int)
    stalled, used = np.zeros(size), np.zeros(size)
    bandwidth = machine_links["bandwidth_Bps"].reindex(number).to_numpy(float)
    stalled[number] = np.minimum(100.0, 100.0 * stalled_s(loads) / duration_s)
    used[number] = np.minimum(100.0, 100.0 * loads["bytes"].to_numpy(float) / (duration_s * bandwidth))
    return Snapshot(stalled, used)


def stalled_s(loads: pd.DataFrame) -> Floats:
    """Return the time for which each link had data to send and no credit [s].

    Without counted credits (``credit_stall_s`` is missing, or 0 everywhere with unlimited buffers), it is the summed
    waiting of all chunks. That may exceed the run's time; the snapshot limits it to it.
    """
    if "credit_stall_s" in loads.columns and (loads["credit_stall_s"] > 0).any():
        return np.asarray(loads["credit_stall_s"], dtype=float)
    return np.asarray(loads["stall_s"], dtype=float)


def of_measured(path: Path, machine_links: pd.DataFrame) -> Snapshot:
    """Return the snapshot of a CSV file with the columns source, target, percent_stalled, percent_bandwidth.

    Source and target are named as in tables of links (``router-0-1-4``); parallel cables have the values of their pair.
    A link that the machine does not have, or a percentage out of 0 to 100, is an :class:`InputError`.
    """
    frame = _csv(path, MEASURED, "the snapshot")
    cables = _cables(machine_links)
    size = int(machine_links.index.max()) + 1
    values = {name: np.zeros(size) for name in MEASURED[2:]}
    for line, row in enumerate(frame.to_dict("records"), start=2):
        pair = (str(row["source"]), str(row["target"]))
        if pair not in cables:
            raise _unknown(f"{path}: line {line}", pair, machine_links)
        for name, column in values.items():
            value = pd.to_numeric(row[name], errors="coerce")
            if not 0 <= value <= 100:
                raise InputError(
                    "a percentage of the snapshot is out of bounds",
                    where=f"{path}: line {line}: {name}",
                    found=row[name],
                    allowed="0 to 100",
                )
            column[cables[pair]] = np.maximum(column[cables[pair]], value)
    return Snapshot(values["percent_stalled"], values["percent_bandwidth"])


def of_counters(
    counters: Counters, where: str, machine_links: pd.DataFrame, cables: Path | None
) -> tuple[Snapshot, list[str]]:
    """Return the snapshot from counters of routers over their whole time, and remarks on it.

    A link is stalled in the share of time in which its sender had no credit, or where that is not known, in which its
    receiver's input could not go on. Its ends are the router and the port's ``peer``, named as in tables of links; a
    CSV file ``cables`` (router, port, source, target) names them where the counters do not. A quantity that no port has
    is NaN for all links.
    """
    named_in = where if cables is None else str(cables)
    table = counters.table[counters.table["port_class"] == NETWORK]
    ends = table[["router", "port"]].assign(source=table["peer"], target=table["router"])
    if cables is not None:
        known = _csv(cables, CABLES, "the table of cables")[CABLES].drop_duplicates(["router", "port"])
        ends = (
            table[["router", "port"]].merge(known, on=["router", "port"], how="left").fillna("").set_index(table.index)
        )
    nameless = ends["source"] == ""
    if bool(nameless.all()):
        raise InputError(
            "the counters do not name the routers at the ends of links",
            where=named_in,
            found=f"{table[['router', 'port']].drop_duplicates().shape[0]} network ports, none with a known peer",
            remedy="name the ends of their links with --cables, a CSV file: " + ", ".join(CABLES),
        )
    own = table[~nameless].assign(source=ends["source"], target=ends["target"])
    numbers, size = _cables(machine_links), int(machine_links.index.max()) + 1
    stalled, used = np.zeros(size), np.zeros(size)
    lengths = own["end_s"] - own["start_s"]
    told = ((own["credit_stalled_pct"].fillna(own["stalled_pct"]), stalled), (own["used_pct"], used))
    for values, column in told:
        if bool(values.isna().all()):
            column[:] = np.nan
            continue
        weights = lengths.where(values.notna(), 0.0)
        sums = pd.DataFrame({"value": values.fillna(0.0) * weights, "weight": weights})
        # A port without known values counts as idle, like one without counters.
        ports = sums.groupby([own["source"], own["target"], own["port"]]).sum().query("weight > 0")
        for (source, target, _), mean in (ports["value"] / ports["weight"]).items():
            if (source, target) not in numbers:
                raise _unknown(named_in, (source, target), machine_links)
            place = numbers[source, target]
            column[place] = np.maximum(column[place], min(100.0, float(mean)))
    count = table[nameless][["router", "port"]].drop_duplicates().shape[0]
    return Snapshot(stalled, used), [f"{count} network ports without a known peer count as idle"] if count else []


def _csv(path: Path, columns: Sequence[str], what: str) -> pd.DataFrame:
    texts = dict.fromkeys(("source", "target", "router", "port"), str)
    text = io.StringIO(input_file.read_text(path, what))
    try:
        frame = pd.read_csv(text, skipinitialspace=True, dtype=texts, keep_default_na=False)
    except ValueError as error:
        raise InputError(f"{what} cannot be read", where=str(path), found=str(error)) from None
    if any(name not in frame.columns for name in columns):
        raise InputError(
            f"{what} lacks a column", where=str(path), found=", ".join(frame.columns), allowed=", ".join(columns)
        )
    return frame


def _cables(machine_links: pd.DataFrame) -> dict[tuple[str, str], list[int]]:
    """Return the links between each pair of neighbours: parallel cables are alike."""
    found: dict[tuple[str, str], list[int]] = (
        machine_links.reset_index().groupby(["source", "target"])["link"].agg(list).to_dict()
    )
    return found


def _unknown(where: str, pair: tuple[str, str], machine_links: pd.DataFrame) -> InputError:
    known = sorted({*machine_links["source"], *machine_links["target"]})
    strange = [name for name in pair if name not in known]
    near = nearest(strange[0], known) if strange else None
    return InputError(
        "the snapshot has a link that the machine does not have",
        where=where,
        found=" -> ".join(pair),
        allowed="neighbours of the machine, such as " + " -> ".join(machine_links.iloc[-1][["source", "target"]]),
        remedy=f"did you mean {near!r}?" if near else "is it another machine's snapshot?",
    )
