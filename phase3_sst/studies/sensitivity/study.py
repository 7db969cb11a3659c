"""The sensitivity study: the projected time over network parameters, and what a second engine says of it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from manynode.config.sensitivity import SensitivitySection
from manynode.config.studies import SHARED, Study, StudyFile, StudyPoint, study

if TYPE_CHECKING:
    import pandas as pd

    from manynode.config.resolved import Resolved


@study("sensitivity")
class Sensitivity(Study):
    """Points with other values of the varied parameters; times, knees and Sobol indices."""

    section = SensitivitySection
    description = "Study: how the projected time depends on network parameters"
    rank = 10
    reads = (*SHARED, "nodes", "techniques", "network", "simulate", "sensitivity", "relevant_difference")
    help = "Analyse the points of the sensitivity study: times, knees, Sobol indices."
    files = (
        StudyFile(
            "sensitivity.parquet",
            "sensitivity/1",
            ("variant", "technique", "nodes", "time_s", "low_s", "high_s", "relative", "varied"),
        ),
        StudyFile(
            "sensitivity_knees.parquet",
            "sensitivity-knees/1",
            ("technique", "nodes", "parameter", "others", "best_s", "worst_s", "knee", "enough"),
        ),
        StudyFile(
            "sensitivity_indices.parquet",
            "sensitivity-indices/1",
            ("technique", "nodes", "parameter", "first", "first_conf", "total", "total_conf"),
        ),
    )

    def check(self, experiment: Resolved) -> None:
        """Check every value of the study, and whether its nodes fit the network."""
        from manynode.config.variants import check_variants

        check_variants(experiment)

    def points(self, experiment: Resolved) -> list[StudyPoint]:
        """Return each variant for each technique and node count of the study."""
        from manynode.config.variants import study_nodes, study_techniques, variants

        if not self.asked(experiment):
            return []
        techniques, nodes = study_techniques(experiment), study_nodes(experiment)
        return [
            StudyPoint(self.name, variant, each, count)
            for variant in variants(experiment)
            for each in techniques
            for count in nodes
        ]

    def conclude(self, experiment: Resolved, results: Path, processes: int = 1) -> dict[str, pd.DataFrame]:
        """Return times, knees and Sobol indices."""
        from phase3_sst.studies.sensitivity.effect_tables import analyse

        found = analyse(experiment, results / self.name)
        frames = (found.points, found.knees, found.indices)
        return {file.name: frame for file, frame in zip(self.files, frames, strict=True)}
