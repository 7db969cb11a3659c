"""The latency model finds known coefficients, and refuses data without information."""

from __future__ import annotations

import delay_cases
import numpy as np
import pandas as pd
import pytest

from manynode.config.network import Network
from manynode.errors import InputError
from phase3_sst.studies.congestion.delay.latency import LatencyModel, Snapshots, estimated_round_trips, fit
from phase3_sst.studies.congestion.delay.passages import Routes
from phase3_sst.studies.congestion.delay.run_time_model import correlation, delivery_s


@pytest.fixture(scope="module")
def stalls() -> pd.DataFrame:
    return delay_cases.stalls(20)


@pytest.fixture(scope="module")
def snapshots(stalls: pd.DataFrame) -> Snapshots:
    return Snapshots.of(delay_cases.RING, stalls)


def test_coefficients_are_found_again(stalls: pd.DataFrame, snapshots: Snapshots) -> None:
    trips = delay_cases.round_trips(stalls)
    model = fit(snapshots.of_round_trips(trips), trips["round_trip_s"].tolist(), "ring")
    assert dict(model.coefficients) == pytest.approx(delay_cases.TRUTH, rel=1e-6, abs=1e-12)


def test_round_trips_that_were_not_seen_are_estimated(stalls: pd.DataFrame, snapshots: Snapshots) -> None:
    trips = delay_cases.round_trips(stalls, noise=0.1)
    other = delay_cases.round_trips(stalls, seed=2)
    model = fit(snapshots.of_round_trips(trips), trips["round_trip_s"].tolist(), "ring")
    estimated = estimated_round_trips(model, snapshots.of_round_trips(other))
    errors = np.abs(estimated / other["round_trip_s"].to_numpy() - 1)
    assert (correlation(estimated, other["round_trip_s"].to_numpy()) or 0) > 0.99
    assert np.quantile(errors, 0.75) < 0.1


def test_no_link_makes_a_message_faster(stalls: pd.DataFrame, snapshots: Snapshots) -> None:
    trips = delay_cases.round_trips(stalls)
    times = trips["round_trip_s"].to_numpy()
    model = fit(snapshots.of_round_trips(trips), (2 * times.max() - times).tolist(), "ring")
    assert min(model.coefficients.values()) >= 0


def test_there_and_back_count_their_own_links() -> None:
    table = delay_cases.stalls(1)
    jam = (table["source"] == "router-1") & (table["target"] == "host-2")
    table.loc[jam, "stalled_share"] = 0.9
    snapshots = Snapshots.of(delay_cases.RING, table)
    towards, away = (snapshots.routes.between([pair]) for pair in ((0, 2), (2, 0)))
    assert snapshots.terms("run-0", towards, 0, 4e-3)["wait:host-down"] == pytest.approx(9)
    assert snapshots.terms("run-0", away, 0, 4e-3)["wait:host-down"] == 0
    trips = pd.DataFrame(
        [("run-0", 0, 2, 0.0, 4e-3)], columns=["run", "source_node", "target_node", "start_s", "end_s"]
    )
    assert snapshots.of_round_trips(trips)[0]["wait:host-down"] == pytest.approx(4.5)


def test_detours_have_a_coefficient_of_their_own() -> None:
    flyer = Network.model_validate(
        {
            "name": "flyer",
            "topology": {
                **{"kind": "dragonfly", "groups": 3, "routers_per_group": 2, "hosts_per_router": 1},
                **{"global_links": 1, "routing": "ugal"},
            },
        }
    )
    routes = Routes(flyer)
    passages = routes.between([(0, 2)])
    assert sum(share for link, share in passages.direct.items() if routes.kinds[link] == "global") == 1
    assert sum(share for link, share in passages.detour.items() if routes.kinds[link] == "global") == 2


def test_too_few_round_trips_are_refused_with_the_number_needed(stalls: pd.DataFrame, snapshots: Snapshots) -> None:
    trips = delay_cases.round_trips(stalls).head(5)
    with pytest.raises(InputError, match="at least 10 for the 5 terms"):
        fit(snapshots.of_round_trips(trips), trips["round_trip_s"].tolist(), "ring")


@pytest.mark.parametrize("wrong", [0.0, -1e-6, float("nan")])
def test_a_round_trip_that_is_no_time_is_refused(stalls: pd.DataFrame, snapshots: Snapshots, wrong: float) -> None:
    trips = delay_cases.round_trips(stalls)
    times = [wrong, *trips["round_trip_s"].tolist()[1:]]
    with pytest.raises(InputError, match="not a positive time"):
        fit(snapshots.of_round_trips(trips), times, "ring")


def test_a_link_of_another_machine_is_refused(stalls: pd.DataFrame) -> None:
    with pytest.raises(InputError, match="router-9"):
        Snapshots.of(delay_cases.RING, stalls.assign(target=stalls["target"].replace("router-1", "router-9")))


def test_a_run_without_stalls_is_refused(stalls: pd.DataFrame, snapshots: Snapshots) -> None:
    trips = delay_cases.round_trips(stalls).assign(run="elsewhere")
    with pytest.raises(InputError, match="elsewhere"):
        snapshots.of_round_trips(trips)


def test_the_delay_of_a_run_is_the_mean_over_pairs_of_its_nodes_and_over_time() -> None:
    table = delay_cases.stalls(3)
    snapshots = Snapshots.of(delay_cases.RING, table)
    model = LatencyModel("ring", delay_cases.TRUTH)
    runs = pd.DataFrame({"run": ["run-2"], "nodes": [[0, 5, 9]], "start_s": [0.0], "end_s": [4e-3]})
    trips = pd.DataFrame(
        [("run-2", a, b, 0.0, 4e-3) for a, b in ((0, 5), (0, 9), (5, 9))],
        columns=["run", "source_node", "target_node", "start_s", "end_s"],
    )
    means = [sum(model.coefficients[term] * n for term, n in row.items()) for row in snapshots.of_round_trips(trips)]
    assert delivery_s(model, snapshots, runs)[0] == pytest.approx(np.mean(means))


def test_a_run_on_one_node_sends_nothing() -> None:
    snapshots = Snapshots.of(delay_cases.RING, delay_cases.stalls(1))
    runs = pd.DataFrame({"run": ["run-0"], "nodes": [[4]], "start_s": [0.0], "end_s": [1e-3]})
    with pytest.raises(InputError, match="one node"):
        delivery_s(LatencyModel("ring", delay_cases.TRUTH), snapshots, runs)
