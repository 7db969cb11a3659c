"""The scaling study: what costs time at each node count, from counterfactual networks."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from manynode.config.scaling import ScalingSection
from manynode.config.studies import Study, StudyFile, StudyPoint, study

if TYPE_CHECKING:
    import pandas as pd

    from manynode.config.resolved import Resolved


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

    def check(self, experiment: Resolved) -> None:
        """Refuse an engine that cannot switch contention off, and unknown techniques and nodes."""
        if not self.asked(experiment):
            return
        from manynode.config.counterfactuals import check_counterfactuals
        from phase3_sst.point.contract import names_of_engines_that

        engines = names_of_engines_that(lambda capabilities: capabilities.switches_contention_off)
        check_counterfactuals(experiment, engines)

    def points(self, experiment: Resolved) -> list[StudyPoint]:
        """Return each counterfactual network for each technique and node count of the study."""
        from manynode.config.counterfactuals import counterfactuals, technique_of

        return [
            StudyPoint(self.name, variant, technique_of(variant.name, technique), nodes)
            for variant in counterfactuals(experiment)
            for technique, nodes in self.own_points(experiment)
        ]

    def own_points(self, experiment: Resolved) -> list[tuple[str, int]]:
        """Return the points with which the counterfactual ones are compared."""
        from manynode.config.counterfactuals import loss_nodes, loss_techniques

        if not self.asked(experiment):
            return []
        return [(technique, nodes) for technique in loss_techniques(experiment) for nodes in loss_nodes(experiment)]

    def conclude(self, experiment: Resolved, results: Path, processes: int = 1) -> dict[str, pd.DataFrame]:
        """Return the table of losses."""
        from phase3_sst.studies.scaling.loss_table import analyse

        return {self.files[0].name: analyse(experiment, results)}
