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

import yaml

from manynode import tables
from manynode.config.changes import changed
from manynode.config.loader import resolve
from manynode.errors import InputError, ManynodeError, UsageError
from manynode.measurements import differ, measured
from manynode.run import run_experiment
from manynode.snakemake_run import StepFailedError
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
        if self.content()["application"].get("name") is None:
            raise UsageError(
                "the experiment has no skeleton to simulate",
                where=f"{self.experiment}: application: name",
                found="a command only",
                remedy="phase 3 needs a skeleton: docs/tutorial.md shows how to write one",
            )

    def content(self, engine: str | None = None) -> dict[str, Any]:
        """Return the experiment with its changes, for ``engine``."""
        return changed(self.experiment, {**self.changes, **({} if engine is None else {ENGINE_KEY: engine})})

    def resolved(self) -> dict[str, Any]:
        """Return the experiment with its changes as the engines read it."""
        return resolve(self.content(), where=str(self.experiment), base=self.experiment.resolve().parent).content

    def folder(self, engine: str) -> Path:
        """Return the results folder of ``engine``."""
        return self.output / engine / "results" / str(self.content()["name"])

    def all(self, engines: Sequence[str], say: Callable[[str], None]) -> dict[str, EngineResults]:
        """Run with every engine; return their results in the order given."""
        source = self.measurements_from
        for engine in self._order(engines):
            say(f"engine {engine}")
            self._run(engine, source)
            source = source or self.folder(engine)
        results = {engine: EngineResults(engine, self.folder(engine)) for engine in engines}
        self._check_profiles(list(results.values()))
        return results

    def _order(self, engines: Sequence[str]) -> list[str]:
        """Return the engines; one with existing measurements comes first."""
        return sorted(engines, key=lambda engine: not measured(self.folder(engine)))

    def _run(self, engine: str, source: Path | None) -> None:
        own = self.output / engine
        if source is not None and differ(source, self.folder(engine)):
            # These results have other measurements and cannot be compared.
            for stale in (self.folder(engine), own / ".snakemake"):
                shutil.rmtree(stale, ignore_errors=True)
        path = own / "experiment.yaml"
        text = yaml.safe_dump(self.content(engine), sort_keys=False)
        with tables.replacing(path) as part:
            part.write_text(text, encoding="utf-8")
        try:
            run_experiment(path, cores=self.cores, directory=own, profile=self.profile, measurements_from=source)
        except StepFailedError as error:
            raise StepFailedError(f"with the engine {engine}: {error}", error.exit_code) from None
        except ManynodeError as error:
            raise error.named(f"with the engine {engine}") from None

    def _check_profiles(self, results: Sequence[EngineResults]) -> None:
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
