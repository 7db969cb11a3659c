"""The alternatives' experiments: ``manynode run`` in a folder each, measured once for each kind of node.

Alternatives whose measured runs would be the same (application, node, phases 1 and 2) share those of the first. What
``manynode run`` keeps is kept: a study that was stopped goes on where it was.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from manynode import tables
from manynode.config.changes import changed
from manynode.config.confirm import ConfirmSection
from manynode.config.loader import resolve
from manynode.config.resolved import Resolved
from manynode.config.studies import without_studies
from manynode.errors import ManynodeError
from manynode.measurements import MEASURED_SECTIONS, fit
from manynode.run import run_experiment
from manynode.snakemake_run import EXIT_INTERRUPTED, StepFailedError
from phase3_sst.studies.what_if.what_if_file import IDEAL_CHANGES, WhatIf


@dataclass(frozen=True)
class Case:
    """One experiment of the study: an alternative on its own network or on the ideal one."""

    alternative: str
    ideal: bool
    content: dict[str, Any]
    resolved: Resolved
    engine: str = ""  # that confirms it, where it is not the study's

    @property
    def name(self) -> str:
        """Return the folder's name."""
        stem = re.sub(r"[^A-Za-z0-9._-]+", "-", self.alternative)
        return f"{stem}+ideal" if self.ideal else f"{stem}+{self.engine}" if self.engine else stem

    @property
    def nodes(self) -> int:
        """Return the number of nodes."""
        return int(self.resolved.model.nodes[0])

    def results(self, output: Path) -> Path:
        """Return its results folder."""
        return output / self.name / "results" / self.resolved.model.name

    def measured_as(self) -> str:
        """Return what its measured runs depend on."""
        return json.dumps({key: self.resolved.content[key] for key in MEASURED_SECTIONS}, sort_keys=True)


def cases(study: WhatIf, path: Path) -> list[Case]:
    """Return the study's experiments, all checked; a mistake in an alternative is named with it."""
    base = path.resolve().parent / study.experiment
    found = []
    for name, alternative in study.alternatives.items():
        for ideal in (False, True) if study.ideal else (False,):
            changes: dict[str, Any] = {**alternative.set, **(IDEAL_CHANGES if ideal else {})}
            try:
                content = changed(base, changes)
                nodes = alternative.nodes or max(content.get("nodes") or [64])
                content |= {"nodes": [nodes], "techniques": [study.technique]}
                content = without_studies(content)
                resolved = resolve(content, where=f"{path}: alternatives: {name}", base=base.parent)
            except ManynodeError as error:
                raise error.named(f"alternative {name!r}") from None
            found.append(Case(name, ideal, content, resolved))
    return found


def confirming(planned: list[Case], names: Collection[str], confirm: ConfirmSection) -> list[Case]:
    """Return the cases of the alternatives ``names`` with the engine and replicas that confirm them."""
    found = []
    for case in planned:
        if case.ideal or case.alternative not in names:
            continue
        simulate = dict(case.content.get("simulate") or {})
        simulate["engine"] = confirm.engine
        # Replicas are numbered from 0 and draw by their number: the first ones are those of the study.
        simulate["replicas"] = min(case.resolved.model.simulate.replicas, confirm.replicas or 10**9)
        content = {**case.content, "simulate": simulate}
        resolved = resolve(content, where=f"{case.alternative} with {confirm.engine}", base=Path())
        found.append(Case(case.alternative, False, content, resolved, confirm.engine))
    return found


def run_all(
    planned: list[Case],
    output: Path,
    *,
    cores: int,
    profile: str | None,
    measurements_from: Path | None,
    say: Callable[[str], None],
    sources: dict[str, Path],
) -> None:
    """Run every case; raise the error of the first that fails, with its name, after all others have run.

    ``sources`` (what measured runs depend on -> results that have them) is completed.
    """
    failures: list[tuple[Case, ManynodeError]] = []
    for case in planned:
        how = ", ideal network" if case.ideal else f", {case.engine}" if case.engine else ""
        say(f"{case.alternative}{how}: {case.nodes} nodes")
        own = output / case.name
        path = own / "experiment.yaml"
        with tables.replacing(path) as part:
            part.write_text(yaml.safe_dump(case.content, sort_keys=False), encoding="utf-8")
        source = sources.get(case.measured_as())
        if source is None and measurements_from is not None and fit(measurements_from, case.resolved):
            source = measurements_from
        try:
            run_experiment(path, cores=cores, directory=own, profile=profile, measurements_from=source)
        except ManynodeError as error:
            if isinstance(error, StepFailedError) and error.exit_code == EXIT_INTERRUPTED:
                raise
            failures.append((case, error))
            say(f"failed: {str(error).splitlines()[0]}")
            continue
        sources.setdefault(case.measured_as(), case.results(output))
    if failures:
        case, first = failures[0]
        rest = f"; {len(failures) - 1} more failed" if len(failures) > 1 else ""
        raise StepFailedError(
            f"alternative {case.alternative!r}{' on the ideal network' if case.ideal else ''}: {first}{rest}",
            first.exit_code,
        )
