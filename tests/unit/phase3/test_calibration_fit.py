"""Host parameters from measurements: known ones are found again; those that a data set lacks are called assumed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from manynode.errors import CheckFailedError, InputError
from phase3_sst.calibration import quality
from phase3_sst.calibration.fit import Base, Fit, fit, intranode
from phase3_sst.calibration.measurements import read_measurements
from phase3_sst.calibration.pieces import Piece

DATA = Path(__file__).resolve().parent.parent.parent / "data" / "calibration"
SIZES = np.unique(np.geomspace(1, 2**24, 100).round())
BASE = Base(
    path_latency_s=290e-9,
    nic_latency_s=150e-9,
    link_bandwidth_Bps=12.5e9,
    nic_bandwidth_Bps=12.5e9,
    gap_s=10e-9,
    eager_limit_bytes=8192,
)
SEND = (Piece(0, 300e-9, 5e-11), Piece(65537, 600e-9, 0.0))
RECEIVE = (Piece(0, 500e-9, 1e-10), Piece(65537, 12e-6, 0.0))
TRUTH = Fit(BASE, SEND, RECEIVE, 65536, 11e9, BASE.gap_s)


def rows(measure: str, times: np.ndarray, sizes: np.ndarray = SIZES) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "measure": measure,
            "size_bytes": sizes.astype(int),
            "time_s": times,
            "bandwidth_Bps": np.nan,
            "messages_per_s": np.nan,
            "processes": 2,
            "source": "synthetic",
        }
    )


def ping_pong() -> pd.DataFrame:
    return rows("pingpong", TRUTH.half_round_trip(SIZES))


def test_the_formula_is_that_of_the_engine() -> None:
    eager, rendezvous = TRUTH.half_round_trip(np.array([1000.0, 100_000.0]))
    crossing = 290e-9 + 2 * 150e-9
    assert eager == pytest.approx(300e-9 + 50e-9 + crossing + 1000 / 11e9 + 500e-9 + 100e-9)
    assert rendezvous == pytest.approx(600e-9 + 3 * crossing + 100_000 / 11e9 + 12e-6)


def test_a_link_slower_than_the_nic_sets_the_rate() -> None:
    slow = replace(TRUTH, base=replace(BASE, link_bandwidth_Bps=5e9))
    times = slow.half_round_trip(np.array([1e6, 2e6]))
    assert times[1] - times[0] == pytest.approx(1e6 / 5e9)


def test_known_parameters_are_found_again_from_calls() -> None:
    sends = np.where(SIZES > 65536, 600e-9, 300e-9 + 5e-11 * SIZES)
    table = pd.concat([ping_pong(), rows("isend", sends * np.where(SIZES > 65536, 0.5, 1))])
    fitted = fit(table, BASE)
    assert fitted.eager_limit_bytes == 65536
    assert fitted.origin["eager_limit"].startswith("fitted: from there on, the time of an isend")
    assert fitted.nic_bandwidth_Bps == pytest.approx(11e9, rel=1e-3)
    assert fitted.overhead_send[0].seconds == pytest.approx(300e-9, rel=0.05)
    assert fitted.overhead_send[0].seconds_per_byte == pytest.approx(5e-11, rel=0.05)
    assert fitted.overhead_recv[0].seconds == pytest.approx(500e-9, rel=0.05)
    assert quality.residuals(table, fitted)["error"].abs().max() < 0.01


def test_without_calls_the_overhead_is_halved_and_said_to_be() -> None:
    fitted = fit(ping_pong(), BASE)
    assert fitted.overhead_send == fitted.overhead_recv
    assert fitted.overhead_send[0].seconds == pytest.approx(400e-9, rel=0.02)
    assert "assumed: both ends" in fitted.origin["overhead_send"]
    assert fitted.origin["gap"].startswith("assumed")
    assert fitted.eager_limit_bytes == 65536
    assert quality.residuals(ping_pong(), fitted)["error"].abs().max() < 0.01


def test_a_given_eager_limit_is_kept() -> None:
    fitted = fit(ping_pong(), BASE, eager_limit=2048)
    assert fitted.eager_limit_bytes == 2048
    assert fitted.origin["eager_limit"] == "given by --eager-limit"


def test_without_a_change_of_protocol_the_bases_limit_stays() -> None:
    straight = rows("pingpong", 1.5e-6 + SIZES / 10e9)
    fitted = fit(straight, BASE)
    assert fitted.eager_limit_bytes == 8192
    assert fitted.origin["eager_limit"].startswith("assumed")


def test_messages_too_short_to_tell_a_rate_leave_the_bases() -> None:
    short = ping_pong()
    short = short[short["size_bytes"] < 2048]
    fitted = fit(short, BASE)
    assert fitted.nic_bandwidth_Bps == 12.5e9
    assert fitted.origin["nic_bandwidth"].startswith("assumed")


def test_a_rate_above_the_links_is_reported() -> None:
    fitted = fit(ping_pong(), replace(BASE, link_bandwidth_Bps=5e9))
    assert any("more than a link of the base carries" in note for note in fitted.notes)


def test_the_gap_comes_from_the_message_rate_of_several_pairs() -> None:
    rates = rows("message-rate", np.full(len(SIZES), np.nan)).assign(messages_per_s=2e8, processes=30)
    fitted = fit(pd.concat([ping_pong(), rates]), BASE)
    assert fitted.gap_s == pytest.approx(5e-9)
    # One pair is held up by its processor, not by its NIC.
    assert fit(pd.concat([ping_pong(), rates.assign(processes=2)]), BASE).gap_s == BASE.gap_s


def test_what_is_not_used_is_said() -> None:
    stream = rows("bandwidth", np.full(len(SIZES), np.nan)).assign(bandwidth_Bps=10.5e9)
    fitted = fit(pd.concat([ping_pong(), stream, rows("allreduce", SIZES * 1e-9)]), BASE)
    assert "not used: allreduce" in fitted.notes
    assert any("a stream of messages reaches 84 Gbit/s" in note for note in fitted.notes)
    assert fitted.nic_bandwidth_Bps == pytest.approx(11e9, rel=1e-3)


def test_a_base_slower_than_the_measurement_is_refused() -> None:
    with pytest.raises(CheckFailedError, match="the base network is slower") as caught:
        fit(ping_pong(), replace(BASE, nic_latency_s=1e-6))
    assert caught.value.exit_code == 6
    assert "lower nic_latency" in caught.value.render()


@pytest.mark.parametrize(
    ("table", "said"),
    [
        (rows("allreduce", SIZES * 1e-9), "no ping-pong"),
        (ping_pong().head(9), "too few sizes"),
        (ping_pong().assign(time_s=0.0), "took no time"),
    ],
)
def test_data_that_cannot_tell_are_refused(table: pd.DataFrame, said: str) -> None:
    with pytest.raises(InputError, match=said) as caught:
        fit(table, BASE)
    assert caught.value.exit_code == 3


def test_single_results_are_too_few_for_a_fit() -> None:
    with pytest.raises(InputError, match="too few sizes for a calibration"):
        fit(read_measurements([DATA / "crossroads_osu/OSU_ats3_results.csv"]), BASE)


def test_omni_path_is_met_within_ten_percent() -> None:
    table = read_measurements([DATA / "dahu_opa100/pingpong_calls.csv"], cluster="dahu")
    fitted = fit(table, BASE)
    # PSM2 switches to rendezvous at 64,000 bytes; the sizes measured next to it are 60,635 and 65,591.
    assert 60_635 <= fitted.eager_limit_bytes < 65_591
    assert fitted.nic_bandwidth_Bps == pytest.approx(12.26e9, rel=0.005)
    assert 0.15e-6 < fitted.overhead_send[0].seconds < 0.3e-6  # the time of the shortest sends
    errors = quality.residuals(table, fitted)
    shares = quality.shares_within(errors)
    assert shares[0.05] > 0.9
    assert shares[0.20] == 1.0
    large = errors[errors["size_bytes"] > 2**20]["error"].abs()
    assert large.median() < 0.005


@pytest.mark.parametrize("first", [0, 1])
def test_half_of_the_sizes_foretell_the_other_half(first: int) -> None:
    table = read_measurements([DATA / "dahu_opa100/pingpong_calls.csv"], cluster="dahu")
    chosen = table["size_bytes"].isin(sorted(table["size_bytes"].unique())[first::2])
    shares = quality.shares_within(quality.residuals(table[~chosen], fit(table[chosen], BASE)))
    assert shares[0.05] > 0.85
    assert shares[0.10] > 0.95
    assert shares[0.20] == 1.0


def test_tofu_is_met_within_ten_percent() -> None:
    table = read_measurements([DATA / "fugaku/riken_imb_pingpong.csv"])
    base = replace(BASE, link_bandwidth_Bps=6.8e9, nic_bandwidth_Bps=6.8e9, path_latency_s=200e-9, nic_latency_s=100e-9)
    fitted = fit(table, base)
    assert fitted.eager_limit_bytes == 8192
    assert fitted.nic_bandwidth_Bps == pytest.approx(6.34e9, rel=0.01)
    assert quality.residuals(table, fitted)["error"].abs().max() < 0.10


def test_copies_tell_the_rate_within_a_node_but_no_latency() -> None:
    copies = read_measurements([DATA / "dahu_opa100/memcpy.csv"])
    latency, bandwidth, latency_origin, _ = intranode(copies, 300e-9)
    assert latency == 300e-9
    assert latency_origin.startswith("assumed")
    assert 5e9 < bandwidth < 20e9  # 5 GB/s from memory, up to 48 GB/s from the first caches


def test_a_ping_pong_within_a_node_tells_both() -> None:
    latency, bandwidth, _, _ = intranode(rows("pingpong", 400e-9 + SIZES / 8e9), 300e-9)
    assert latency == pytest.approx(400e-9)
    assert bandwidth == pytest.approx(8e9)


def test_the_error_is_shown_by_size_with_the_spread_of_repeats() -> None:
    table = pd.concat([ping_pong(), ping_pong().assign(time_s=ping_pong()["time_s"] * 1.1)])
    ranges = quality.by_range(quality.residuals(table, TRUTH))
    assert ranges["range"].iloc[0] == "below 64 B"
    assert ranges["points"].sum() == 2 * len(SIZES)
    assert ranges["largest"].max() == pytest.approx(1 - 1 / 1.1)
    # Two values 10 % apart: standard deviation 0.0707 over mean 1.05.
    assert ranges["repeats_cv"].to_numpy() == pytest.approx(0.0707 / 1.05, rel=1e-3)
    assert "repeats vary by 6.7%" in quality.as_text(ranges)
    assert "repeats" not in quality.as_text(quality.by_range(quality.residuals(ping_pong(), TRUTH)))
