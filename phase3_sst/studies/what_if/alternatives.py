"""The alternatives' experiments: ``manynode run`` in a folder each, with one measurement for each kind of node.

Alternatives with the same measured runs (application, node, phases 1 and 2) share those of the first. All files of
``manynode run`` are kept: an interrupted study resumes where it stopped.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from manynode.config.changes import changed
from manynode.config.confirm import ConfirmSection
from manynode.config.loader import resolve
from manynode.config.resolved import Resolved
from manynode.config.studies import without_studies
from manynode.errors import ManynodeError
from phase3_sst.campaign.experiments import PlannedExperiment
from phase3_sst.studies.what_if.what_if_file import IDEAL_CHANGES, WhatIf


@dataclass(frozen=True)
class Case:
    """One experiment of the study: an alternative on its own network or on the ideal one."""

    alternative: str
    ideal: bool
    content: dict[str, Any]
    resolved: Resolved
    engine: str = ""  # the confirming engine, if not the study's

    @property
    def name(self) -> str:
        """Return the folder's name."""
        stem = re.sub(r"[^A-Za-z0-9._-]+", "-", self.alternative)
        return f"{stem}+ideal" if self.ideal else f"{stem}+{self.engine}" if self.engine else stem

    @property
    def nodes(self) -> int:
        """Return the number of nodes."""
        return int(self.resolved.nodes[0])

    @property
    def point(self) -> str:
        """Return the folder of its point below its results."""
        return f"simulate/{self.resolved.techniques[0]}/nodes-{self.nodes}"

    def results(self, output: Path) -> Path:
        """Return its results folder."""
        return self.planned(output).results

    def planned(self, output: Path) -> PlannedExperiment:
        """Return the case as an experiment that runs below ``output``."""
        how = " on the ideal network" if self.ideal else f" with the engine {self.engine}" if self.engine else ""
        # Of these, the study needs the time alone: no analysis and no report.
        only = (f"{self.point}/result.json",) if how else ()
        return PlannedExperiment(
            f"alternative {self.alternative!r}{how}", self.content, self.resolved, output / self.name, only
        )


def cases(study: WhatIf, path: Path) -> list[Case]:
    """Return the study's checked experiments; an error names its alternative."""
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
    """Return the cases of the alternatives ``names`` with the confirming engine and replicas."""
    found = []
    for case in planned:
        if case.ideal or case.alternative not in names:
            continue
        simulate = dict(case.content.get("simulate") or {})
        simulate["engine"] = confirm.engine
        # Replicas are numbered from 0 and draw by their number; the first ones equal those of the study.
        simulate["replicas"] = min(case.resolved.simulate.replicas, confirm.replicas or 10**9)
        content = {**case.content, "simulate": simulate}
        resolved = resolve(content, where=f"{case.alternative} with {confirm.engine}", base=Path())
        found.append(Case(case.alternative, False, content, resolved, confirm.engine))
    return found
