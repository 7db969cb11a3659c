"""Simulates situations and keeps each in a folder named after the situation and its digest."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from manynode.config.network import Network
from phase3_sst.campaign import batch, planned_point
from phase3_sst.campaign.planned_point import PlannedPoint
from phase3_sst.point.point_result import PointResult
from phase3_sst.studies.congestion.contract import Workload
from phase3_sst.studies.congestion.situation import Situation


@dataclass(frozen=True)
class Runs:
    """The machine of a study and its results below ``output``.

    ``networks`` are those of parts that have a machine of their own.
    """

    network: Network
    network_content: Mapping[str, Any]
    simulate: Mapping[str, Any]
    seed: int
    confidence: float
    workloads: Mapping[str, Workload]
    output: Path
    networks: Mapping[str, Network] = field(default_factory=dict)

    def of(self, part: str) -> Runs:
        """Return the machine of a part: its own, else the study's."""
        if part not in self.networks:
            return self
        network = self.networks[part]
        return replace(self, network=network, network_content=network.model_dump(mode="json"))

    def planned(self, situation: Situation) -> PlannedPoint:
        """Return the situation as a point of the campaign."""
        digest = situation.digest(self.network_content, self.simulate)
        point = situation.point(self.network_content, self.simulate)
        return PlannedPoint(situation.name, f"situations/{situation.name}-{digest}", point)

    def folder(self, situation: Situation) -> Path:
        """Return the folder of a situation's result."""
        digest = situation.digest(self.network_content, self.simulate)
        return self.output / "situations" / f"{situation.name}-{digest}"

    def missing(self, situations: Iterable[Situation]) -> list[Situation]:
        """Return the situations with neither a result nor a recorded failure."""
        return [one for one in situations if not planned_point.finished(self.folder(one))]

    def run(self, situation: Situation) -> None:
        """Simulate one situation in this process; a failure is recorded in its folder."""
        batch.simulate(self.planned(situation), self.output)

    def result(self, situation: Situation) -> PointResult:
        """Return the result of a simulated situation."""
        return PointResult(self.folder(situation))

    def failed(self, situation: Situation) -> str | None:
        """Return why a situation has no result; None when it has one."""
        return planned_point.failed(self.folder(situation))
