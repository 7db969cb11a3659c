"""Part ``variability`` (Chunduri et al.): runs under changing conditions, and the model of their run times."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import pandas as pd

from manynode.config.quantities import Section
from manynode.errors import InputError, UsageError
from phase3_sst.point.contract import engine_of_settings
from phase3_sst.studies.congestion.contract import Findings, Machine, Part, check_workloads, parts
from phase3_sst.studies.congestion.situation import Situation
from phase3_sst.studies.congestion.variability import drawn_runs, variability_model_file
from phase3_sst.studies.congestion.variability.runs_table import LEAST, LEAST_OF_GROUP, SCHEMA
from phase3_sst.studies.congestion.variability.train import Options
from phase3_sst.studies.congestion.variability.training_report import trained
from phase3_sst.studies.congestion.variability.variability_findings import figures, quality
from phase3_sst.studies.congestion.variability.variability_settings import VariabilitySection

MODEL_FILE = "variability-model.json"


class Variability:
    """The part; its model goes beside the study's tables as ``variability-model.json``."""

    title = "Variability of run times"
    section: type[Section] = VariabilitySection

    def check(self, machine: Machine, settings: VariabilitySection) -> None:
        """Refuse unknown workloads, sizes that do not fit the machine, and campaigns too small for a model."""
        check_workloads(machine, settings.workloads, "variability: workloads")
        if isinstance(settings.background.workloads, list):
            check_workloads(machine, settings.background.workloads, "variability: background: workloads")
        room = machine.network.room()
        if max(settings.nodes) > room:
            raise UsageError(
                "a workload does not fit the machine",
                where="variability: nodes",
                found=max(settings.nodes),
                allowed=f"at most {room}",
                remedy="choose a smaller size or a larger network",
            )
        engine = engine_of_settings(machine.simulate)
        if not engine.capabilities.always_has_buffers and machine.network.flow_control == "none":
            raise UsageError(
                "the model needs counters of stalls, and no port stalls without flow control",
                where="network: flow_control",
                found="none",
                allowed="credits",
                remedy="set flow_control: credits; set output_buffer to a few chunks for routers with hardly any",
            )
        total = len(drawn_runs.chosen(machine.workloads, settings)) * len(settings.nodes) * settings.runs
        if settings.runs < LEAST_OF_GROUP or total < LEAST:
            raise UsageError(
                "too few runs to train",
                where="variability: runs",
                found=f"{settings.runs} of each workload and size, {total} in all",
                allowed=f"at least {LEAST_OF_GROUP} of each, {LEAST} in all",
                remedy=f"set runs to {max(LEAST_OF_GROUP, -(-LEAST * settings.runs // total))} or more",
            )

    def situations(self, machine: Machine, settings: VariabilitySection, round_number: int) -> Sequence[Situation]:
        """Return all runs in the first round."""
        return [] if round_number else self._runs(machine, settings)

    def conclude(self, machine: Machine, settings: VariabilitySection) -> Findings:
        """Return the model's quality, and write the model."""
        planned = self._runs(machine, settings)
        failures = {run.name: why for run in planned if (why := machine.failed(run)) is not None}
        rows = [
            drawn_runs.row(run, machine.result(run), machine.network_content, settings.flit)
            for run in planned
            if run.name not in failures
        ]
        if not rows:
            name, why = next(iter(failures.items()))
            raise InputError("no run of the campaign has a result", found=f"{name}: {why}")
        runs = pd.DataFrame(rows)
        options = Options(settings.features, settings.trees, settings.confidence, machine.seed)
        found = trained(runs, options, "the campaign")
        variability_model_file.write(machine.output / MODEL_FILE, found.model)
        sentences = [*quality(found), *(f"{note}." for note in found.notes), *_congestion(runs)]
        if failures:
            name, why = next(iter(failures.items()))
            sentences.append(f"{len(failures)} of {len(planned)} runs failed and are left out, such as {name}: {why}")
        return Findings(sentences, {"runs": (SCHEMA, runs), **found.tables}, figures(found))

    def _runs(self, machine: Machine, settings: VariabilitySection) -> list[Situation]:
        return drawn_runs.situations(machine.workloads, settings, machine.network.room(), machine.seed)


def _congestion(runs: pd.DataFrame) -> list[str]:
    """Return how much run times vary, as in the paper's table II."""
    parts = []
    for (name, nodes), own in runs.groupby(["application", "nodes"], sort=True)["run_time_s"]:
        spread: Any = own.std(ddof=0) / own.mean()
        parts.append(f"{name} on {nodes} nodes {own.max() / own.min():.2f} (CV {spread:.2f})")
    return [f"Longest over shortest run time: {', '.join(parts)} (the paper: 1.12 to 1.74, CV 0.03 to 0.11)."]


parts.register("variability")(cast(Part, Variability()))
