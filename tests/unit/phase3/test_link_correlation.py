"""The load of the links in two engines: matching, correlation, and a remark if there is none."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from manynode.errors import InputError
from phase3_sst.studies.compare.link_loads import ALL, SINGLE, TOGETHER, correlation, correlations, distinct, matched

NAMES = ("fast", "sst")


def links(rows: list[tuple[int, int, str, str, str, int]]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=["replica", "link", "class", "source", "target", "bytes"])


def loads(rows: list[tuple[str, str, str, float, float]]) -> pd.DataFrame:
    frame = pd.DataFrame(rows, columns=["class", "source", "target", "bytes", "reference_bytes"])
    return frame.assign(link=range(len(frame)))


def test_a_link_without_a_row_carried_nothing_and_bytes_are_means_over_replicas() -> None:
    one = links([(0, 7, "global", "a", "b", 100), (1, 7, "global", "a", "b", 300)])
    other = links([(0, 8, "global", "a", "b", 50), (1, 7, "global", "a", "b", 50)])
    found = matched(one, other, 2)
    assert found[["link", "bytes", "reference_bytes"]].to_numpy().tolist() == [[7, 200, 25], [8, 0, 25]]


def test_one_number_for_two_links_is_refused() -> None:
    with pytest.raises(InputError, match="number the links differently"):
        matched(links([(0, 7, "global", "a", "b", 1)]), links([(0, 7, "local", "a", "c", 1)]), 1)


def test_loads_in_proportion_correlate_fully_and_in_reverse_not_at_all() -> None:
    a = np.array([1.0, 2.0, 4.0])
    up, down = correlation(a, 3 * a, NAMES), correlation(a, -a, NAMES)
    assert (up.pearson, up.spearman, up.remark) == (pytest.approx(1), pytest.approx(1), "")
    assert (down.pearson, down.spearman) == (pytest.approx(-1), pytest.approx(-1))
    # The order is the same, the proportion is not.
    bent = correlation(a, a**4, NAMES)
    assert bent.spearman == pytest.approx(1) and bent.pearson < 1


@pytest.mark.parametrize(
    ("a", "b", "words"),
    [
        ([5, 5], [6, 6], "all links carry the same in both: 5 B (fast), 6 B (sst)"),
        ([5, 5], [6, 7], "all links carry the same with fast: 5 B (fast)"),
        ([5, 6], [7, 7], "all links carry the same with sst: 7 B (sst)"),
        ([5], [5], "one link only"),
    ],
)
def test_loads_that_do_not_vary_are_said_to_and_are_no_nan_without_a_word(
    a: list[float], b: list[float], words: str
) -> None:
    found = correlation(np.array(a, float), np.array(b, float), NAMES)
    assert found.remark == words and math.isnan(found.pearson) and math.isnan(found.spearman)


def test_classes_stand_alone_and_together_and_parallel_links_are_added_up() -> None:
    frame = loads(
        [
            ("host-up", "h0", "s0", 10, 10),
            ("host-up", "h1", "s1", 20, 20),
            # The engines fill the two parallel cables the other way round.
            ("global", "s0", "s1", 30, 0),
            ("global", "s0", "s1", 0, 30),
            ("global", "s1", "s0", 50, 0),
            ("global", "s1", "s0", 0, 50),
        ]
    )
    found = correlations(frame, NAMES).set_index(["level", "class"])
    assert list(found.index) == [
        (SINGLE, "global"), (SINGLE, "host-up"), (SINGLE, ALL),
        (TOGETHER, "global"), (TOGETHER, "host-up"), (TOGETHER, ALL),
    ]  # fmt: skip
    assert found.loc[(SINGLE, "global"), "pearson"] < 0
    assert found.loc[(TOGETHER, "global"), "pearson"] == pytest.approx(1)
    assert found.loc[(SINGLE, ALL), ["links", "bytes", "reference_bytes"]].tolist() == [6, 110, 110]


def test_without_parallel_links_there_is_one_level_and_without_traffic_no_row() -> None:
    frame = loads([("host-up", "h0", "s0", 10, 10), ("host-up", "h1", "s1", 20, 20)])
    assert list(correlations(frame, NAMES)["class"]) == ["host-up"]
    assert correlations(frame.iloc[:0], NAMES).empty


def test_the_scatter_counts_links_of_the_same_two_loads() -> None:
    frame = loads([("x", "a", "b", 1, 2), ("x", "b", "c", 1, 2), ("x", "c", "d", 1, 3)])
    assert distinct(frame)["links"].tolist() == [2, 1]
