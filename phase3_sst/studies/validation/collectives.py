"""Compares measured latencies of collectives (OSU, Intel MPI and pico benchmarks) with the experiment's network.

In: a resolved experiment with ``validation: collectives`` and an engine. Out: ``validation-collectives/2``, a row per
measured latency. The simulation runs the pattern ``collective`` of skeletons/patterns, which has that operation only,
with the row's algorithm and placement. The simulated latency depends on ``validation: start``:

- row: the makespan of consecutive executions, divided by their number;
- barrier: a barrier begins each execution; the time of the slowest rank in the collective, divided by their number
  (a barrier itself is simulated as with row);
- together: the makespan of one execution.

Rows with the same simulation (other campaigns, repeated measurements) share it. Simulations run side by side, the
longest first.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pandas as pd

from manynode.config.measured_collective import KEYS, MeasuredCollective
from manynode.config.placement import Placement
from manynode.config.resolved import Resolved
from manynode.config.topologies.torus import Torus
from manynode.errors import ManynodeError, UsageError
from phase3_sst.point.contract import Measurement, NetworkEngine
from phase3_sst.point.placement import hosts, rank_order_of
from phase3_sst.point.run_file import network_of, run_of

BARRIER = "barrier"
_BARRIER_CALL = "MPI_Barrier"
Progress = Callable[[str], None]


def compare(
    experiment: Resolved, engine: NetworkEngine, processes: int = 1, progress: Progress = lambda _: None
) -> pd.DataFrame:
    """Return ``validation-collectives/2``; ``processes`` simulations run side by side."""
    assert experiment.validation is not None
    rows = experiment.validation.collectives
    runs: dict[str, tuple[dict[str, Any], MeasuredCollective]] = {}
    keys = []
    for row in rows:
        run = run_file(experiment, row)
        keys.append(_key(run))
        runs.setdefault(keys[-1], (run, row))
    found = _simulated(experiment, engine, runs, processes, progress)
    frame = pd.DataFrame([_compared(experiment, row, found[key]) for row, key in zip(rows, keys, strict=True)])
    return frame.astype({"within_spread": "boolean"})


def _compared(experiment: Resolved, row: MeasuredCollective, found: Measurement) -> dict[str, Any]:
    simulated = _latency(experiment, row, found)
    within = None if row.p10_s is None or row.p90_s is None else bool(row.p10_s <= simulated <= row.p90_s)
    return {
        **{name: getattr(row, name) for name in KEYS},
        "simulated_algorithm": algorithm_of(experiment, row),
        "measured_s": row.seconds,
        "measured_p10_s": math.nan if row.p10_s is None else row.p10_s,
        "measured_p90_s": math.nan if row.p90_s is None else row.p90_s,
        "simulated_s": simulated,
        "error": simulated / row.seconds - 1,
        "within_spread": within,
    }


def _simulated(
    experiment: Resolved,
    engine: NetworkEngine,
    runs: Mapping[str, tuple[dict[str, Any], MeasuredCollective]],
    processes: int,
    progress: Progress,
) -> dict[str, Measurement]:
    """Return the measurements of ``runs`` by key."""
    limit = experiment.simulate.time_limit
    ordered = sorted(runs.items(), key=lambda item: _work(item[1][1]), reverse=True)

    def one(item: tuple[str, tuple[dict[str, Any], MeasuredCollective]]) -> Measurement:
        _, (run, row) = item
        try:
            return engine.measure(run, limit)
        except ManynodeError as error:
            raise error.named(f"validation: collectives: {row.name}") from None

    found: dict[str, Measurement] = {}
    with ThreadPoolExecutor(max(1, processes)) as pool:
        try:
            for number, ((key, (_, row)), measured) in enumerate(
                zip(ordered, pool.map(one, ordered), strict=True), start=1
            ):
                found[key] = measured
                progress(f"{number} of {len(ordered)}: {row.name}")
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    return found


def _work(row: MeasuredCollective) -> float:
    """Return a number that grows with the traffic of a row: long simulations begin first."""
    ranks = row.nodes * row.ranks_per_node
    whole = row.collective in ("bcast", "reduce", "allreduce")
    return ranks * (ranks + row.bytes * (1 if whole else ranks))


def _key(run: Mapping[str, Any]) -> str:
    """Return a text that is the same for run files of the same simulation; the network is that of all rows."""
    return json.dumps({name: value for name, value in run.items() if name != "network"}, sort_keys=True)


def _latency(experiment: Resolved, row: MeasuredCollective, found: Measurement) -> float:
    assert experiment.validation is not None
    iterations = experiment.validation.iterations_of(row)
    if not _begins_with_barrier(experiment, row):
        return found.makespan_s / iterations
    own = [seconds for call, seconds in found.slowest_s.items() if call.startswith("MPI_") and call != _BARRIER_CALL]
    # One rank has nothing to send.
    return max(own, default=0.0) / iterations


def _begins_with_barrier(experiment: Resolved, row: MeasuredCollective) -> bool:
    assert experiment.validation is not None
    return experiment.validation.start == "barrier" and row.collective != BARRIER


def algorithm_of(experiment: Resolved, row: MeasuredCollective) -> str:
    """Return the name of the algorithm that is simulated for a row; ``auto`` where rules choose."""
    assert experiment.validation is not None
    named = experiment.validation.algorithm_of(row)
    return named or str(getattr(experiment.simulate.collectives, row.collective))


def check(experiment: Resolved) -> None:
    """Refuse rows whose algorithm the engine would ignore."""
    if experiment.validation is None:
        return
    own = experiment.simulate.own_section()
    named = next((row for row in experiment.validation.collectives if experiment.validation.algorithm_of(row)), None)
    if named is not None and own is not None and own.has_own_collectives():
        engine = experiment.simulate.engine
        raise UsageError(
            "a named algorithm would be ignored",
            where=f"validation: collectives: {named.name}",
            found=f"simulate: {engine}: collectives: {engine}, with algorithms of its own",
            remedy=f"leave out 'simulate: {engine}: collectives', or the column algorithm",
        )


def explain(error: UsageError) -> UsageError:
    """Return an engine's refusal of a row's algorithm with the key that translates names."""
    key = str(error.where or "")
    if "validation: collectives" in error.what and key.startswith("collectives."):
        collective = key.removeprefix("collectives.")
        hint = f"translate the table's name in 'validation: algorithm_names: {collective}'"
        error.remedy = f"{error.remedy}; or {hint}" if error.remedy else hint
    return error


def run_file(experiment: Resolved, row: MeasuredCollective) -> dict[str, Any]:
    """Return the run file of one measured latency, with its placement and its algorithm."""
    validation, simulate = experiment.validation, experiment.simulate
    assert validation is not None
    parameters: dict[str, Any] = {
        "pattern": "collective",
        "collective": row.collective,
        "bytes": row.bytes,
        "iterations": validation.iterations_of(row),
        **({"barrier": True} if _begins_with_barrier(experiment, row) else {}),
    }
    placement = _placement(experiment, row)
    try:
        placed = {
            "hosts": hosts(placement, row.nodes, experiment.network.room(), experiment.seed, set(), experiment.network),
            **rank_order_of(placement, row.nodes, row.ranks_per_node),
        }
    except UsageError as error:
        place = f"validation: collectives: {row.name}" + (f", {row.placement}" if row.placement else "")
        raise error.named(place) from None
    job = {
        "name": row.collective,
        "application": {"name": "patterns", "parameters": parameters},
        "nodes": row.nodes,
        "ranks_per_node": row.ranks_per_node,
        **placed,
    }
    chosen = simulate.collectives.model_copy(update={row.collective: algorithm_of(experiment, row)})
    return run_of(network_of(experiment), chosen, [job], seed=experiment.seed, replicas=[0])


def _placement(experiment: Resolved, row: MeasuredCollective) -> Placement:
    """Return the placement of a row: its own, or the experiment's. On a torus, a shape is folded by default."""
    assert experiment.validation is not None
    default = experiment.simulate.placement
    if len(row.extents) > 1 and default == Placement() and isinstance(experiment.network.topology, Torus):
        default = Placement(nodes="folded", shape=row.extents)
    return experiment.validation.placement_of(row, default)


def distinct(experiment: Resolved, rows: Sequence[MeasuredCollective]) -> dict[str, dict[str, Any]]:
    """Return name -> run file of the rows, the longest message of those that differ in nothing else."""
    chosen: dict[tuple[Any, ...], MeasuredCollective] = {}
    for row in rows:
        key = (row.collective, row.algorithm, row.nodes, row.ranks_per_node, row.shape, row.placement)
        if key not in chosen or row.bytes > chosen[key].bytes:
            chosen[key] = row
    return {f"validation: collectives: {row.name}": run_file(experiment, row) for row in chosen.values()}
