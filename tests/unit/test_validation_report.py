"""The report of a validation study: the answer in words, Table 2, the distances, figures; hand-made tables."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import report_fixture as fixture

from manynode import tables
from manynode.report.figures.validation import draw
from manynode.report.load import Inputs, load
from manynode.report.page import render
from manynode.report.sureness import sureness
from manynode.report.validation import error_table, region_rows, validation_sentences
from manynode.report.wording import signed
from phase3_sst.studies.validation.campaign_summary import summarise

RUNS = [{"nodes": n, "replica": 0, "seconds": 1.0, "operations": {}} for n in (1, 4, 256)]


@pytest.fixture(autouse=True, scope="module")
def _short_bundle() -> Iterator[None]:
    """Making the bundle of Vega takes seconds."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("manynode.report.page.vega_bundle", lambda: "window.vegaEmbed = undefined;")
        yield


def point(technique: str, nodes: int, error: float, covers: bool, width: float = 0.0) -> dict[str, Any]:
    """A point that was measured to take one second."""
    time = 1 + error
    return {
        **{"technique": technique, "nodes": nodes, "runs": 1 if width == 0 else 5, "measured_s": 1.0},
        **{"measured_low_s": 1 - width / 2, "measured_high_s": 1 + width / 2},
        **{"time_s": time, "low_s": time - 0.01, "high_s": time + 0.01},
        **{"error": error, "error_low": error - 0.01, "error_high": error + 0.01},
        **{"covers": covers, "overlaps": covers},
    }


def summary(technique: str, mean: float, worst: float, tau: float = float("nan")) -> dict[str, Any]:
    return {
        **{"technique": technique, "points": 2, "mean_error": mean, "mean_absolute": mean, "worst_absolute": worst},
        **{"worst_nodes": 4, "covered": 1, "overlapping": 1, "rank_correlation": tau, "error_per_doubling": 0.02},
    }


def distance(technique: str, nodes: int, doublings: float, trend: float, machine: str) -> dict[str, Any]:
    return {
        **{"technique": technique, "nodes": nodes, "measured": doublings == 0, "doublings": doublings},
        **{"error_if_trend": trend, "machine_measured": machine, "machine": "broadwell"},
        **{"network_measured": "opa100-fat-tree", "network": "opa100-fat-tree", "same_machine": machine == "broadwell"},
    }


def operation(name: str, measured: float, projected: float) -> dict[str, Any]:
    return {
        **{"technique": "ext-var", "nodes": 4, "operation": name, "measured_s": measured, "projected_s": projected},
        **{"measured_low_s": measured, "measured_high_s": measured, "difference_s": projected - measured},
        **{"error": projected / measured - 1 if measured else float("nan"), "share": projected - measured},
    }


def study(folder: Path, *, width: float = 0.0, machine: str = "broadwell", tau: float = 1.0) -> Inputs:
    """The fixture's results with a validation study whose numbers were made up."""
    directory = fixture.write_results(folder)
    document = json.loads((directory / "experiment.json").read_text())
    rows = [{"collective": "bcast", "bytes": 8, "nodes": 4, "ranks_per_node": 2, "seconds": 1e-5}]
    document["experiment"]["validation"] = {"measured": RUNS, "collectives": rows}
    (directory / "experiment.json").write_text(json.dumps(document))
    points = [
        *(point("ext-const", 1, -0.06, False, width), point("ext-const", 4, -0.10, False, width)),
        *(point("ext-var", 1, 0.005, True, width), point("ext-var", 4, 0.035, False, width)),
    ]
    region = [distance("ext-var", n, d, t, machine) for n, d, t in ((1, 0.0, 0.005), (4, 0.0, 0.035), (64, 4.0, 0.115))]
    collectives = [
        {**{"collective": "bcast", "bytes": size, "nodes": 4, "ranks_per_node": 2}, "error": error}
        | {"measured_s": 1e-5, "simulated_s": 1e-5 * (1 + error), "simulated_algorithm": "auto"}
        | dict.fromkeys(("campaign", "algorithm", "shape", "placement"), "")
        for size, error in ((8, -0.4), (1024, 0.1))
    ]
    parts = [operation("compute", 0.8, 0.81), operation("MPI_Allreduce", 0.15, 0.03), operation("MPI_Test", 0.02, 0.0)]
    parts.append(operation("all MPI", 0.17, 0.03))
    for name, schema, content in (
        ("validation", "validation/1", points),
        (
            "validation_summary",
            "validation-summary/1",
            [summary("ext-var", 0.02, 0.035, tau), summary("ext-const", 0.08, 0.1, tau)],
        ),
        ("validation_region", "validation-region/1", region),
        ("validation_breakdown", "validation-breakdown/1", parts),
        ("validation_collectives", "validation-collectives/2", collectives),
    ):
        tables.write_table(directory / f"{name}.parquet", schema, pd.DataFrame(content))
    return load(fixture.sign(directory))


