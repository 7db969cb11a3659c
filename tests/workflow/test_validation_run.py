"""A validation study in the workflow: measurements are held against the projection, and a changed one repeats that."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pipeline
import pytest
from described_tables import described

STUDY = {"measured": "measured.csv", "collectives": "collectives.csv", "iterations": 4}
RUNS = "nodes,replica,seconds,compute,MPI_Allreduce\n1,0,{first},,\n1,1,0.0021,,\n4,0,0.0030,0.0020,0.0008\n"
COLLECTIVES = "collective,bytes,nodes,ranks_per_node,seconds\nallreduce,8,4,1,1e-5\nallreduce,65536,4,1,1e-4\n"
TECHNIQUES = ["ext-var", "ext-const"]
# What depends on the tables of measurements, and on nothing else.
ANALYSIS = {"phase3_analyse_validation", "report_build_page"}


def experiment(folder: Path, first: str = "0.0020", **section: Any) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "measured.csv").write_text(RUNS.format(first=first))
    (folder / "collectives.csv").write_text(COLLECTIVES)
    return pipeline.write(folder, pipeline.tiny(techniques=TECHNIQUES, validation={**STUDY, **section}))


def results_of(folder: Path) -> Path:
    return folder / "results/tiny"


@pytest.fixture(scope="module")
def validated(finished: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the tiny experiment, run with measurements."""
    folder = tmp_path_factory.mktemp("validated")
    done = pipeline.run(experiment(folder), folder, ["--measurements-from", finished])
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def test_its_tables_are_described(validated: Path) -> None:
    assert {"validation/1", "validation-summary/1", "validation-region/1"} <= described(results_of(validated))


def test_the_errors_are_those_of_the_projection(validated: Path) -> None:
    results = results_of(validated)
    points = pd.read_parquet(results / "validation.parquet")
    projection = pd.read_parquet(results / "projection.parquet")
    assert len(points) == 2 * len(TECHNIQUES)
    for row in points.itertuples():
        own = projection[(projection["technique"] == row.technique) & (projection["nodes"] == row.nodes)]
        measured = {1: 0.00205, 4: 0.0030}[row.nodes]
        assert row.error == pytest.approx(own["time_s"].iloc[0] / measured - 1)
    parts = pd.read_parquet(results / "validation_breakdown.parquet")
    assert set(parts["nodes"]) == {4} and "all MPI" in set(parts["operation"])
    breakdown = pd.read_parquet(results / "breakdown.parquet").query("nodes == 4 and operation == 'compute'")
    compute = parts[parts["operation"] == "compute"].set_index("technique")["projected_s"]
    assert compute.to_dict() == pytest.approx(breakdown.set_index("technique")["seconds"].to_dict())


def test_the_collectives_are_those_of_the_network(validated: Path) -> None:
    found = pd.read_parquet(results_of(validated) / "validation_collectives.parquet")
    short, long = found.sort_values("bytes")["simulated_s"]
    # Four nodes exchange twice: each time at least two links of 90 ns; 64 KiB at 12.5 GB/s take 5.2 us once.
    assert 2 * 2 * 90e-9 < short < 20e-6
    assert long > short + 65536 / 12.5e9


def test_the_report_has_table_figures_and_sentences(validated: Path) -> None:
    report = (results_of(validated) / "report.html").read_text()
    for name in ("validation", "validation-errors", "validation-breakdown", "validation-collectives"):
        assert f'id="figure-{name}"' in report
    assert 'id="table-validation"' in report and 'id="table-validation-region"' in report
    assert "Compared with measurements at 1 and 4 nodes, ext-var is off by" in report
    assert "No projection lies beyond the largest measured node count." in report
    assert "The network alone: allreduce on 4 nodes x 1 rank, 2 message sizes" in report
    assert "made from another state" not in report


def test_a_changed_measurement_repeats_the_analysis_alone(validated: Path) -> None:
    results = results_of(validated)
    before = pipeline.tables(results)
    file = experiment(validated, first="0.0040")
    done = pipeline.run(file, validated)
    assert done.returncode == 0, done.stdout + done.stderr
    assert pipeline.rules((results / "logs/snakemake.log").read_text()) == ANALYSIS
    after = pipeline.tables(results)
    changed = {name for name in after if after[name] != before.get(name)}
    assert changed == {
        *("experiment.json", "report.html", "validation.parquet", "validation_summary.parquet"),
        # The same rows, of an experiment with other measurements.
        *("validation_region.parquet", "validation_breakdown.parquet"),
    }
    points = pd.read_parquet(results / "validation.parquet")
    assert points.query("nodes == 1")["measured_s"].tolist() == pytest.approx([0.00305] * len(TECHNIQUES))
    # The projection is the one that is compared: the report does not say that it is of another experiment.
    assert "made from another state" not in (results / "report.html").read_text()


def test_a_damaged_table_is_named_before_anything_runs(tmp_path: Path) -> None:
    file = experiment(tmp_path, first="0.0020 s")
    done = pipeline.run(file, tmp_path)
    assert done.returncode == 3
    assert "measured.csv:2, column seconds" in done.stderr and "Traceback" not in done.stderr
    assert not results_of(tmp_path).exists()


def test_an_experiment_without_the_study_does_not_show_an_earlier_one(validated: Path) -> None:
    file = pipeline.write(validated, pipeline.tiny(techniques=TECHNIQUES))
    done = pipeline.run(file, validated)
    assert done.returncode == 0, done.stdout + done.stderr
    assert 'id="figure-validation"' not in (results_of(validated) / "report.html").read_text()


def test_reports_of_a_tool_become_the_table_of_an_experiment(tmp_path: Path) -> None:
    reports = pipeline.ROOT / "tests/data/measured"
    output = tmp_path / "measured.csv"
    done = pipeline.manynode("measured", reports / "solver.4.7121.1.mpiP", "--nodes", 4, "--output", output)
    assert done.returncode == 0, done.stdout + done.stderr
    file = pipeline.write(tmp_path, pipeline.tiny(validation={"measured": "measured.csv"}))
    assert pipeline.manynode("config", "check", file).returncode == 0
    done = pipeline.manynode("measured", reports / "README.md", "--output", output)
    assert (
        done.returncode == 3
        and "the format is not known" in done.stderr
        and "mpip" in done.stderr
        and "Traceback" not in done.stderr
    )
