"""Stalled shares of links, and the waiting that they mean."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from manynode import tables
from manynode.errors import InputError
from manynode.seeds import generator
from phase3_sst.point.contract import LINK_SERIES_SCHEMA, LINKS_SCHEMA
from phase3_sst.studies.congestion.delay.stalls import MOST_SHARE, Waiting, expected_waiting, simulated_stalls


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.85])
def test_waiting_is_the_mean_of_the_geometric_distribution(share: float) -> None:
    # Units are stalled independently; the draw counts the stalled ones before the first free one.
    drawn = generator(1, "geometric", share).geometric(1 - share, size=200_000) - 1
    assert expected_waiting(np.array([share]))[0] == pytest.approx(drawn.mean(), rel=0.02, abs=1e-12)


def test_a_link_that_always_stalls_waits_long_but_not_for_ever() -> None:
    assert expected_waiting(np.array([1.0]))[0] == pytest.approx(MOST_SHARE / (1 - MOST_SHARE))


def one_link(*shares: float) -> pd.DataFrame:
    rows = [("r", float(step), step + 1.0, "host-0", "router-0", share) for step, share in enumerate(shares)]
    return pd.DataFrame(rows, columns=["run", "start_s", "end_s", "source", "target", "stalled_share"])


def test_a_span_weighs_intervals_by_what_lies_within_it() -> None:
    waiting = Waiting.of(one_link(0.5, 0.0, 0.9))
    assert waiting.mean(0, 3)["host-0->router-0"] == pytest.approx((1 + 0 + 9) / 3)
    assert waiting.mean(0.5, 2.5)["host-0->router-0"] == pytest.approx((0.5 * 1 + 0.5 * 9) / 2)
    # Nothing was counted after the third second.
    assert waiting.mean(2, 12)["host-0->router-0"] == pytest.approx(0.9)


def write(folder: Path, counter: str, **changes: object) -> None:
    links = pd.DataFrame(
        {
            "replica": 0,
            "link": [0, 1, 2],
            "source": ["host-0", "router-0", "router-0"],
            "target": ["router-0", "router-1", "router-1"],
        }
    )
    series = pd.DataFrame(
        {
            "replica": 0,
            "start_s": [0.0, 0.0, 0.0, 2.0],
            "end_s": [2.0, 2.0, 2.0, 3.0],
            "link": [0, 1, 2, 1],
            **({} if counter == "stall_s" else {"stall_s": 0.0}),
            counter: [0.5, 1.0, 3.0, 0.5],
            **changes,
        }
    )
    tables.write_table(folder / "links.parquet", LINKS_SCHEMA, links)
    tables.write_table(folder / "series.parquet", LINK_SERIES_SCHEMA, series)


@pytest.mark.parametrize("counter", ["stall_s", "credit_stall_s"])
def test_shares_of_simulated_links_are_told_by_the_best_counter_there_is(tmp_path: Path, counter: str) -> None:
    write(tmp_path, counter)
    found = simulated_stalls(tmp_path, "r").set_index(["start_s", "source"])["stalled_share"]
    assert found[0.0, "host-0"] == pytest.approx(0.25)
    # Two cables with the same ends. First one of them is stalled all the time, then half of the time.
    assert found[0.0, "router-0"] == pytest.approx((0.5 + 1.0) / 2)
    assert found[2.0, "router-0"] == pytest.approx(0.25)


def test_counters_per_class_are_refused(tmp_path: Path) -> None:
    write(tmp_path, "stall_s", link=pd.array([None] * 4, dtype="Int64"))
    with pytest.raises(InputError, match="per class"):
        simulated_stalls(tmp_path, "r")


def test_a_result_without_counters_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="counters: per: link"):
        simulated_stalls(tmp_path, "r")
