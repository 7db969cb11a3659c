"""The confirmation of a sensitivity study: its points again with a second engine."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from manynode.config.studies import SHARED, Study, StudyFile, study, study_named

if TYPE_CHECKING:
    import pandas as pd

    from manynode.config.resolved import Resolved


@study("confirmation")
class ConfirmationStudy(Study):
    """Ratios of the two engines' times, and whether both rank the points alike (``sensitivity: confirm``)."""

    key = "sensitivity"
    rank = 11
    command = "confirm"
    rule = "phase3_compare_confirmed"
    help = "Compare a study's points between two engines: ratios, and whether both rank the points alike."
    reads = (*SHARED, "nodes", "techniques", "network", "simulate", "sensitivity", "relevant_difference")
    files = (
        StudyFile(
            "confirmation.parquet",
            "confirmation/1",
            ("variant", "technique", "nodes", "time_s", "confirmed_s", "ratio", "low", "high", "confirmed_place"),
        ),
        StudyFile("confirmation.json", "confirmation-summary/1"),
    )

    def asked(self, experiment: Resolved) -> bool:
        """Return whether the sensitivity study has points to confirm."""
        from manynode.config.variants import confirmed

        return bool(confirmed(experiment))

    def inputs(self, experiment: Resolved) -> list[str]:
        """Return the results of the study and, if the second engine is installed, its own."""
        from manynode.config.variants import confirmed_points
        from phase3_sst.studies.confirmation.second_engine import lacks

        again = [] if lacks(experiment) else [f"{folder}/result.json" for folder in confirmed_points(experiment)]
        return [*study_named(self.key).inputs(experiment), *again]

    def conclude(
        self, experiment: Resolved, results: Path, processes: int = 1
    ) -> dict[str, pd.DataFrame | dict[str, Any]]:
        """Return the comparison of both engines; without the second engine, only what it lacks."""
        from phase3_sst.studies.confirmation.comparison import of_study
        from phase3_sst.studies.confirmation.second_engine import lacks

        found = of_study(experiment, results / self.key, results / "confirm", lacks(experiment) or None)
        return {"confirmation.parquet": found.table, "confirmation.json": found.summary}
