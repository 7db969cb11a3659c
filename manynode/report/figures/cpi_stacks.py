"""Where the cycles of each compute phase went, for the two ranks that differ most (Figure 7 of Eyerman et al.).

Engines that can tell leave the parts of each segment's cycles as columns ``cycles_NAME``, beside its instructions.
Where the node was simulated again with private caches (``nodesim: qemu: control``), both are shown.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping

import altair as alt
import numpy as np
import pandas as pd

from manynode.report.figure import COLOURS, LABEL_LIMIT, LABEL_LINES, Figure, in_lines, row_height
from manynode.report.load import Inputs
from manynode.report.phase_labels import PhaseLabels

_PREFIX = "cycles_"
_INSTRUCTIONS = ("instructions", "Ir")
_MOST = 8
# The node model has more parts than there are colours.
_COLOURS = [*COLOURS, "#5b6470", "#7a5230"]
_ALL = "all phases"
_BOTH = (
    " shared: last-level caches and memory as the machine has them. private: the same node, each rank with a part of "
    "them for itself. The difference is the effect of sharing."
)


def draw(inputs: Inputs) -> Figure | None:
    """Return the figure, or None if the engine gives no CPI stacks."""
    segments = inputs.segments.get(inputs.mode) if inputs.mode else None
    if segments is None:
        return None
    counted = next((name for name in _INSTRUCTIONS if name in segments.columns), None)
    if counted is None or segments[counted].sum() <= 0:
        return None
    runs = {"": segments}
    if inputs.control is not None:
        segments = segments[segments["rank"].isin(inputs.control["rank"].unique())]
        runs = {"shared": segments, "private": inputs.control}
    # Parts that a machine cannot have, such as translation where the machine file has no TLBs, are not shown.
    names = [name for name in segments.columns if name.startswith(_PREFIX)]
    parts = [name for name in names if any(run[name].any() for run in runs.values())]
    if not parts:
        return None
    ranks = most_different(segments, parts, counted)
    frame = _stacks(runs, parts, counted, ranks, inputs.phase_labels)
    shown = [name.removeprefix(_PREFIX) for name in parts]
    axis = alt.Axis(ticks=False, labelLimit=LABEL_LIMIT, labelExpr=LABEL_LINES)
    shared = alt.Chart(alt.NamedData(name="table")).mark_bar(size=15)
    chart = shared.encode(
        y=alt.Y("label:N", title="rank and compute phase", sort=None, axis=axis),
        x=alt.X("cpi:Q", title="cycles per instruction", stack="zero", axis=alt.Axis(tickCount=6)),
        color=alt.Color("part:N", title="part", sort=shown, scale=alt.Scale(domain=shown, range=_COLOURS)),
        order=alt.Order("order:Q"),
        tooltip=[
            alt.Tooltip("rank:N"),
            *([alt.Tooltip("caches:N")] if len(runs) > 1 else []),
            alt.Tooltip("phase:N"),
            alt.Tooltip("part:N"),
            alt.Tooltip("cpi:Q", title="cycles per instruction", format=".3f"),
            alt.Tooltip("share:Q", title="share of the phase's cycles", format=".1%"),
        ],
    ).properties(height=max(60, row_height(frame["label"]) * frame["label"].nunique()))
    return Figure(
        "cpi-stacks",
        "Where the cycles go",
        "Cycles per instruction of each compute phase and their parts, mean over its executions, for the two simulated "
        f"ranks that differ most ({' and '.join(map(str, ranks))})." + (_BOTH if len(runs) > 1 else ""),
        chart,
        frame,
    )


def most_different(segments: pd.DataFrame, parts: list[str], counted: str) -> list[int]:
    """Return the two ranks whose stacks over all phases lie farthest apart; one where there is only one."""
    sums = segments.groupby("rank")[[*parts, counted]].sum()
    sums = sums[sums[counted] > 0]
    stacks = sums[parts].div(sums[counted], axis=0)
    ranks = [int(rank) for rank in stacks.index]
    if len(ranks) < 2:
        return ranks

    pairs = list(itertools.combinations(ranks, 2))
    apart = [float(np.abs(stacks.loc[a] - stacks.loc[b]).sum()) for a, b in pairs]
    return list(pairs[int(np.argmax(apart))])


def _stacks(
    runs: Mapping[str, pd.DataFrame], parts: list[str], counted: str, ranks: list[int], names: PhaseLabels
) -> pd.DataFrame:
    chosen = pd.concat([run[run["rank"].isin(ranks)].assign(caches=caches) for caches, run in runs.items()])
    folded = chosen["phase"].astype(str)
    folded = folded.where(~folded.isin(names.set_up), names.group)
    largest = chosen.groupby(folded)[parts].sum().sum(axis=1).nlargest(_MOST).index
    groups = [(_ALL, chosen), *((str(phase), chosen[folded == phase]) for phase in largest)]
    rows = []
    for number, (phase, group) in enumerate(groups):
        for rank, caches in itertools.product(ranks, runs):
            own = group[(group["rank"] == rank) & (group["caches"] == caches)]
            instructions, cycles = float(own[counted].sum()), float(own[parts].to_numpy().sum())
            if instructions <= 0 or cycles <= 0:
                continue
            for order, part in enumerate(parts):
                value = float(own[part].sum())
                rows.append(
                    {
                        "label": in_lines(
                            f"rank {rank}{f', {caches}' if caches else ''}  "
                            f"{f'{number}  {names.of(phase)}' if number else _ALL}"
                        ),
                        "phase": phase,
                        "rank": rank,
                        "caches": caches,
                        "part": part.removeprefix(_PREFIX),
                        "order": order,
                        "cpi": value / instructions,
                        "share": value / cycles,
                    }
                )
    return pd.DataFrame(rows)
