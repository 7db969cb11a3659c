"""Chooses flow control and the number of chunks for ``network: flow_control: auto``: the cheapest that agrees.

In: situations (points of an experiment, the most decisive first) and an engine. Out: ``flow-control/1``. The first
iterations of each situation are played with its own compute times, with credits and without. Without credits the engine
is two to three times faster; it is chosen only if the times of all situations agree within :data:`AGREE`. Credits are
the reference because SST, and real switches, have them.

Long messages are cut into a limited number of chunks. The first situation is also played with chunks half as large and
twice as many. If that changes the time, the number of chunks is doubled; what is still left is a warning, because the
size of a chunk stands for the network's packets.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Literal

from manynode import notices
from manynode.config.network import Network
from manynode.config.resolved import Resolved
from phase3_sst.checks.preflight import check_network, verdict
from phase3_sst.point.contract import Measurement, NetworkEngine, Point
from phase3_sst.point.run_file import run_description

# Largest relative difference of two times that count as equal.
AGREE = 0.01
# The first iteration may start from a common time and idle links; the later ones show what remains.
ITERATIONS = 3
CHUNKS, MOST_CHUNKS = 64, 128
MEMBERS = ("flow_control", "most_chunks", "reason", "iterations", "trials", "chunks", "warnings")

Choice = Literal["none", "credits"]


@dataclass(frozen=True)
class Situation:
    """A point whose first iterations are played, and its name in messages."""

    name: str
    point: Point


def choose(situations: Iterator[Situation], engine: NetworkEngine, processes: int = 1) -> dict[str, Any]:
    """Return ``flow-control/1`` for the experiment of ``situations``; the first one decides the number of chunks.

    At most ``processes`` trials run side by side.
    """
    first = next(situations)
    trials = _Trials(engine, processes)
    # Played beside the first situation's trials, where a core would wait: mostly no credits are needed.
    ahead = [_finer(first, "none")] if processes > 1 else []
    chosen, reason, played = _flow_control(chain([first], situations), trials, ahead)
    chunks = _chunks(first, trials, chosen)
    return {"flow_control": chosen, "reason": reason, "iterations": ITERATIONS, "trials": played, **chunks}


def follow(
    base: Mapping[str, Any], situations: Iterator[Situation], engine: NetworkEngine, processes: int = 1
) -> dict[str, Any]:
    """Return the choice for variants: that of the experiment ``base``, or credits where one of them differs."""
    found = {**base, "trials": [], "chunks": [], "warnings": []}
    if base["flow_control"] == "credits":
        return {**found, "reason": "as for the experiment"}
    chosen, reason, played = _flow_control(situations, _Trials(engine, processes))
    return {**found, "flow_control": chosen, "reason": reason, "trials": played}


def check_buffers(experiment: Resolved, engine: NetworkEngine, where: str) -> None:
    """Probe line rate and bisection with credits; the pre-flight check of ``auto`` has probed without them.

    Raises :class:`CheckFailedError` if the buffers are too small for the line rate.
    """
    network = experiment.network.model_copy(update={"flow_control": "credits"})
    verdict(check_network(experiment.model_copy(update={"network": network}), engine), where)


class _Trials:
    """Plays situations on their networks with changes, side by side; none twice."""

    def __init__(self, engine: NetworkEngine, processes: int) -> None:
        self._engine = engine
        self._processes = processes
        self._known: dict[Any, Measurement] = {}

    def played(self, situation: Situation, *changes: Mapping[str, Any]) -> list[Measurement]:
        """Return what was measured with each of ``changes``; name the longest first."""
        keys = [(situation.name, *sorted(change.items())) for change in changes]
        runs = {
            key: _run_of(situation, change) for key, change in zip(keys, changes, strict=True) if key not in self._known
        }
        if runs:
            nodes = situation.point.nodes
            text = f"trials of the flow control, {situation.name} on {nodes} nodes: {len(runs)} simulations"
            print(text, file=sys.stderr, flush=True)
            notices.progress(text)
        limit = situation.point.experiment.simulate.time_limit
        found = self._engine.measure_all(list(runs.values()), limit, self._processes) if runs else []
        self._known.update(zip(runs, found, strict=True))
        return [self._known[key] for key in keys]


def _flow_control(
    situations: Iterator[Situation], trials: _Trials, ahead: Sequence[Mapping[str, Any]] = ()
) -> tuple[Choice, str, list[dict[str, Any]]]:
    """Return the choice, its reason and the trials; ``ahead`` are changes to play beside the first situation's."""
    played: list[dict[str, Any]] = []
    for situation in situations:
        if any(control.kind == "aimd" for control in situation.point.experiment.simulate.injections().values()):
            return "credits", "injection control by stalls needs credits", played
        beside = [] if played else ahead
        credits, *_, free = trials.played(situation, _with("credits"), *beside, _with("none"))
        apart = difference(free, credits)
        played.append(
            {
                "situation": situation.name,
                "nodes": situation.point.nodes,
                "none_s": free.makespan_s,
                "credits_s": credits.makespan_s,
                "difference": apart,
            }
        )
        if apart > AGREE:
            return "credits", f"without credits {situation.name} differs by {apart:.1%}", played
    largest = max((trial["difference"] for trial in played), default=0.0)
    return "none", f"with and without credits the times differ by at most {largest:.2%}", played


