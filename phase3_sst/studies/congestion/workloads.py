"""Measures the workloads of a study: runs each experiment up to its timing profile, in its own folder.

In: a study. Out: :class:`Planned` workloads. An experiment runs on the node count of its phase 2, without its
simulations and studies.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from manynode import input_file
from manynode.config.changes import changed
from manynode.config.loader import resolve
from manynode.config.studies import without_studies
from manynode.errors import ManynodeError, UsageError
from phase3_sst.campaign.experiments import PlannedExperiment
from phase3_sst.studies.congestion.contract import Workload
from phase3_sst.studies.congestion.study_file import Described, WorkloadSection

# The file of an experiment that the study needs; later steps are not run.
_PROFILE = "nodesim/timing-profile-ext.json"


@dataclass(frozen=True)
class Planned:
    """A workload, and the experiment that measures it (None: a skeleton with given times)."""

    workload: Workload
    experiment: PlannedExperiment | None = None

    @property
    def measured(self) -> bool:
        """Return whether its compute times have been measured."""
        return self.workload.timing_profile is None or self.workload.timing_profile.is_file()

    def without_missing_times(self) -> Workload:
        """Return the workload for an estimate; without measurements, computing takes no time."""
        return self.workload if self.measured else replace(self.workload, timing_profile=None)


def plan_workloads(described: Described, output: Path) -> dict[str, Planned]:
    """Return the workloads by name, all checked; an error in an experiment names its workload."""
    base = described.path.resolve().parent
    found = {}
    for name, section in described.study.workloads.items():
        where = f"{described.path}: workloads: {name}"
        if section.experiment is None:
            found[name] = Planned(_given(name, section, base, where))
            continue
        try:
            found[name] = _measured(name, base / section.experiment, output / "workloads" / name, where)
        except ManynodeError as error:
            raise error.named(f"workload {name!r}") from None
    return found


def _given(name: str, section: WorkloadSection, base: Path, where: str) -> Workload:
    """Return a workload that is a skeleton with the times that the study gives it."""
    assert section.application is not None
    profile = None
    if section.timing_profile is not None:
        profile = (base / section.timing_profile).resolve()
        if not input_file.is_file(profile):
            raise UsageError(
                "the timing profile of a workload does not exist",
                where=f"{where}: timing_profile",
                found=section.timing_profile,
                allowed="a path relative to the study's file",
                remedy="correct the path; without a profile the application computes in no time",
            )
        input_file.check(profile, "the timing profile of a workload", error=UsageError)
    application = section.application
    return Workload(name, application.name, application.parameters, section.ranks_per_node, profile)


def _measured(name: str, experiment: Path, folder: Path, where: str) -> Planned:
    """Return the workload that ``experiment`` measures, with results below ``folder``."""
    content = without_studies(changed(experiment, {}))
    content.pop("simulate", None)
    content |= {"techniques": ["ext-var"], "nodes": [(content.get("nodesim") or {}).get("nodes", 2)]}
    resolved = resolve(content, where=str(experiment), base=experiment.parent)
    application = resolved.content["application"]
    if application["name"] is None:
        raise UsageError(
            "the experiment has no skeleton to simulate",
            where=f"{where}: experiment",
            found=f"{experiment}: application: command",
            allowed="an experiment of an application in skeletons/, by its name",
        )
    results = folder / "results" / resolved.name
    profile = (results / _PROFILE).resolve()
    ranks = int(resolved.content["ranks_per_node"])
    workload = Workload(name, application["name"], application["parameters"], ranks, profile)
    return Planned(workload, PlannedExperiment(f"workload {name!r}", content, resolved, folder, (_PROFILE,)))
