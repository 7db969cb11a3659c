"""The tables of the variability part are described in the reference."""

from __future__ import annotations

from pathlib import Path

import variability_cases as cases
from described_tables import check_columns, check_findings

from phase3_sst.studies.congestion.delay import tables_in
from phase3_sst.studies.congestion.variability.runs_table import SCHEMA, read_runs
from phase3_sst.studies.congestion.variability.train import Options
from phase3_sst.studies.congestion.variability.training_report import trained


def test_the_tables_of_the_validation_are_described() -> None:
    runs = cases.runs(each=50)
    check_columns(SCHEMA, runs.columns)
    check_findings(trained(runs, Options(trees=10), "made-up runs").tables)


def test_runs_and_applications_named_na_keep_their_names(tmp_path: Path) -> None:
    runs = cases.runs(each=1).head(2).assign(run=["NA", "null"], application="N/A")
    runs.to_csv(tmp_path / "runs.csv", index=False)
    found = read_runs(tmp_path / "runs.csv")
    assert (found["run"].tolist(), found["application"].tolist()) == (["NA", "null"], ["N/A", "N/A"])
    (tmp_path / "delays.csv").write_text("run,application,nodes,start_s,end_s\nNA,nan,0 1,0,1\n")
    delayed = tables_in.read_runs(tmp_path / "delays.csv").iloc[0]
    assert (delayed["run"], delayed["application"]) == ("NA", "nan")
