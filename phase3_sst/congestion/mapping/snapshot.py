"""What the network's counters told at a moment: for each link, the share of time stalled and of bandwidth used.

In: the links of a simulated situation (``link-load``), or a measured CSV table. Out: a :class:`Snapshot`, both in
percent and by the machine's number of the link. Links that a source does not mention were idle.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd

from manynode.errors import InputError, nearest

Floats = npt.NDArray[np.float64]

MEASURED = ["source", "target", "percent_stalled", "percent_bandwidth"]


@dataclass(frozen=True)
class Snapshot:
    """``percent_stalled`` and ``percent_bandwidth`` of each link of the machine, by its number, 0 to 100."""

    percent_stalled: Floats
    percent_bandwidth: Floats


def of_simulation(loads: pd.DataFrame, duration_s: float, machine_links: pd.DataFrame) -> Snapshot:
    """Return the snapshot of one replica's table of links over a run of ``duration_s``.

    ``machine_links`` is as :class:`phase3_sst.congestion.mapping.routes.Routes` has it: all engines give a link the
    same number.
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

    Where no credits are counted (``credit_stall_s`` is missing, or 0 everywhere because buffers have no end), it is the
    waiting of all chunks added up, which may be longer than the run; the snapshot bounds it by the run's time.
    """
    if "credit_stall_s" in loads.columns and (loads["credit_stall_s"] > 0).any():
        return np.asarray(loads["credit_stall_s"], dtype=float)
    return np.asarray(loads["stall_s"], dtype=float)


def of_measured(path: Path, machine_links: pd.DataFrame) -> Snapshot:
    """Return the snapshot of a CSV file with the columns source, target, percent_stalled, percent_bandwidth.

    Source and target are named as in tables of links (``router-0-1-4``); parallel cables have the values of their pair.
    A link that the machine does not have, or a percentage out of 0 to 100, is an :class:`InputError`.
    """
    try:
        frame = pd.read_csv(path, skipinitialspace=True, dtype={"source": str, "target": str})
    except (OSError, ValueError) as error:
        raise InputError("the snapshot cannot be read", where=str(path), found=str(error)) from None
    missing = [name for name in MEASURED if name not in frame.columns]
    if missing:
        raise InputError(
            "the snapshot lacks a column", where=str(path), found=", ".join(frame.columns), allowed=", ".join(MEASURED)
        )
    cables = machine_links.reset_index().groupby(["source", "target"])["link"].agg(list).to_dict()
    size = int(machine_links.index.max()) + 1
    values = {name: np.zeros(size) for name in MEASURED[2:]}
    for line, row in enumerate(frame.to_dict("records"), start=2):
        pair = (str(row["source"]), str(row["target"]))
        if pair not in cables:
            raise _unknown(path, line, pair, machine_links)
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


def _unknown(path: Path, line: int, pair: tuple[str, str], machine_links: pd.DataFrame) -> InputError:
    known = sorted({*machine_links["source"], *machine_links["target"]})
    strange = [name for name in pair if name not in known]
    near = nearest(strange[0], known) if strange else None
    return InputError(
        "the snapshot has a link that the machine does not have",
        where=f"{path}: line {line}",
        found=" -> ".join(pair),
        allowed="neighbours of the machine, such as " + " -> ".join(machine_links.iloc[-1][["source", "target"]]),
        remedy=f"did you mean {near!r}?" if near else "is it another machine's snapshot?",
    )
