"""Models the latency of messages from the stalls of the links on their paths (Netscope, section 4.2).

In: round trips between pairs of nodes with the stalls of the machine at that time. Out: a
:class:`LatencyModel`. The delay of a message, one way, is

    D = base + sum over classes of links c: idle_c n_c + wait_c sum over links l of c: Q_l + detour_c sum': Q_l

with n_c the links of the class on the path, Q_l the expected waiting of a link (:mod:`.stalls`), and sums over the
links of direct paths and of detours. Each sum is a mean over the paths that the routing may choose. This is equation
(12) with one coefficient per class and kind of path, because a few dozen round trips could not fit one per link and
path. A round trip is the delay there and the delay back, each over its own links. The coefficients are fitted by least
squares, and none is negative: no link makes a message faster.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.optimize import nnls

from manynode.config.network import Network
from manynode.errors import InputError
from phase3_sst.studies.congestion.delay.passages import Passages, Routes
from phase3_sst.studies.congestion.delay.stalls import Waiting

ROUND_TRIP_COLUMNS = ("run", "source_node", "target_node", "start_s", "end_s", "round_trip_s")
# Fewer round trips than this for each coefficient are refused.
LEAST_PER_TERM = 2


@dataclass(frozen=True)
class LatencyModel:
    """Coefficients [s] by term: ``base``, ``idle:CLASS``, ``wait:CLASS``, ``detour:CLASS``."""

    network: str
    coefficients: Mapping[str, float]

    def delay_s(self, terms: Mapping[str, float]) -> float:
        """Return the one-way delay of a message from its :func:`terms`."""
        return sum(self.coefficients.get(term, 0.0) * n for term, n in terms.items())


def terms(routes: Routes, passages: Passages, waiting: Mapping[str, float]) -> dict[str, float]:
    """Return the factor of each coefficient. Every path has both links of hosts, which are part of base."""
    values = {"base": 1.0}
    for kind, number in passages.links.items():
        if not kind.startswith("host-"):
            values[f"idle:{kind}"] = number
    for prefix, shares in (("wait", passages.direct), ("detour", passages.detour)):
        for link, share in shares.items():
            # The links of hosts are the same on a detour.
            if prefix == "detour" and routes.kinds[link].startswith("host-"):
                continue
            term = f"{prefix}:{routes.kinds[link]}"
            values[term] = values.get(term, 0.0) + share * waiting.get(link, 0.0)
    return values


def fit(rows: Sequence[Mapping[str, float]], round_trips_s: Sequence[float], network: str) -> LatencyModel:
    """Return the model for mean one-way ``rows`` of :func:`terms` and the round trips measured with them.

    Fewer than :data:`LEAST_PER_TERM` round trips for each term, or one that is not positive, is an
    :class:`InputError`.
    """
    design = pd.DataFrame(list(rows)).fillna(0.0)
    # A term that is zero everywhere was not observed and is dropped.
    design = design.loc[:, (design != 0).any()]
    half = np.asarray(round_trips_s, dtype=float) / 2
    needed = LEAST_PER_TERM * max(1, design.shape[1])
    if len(half) < needed:
        raise InputError(
            "too few round trips to fit the latency of messages",
            found=len(half),
            allowed=f"at least {needed} for the {design.shape[1]} terms {', '.join(design.columns)}",
            remedy="measure more round trips, between other nodes and under other congestion",
        )
    if not (half > 0).all() or not np.isfinite(half).all():
        raise InputError("a round trip is not a positive time", where="round_trip_s", found=float(2 * half.min()))
    matrix = design.to_numpy(dtype=float)
    scale = np.linalg.norm(matrix, axis=0)
    solution, _ = nnls(matrix / scale, half)
    return LatencyModel(network, dict(zip(map(str, design.columns), map(float, solution / scale), strict=True)))


@dataclass(frozen=True)
class Snapshots:
    """Stalls of several runs on one network, each with a clock of its own."""

    routes: Routes
    waiting: Mapping[str, Waiting]

    @classmethod
    def of(cls, network: Network, stalls: pd.DataFrame) -> Snapshots:
        """Return the runs of a table ``stalled-links/1``; a link that the network lacks is an :class:`InputError`."""
        ends = stalls[["source", "target"]].drop_duplicates()
        routes = Routes(network)
        known = routes.ends()
        for end in sorted(set(ends.to_numpy(dtype=str).ravel())):
            if end not in known:
                raise InputError(
                    "a link of the stalls is not on the network",
                    where="stalled-links: source, target",
                    found=end,
                    allowed="ends as manynode names them for this network, such as host-0 and router-0-0",
                    remedy="give the network of the counters, or rename the ends",
                )
        runs = {str(run): Waiting.of(rows) for run, rows in stalls.groupby("run", sort=True)}
        return cls(routes, runs)

    def terms(self, run: str, passages: Passages, start_s: float, end_s: float) -> dict[str, float]:
        """Return :func:`terms` over a span of time of a run."""
        if run not in self.waiting:
            raise InputError(
                "a run has no stalls", where="run", found=run, allowed=", ".join(sorted(self.waiting)[:8]) + " ..."
            )
        if not end_s > start_s:
            raise InputError("a span of time has no length", where=f"run {run}", found=f"{start_s} to {end_s} s")
        return terms(self.routes, passages, self.waiting[run].mean(start_s, end_s))

    def of_round_trips(self, round_trips: pd.DataFrame) -> list[dict[str, float]]:
        """Return for each row of ``round-trips/1`` the terms of a message, as the mean of there and back."""
        rows = []
        ends = round_trips[["source_node", "target_node"]].to_numpy(dtype=int).tolist()
        self.routes.learn(pair for a, b in ends for pair in ((a, b), (b, a)))
        for row, (a, b) in zip(round_trips.itertuples(index=False), ends, strict=True):
            passages = self.routes.between([(a, b), (b, a)])
            rows.append(self.terms(str(row.run), passages, float(row.start_s), float(row.end_s)))
        return rows


def estimated_round_trips(model: LatencyModel, rows: Sequence[Mapping[str, float]]) -> np.ndarray:
    """Return the model's round trips [s] for ``rows`` of terms."""
    return np.array([2 * model.delay_s(row) for row in rows])
