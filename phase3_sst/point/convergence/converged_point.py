"""A point of an experiment with ``simulate: converge``: run, judge, double, extrapolate; or refuse and simulate all.

Every engine can do this: a run of n iterations is a point with another application parameter. The outcome is the member
``iterations`` of result.json:

- ``parameter``, ``of`` (N), ``simulated`` (n), ``extrapolated``;
- extrapolated: ``since`` (m: the slope is that of iterations m + 1 to n), ``period``, ``half_width`` and ``width``
  (shares of the mean iteration time), ``confidence``, ``added_s`` (the half width in terms of the makespan [s]),
  ``checked`` (iterations whose operations were counted);
- not extrapolated: ``reasons``.
"""

from __future__ import annotations

import shutil
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from manynode import tables
from manynode.config.converge import ConvergeSection, iterations_of
from manynode.errors import CheckFailedError
from manynode.timing_profile import TimingProfile, read_timing_profile
from phase3_sst.point.contract import RESULT_SCHEMA, NetworkEngine, Point
from phase3_sst.point.convergence.operations import Iteration, UnlikeIterationsError, iteration_of
from phase3_sst.point.convergence.profile_periods import Replayed, period, unlike, unseen
from phase3_sst.point.convergence.series import Array, Judgement, judge
from phase3_sst.point.slow_node import slowed


class RefusedError(Exception):
    """The iterations cannot be extrapolated; the text says why."""


def simulate_point(engine: NetworkEngine, point: Point, directory: Path) -> None:
    """Simulate ``point`` into ``directory``, with its slow node if any; extrapolate if requested and possible.

    Otherwise all iterations are simulated.

    Raises what the engine raises, and :class:`CheckFailedError` when a point must be extrapolated and cannot be.
    """
    with slowed(point, directory) as chosen:
        _simulate(engine, chosen, directory)


def _simulate(engine: NetworkEngine, point: Point, directory: Path) -> None:
    section = point.experiment.simulate.converge
    if section is None:
        engine.simulate(point, directory)
        return
    attempt = _Attempt(engine, point, directory, section)
    try:
        attempt.extrapolated()
        return
    except RefusedError as error:
        reasons = str(error)
    finally:
        attempt.clear()
    if section.otherwise == "error":
        raise CheckFailedError(
            f"the iterations of a point cannot be extrapolated ({point.name})",
            found=reasons,
            where="simulate: converge: otherwise: error",
            remedy="'otherwise: full' simulates such a point whole",
        )
    attempt.tell(f"all {attempt.total} iterations are simulated: {reasons}")
    engine.simulate(attempt.of(attempt.total), directory)
    document = tables.read_json(directory / "result.json", RESULT_SCHEMA)
    document.pop("schema")
    note = {**attempt.note(attempt.total), "extrapolated": False, "reasons": reasons}
    tables.write_json(directory / "result.json", RESULT_SCHEMA, {**document, "iterations": note})


