"""Runs the experiments of a study: ``manynode run`` in a folder each, with one measurement for each kind of node.

All files of ``manynode run`` are kept: an interrupted study resumes where it stopped.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from manynode import tables
from manynode.config import yaml_text
from manynode.config.resolved import Resolved
from manynode.errors import ManynodeError
from manynode.measurements import MEASURED_SECTIONS, fitting, measures, sources
from manynode.run import run_experiment
from manynode.snakemake_run import EXIT_INTERRUPTED, StepFailedError


@dataclass(frozen=True)
class PlannedExperiment:
    """An experiment of a study; it runs in ``folder``. ``name`` is for messages.

    ``only`` are the result files that the study needs if it does not need all; later steps are not run.
    ``measurements`` is a results folder whose measured runs it must reuse.
    """

    name: str
    content: Mapping[str, Any]
    resolved: Resolved
    folder: Path
    only: tuple[str, ...] = ()
    measurements: Path | None = None

    @property
    def results(self) -> Path:
        """Return its results folder."""
        return self.folder / "results" / self.resolved.name

    def write(self) -> Path:
        """Write its file; return the path."""
        path = self.folder / "experiment.yaml"
        with tables.replacing(path) as part:
            part.write_text(yaml_text.dump(dict(self.content)), encoding="utf-8")
        return path


@dataclass
class ExperimentRunner:
    """Runs the experiments of a study one after the other.

    ``measurements_from`` is a results folder or a folder of several: each experiment reuses the measured runs that fit
    it. With ``shared``, it also reuses identical ones of an earlier experiment of the study.
    """

    cores: int
    profile: str | None
    measurements_from: Path | None
    say: Callable[[str], None]
    shared: bool = False
    _known: dict[str, Path] = field(default_factory=dict, init=False)
    _given: list[Path] = field(default_factory=list, init=False)

    def __post_init__(self) -> None:
        """Look for the given measurements once, for all experiments."""
        self._given = sources(self.measurements_from)

    def run(self, experiments: Iterable[PlannedExperiment]) -> None:
        """Run all experiments; stop at the first failure and raise its error with its name."""
        for one in experiments:
            self.say(one.name)
            try:
                self._run(one)
            except StepFailedError as error:
                raise StepFailedError(f"{one.name}: {error}", error.exit_code) from None
            except ManynodeError as error:
                raise error.named(one.name) from None

    def run_whatever_fails(self, experiments: Iterable[PlannedExperiment]) -> None:
        """Run all experiments; then raise the error of the first that failed, with its name."""
        failures: list[tuple[str, ManynodeError]] = []
        for one in experiments:
            self.say(one.name)
            try:
                self._run(one)
            except ManynodeError as error:
                if isinstance(error, StepFailedError) and error.exit_code == EXIT_INTERRUPTED:
                    raise
                failures.append((one.name, error))
                self.say(f"failed: {str(error).splitlines()[0]}")
        if failures:
            name, first = failures[0]
            rest = f"; {len(failures) - 1} more failed" if len(failures) > 1 else ""
            raise StepFailedError(f"{name}: {first}{rest}", first.exit_code)

    def _run(self, one: PlannedExperiment) -> None:
        kind = json.dumps({key: one.resolved.content[key] for key in MEASURED_SECTIONS}, sort_keys=True)
        source = one.measurements or self._found(one, kind)
        run_experiment(
            one.write(),
            cores=self.cores,
            directory=one.folder,
            profile=self.profile,
            measurements_from=source,
            only=one.only,
        )
        if self.shared and measures(one.resolved):
            self._known.setdefault(kind, one.results)

    def _found(self, one: PlannedExperiment, kind: str) -> Path | None:
        """Return the results whose measured runs fit ``one``, and say which; None where nothing is measured."""
        if not measures(one.resolved):
            return None
        source = self._known.get(kind) or fitting(self._given, one.resolved)
        if source is not None:
            self.say(f"{one.name}: measured runs of {source}")
        elif self._given:
            self.say(f"no measurements in {self.measurements_from} fit {one.name}: it is measured")
        return source
