"""The validation study: the projection, and the latencies of collectives, against measurements of the real machine."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from manynode.config.studies import LIMITS, Study, StudyFile, study
from manynode.config.validation import ValidationSection

if TYPE_CHECKING:
    import pandas as pd

    from manynode.config.resolved import Resolved

_OF_COLLECTIVES = ("collectives", "start", "iterations", "algorithm_names", "placements")
# Simulations of measured collectives side by side.
MOST_PROCESSES = 16
_REGION = ("machine_measured", "machine", "network_measured", "network")


@study("validation")
class Validation(Study):
    """The projection against measured runs of the application."""

    section = ValidationSection
    description = "Study: how far the projection is from measurements of the real machine"
    rank = 30
    command = "validate"
    help = "Compare the projection with the measurements of the section validation."
    reads = ("seed", "nodes", "techniques", "machine", "network", "simulate", "validation")
    unread = (*LIMITS, *(f"validation.{key}" for key in _OF_COLLECTIVES))
    after = ("analyse",)
    files = (
        StudyFile(
            "validation.parquet",
            "validation/1",
            (
                *("technique", "nodes", "runs", "measured_s", "measured_low_s", "measured_high_s", "time_s"),
                *("error", "error_low", "error_high", "covers", "overlaps"),
            ),
        ),
        StudyFile(
            "validation_summary.parquet",
            "validation-summary/1",
            (
                *("technique", "points", "mean_absolute", "worst_absolute", "worst_nodes", "covered", "overlapping"),
                *("rank_correlation", "error_per_doubling"),
            ),
        ),
        StudyFile(
            "validation_region.parquet",
            "validation-region/1",
            ("technique", "nodes", "measured", "doublings", "error_if_trend", *_REGION),
        ),
        StudyFile(
            "validation_breakdown.parquet",
            "validation-breakdown/1",
            ("technique", "nodes", "operation", "measured_s", "projected_s", "share"),
        ),
    )

    def fits(self, section: ValidationSection, experiment: Any) -> None:
        """Refuse measurements that cannot be compared with the projection."""
        section.check_nodes(experiment.nodes, experiment.network.room())
        if section.measured and experiment.application.name is None:
            raise ValueError("validation: measured: a projection to compare with needs a skeleton (application: name)")

    def asked(self, experiment: Resolved) -> bool:
        """Return whether runs of the application were measured."""
        return experiment.validation is not None and bool(experiment.validation.measured)

    def inputs(self, experiment: Resolved) -> list[str]:
        """Return the projection and its breakdown."""
        return ["projection.parquet", "breakdown.parquet"]

    def conclude(self, experiment: Resolved, results: Path, processes: int = 1) -> dict[str, pd.DataFrame]:
        """Return the errors, their summary, the measured region and the errors of the operations."""
        from manynode import tables
        from phase3_sst.analysis.projection_tables import BREAKDOWN_SCHEMA, PROJECTION_SCHEMA
        from phase3_sst.studies.validation import error_tables

        columns = ["technique", "nodes"]
        projected = tables.read_table(
            results / "projection.parquet", PROJECTION_SCHEMA, [*columns, "time_s", "low_s", "high_s"]
        )
        operations = tables.read_table(
            results / "breakdown.parquet", BREAKDOWN_SCHEMA, [*columns, "operation", "seconds"]
        )
        return error_tables.by_file(error_tables.analyse(experiment.content, projected, operations))


@study("collectives")
class Collectives(Study):
    """Latencies of collectives on the experiment's network against measured ones; asked for by ``validation``."""

    key = "validation"
    rank = 31
    command = "validate-collectives"
    rule = "phase3_validate_collectives"
    help = "Simulate the collectives of the section validation and compare their latencies with the measured ones."
    reads = ("seed", "network", "simulate", "validation")
    unread = (
        *LIMITS,
        *("validation.measured", "validation.machine", "validation.network"),
        *("simulate.replicas", "simulate.confidence"),
    )
    after = ()
    files = (
        StudyFile(
            "validation_collectives.parquet",
            "validation-collectives/2",
            (
                *("campaign", "collective", "algorithm", "simulated_algorithm", "bytes", "nodes", "ranks_per_node"),
                *("shape", "placement", "measured_s", "simulated_s", "error"),
            ),
        ),
        StudyFile(
            "validation_collectives_summary.parquet",
            "validation-collectives-summary/1",
            (
                *("by", "group", "points", "median_error", "median_absolute", "p90_absolute", "within_5", "within_10"),
                *("within_20", "within_35", "within_spread", "worst_error", "worst_bytes", "worst_nodes"),
            ),
        ),
        StudyFile(
            "validation_equal_names.parquet",
            "validation-equal-names/1",
            ("campaign", "collective", "nodes", "first", "second", "bytes", "sizes", "common_sizes"),
        ),
    )

    def asked(self, experiment: Resolved) -> bool:
        """Return whether latencies of collectives were measured."""
        return experiment.validation is not None and bool(experiment.validation.collectives)

    def processes(self, experiment: Resolved) -> int:
        """Return the number of measurements, up to a limit: each has a simulation."""
        return min(MOST_PROCESSES, len(experiment.validation.collectives)) if experiment.validation else 1

    def conclude(self, experiment: Resolved, results: Path, processes: int = 1) -> dict[str, pd.DataFrame]:
        """Return measured and simulated latencies, their summary, and names that the library seems to ignore."""
        from manynode.notices import warn
        from phase3_sst.point.contract import engine_of
        from phase3_sst.studies.validation import campaign_summary, ignored_names
        from phase3_sst.studies.validation.collectives import compare

        points = compare(experiment, engine_of(experiment.simulate), processes, print)
        equal = ignored_names.equal_names(points)
        for row in equal.itertuples():
            warn(ignored_names.sentence(row))
        tables = (points, campaign_summary.summarise(points), equal)
        return {file.name: table for file, table in zip(self.files, tables, strict=True)}

    def said(self, results: Path) -> list[str]:
        """Return the summary as lines."""
        from manynode.report.campaign import summary_lines
        from manynode.tables import read_table

        file = self.files[1]
        return summary_lines(read_table(results / file.name, file.schema, file.columns))
