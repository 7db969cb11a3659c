"""The band of known errors: coverage on drawn machines with known truth, and what its records must be.

``MANYNODE_FUZZ=all`` draws twice as many machines.
"""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd
import pytest

from manynode.errors import InputError
from manynode.known_errors.predictive import KnownError, known_error, left_out, level_of
from manynode.known_errors.records import log_errors, read_records, shipped, write_records

# How often a new machine is drawn.
DRAWS = 120 if os.environ.get("MANYNODE_FUZZ") == "all" else 60


def records(errors: dict[tuple[str, str], list[float]], **columns: object) -> pd.DataFrame:
    """Records with the given ln(measured / predicted), by machine and application."""
    rows = [
        {
            **{"machine": machine, "application": application, "case": f"case {number}", "component": "network"},
            **{"engine": "fast", "predicted_s": 1.0, "measured_s": math.exp(error), "communication_share": 1.0},
            **{"doublings": 0.0, "fitted_to": "nothing", "source": "drawn", **columns},
        }
        for (machine, application), own in errors.items()
        for number, error in enumerate(own)
    ]
    return pd.DataFrame(rows)


def drawn(random: np.random.Generator, machines: int, each: int, between: float, within: str) -> pd.DataFrame:
    """Machines whose errors differ by ``between``, with records that scatter as the law ``within`` says."""
    laws = {
        "normal": lambda: random.normal(0, 0.1, each),
        "two-sided exponential": lambda: random.laplace(0, 0.08, each),
        "skewed": lambda: 0.1 * (random.exponential(1, each) - 1),
    }
    errors = {(f"m{m}", "a"): list(0.05 + random.normal(0, between) + laws[within]()) for m in range(machines)}
    return records(errors)


@pytest.mark.parametrize("within", ["normal", "two-sided exponential", "skewed"])
@pytest.mark.parametrize(("machines", "between"), [(4, 0.1), (8, 0.1), (8, 0.02)])
def test_nine_in_ten_of_drawn_truths_are_covered(machines: int, between: float, within: str) -> None:
    """A new machine's record lies in the interval of the others as often as it says."""
    random = np.random.default_rng(7)
    hits = []
    for _ in range(DRAWS):
        whole = drawn(random, machines + 1, 10, between, within)
        known = known_error(whole[whole["machine"] != "m0"], 0.9)
        assert known is not None and known.level == "machine"
        errors = log_errors(whole[whole["machine"] == "m0"])
        hits.append(float(errors.between(known.low, known.high).mean()))
    assert 0.87 <= np.mean(hits) <= 0.96


@pytest.mark.parametrize("spreads", [(0.05, 0.15), (0.15, 0.05)], ids=["applications differ", "machines differ"])
@pytest.mark.parametrize("applications", [(9, 1, 8, 1), (3, 3, 3)])
def test_a_new_machine_with_new_applications_is_covered(
    applications: tuple[int, ...], spreads: tuple[float, float]
) -> None:
    """Errors differ between machines, between applications of a machine, and between records, in known machines by
    one application or many.
    """
    random = np.random.default_rng(3)

    def machine(name: str, count: int) -> dict[tuple[str, str], list[float]]:
        own = random.normal(0, spreads[0])
        means = own + random.normal(0, spreads[1], count)
        return {(name, f"a{a}"): list(mean + random.normal(0, 0.1, 8)) for a, mean in enumerate(means)}

    hits = []
    for _ in range(DRAWS):
        known = known_error(
            records({k: v for m, n in enumerate(applications) for k, v in machine(f"m{m}", n).items()}), 0.9
        )
        assert known is not None and known.groups == len(applications)
        hits.append(float(log_errors(records(machine("new", 6))).between(known.low, known.high).mean()))
    assert 0.87 <= np.mean(hits) <= 0.96


def test_a_wider_confidence_gives_a_wider_band_and_the_bias_is_the_groups_mean() -> None:
    whole = drawn(np.random.default_rng(1), 6, 5, 0.1, "normal")
    bands = [known_error(whole, confidence) for confidence in (0.5, 0.8, 0.9, 0.95)]
    widths = [band.high - band.low for band in bands if band is not None]
    assert len(widths) == 4 and widths == sorted(widths)
    means = log_errors(whole).groupby(whole["machine"]).mean()
    assert bands[0] is not None and bands[0].bias == pytest.approx(float(means.mean()))


def test_a_long_table_does_not_outvote_a_short_one() -> None:
    short = {("m0", "a"): [0.0, 0.02], ("m1", "a"): [0.1, 0.12], ("m2", "a"): [0.3, 0.32]}
    long = {**short, ("m2", "a"): [0.3, 0.32] * 500}
    few, many = known_error(records(short), 0.9), known_error(records(long), 0.9)
    assert few is not None and many is not None
    assert few.bias == pytest.approx(many.bias) and few.low == pytest.approx(many.low, abs=0.01)