def test_the_answer_comes_first(tmp_path: Path) -> None:
    first, order, ranks, *_ = validation_sentences(study(tmp_path))
    assert first == (
        "Compared with measurements at 1 and 4 nodes, ext-var is off by 2.0 % on average and by 3.5 % at worst, at 4 "
        "nodes. Its interval covers the measured mean at 1 of 2 node counts; the two intervals overlap at 1."
    )
    assert "ext-var 2.0 % and ext-const 8.0 %; this is the same order as" in order
    assert "distinguish the techniques" not in order
    assert "in the measured order" in ranks


def test_techniques_that_the_measurement_cannot_tell_apart_are_called_so(tmp_path: Path) -> None:
    order = validation_sentences(study(tmp_path, width=0.3))[1]
    assert "They differ by at most 6.0 %, less than half the measurement's interval (15 %)" in order
    assert "this measurement cannot distinguish the techniques" in order


def test_the_distance_is_said_without_a_correction(tmp_path: Path) -> None:
    text = " ".join(validation_sentences(study(tmp_path)))
    assert "The projection at 64 nodes lies 4 doublings (16 times) beyond the largest measured node count, 4." in text
    assert "changed by +2.0 % per doubling" in text and "the error would be +12 % at 64 nodes" in text
    assert "the projection is not corrected." in text
    assert "nothing has been validated" not in text
    other = " ".join(validation_sentences(study(tmp_path / "other", machine="our-cluster")))
    assert "The measured machine was our-cluster. The projected one is broadwell" in other


def test_how_sure_names_the_measurements_or_that_there_are_none(tmp_path: Path) -> None:
    text = dict(sureness(study(tmp_path)))["Measurements"]
    assert text.startswith("Compared with measurements at 1 and 4 nodes") and "4 doublings" in text
    without = dict(sureness(load(fixture.write_results(tmp_path / "without"))))["Measurements"]
    assert "has not been compared with measurements" in without


def test_what_the_measurement_lacks_is_said(tmp_path: Path) -> None:
    text = " ".join(validation_sentences(study(tmp_path)))
    assert "There is one run at 1 and 4 nodes: its interval has no width" in text
    assert "Measured, but not projected: 256 nodes." in text


def test_the_operation_that_is_farthest_off_is_named(tmp_path: Path) -> None:
    text = " ".join(validation_sentences(study(tmp_path)))
    assert "farthest off in MPI_Allreduce: 30 ms projected, 150 ms measured, 12 % of the run." in text
    assert "Measured, but without time in the projection: MPI_Test (2.0 % of the run)." in text


def test_collectives_alone_are_told_with_their_worst_size(tmp_path: Path) -> None:
    text = validation_sentences(study(tmp_path))[-1]
    assert "bcast on 4 nodes x 2 ranks, 2 message sizes: off by 25 % on average" in text
    assert "the worst -40 %, at 8 B" in text


def test_orders_that_differ_are_told_by_technique(tmp_path: Path) -> None:
    text = " ".join(validation_sentences(study(tmp_path, tau=0.5)))
    assert "Kendall's tau, 1 is the same): ext-var 0.50 and ext-const 0.50." in text


def test_table_2_has_the_errors_by_node_count(tmp_path: Path) -> None:
    inputs = study(tmp_path)
    table = error_table(inputs)
    assert table is not None and table["nodes"] == [1, 4] and table["measured"] == [1, 1]
    assert table["rows"][0]["errors"] == pytest.approx([0.005, 0.035])
    assert [row["nodes"] for row in region_rows(inputs)] == [1, 4, 64]
    page = render(inputs)
    assert ">+3.5 %</td>" in page and ">-10 %</td>" in page and ">+12 %</td>" in page


