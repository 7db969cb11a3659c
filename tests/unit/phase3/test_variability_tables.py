"""The tables of the variability part are described in the reference."""

from __future__ import annotations

import variability_cases as cases
from described_tables import check_columns, check_findings

from phase3_sst.studies.congestion.variability.runs_table import SCHEMA
from phase3_sst.studies.congestion.variability.train import Options
from phase3_sst.studies.congestion.variability.training_report import trained


def test_the_tables_of_the_validation_are_described() -> None:
    runs = cases.runs(each=50)
    check_columns(SCHEMA, runs.columns)
    check_findings(trained(runs, Options(trees=10), "made-up runs").tables)
