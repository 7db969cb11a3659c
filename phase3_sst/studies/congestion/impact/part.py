"""Part ``impact``: how congestion slows applications down, and its traces in router counters (Zhang et al.)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from manynode.config.quantities import Section
from manynode.config.skeleton import check_skeleton
from manynode.errors import InputError, UsageError
from phase3_sst.point.contract import engine_of_settings
from phase3_sst.studies.congestion.contract import Findings, Machine, Part, check_workloads, parts
from phase3_sst.studies.congestion.impact import evaluate
from phase3_sst.studies.congestion.impact.experiments import PATTERNS, applications, pressures, runs
from phase3_sst.studies.congestion.impact.impact_figures import figures
from phase3_sst.studies.congestion.impact.impact_sentences import sentences
from phase3_sst.studies.congestion.impact.impact_settings import ImpactSection
from phase3_sst.studies.congestion.situation import Situation


class Impact:
    """One round: applications in four settings, and the congestor with a canary."""

    title = "Impact of congestion"
    section: type[Section] = ImpactSection

    def check(self, machine: Machine, settings: ImpactSection) -> None:
        """Refuse unknown applications, lists beyond the machine, patterns that do not take their parameters."""
        check_workloads(machine, settings.applications, "impact: applications")
        largest = max(settings.intensity.nodes) if settings.intensity else 0
        for key, needed in (("nodes", 3 * settings.nodes), ("intensity: nodes", largest)):
            room = machine.network.room() - settings.first_node
            if needed > room:
                raise UsageError(
                    "the list of nodes is longer than the machine",
                    where=key,
                    found=f"{needed} nodes from node {settings.first_node} on",
                    allowed=f"{room} ({machine.network.name} has {machine.network.room()})",
                    remedy="lower nodes (the list has three times as many) or choose a larger network",
                )
        for name in applications(machine, settings):
            workload = machine.workloads[name]
            ranks = settings.nodes * workload.ranks_per_node
            check_skeleton(workload.application, workload.parameters, [ranks], f"workload {name}")
        congestor = settings.congestor
        check_skeleton(PATTERNS, congestor.described(), [settings.nodes * congestor.ranks_per_node], "congestor")
        if settings.intensity is not None:
            for nodes in settings.intensity.nodes:
                count = settings.intensity.canary_nodes(nodes)
                check_skeleton(PATTERNS, settings.intensity.canary.described(), [count], "intensity: canary")
                for level, changes in enumerate(settings.intensity.levels):
                    ranks = (nodes - count) * congestor.ranks_per_node
                    where = f"intensity: levels: {level}"
                    check_skeleton(PATTERNS, {**congestor.described(), **changes}, [ranks], where)

    def situations(self, machine: Machine, settings: ImpactSection, round_number: int) -> Sequence[Situation]:
        """Return all runs in the first round."""
        if round_number > 0:
            return []
        found = [run.situation for run in runs(machine, settings)]
        for one in pressures(machine, settings):
            found += [one.isolated, one.congested]
        return list({situation.name: situation for situation in found}.values())

    def conclude(self, machine: Machine, settings: ImpactSection) -> Findings:
        """Return tables, figures and sentences; runs without a result are left out, and counted."""
        frame = evaluate.run_table(machine, settings)
        planned = len(list(runs(machine, settings)))
        if frame.empty:
            raise InputError(
                "no run of an application has a result",
                found=f"0 of {planned}",
                remedy="see the failed situations on the page",
            )
        sensitivity = evaluate.sensitivity(frame, machine.confidence, machine.seed)
        found = {
            "runs": (evaluate.RUNS, frame),
            "times": (evaluate.TIMES, evaluate.times(frame)),
            "sensitivity": (evaluate.SENSITIVITY, sensitivity),
            "correlations": (evaluate.CORRELATIONS, evaluate.correlations(frame)),
            "predictors": (evaluate.PREDICTORS, evaluate.predictors(sensitivity)),
            "pressure": (evaluate.PRESSURE, evaluate.pressure_table(machine, settings)),
        }
        frames = {name: table for name, (_, table) in found.items()}
        skeletons = {name: workload.application for name, workload in machine.workloads.items()}
        said = sentences(frames, skeletons)
        if len(frame) < planned:
            said.append(
                f"{planned - len(frame)} of {planned} runs of applications failed and are not in these figures."
            )
        engine = engine_of_settings(machine.simulate)
        able = engine.capabilities
        if machine.network.flow_control == "none" and able.counts_stalls and not able.always_has_buffers:
            said.append(
                "The network has no flow control (network: flow_control: none): congestion does not spread back from "
                "a full link, and host ports towards nodes that take all that comes never stall."
            )
        return Findings(said, found, figures(frames))


parts.register("impact")(cast(Part, Impact()))
