"""The band in the report's answer: its parts, what is not known, where it comes from; which errors cancel."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import report_fixture as fixture

from manynode.known_errors.predictive import known_error
from manynode.known_errors.records import COLUMNS
from manynode.report.answer import answer
from manynode.report.band import band, band_words, paired_words
from manynode.report.documents import FlowControl
from manynode.report.figures import scaling
from manynode.report.flow_control import flow_control_words
from manynode.report.load import Inputs, load


def records(component: str, engine: str, errors: dict[str, list[float]], doublings: float = 0.0) -> pd.DataFrame:
    """Records with the given ln(measured / predicted), by machine."""
    rows = [
        {
            **{"machine": machine, "application": "a", "case": str(number), "component": component, "engine": engine},
            **{"predicted_s": 1.0, "measured_s": math.exp(error), "communication_share": float(component == "network")},
            **{"doublings": doublings, "fitted_to": "nothing", "source": "drawn"},
        }
        for machine, own in errors.items()
        for number, error in enumerate(own)
    ]
    return pd.DataFrame(rows)[COLUMNS]


NODE = records("node", "valgrind", {"m1": [0.1, 0.12], "m2": [0.0, 0.02], "m3": [0.05, 0.03]}, doublings=10)
NETWORK = records("network", "fast", {"m1": [0.3, 0.2], "m2": [-0.2, -0.1], "m3": [0.0, 0.1]})
BOTH = pd.concat([NODE, NETWORK], ignore_index=True)


@pytest.fixture
def inputs(tmp_path: Path) -> Callable[[pd.DataFrame], Inputs]:
    folder = fixture.write_results(tmp_path)
    return lambda known: replace(load(folder), records=known)


def test_the_band_is_the_root_of_the_sum_of_its_parts_around_their_bias(
    inputs: Callable[[pd.DataFrame], Inputs],
) -> None:
    found = band(inputs(BOTH))
    assert found is not None and found.low_s is not None and found.high_s is not None
    draws, samples, node, network = found.parts
    assert samples.below is None and "not resampled" in samples.why
    known_node, known_network = known_error(NODE, 0.9), known_error(NETWORK, 0.9)
    assert known_node is not None and known_network is not None
    assert node.share + network.share == pytest.approx(1.0)
    assert node.above == pytest.approx(node.share * (known_node.high - known_node.bias))
    bias = node.share * known_node.bias + network.share * known_network.bias
    above = math.hypot(draws.above or 0, node.above or 0, network.above or 0)
    assert found.high_s == pytest.approx(found.time_s * math.exp(bias + above))
    below = math.hypot(draws.below or 0, node.below or 0, network.below or 0)
    assert found.low_s == pytest.approx(found.time_s * math.exp(bias - below))


def test_the_answer_begins_with_the_band_and_has_no_more_digits_than_it_leaves(
    inputs: Callable[[pd.DataFrame], Inputs],
) -> None:
    found = answer(inputs(BOTH))
    assert found is not None
    assert "with 90 %: draws" in found.sentences[0] and "node model" in found.sentences[0]
    assert len(found.figure.split()[0].replace(".", "")) <= 3
    assert found.facts[0][0] == "known errors" and "with 90 %" in found.facts[0][1]


def test_the_first_figure_draws_the_band_around_the_most_complete_technique(
    inputs: Callable[[pd.DataFrame], Inputs],
) -> None:
    figure = scaling.draw(inputs(BOTH))
    assert figure is not None and "band of known errors of ext-var" in figure.caption
    own = figure.data[figure.data["technique"] == "ext-var"]
    around = band(inputs(BOTH))
    assert around is not None
    assert tuple(own.loc[own["nodes"] == 64, ["known_low_s", "known_high_s"]].iloc[0]) == (around.low_s, around.high_s)
    assert (own["known_low_s"] < own["low_s"]).all() and (own["known_high_s"] > own["high_s"]).all()
    assert figure.data.loc[figure.data["technique"] != "ext-var", "known_low_s"].isna().all()
    assert [layer["mark"]["type"] for layer in figure.spec()["layer"]] == ["area", "area", "line"]
    single = replace(inputs(BOTH), projection=own[own["nodes"] == 64].reset_index(drop=True))
    assert "rule" in json.dumps(scaling.draw(single).spec()["layer"][0]["mark"])  # type: ignore[union-attr]
    without = scaling.draw(inputs(NODE))
    assert without is not None and "none is known" in without.caption and "known_low_s" not in without.data


@pytest.mark.parametrize(("known", "words"), [(NODE, "fast has no record"), (NETWORK, "valgrind has no record")])
def test_without_a_comparable_validation_no_band_is_known(
    inputs: Callable[[pd.DataFrame], Inputs], known: pd.DataFrame, words: str
) -> None:
    made = inputs(known)
    found = band(made)
    assert found is not None and found.low_s is None and found.limits == "no band is known"
    assert words in band_words(made)
    shown = answer(made)
    assert shown is not None and shown.sentences[0].startswith("No band is known: draws")


def test_too_few_machines_are_said_to_be_too_few(inputs: Callable[[pd.DataFrame], Inputs]) -> None:
    two = pd.concat([NODE, NETWORK[NETWORK["machine"] != "m3"]], ignore_index=True)
    text = band_words(inputs(two))
    assert "4 records of a validation" in text or "4 records of too few machines" in text


def test_records_of_one_machine_give_a_band_with_a_warning(inputs: Callable[[pd.DataFrame], Inputs]) -> None:
    one = NODE.assign(application=NODE["machine"], machine="the only one")
    text = band_words(inputs(pd.concat([one, NETWORK], ignore_index=True)))
    assert "3 applications on the only one" in text and "hardly known" in text
    assert "3 machines (m1, m2 and m3)" in text


def test_what_the_models_were_fitted_to_is_said(inputs: Callable[[pd.DataFrame], Inputs]) -> None:
    assert "fitted to" not in band_words(inputs(BOTH))
    text = band_words(inputs(pd.concat([NODE.assign(fitted_to="chases"), NETWORK], ignore_index=True)))
    assert text.count("had been fitted to chases.") == 1


def test_a_network_is_compared_with_networks_that_were_fitted_like_it(inputs: Callable[[pd.DataFrame], Inputs]) -> None:
    fitted = NETWORK.assign(fitted_to="ping-pongs", measured_s=1.001)
    made = inputs(pd.concat([NODE, NETWORK, fitted], ignore_index=True))
    resolved = {**made.resolved, "network": {**made.resolved["network"], "fitted_to": "ping-pongs of this machine"}}
    own = replace(made, resolved=resolved)
    before, after = band(made), band(own)
    assert before is not None and after is not None
    assert before.parts[-1].known is not None and after.parts[-1].known is not None
    assert after.parts[-1].known.half_width < 1e-9 < 0.1 < before.parts[-1].known.half_width
    assert "compared (networks before a fit, as this one) with 6 measurements" in band_words(made)
    assert "had been fitted to ping-pongs." in band_words(own)
    nothing = band_words(replace(own, records=BOTH))
    assert "Network: the engine fast has no record of a validation." in nothing


def test_a_scale_beyond_the_validations_is_named(inputs: Callable[[pd.DataFrame], Inputs]) -> None:
    near = pd.concat([NODE.assign(doublings=0.0), NETWORK], ignore_index=True)
    assert "does not cover what grows with the scale" in band_words(inputs(near))
    assert "does not cover" not in band_words(inputs(BOTH))


def test_comparisons_say_which_errors_cancel(inputs: Callable[[pd.DataFrame], Inputs]) -> None:
    plain = inputs(BOTH)
    assert paired_words(plain) == ""
    text = paired_words(replace(plain, sensitivity=pd.DataFrame({"variant": ["a"]})))
    assert "same draws" in text and "cancels only where a variant leaves the network as it is" in text


CHOICE: dict[str, Any] = {
    **{"flow_control": "none", "most_chunks": 64, "reason": "r", "iterations": 3},
    "trials": [{"situation": "ext-var on 64 nodes", "nodes": 64, "none_s": 1, "credits_s": 1, "difference": 0.004}],
}


def with_choice(made: Inputs, stated: str, **choice: Any) -> str:
    resolved = json.loads(json.dumps(made.resolved))
    resolved["network"]["flow_control"] = stated
    chosen = FlowControl.model_validate({**CHOICE, **choice}) if choice.pop("chosen", True) else None
    return flow_control_words(replace(made, resolved=resolved, flow_control=chosen))


def test_the_report_says_which_flow_control_and_by_how_much_the_two_differ(
    inputs: Callable[[pd.DataFrame], Inputs],
) -> None:
    made = inputs(BOTH)
    text = with_choice(made, "auto")
    assert "buffers are unlimited" in text and "ext-var on 64 nodes differ by 0.4 %" in text
    text = with_choice(made, "auto", flow_control="credits", most_chunks=128, warnings=["lower network: chunk"])
    assert "back-pressure" in text and "128 chunks" in text and "Warning: lower network: chunk" in text
    assert with_choice(made, "credits").startswith("As the network says")
    assert "no trial was made" in with_choice(made, "auto", chosen=False)
