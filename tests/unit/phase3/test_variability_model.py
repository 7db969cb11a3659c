"""The variability model on runs with a known law: its estimates, its refusals, its stated quality."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import RobustScaler
from sklearn.svm import SVR
from variability_cases import runs

from manynode.errors import InputError
from phase3_sst.studies.congestion.counters.counter_features import NODES, PAPER_FEATURES
from phase3_sst.studies.congestion.variability import cross_validation
from phase3_sst.studies.congestion.variability import train as training
from phase3_sst.studies.congestion.variability.model import FLOOR, Tree, groups_of, standardised
from phase3_sst.studies.congestion.variability.runs_table import check, trainable
from phase3_sst.studies.congestion.variability.train import Hyperparameters, Options, learn

OPTIONS = Options(trees=40, seed=3)
FEW = Options(trees=10, seed=3)
FOUND = Hyperparameters(10.0, 0.1)
RUNS = runs()


@pytest.fixture(scope="module")
def estimated() -> pd.DataFrame:
    """The cross-validation of RUNS."""
    return cross_validation.cross_validated(RUNS, FEW, FOUND)


def learned(frame: pd.DataFrame = RUNS, options: Options = OPTIONS):
    return learn(frame, standardised(frame, groups_of(frame)), options, FOUND)


def test_run_times_are_standardised_per_application_and_size() -> None:
    both = pd.concat([runs(applications="a"), runs(applications="a", seed=2, nodes=32)], ignore_index=True)
    truth = standardised(both, groups_of(both))
    for nodes in (16, 32):
        own = truth[(both[NODES] == nodes).to_numpy()]
        assert own.mean() == pytest.approx(0, abs=1e-9) and own.std() == pytest.approx(1)


def test_estimates_are_those_of_scikit_learn() -> None:
    """The file's arrays, predicted by numpy, and the estimators that they came from."""
    truth = standardised(RUNS, groups_of(RUNS))
    values = RUNS[list(PAPER_FEATURES)].to_numpy(dtype=float)
    svr = make_pipeline(RobustScaler(), SVR(C=FOUND.c, gamma=FOUND.gamma, epsilon=training.EPSILON)).fit(values, truth)
    scaled = RobustScaler().fit_transform(values)
    forest = RandomForestRegressor(
        40, min_samples_leaf=training.LEAST_LEAF, max_features=1 / 3, random_state=OPTIONS.random_state("forest")
    ).fit(scaled, truth)
    new = runs(each=30, seed=9)
    other = new[list(PAPER_FEATURES)].to_numpy(dtype=float)
    said = learned().estimates(new)
    np.testing.assert_allclose(said.estimate, svr.predict(other), atol=1e-9)
    np.testing.assert_allclose(said.forest, forest.predict(RobustScaler().fit(values).transform(other)), atol=1e-12)


def test_the_law_is_found_for_both_applications_at_once() -> None:
    new = runs(each=100, seed=5)
    truth = standardised(new, groups_of(new))
    said = learned().estimates(new)
    assert np.corrcoef(truth, said.estimate)[0, 1] > 0.97


def test_the_wanted_share_of_new_runs_lies_within_the_bounds() -> None:
    noisy = learned(runs(each=150, noise=0.5), OPTIONS)
    new = runs(each=400, noise=0.5, seed=7)
    # In the unit of the training runs: means and deviations are known from many runs.
    truth = standardised(new, groups_of(new))
    said = noisy.estimates(new)
    within = np.abs(truth - said.estimate) <= said.bound
    assert 0.91 <= within.mean() <= 0.99


def test_bounds_widen_with_the_noise() -> None:
    quiet, noisy = (learned(runs(each=100, noise=noise)).estimates(RUNS).bound.mean() for noise in (0.05, 0.8))
    assert noisy > 2 * quiet


def test_a_prediction_is_refused_where_the_two_models_disagree() -> None:
    said = learned().estimates(RUNS)
    agree = np.abs(said.estimate - said.forest) < said.bound
    np.testing.assert_array_equal(said.kept, agree)
    narrow = replace(learned(), factor=0.3).estimates(RUNS)
    assert 0 < narrow.kept.mean() < 1
    np.testing.assert_array_equal(narrow.kept, np.abs(narrow.estimate - narrow.forest) < narrow.bound)


def test_features_beyond_the_training_runs_are_named() -> None:
    strange = RUNS.iloc[:1].assign(network_stall_flit_ratio_p75=9.0)
    assert (
        learned().unlike_training(strange)[0][0].startswith("network_stall_flit_ratio_p75 is 9, of the training runs")
    )
    assert learned().unlike_training(RUNS.iloc[:1]) == [[]]


def test_auto_chooses_seven_features_with_the_one_that_tells_the_congestion() -> None:
    names = training.chosen_features(RUNS, standardised(RUNS, groups_of(RUNS)), Options(features="auto", trees=40))
    assert len(names) == 7 and "network_stall_flit_ratio_p75" in names


