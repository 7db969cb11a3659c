"""Finds a mapping of a job by method: Scotch with a metric of the machine graph, or geometric.

In: task graph, routes, snapshot. Out: a :class:`Plan`, which a study keeps as a file (``rank-mapping/1``). Its run time
is thus measured once, and the same results give the same page.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from manynode import tables
from phase3_sst.studies.congestion.mapping.assignment import cost, default_mapping
from phase3_sst.studies.congestion.mapping.geometric import (
    even_grid,
    geometric_mapping,
    grid_coordinates,
    node_coordinates,
)
from phase3_sst.studies.congestion.mapping.link_paths import Routes
from phase3_sst.studies.congestion.mapping.machine_graph import HOPS, METRICS, NONE, OF_COUNTERS, PER_HOP, machine_graph
from phase3_sst.studies.congestion.mapping.own_load import busiest_link_s, congested
from phase3_sst.studies.congestion.mapping.scotch import scotch_mappings
from phase3_sst.studies.congestion.mapping.snapshot import Snapshot
from phase3_sst.studies.congestion.mapping.task_graph import TaskGraph

Ints = npt.NDArray[np.int64]

PLAN_SCHEMA = "rank-mapping/1"
GEOMETRIC = "geometric"
METHODS = (*METRICS, GEOMETRIC)


@dataclass(frozen=True)
class Plan:
    """A mapping and its expected cost.

    ``nodes`` has each rank's index into the job's nodes. Costs are those of the mapping and of the default, by the
    method's machine graph (for ``geometric``: hops). ``kept_default``: no better mapping was found. ``seconds`` is the
    time of the search.
    """

    method: str
    nodes: Sequence[int]
    kept_default: bool
    cost_total: float
    cost_largest: float
    default_cost_total: float
    default_cost_largest: float
    seconds: float


@dataclass(frozen=True)
class Question:
    """The inputs of a mapping; ``grid`` None: extents as equal as possible; ``per_hop`` as in :func:`machine_graph`."""

    tasks: TaskGraph
    routes: Routes
    snapshot: Snapshot | None
    capacity: int
    network: Mapping[str, Any]
    seed: int
    grid: Sequence[int] | None = None
    per_hop: float = PER_HOP

    def digest(self, method: str) -> str:
        """Return the digest of everything that the plan of ``method`` depends on."""
        a, b, amount = self.tasks.edges()
        weights = self._weights(method)
        state = hashlib.sha256()
        for array in (a, b, amount, weights, node_coordinates(self.network, self.routes.hosts)):
            state.update(np.ascontiguousarray(array).tobytes())
        state.update(json.dumps([method, self.tasks.ranks, self.capacity, self.seed, self.grid]).encode())
        return state.hexdigest()[:12]

    def _weights(self, method: str) -> Any:
        metric = HOPS if method == GEOMETRIC else method
        return machine_graph(metric, self.routes, self.snapshot, self.per_hop)

    def accepted(self, method: str, answers: Sequence[Ints]) -> list[Ints]:
        """Return the ``answers`` (the node of each rank) that should be better than the default.

        The best comes first. They cost less. With the metrics of counters, their busiest link also does not carry the
        job's bytes for longer, with and without the traffic; shorter is better. Empty if traffic does not slow the
        default's busiest link.
        """
        weights, default = self._weights(method), default_mapping(self.tasks.ranks, self.capacity)
        most = cost(self.tasks, weights, default).total
        cheaper = [nodes for nodes in answers if cost(self.tasks, weights, nodes).total < most]
        if method not in OF_COUNTERS:
            return cheaper
        if not congested(self.tasks, self.routes, self.snapshot, default):
            return []

        def busiest_s(nodes: Ints, snapshot: Snapshot | None = self.snapshot) -> float:
            return busiest_link_s(self.tasks, self.routes, snapshot, nodes)

        most_s, most_alone_s = busiest_s(default), busiest_s(default, None)
        timed = [(busiest_s(nodes), place) for place, nodes in enumerate(cheaper)]
        fit = [(time_s, place) for time_s, place in timed if time_s <= most_s]
        return [cheaper[place] for _, place in sorted(fit) if busiest_s(cheaper[place], None) <= most_alone_s]

    def answer(self, method: str, guarded: bool = True) -> Plan:
        """Return the plan of ``method``; ``guarded``: the default, if it should be as good.

        Unguarded, the mapping with the least estimated cost. The method without a metric is never guarded, since all
        its mappings cost the same.
        """
        start = time.perf_counter()
        weights = self._weights(method)
        default = default_mapping(self.tasks.ranks, self.capacity)
        if method == GEOMETRIC:
            grid = even_grid(self.tasks.ranks) if self.grid is None else self.grid
            places = node_coordinates(self.network, self.routes.hosts)
            answers = [geometric_mapping(grid_coordinates(grid, self.tasks.ranks), places, self.capacity)]
        else:
            answers = scotch_mappings(self.tasks, weights, self.capacity, self.seed)
        if guarded and method != NONE:
            answers = self.accepted(method, answers)
        found = answers[0] if answers else default
        seconds = time.perf_counter() - start
        of_found, of_default = cost(self.tasks, weights, found), cost(self.tasks, weights, default)
        return Plan(
            method,
            found.tolist(),
            not answers,
            of_found.total,
            of_found.largest,
            of_default.total,
            of_default.largest,
            seconds,
        )


def kept_plan(question: Question, method: str, folder: Path, name: str) -> Plan:
    """Return the question's plan from ``folder``; find it now if it is missing."""
    path = folder / f"{name}-{method}-{question.digest(method)}.json"
    if not path.is_file():
        tables.write_json(path, PLAN_SCHEMA, asdict(question.answer(method)))
    content = tables.read_json(path, PLAN_SCHEMA)
    return Plan(**{key: value for key, value in content.items() if key != "schema"})
