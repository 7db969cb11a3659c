"""Mapping by libscotch (``manynode-scotch`` of the native build): dual recursive bipartitioning of both graphs.

In: task graph, machine graph, slots of a node. Out: mappings, each the node of each rank. As with Brandt et al., the
machine graph has a vertex per slot; above :data:`MOST_SLOTS` it has a vertex per node, with the node's slots as its
capacity, because a complete graph grows with the square of its vertices. Scotch runs with several seeds: the estimated
cost of its mappings varies by a tenth, their load on the busiest link by half, and a run takes about a tenth of a
second.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import numpy.typing as npt

from manynode import process
from manynode.errors import EngineMissingError
from manynode.paths import native_program
from manynode.seeds import derive_seed
from phase3_sst.engines.native_engine import engine_error
from phase3_sst.studies.congestion.mapping.assignment import cost, within_capacity
from phase3_sst.studies.congestion.mapping.task_graph import TaskGraph

_PROGRAM = "manynode-scotch"
MOST_SLOTS = 1024
TRIES = 32

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


def available() -> bool:
    """Return whether the native build has the program, which needs libscotch."""
    try:
        native_program(_PROGRAM)
    except EngineMissingError:
        return False
    return True


def scotch_mapping(tasks: TaskGraph, weights: Floats, capacity: int, seed: int) -> Ints:
    """Return the node of each rank in the mapping with the least estimated cost."""
    return scotch_mappings(tasks, weights, capacity, seed)[0]


def scotch_mappings(tasks: TaskGraph, weights: Floats, capacity: int, seed: int) -> list[Ints]:
    """Return several mappings, the one with the least estimated cost first.

    A missing libscotch is an :class:`EngineMissingError`.
    """
    try:
        program = native_program(_PROGRAM)
    except EngineMissingError as error:
        raise EngineMissingError(
            "mapping by Scotch is not available",
            where=error.where,
            found="the native build has no manynode-scotch",
            allowed="the metric geometric needs no Scotch",
            remedy="install libscotch-dev (Scotch 7) and run 'make build'",
        ) from None
    nodes = len(weights)
    each = 1 if nodes * capacity <= MOST_SLOTS else capacity
    node_of_target = np.repeat(np.arange(nodes), capacity // each)
    seeds = [str(derive_seed(seed, "scotch", number) % 2**31) for number in range(TRIES)]
    with tempfile.TemporaryDirectory(prefix="scotch.") as name:
        path = Path(name) / "graphs.txt"
        path.write_text(_graphs(tasks, weights[np.ix_(node_of_target, node_of_target)], each), encoding="utf-8")
        done = process.run([program, path, "--seed", *seeds], what=_PROGRAM, check=False)
    if done.returncode != 0:
        raise engine_error(done, "mapping by Scotch")
    answers = [np.array(line.split(), dtype=np.int64) for line in done.output.splitlines()]
    found = [within_capacity(tasks, weights, node_of_target[targets], capacity) for targets in answers]
    return sorted(found, key=lambda nodes: cost(tasks, weights, nodes).total)


def _graphs(tasks: TaskGraph, distances: Floats, capacity: int) -> str:
    """Return the program's input."""
    targets = len(distances)
    a, b, amount = tasks.edges()
    lines = [f"{tasks.ranks} {targets} {len(a)}", " ".join([str(capacity)] * targets)]
    lines += [" ".join(map(repr, distances[row, :row].tolist())) for row in range(1, targets)]
    lines += [f"{i} {j} {value!r}" for i, j, value in zip(a.tolist(), b.tolist(), amount.tolist(), strict=True)]
    return "\n".join(lines) + "\n"