def _with(chosen: Choice, **changes: Any) -> dict[str, Any]:
    return {"flow_control": chosen, **changes}


def _finer(situation: Situation, chosen: Choice) -> dict[str, Any]:
    """Return the changes for chunks half as large and, up to a limit, twice as many."""
    network = situation.point.experiment.network
    return _with(
        chosen, chunk=max(1.0, network.chunk / 2), most_chunks=min(MOST_CHUNKS, 2 * (network.most_chunks or CHUNKS))
    )


def _chunks(situation: Situation, trials: _Trials, chosen: Choice) -> dict[str, Any]:
    """Return ``most_chunks``, the trials ``chunks`` and the ``warnings``."""
    network = situation.point.experiment.network
    most = network.most_chunks or CHUNKS
    changes = _finer(situation, chosen)
    half, twice = changes["chunk"], changes["most_chunks"]
    finer, given = trials.played(situation, changes, _with(chosen))
    tried = [_chunk_trial(most, network.chunk, given), _chunk_trial(twice, half, finer)]
    warnings: list[str] = []
    left = difference(given, finer)
    if left > AGREE and network.most_chunks is None:
        (raised,) = trials.played(situation, _with(chosen, most_chunks=MOST_CHUNKS))
        tried.append(_chunk_trial(MOST_CHUNKS, network.chunk, raised))
        # Where no message is that long, more chunks change nothing.
        if difference(raised, finer) < left:
            most, left = MOST_CHUNKS, difference(raised, finer)
    if left > AGREE:
        warnings.append(
            f"with chunks half as large {situation.name} differs by {left:.1%}: lower network: chunk"
            + (" or raise most_chunks" if network.most_chunks is not None else "")
            + ", unless chunks of this size are the network's packets"
        )
    return {"most_chunks": most, "chunks": tried, "warnings": warnings}


def _chunk_trial(most: int, chunk_bytes: float, found: Measurement) -> dict[str, Any]:
    return {"most_chunks": most, "chunk_bytes": chunk_bytes, "time_s": found.makespan_s}


def _run_of(situation: Situation, changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return the run file of a situation's first iterations on its network with ``changes``, for its first replica."""
    experiment = situation.point.experiment
    network: Network = experiment.network.model_copy(update=dict(changes))
    changed = experiment.model_copy(update={"network": network})
    point = Point(
        changed,
        situation.point.nodes,
        situation.point.technique,
        situation.point.timing_profile,
        situation.point.class_of_rank,
        situation.point.seed,
    )
    run = run_description(point, [0])
    run["jobs"][0]["iterations_limit"] = ITERATIONS
    run.pop("counters", None)
    return run


def difference(one: Measurement, reference: Measurement) -> float:
    """Return the larger relative difference of the makespans and of the time after the first iteration.

    What an application does once at its start would hide a difference of its iterations.
    """
    return max(_apart(one.makespan_s, reference.makespan_s), _apart(_later(one), _later(reference)))


def _later(found: Measurement) -> float:
    ends: Sequence[float] = found.iteration_ends_s
    return ends[-1] - ends[0] if len(ends) > 1 else 0.0


def _apart(one: float, reference: float) -> float:
    return abs(one - reference) / reference if reference > 0 else float(one > 0)
