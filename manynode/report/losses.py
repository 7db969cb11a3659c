"""The scaling study in words: where the efficiency breaks, and what the time is lost to."""

from __future__ import annotations

import pandas as pd

from manynode.report.load import Inputs
from manynode.report.wording import count, duration, listing, percent

# Named as a reason: parts of at least this share of the growth.
_NOTED = 0.1


def loss_sentences(inputs: Inputs) -> list[str]:
    """Return the study in words, a few sentences for each technique."""
    if inputs.losses is None:
        return []
    return [
        sentence
        for technique, own in inputs.losses.groupby("technique", sort=False)
        for sentence in _of(str(technique), own, inputs.resolved["scaling"]["broken"])
    ]


def _of(technique: str, own: pd.DataFrame, broken: float) -> list[str]:
    times = own.groupby("nodes")["seconds"].sum()
    smallest, largest = int(times.index[0]), int(times.index[-1])
    if smallest == largest:
        return [f"{technique} on {count(smallest, 'node')}: {_shares(own)}."]
    efficiency = times.iloc[0] / times
    below = efficiency.index[efficiency < broken]
    if len(below):
        where = f"falls below {percent(broken)} at {count(int(below[0]), 'node')} ({percent(efficiency[below[0]])})"
    else:
        where = f"stays above {percent(broken)} (at least {percent(efficiency.min())})"
    said = [f"The efficiency of {technique} {where}. On {count(largest, 'node')}: {_shares(_at(own, largest))}."]
    growth = times.iloc[-1] - times.iloc[0]
    if growth > 0:
        reasons = _reasons(_at(own, largest).set_index("part")["growth_s"])
        said.append(f"From {smallest} to {count(largest, 'node')} the time grows by {duration(growth)}: {reasons}.")
    steps = times.pct_change().iloc[1:]
    worst = int(steps.idxmax())
    if steps[worst] > 0.01 and len(steps) > 1:
        before = int(times.index[times.index.get_loc(worst) - 1])
        grown = _at(own, worst).set_index("part")["seconds"] - _at(own, before).set_index("part")["seconds"]
        said.append(
            f"The largest step is from {before} to {count(worst, 'node')}, {percent(steps[worst])}: {_reasons(grown)}."
        )
    return said


def _at(own: pd.DataFrame, nodes: int) -> pd.DataFrame:
    return own[own["nodes"] == nodes]


def _shares(rows: pd.DataFrame) -> str:
    ordered = rows.sort_values("share", ascending=False, kind="stable")
    return listing([f"{percent(row.share)} {row.part}" for row in ordered.itertuples() if row.share >= 0.005])


def _reasons(growth: pd.Series[float]) -> str:
    """Return the parts that the growth consists of, the largest first."""
    shares = (growth / growth.sum()).sort_values(ascending=False, kind="stable")
    return listing([f"{percent(share)} {part}" for part, share in shares.items() if share >= _NOTED])
