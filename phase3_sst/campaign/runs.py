"""Situations simulated and kept: a folder each, named after the situation and the digest of what it depends on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from manynode import tables
from manynode.config.network import Network
from manynode.errors import ManynodeError
from phase3_sst.campaign.situation import Situation
from phase3_sst.point.contract import engine_of
from phase3_sst.point.point_result import PointResult
from phase3_sst.studies.congestion.contract import Workload

FAILURE_SCHEMA = "failed-situation/1"


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
        """Return the machine of a part: its own, or else the study's."""
        if part not in self.networks:
            return self
        network = self.networks[part]
        return replace(self, network=network, network_content=network.model_dump(mode="json"))

    def folder(self, situation: Situation) -> Path:
        """Return the folder of a situation's result."""
        digest = situation.digest(self.network_content, self.simulate)
        return self.output / "situations" / f"{situation.name}-{digest}"

    def missing(self, situations: Iterable[Situation]) -> list[Situation]:
        """Return the situations that have neither a result nor a failure on record."""
        return [
            situation
            for situation in situations
            if not any((self.folder(situation) / name).is_file() for name in ("result.json", "failure.json"))
        ]

    def result(self, situation: Situation) -> PointResult:
        """Return the result of a simulated situation."""
        return PointResult(self.folder(situation))

    def failed(self, situation: Situation) -> str | None:
        """Return why a situation has no result; None when it has one."""
        folder = self.folder(situation)
        if (folder / "result.json").is_file():
            return None
        path = folder / "failure.json"
        return str(tables.read_json(path, FAILURE_SCHEMA)["message"]) if path.is_file() else "not simulated"

    def run(self, situation: Situation) -> None:
        """Simulate a situation into its folder; a failure is kept there, and does not stop the others."""
        point = situation.point(self.network_content, self.simulate)
        folder = self.folder(situation)
        try:
            engine_of(point.experiment).simulate(point, folder)
        except ManynodeError as error:
            tables.write_json(folder / "failure.json", FAILURE_SCHEMA, {"message": error.render()})
