"""Runs the same experiment with each engine: ``manynode run`` in separate folders, from the same measurements.

The first engine's run measures (phases 1 and 2), unless measurements are given. The others reuse these, and all replay
the same timing profiles with the same draws. All files of ``manynode run`` are kept: an interrupted comparison resumes
where it stopped, and an additional engine repeats nothing.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from manynode.config.changes import changed
from manynode.config.loader import resolve
from manynode.config.resolved import Resolved
from manynode.errors import InputError, ManynodeError, UsageError
from manynode.measurements import differ, measured, measures, reused
from phase3_sst.campaign.experiments import ExperimentRunner, PlannedExperiment
from phase3_sst.point.point_result import EngineResults

ENGINE_KEY = "simulate.engine"
_PROFILES = "nodesim/timing-profile-*.json"


@dataclass(frozen=True)
class Runs:
    """The runs of a comparison and their folders: ``output``/ENGINE/results/NAME."""

    experiment: Path
    output: Path
    changes: Mapping[str, Any]
    cores: int
    profile: str | None = None
    measurements_from: Path | None = None

    def check(self) -> None:
        """Raise a :class:`UsageError` for experiments that cannot be compared, before anything runs."""
        if ENGINE_KEY in self.changes:
            raise UsageError(
                "the engines of a comparison cannot be set by --set",
                where=f"--set {ENGINE_KEY}",
                found=str(self.changes[ENGINE_KEY]),
                remedy="name them with --engines",
            )
        if self.resolved().application.name is None:
            raise UsageError(
                "the experiment has no skeleton to simulate",
                where=f"{self.experiment}: application: name",
                found="a command only",
                remedy="phase 3 needs a skeleton: docs/tutorial.md shows how to write one",
            )

    def content(self, engine: str | None = None) -> dict[str, Any]:
        """Return the experiment with its changes, for ``engine``."""
        return changed(self.experiment, {**self.changes, **({} if engine is None else {ENGINE_KEY: engine})})

    def resolved(self, engine: str | None = None) -> Resolved:
        """Return the experiment of :meth:`content`, checked."""
        return resolve(self.content(engine), where=str(self.experiment), base=self.experiment.resolve().parent)

    def planned(self, engine: str, measurements: Path | None = None) -> PlannedExperiment:
        """Return the experiment of ``engine``; it reuses ``measurements``."""
        name = f"engine {engine}"
        try:
            resolved = self.resolved(engine)
        except ManynodeError as error:
            raise error.named(name) from None
        return PlannedExperiment(name, self.content(engine), resolved, self.output / engine, measurements=measurements)

    def all(self, engines: Sequence[str], say: Callable[[str], None]) -> dict[str, EngineResults]:
        """Run with every engine; return their results in the order given."""
        source = reused(self.measurements_from, self.resolved())
        runner = ExperimentRunner(self.cores, self.profile, None, say)
        for engine in self._order(engines):
            one = self.planned(engine, source)
            _forget_other_measurements(one)
            runner.run([one])
            if measures(one.resolved):
                source = source or one.results
        results = {engine: EngineResults(engine, self.planned(engine).results) for engine in engines}
        _check_profiles(list(results.values()))
        return results

    def _order(self, engines: Sequence[str]) -> list[str]:
        """Return the engines; one with existing measurements comes first."""
        return sorted(engines, key=lambda engine: not measured(self.planned(engine).results))


def _forget_other_measurements(one: PlannedExperiment) -> None:
    """Remove the results of ``one`` if they have other measurements: they could not be compared."""
    if one.measurements is not None and differ(one.measurements, one.results):
        for stale in (one.results, one.folder / ".snakemake"):
            shutil.rmtree(stale, ignore_errors=True)


def _check_profiles(results: Sequence[EngineResults]) -> None:
    first, *others = results
    for other in others:
        for path in sorted(first.folder.glob(_PROFILES)):
            beside = other.folder / path.relative_to(first.folder)
            if not beside.is_file() or beside.read_bytes() != path.read_bytes():
                raise InputError(
                    "the engines did not replay the same compute times",
                    where=f"{path} and {beside}",
                    found="they differ",
                    remedy=f"delete {other.folder} and run the comparison again",
                )