class _Attempt:
    """One attempt at a point; runs of fewer iterations have their own folders until the end."""

    def __init__(self, engine: NetworkEngine, point: Point, directory: Path, section: ConvergeSection) -> None:
        self._engine = engine
        self._point = point
        self._directory = directory
        self._section = section
        self._began = time.monotonic()
        self._runs: dict[int, Path] = {}
        self._name = point.experiment.application.name
        self._counter, self.total = iterations_of(self._name, point.experiment.application.parameters, section)

    def extrapolated(self) -> None:
        """Simulate until it converges and write the result, or raise :class:`RefusedError`."""
        self._refuse_what_changes()
        if self.total < 2 * self._section.first:
            raise RefusedError(f"{self.total} iterations are fewer than two times 'first' ({self._section.first})")
        if self._point.timing_profile is None:
            raise RefusedError("without a timing profile there is nothing to sample")
        profile = read_timing_profile(self._point.timing_profile)
        classes, iteration = self._classes(profile)
        repeats, phase = period(profile, classes)
        count = _multiple(self._section.first, 4 * repeats)
        if count > self.total // 2:
            # The pattern is longer than the sample: the simulated iterations do not predict the others.
            raise RefusedError(
                f"the compute times of phase {phase!r} follow a pattern that takes {repeats} iterations: half of the "
                f"{self.total} iterations contain it less than four times"
            )
        objections = ["nothing has been simulated"]
        while count <= self.total // 2:
            ends = self._ends(count)
            judgement = judge(ends, self.total, self._section.confidence, repeats)
            objections = self._objections(judgement, profile, classes, len(ends))
            if not objections:
                self._write(judgement, repeats, iteration)
                return
            self.tell(f"{count} of {self.total} iterations: {objections[0]}")
            count *= 2
        raise RefusedError("; ".join(objections))

    def clear(self) -> None:
        """Remove the runs of fewer iterations; a run that failed keeps its folder, with its log."""
        for folder in self._runs.values():
            shutil.rmtree(folder, ignore_errors=True)

    def note(self, simulated: int) -> dict[str, Any]:
        """Return the members that every note has."""
        return {"parameter": self._counter, "of": self.total, "simulated": simulated}

    def tell(self, line: str) -> None:
        """Report progress."""
        if self._point.progress is not None:
            self._point.progress(line)

    def of(self, iterations: int) -> Point:
        """Return the point with ``iterations`` iterations and the rest of the time limit, which covers all its runs."""
        application, simulate = self._point.experiment.application, self._point.experiment.simulate
        application = application.model_copy(
            update={"parameters": {**application.parameters, self._counter: iterations}}
        )
        limit = simulate.time_limit
        if limit is not None:
            left = max(1e-3, limit - (time.monotonic() - self._began))
            simulate = simulate.model_copy(update={"time_limit": left})
        changed = {"application": application, "simulate": simulate}
        return replace(self._point, experiment=self._point.experiment.model_copy(update=changed))

    def _refuse_what_changes(self) -> None:
        simulate = self._point.experiment.simulate
        if simulate.jobs:
            names = ", ".join(job.name for job in simulate.jobs)
            raise RefusedError(f"other jobs share the machine ({names}): they may start, end or repeat later")
        if simulate.counters is not None:
            raise RefusedError("counters over time need the whole run")

    def _classes(self, profile: TimingProfile) -> tuple[list[Replayed], Iteration]:
        """Return the classes in use; counts the first rank of each class, and the first, middle and last rank."""
        ranks = self._point.ranks
        numbers = Counter(self._point.class_of_rank)
        firsts = {name: self._point.class_of_rank.index(name) for name in numbers}
        parameters = {**self._point.experiment.application.parameters, self._counter: self.total}
        try:
            found = {
                rank: iteration_of(self._name, parameters, self._counter, ranks, rank)
                for rank in sorted({*firsts.values(), 0, ranks // 2, ranks - 1})
            }
        except UnlikeIterationsError as error:
            raise RefusedError(str(error)) from None
        replayed = [Replayed(name, numbers[name], found[rank].draws) for name, rank in firsts.items()]
        return replayed, min(found.values(), key=lambda iteration: iteration.counted)

    def _objections(
        self, judgement: Judgement, profile: TimingProfile, classes: list[Replayed], replicas: int
    ) -> list[str]:
        width = self._section.width
        found = judgement.objections(width)
        if self._point.technique.endswith("const"):
            return found
        half = judgement.iterations // 2
        apart, phase = unlike(profile, classes, half, judgement.iterations, self.total)
        if apart > width * judgement.mean_s:
            found.append(
                f"phase {phase!r} takes other times on all ranks later in the run, {apart / judgement.mean_s:.2%} of "
                f"the time apart from iterations {half} to {judgement.iterations}"
            )
        missed, phase = unseen(profile, classes, replicas * judgement.iterations / 2)
        if missed > width * judgement.mean_s:
            found.append(
                f"the longest compute times of phase {phase!r} are too rare to be seen in {judgement.iterations} "
                f"iterations, and may be {missed / judgement.mean_s:.2%} of the time"
            )
        return found

    def _run(self, iterations: int) -> Path:
        if iterations not in self._runs:
            folder = self._directory / f"iterations-{iterations}"
            self._engine.simulate(self.of(iterations), folder)
            self._runs[iterations] = folder
        return self._runs[iterations]

    def _ends(self, iterations: int) -> Array:
        """Return the end of each iteration [s] by replica; an iteration may have several skeleton steps."""
        document = tables.read_json(self._run(iterations) / "result.json", RESULT_SCHEMA)
        ends = np.array([replica["jobs"][0]["iteration_end_s"] for replica in document["replicas"]], dtype=float)
        if ends.shape[1] % iterations:
            raise RefusedError(f"{ends.shape[1]} steps of the skeleton are no whole number for each of {iterations}")
        return ends[:, ends.shape[1] // iterations - 1 :: ends.shape[1] // iterations]

    def _write(self, judgement: Judgement, repeats: int, iteration: Iteration) -> None:
        count = judgement.iterations
        half = count // 2
        added = (self.total - count) * judgement.mean_s * judgement.half_width
        note = {
            **self.note(count),
            "extrapolated": True,
            "since": half,
            "period": repeats,
            "half_width": judgement.half_width,
            "width": self._section.width,
            "confidence": self._section.confidence,
            "added_s": added,
            "checked": iteration.counted,
        }
        # Few points come here, and all would wait for pandas.
        from phase3_sst.point.convergence.extrapolate import extrapolate

        extrapolate(self._run(half), self._run(count), (half, count, self.total), self._directory, note)
        self.tell(f"{count} of {self.total} iterations simulated, the others extrapolated")


def _multiple(number: int, of: int) -> int:
    """Return the smallest multiple of ``of`` that is at least ``number``."""
    return -(-number // of) * of
