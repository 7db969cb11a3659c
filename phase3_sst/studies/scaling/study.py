"""The scaling study: what costs time at each node count, from counterfactual networks."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from manynode.config.scaling import ScalingSection
from manynode.config.studies import Study, StudyFile, StudyPoint, study


@study("scaling")
class Scaling(Study):
    """The experiment's points again, with one cost after the other removed."""

    section = ScalingSection
    description = "Study: what costs time at each node count"
    rank = 20
    in_projection_digest = True
    help = "Break the time at each node count down into its losses."
    files = (
        StudyFile(
            "scaling.parquet",
            "scaling/1",
            ("technique", "nodes", "part", "seconds", "low_s", "high_s", "share", "growth_s"),
        ),
    )

    def check(self, content: Mapping[str, Any]) -> None:
        """Refuse an engine that cannot switch contention off, and unknown techniques and nodes."""
        from manynode.config.counterfactuals import check_counterfactuals

        check_counterfactuals(content)

    def points(self, content: Mapping[str, Any]) -> list[StudyPoint]:
        """Return each counterfactual network for each technique and node count of the study."""
        from manynode.config.counterfactuals import counterfactuals, technique_of

        return [
            StudyPoint(self.name, variant, technique_of(variant.name, technique), nodes)
            for variant in counterfactuals(content)
            for technique, nodes in self.own_points(content)
        ]

    def own_points(self, content: Mapping[str, Any]) -> list[tuple[str, int]]:
        """Return the points with which the counterfactual ones are compared."""
        from manynode.config.counterfactuals import loss_nodes, loss_techniques

        if not self.asked(content):
            return []
        return [(technique, nodes) for technique in loss_techniques(content) for nodes in loss_nodes(content)]

    def conclude(self, content: Mapping[str, Any], results: Path) -> dict[str, pd.DataFrame]:
        """Return the table of losses."""
        from phase3_sst.studies.scaling.loss_table import analyse

        return {self.files[0].name: analyse(content, results)}