def test_no_bound_is_narrower_than_the_floor_allows() -> None:
    model = learned()
    assert model.estimates(RUNS).bound.min() >= model.factor * FLOOR


def test_a_tree_goes_left_up_to_the_threshold() -> None:
    tree = Tree(
        left=np.array([1, -1, -1]), right=np.array([2, -1, -1]), feature=np.array([1, 0, 0]),
        threshold=np.array([0.5, 0.0, 0.0]), value=np.array([0.0, 7.0, 8.0]),
    )  # fmt: skip
    assert tree.predict(np.array([[9.0, 0.5], [9.0, 0.6]])).tolist() == [7.0, 8.0]


def test_cross_validation_estimates_every_run_without_it(estimated: pd.DataFrame) -> None:
    table = estimated
    assert table["run"].tolist() == RUNS["run"].tolist()
    assert table.groupby("fold").size().tolist() == [12] * 10
    overall = cross_validation.summary(table).iloc[0]
    assert overall["r2"] > 0.9 and overall["within_kept"] > 0.85
    assert (table["within"] == ((table["truth"] - table["estimate"]).abs() <= table["bound"])).all()


def test_cross_validation_takes_means_from_the_training_folds_alone(estimated: pd.DataFrame) -> None:
    """A run whose time is changed keeps its estimate: its own fold does not know it."""
    changed = RUNS.copy()
    changed.loc[5, "run_time_s"] *= 3
    before, after = estimated.loc[5], cross_validation.cross_validated(changed, FEW, FOUND).loc[5]
    assert before["estimate"] == after["estimate"] and before["bound"] == after["bound"]
    assert after["truth"] > before["truth"] + 5


def test_features_without_information_give_no_r2() -> None:
    blind = RUNS.copy()
    draw = np.random.default_rng(1)
    for name in PAPER_FEATURES[:-1]:
        blind[name] = draw.standard_normal(len(blind))
    assert cross_validation.summary(cross_validation.cross_validated(blind, FEW, FOUND)).iloc[0]["r2"] < 0.1


def test_more_runs_to_train_on_give_a_better_model() -> None:
    sizes = cross_validation.training_sizes(runs(each=100, noise=0.3), FEW, FOUND)
    assert sizes["share"].tolist() == [0.1, 0.25, 0.5, 0.75]
    assert sizes["r2"].iloc[-1] > sizes["r2"].iloc[0]


def test_an_unseen_application_is_asked_with_0_20_and_40_of_its_runs() -> None:
    table = cross_validation.unseen_applications(runs(applications="abc"), FEW, FOUND)
    assert table.groupby("application")["target_runs"].apply(list).tolist() == [[0, 20, 40]] * 3
    of_a = table[table["application"] == "a"].set_index("target_runs")["r2"]
    assert of_a[40] > of_a[0]


def test_use_cases_are_a_typical_a_lucky_and_an_unlucky_run(estimated: pd.DataFrame) -> None:
    table = cross_validation.use_cases(estimated)
    own = table[table["application"] == "a"].set_index("case")
    assert own.loc["lucky", "truth"] < own.loc["typical", "truth"] < own.loc["unlucky", "truth"]
    assert abs(own.loc["typical", "truth"]) < 0.1
    assert own.loc["unlucky", "estimate"] > 1


def test_the_same_seed_gives_the_same_model() -> None:
    one, two = (learned(RUNS, Options(trees=20, seed=4)) for _ in range(2))
    np.testing.assert_array_equal(one.estimates(RUNS).bound, two.estimates(RUNS).bound)


def test_too_few_runs_are_refused_with_the_number_that_is_needed() -> None:
    with pytest.raises(InputError, match="too few runs to train") as error:
        trainable(runs(each=15), "runs.csv")
    assert error.value.remedy == "add 5 runs of it, or leave it out"
    with pytest.raises(InputError, match="add 50 runs"):
        trainable(runs(each=25), "runs.csv")


def test_an_application_that_never_varies_is_left_out_and_told() -> None:
    still = runs(each=60, applications="abc")
    still.loc[still["application"] == "b", "run_time_s"] = 3.0
    kept, notes = trainable(still, "runs.csv")
    assert set(kept["application"]) == {"a", "c"}
    assert notes == ["b on 16 nodes is left out: its run time never changes"]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"run_time_s": 0.0}, "run a-0000: run_time_s"),
        ({"network_flits_mean": float("nan")}, "run a-0000: network_flits_mean"),
        ({"nodes": "many"}, "run a-0000: nodes"),
    ],
)
def test_values_that_are_no_numbers_are_named(change: dict[str, object], words: str) -> None:
    frame = RUNS.astype({name: object for name in change})
    for name, value in change.items():
        frame.loc[0, name] = value
    with pytest.raises(InputError, match=words):
        check(frame, "runs.csv")


def test_a_table_without_statistics_is_refused() -> None:
    with pytest.raises(InputError, match="no network_flits_p99"):
        check(RUNS.drop(columns="network_flits_p99"), "runs.csv")