def test_few_machines_are_replaced_by_their_applications_and_too_few_give_nothing() -> None:
    two = records({("m0", "a"): [0.0, 0.1], ("m0", "b"): [0.2, 0.1], ("m1", "a"): [0.3, 0.2]})
    assert level_of(two) == "application"
    assert level_of(two[two["application"] == "a"]) is None
    assert known_error(two[two["application"] == "a"], 0.9) is None


def test_a_component_with_a_part_of_the_time_bears_the_whole_difference() -> None:
    whole = records({("m", "a"): [0.1]}, communication_share=0.8)
    assert log_errors(whole).iloc[0] == pytest.approx(0.125)
    node = records({("m", "a"): [0.1]}, communication_share=0.2, component="node")
    assert log_errors(node).iloc[0] == pytest.approx(0.125)


def test_left_out_groups_do_not_see_themselves() -> None:
    errors = {(f"m{m}", "a"): [0.0, 0.01] for m in range(5)} | {("strange", "a"): [3.0, 3.1]}
    found = left_out(records(errors), 0.9)
    assert not found[found["group"] == "strange"]["covered"].any()
    assert found[found["group"] != "strange"]["covered"].all()
    assert len(found) == 12


def test_a_left_out_application_is_left_out_on_all_machines() -> None:
    errors = {(f"m{m}", a): [0.01 * m, 0.02] for m in range(4) for a in ("a", "b")}
    odd = {**errors, **{(f"m{m}", "odd"): [1.0 + 0.01 * m, 1.02] for m in range(4)}}
    found = left_out(records(odd), 0.9, "application")
    assert set(found["group"]) == {"a", "b", "odd"} and len(found) == 24
    own = found[found["group"] == "odd"]
    assert not own["covered"].any()
    without = known_error(records(errors), 0.9)
    assert without is not None and list(own["low"].unique()) == [without.low]


def test_what_models_were_fitted_to_is_known() -> None:
    errors = {(f"m{m}", "a"): [0.0, 0.01] for m in range(3)}
    whole = records(errors).assign(fitted_to=["b", "b", "nothing", "nothing", "a", "a"])
    assert (known := known_error(whole, 0.9)) is not None and known.fitted_to == ("a", "b")
    assert (known := known_error(records(errors), 0.9)) is not None and known.fitted_to == ()


@pytest.mark.parametrize(
    ("column", "value", "words"),
    [
        ("component", "memory", "node or network"),
        ("measured_s", 0.0, "above 0"),
        ("predicted_s", float("nan"), "above 0"),
        ("communication_share", 1.5, "from 0 to 1"),
        ("communication_share", 0.3, "at least half"),
        ("doublings", float("inf"), "a number"),
        ("machine", " ", "a text"),
    ],
)
def test_a_wrong_record_is_named(tmp_path: Path, column: str, value: object, words: str) -> None:
    wrong = records({("m", "a"): [0.1, 0.2]}).astype({column: "object"})
    wrong.loc[1, column] = value
    with pytest.raises(InputError) as caught:
        write_records(tmp_path / "records.parquet", wrong)
    assert f"row 1, column {column}" in caught.value.render() and words in caught.value.render()


def test_records_of_several_tables_are_one_and_a_case_counts_once(tmp_path: Path) -> None:
    one, two = tmp_path / "one.parquet", tmp_path / "two.parquet"
    write_records(one, records({("m", "a"): [0.1]}))
    write_records(two, records({("n", "a"): [0.1]}))
    assert list(read_records([one, two])["machine"]) == ["m", "n"]
    write_records(two, records({("m", "a"): [0.2]}))
    with pytest.raises(InputError, match="recorded twice"):
        read_records([one, two])
    assert read_records([]).empty


def test_the_shipped_records_can_be_used_and_say_where_they_come_from() -> None:
    assert shipped()
    found = read_records(shipped())
    assert {"node", "network"} <= set(found["component"])
    for (component, engine), own in found.groupby(["component", "engine"]):
        known = known_error(own, 0.9)
        assert known is None or isinstance(known, KnownError), (component, engine)


@pytest.mark.parametrize("by", ["group", "application"])
def test_the_shipped_network_records_cover_what_is_left_out(by: Literal["group", "application"]) -> None:
    """The bar is 85 to 95 %: each machine, or each application on all machines, against the band of the others."""
    found = read_records(shipped())
    own = found[(found["component"] == "network") & (found["engine"] == "fast")]
    assert level_of(own) == "machine" and own["machine"].nunique() >= 4
    tried = left_out(own, 0.9, by)
    assert len(tried) == len(own)
    assert 0.85 <= tried.groupby("group")["covered"].mean().mean() <= 0.95