def test_the_figures_show_what_was_measured_beside_the_projections(tmp_path: Path) -> None:
    times, errors, parts, collectives = draw(study(tmp_path))
    measured = times.data[times.data["technique"] == "measured"]
    assert list(measured["nodes"]) == [1, 4] and list(measured["time_s"]) == [1, 1]
    assert set(times.data["technique"]) == {"measured", "no-ext-const", "no-ext-var", "ext-const", "ext-var"}
    assert len(errors.data) == 4
    # Single operations were measured: their sum is not a part of its own.
    assert set(parts.data["operation"]) == {"compute", "MPI_Allreduce", "MPI_Test"}
    own = parts.data[parts.data["technique"] == "measured"].set_index("operation")["seconds"]
    assert own.to_dict() == {"compute": 0.8, "MPI_Allreduce": 0.15, "MPI_Test": 0.02}
    assert list(collectives.data["what"]) == ["measured", "measured", "simulated", "simulated"]
    for figure in (times, errors, parts, collectives):
        assert json.dumps(figure.spec(), allow_nan=False)


def test_a_share_has_its_sign() -> None:
    assert [signed(value) for value in (0.031, -0.12, 0.0)] == ["+3.1 %", "-12 %", "0 %"]


def campaign(folder: Path) -> Inputs:
    """The study with 5 x 2 measured collectives in place of two, their summary, and two names with equal times."""
    study(folder)
    directory = folder
    rows = [
        {"campaign": "c", "collective": "bcast", "algorithm": name, "simulated_algorithm": name, "bytes": size}
        | {"nodes": nodes, "ranks_per_node": 1, "shape": "", "placement": "", "measured_s": 1e-5, "error": error}
        | {"simulated_s": 1e-5 * (1 + error), "within_spread": error == 0}
        for name in ("binomial", "chain", "linear", "ring", "pipeline", "knomial", "binary")
        for nodes, size, error in ((4, 8, 0.0), (8, 1024, 0.5 if name == "chain" else -0.04))
    ]
    points = pd.DataFrame(rows).astype({"within_spread": "boolean"})
    equal = {"campaign": "c", "collective": "bcast", "nodes": 8, "ranks_per_node": 1, "shape": "", "placement": ""}
    equal |= {"first": "chain", "second": "ring", "bytes": "8 64 1024", "sizes": 3, "common_sizes": 5}
    for name, schema, content in (
        ("validation_collectives", "validation-collectives/2", points),
        ("validation_collectives_summary", "validation-collectives-summary/1", summarise(points)),
        ("validation_equal_names", "validation-equal-names/1", pd.DataFrame([{**equal, "largest_difference": 0.01}])),
    ):
        tables.write_table(directory / f"{name}.parquet", schema, content)
    return load(fixture.sign(directory))


def test_a_campaign_is_told_by_its_summary(tmp_path: Path) -> None:
    *_, whole, spread, far, equal = validation_sentences(campaign(tmp_path))
    assert whole.startswith("The network alone, 14 measured collectives: the median of the absolute error is 2.0 %")
    assert "93 % within 5 %" in whole and "the worst +50 %" in whole
    assert spread.startswith("50 % of the simulated times")
    assert far == "Algorithms with a median of the absolute error above 20 %: bcast chain (25 %)."
    assert "bcast chain and ring on 8 nodes (c), at 8 B, 64 B and 1 KiB" in equal


def test_a_campaign_has_a_table_and_a_figure_of_its_own(tmp_path: Path) -> None:
    inputs = campaign(tmp_path)
    figures = {figure.name: figure for figure in draw(inputs)}
    assert list(figures["validation-campaign"].data["ratio"])[:4] == pytest.approx([1, 0.96, 1, 1.5])
    assert figures["validation-collectives"].data["case"].nunique() == 14
    for figure in figures.values():
        assert json.dumps(figure.spec(), allow_nan=False)
    page = render(inputs)
    assert 'id="table-validation-campaign"' in page and "<strong>bcast chain</strong>" in page
    assert page.count(">by collective and algorithm</th>") == 1
    assert 'id="table-validation-campaign"' not in render(study(tmp_path / "few"))
