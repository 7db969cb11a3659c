"""The findings from runs under three controllers, from tables with known truth."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from phase3_sst.studies.congestion.throttling.throttling_tables import (
    RUN_COLUMNS,
    network_table,
    over_static,
    summary,
    with_increases,
    wrong_sensitivities,
)

# An application alone takes 10 s on 4 nodes, the other job 30 s on 12.
ALONE = {"nodes": 4, "congestor_nodes": 12, "alone_s": 10.0, "congestor_alone_s": 30.0, "congestor": "incast"}


def runs(application: str, controller: str, increases: np.ndarray, slower: float, error: float = 0.0) -> pd.DataFrame:
    frame = pd.DataFrame({"run_time_s": 10.0 * (1 + increases), "congestor_s": 30.0 * slower, **ALONE})
    frame = frame.assign(application=application, controller=controller, error=error, draw=range(len(increases)))
    return frame[list(RUN_COLUMNS)]


SPREAD = np.linspace(0, 1, 101)


@pytest.fixture
def table() -> pd.DataFrame:
    parts = [
        runs("milc", "static", 2 * SPREAD, 1.0),
        runs("milc", "dcqcn", 1.5 * SPREAD, 1.05),
        runs("milc", "aware", 0.2 * SPREAD, 1.02),
        *(runs("milc", "aware", (0.2 + abs(error)) * SPREAD, 1.02, error) for error in (-1.0, 1.0)),
        *(runs("amg", controller, 0.01 * SPREAD, 1.0) for controller in ("aware", "dcqcn", "static")),
    ]
    return with_increases(pd.concat(parts, ignore_index=True))


def test_tails_and_medians_are_those_of_the_runs(table: pd.DataFrame) -> None:
    found = summary(table, 1, 0.95).set_index(["application", "controller"])
    assert found.loc[("milc", "static"), "increase_tail"] == pytest.approx(1.98)
    assert found.loc[("milc", "aware"), "increase_tail"] == pytest.approx(0.198)
    assert found.loc[("milc", "dcqcn"), "increase_median"] == pytest.approx(0.75)
    row = found.loc[("milc", "static")]
    assert row["increase_tail_low"] <= row["increase_tail"] <= row["increase_tail_high"]
    assert list(found.loc["amg"].index) == ["static", "dcqcn", "aware"]


def test_node_seconds_are_those_of_both_jobs(table: pd.DataFrame) -> None:
    found = summary(table, 1, 0.95).set_index(["application", "controller"])["node_seconds_median"]
    alone = 4 * 10 + 12 * 30
    assert found["milc", "static"] == pytest.approx((4 * 20 + 12 * 30) / alone - 1)
    assert found["milc", "aware"] == pytest.approx((4 * 11 + 12 * 30 * 1.02) / alone - 1)


def test_the_bar_compares_aware_with_static_control(table: pd.DataFrame) -> None:
    ratio = over_static(summary(table, 1, 0.95), "milc")
    assert ratio["increase_tail"] == pytest.approx(0.1)
    assert ratio["node_seconds"] == pytest.approx((44 + 367.2) / (80 + 360))


def test_wrong_sensitivities_stay_out_of_the_summary_and_have_a_table(table: pd.DataFrame) -> None:
    found = wrong_sensitivities(table, "milc").set_index("error")["increase_tail"]
    assert found.to_dict() == pytest.approx({-1.0: 1.2 * 0.99, 0.0: 0.2 * 0.99, 1.0: 1.2 * 0.99})


def test_latency_and_traffic_are_quantiles_over_intervals() -> None:
    intervals = pd.DataFrame({"controller": "static", "latency_s": SPREAD * 1e-5, "flits_per_s": SPREAD * 1e7})
    found = network_table(intervals)
    assert found["controller"].tolist() == ["static"]
    assert found.loc[0, "latency_median_s"] == pytest.approx(5e-6)
    assert found.loc[0, "flits_per_s_p90"] == pytest.approx(9e6)
