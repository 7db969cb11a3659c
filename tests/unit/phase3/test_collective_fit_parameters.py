"""Parameters of a fit to collectives, and the network file that it writes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import yaml

from manynode.config.network import Network
from manynode.config.quantities import RESOLVED
from manynode.config.resolved import read_yaml
from manynode.paths import ROOT
from phase3_sst.calibration.collective_fit import file_text
from phase3_sst.calibration.collective_fit.parameters import (
    JUMPS,
    LATENCY,
    RATE_SIZES,
    jumps_of,
    parameters_of,
    smoothness,
    with_values,
)
from phase3_sst.calibration.collective_fit.solve import Solution

WRITTEN = read_yaml(ROOT / "configs" / "networks" / "opa100-fat-tree.yaml", "the network")
BASE = Network.model_validate(WRITTEN).model_dump(mode="json")


def overhead_at(host: dict[str, Any], size: int) -> float:
    part = [segment for segment in host["overhead_send"] if segment["from"] <= size][-1]
    return float(part["time"] + part["per_byte"] * size)


def test_the_values_of_the_base_give_the_base_again() -> None:
    parameters = parameters_of(BASE)
    network = with_values(BASE, parameters, [parameter.base for parameter in parameters])
    Network.model_validate(network, context=RESOLVED)
    for size in (0, *JUMPS):
        expected = BASE["host"]["overhead_send"] + BASE["host"]["overhead_per_byte"] * size
        assert overhead_at(network["host"], size) == pytest.approx(expected)
    for key in ("gap", "nic_latency", "nic_bandwidth", "collective_step"):
        assert network["host"][key] == pytest.approx(BASE["host"][key])
    rates = [part["bandwidth"] for part in network["host"]["reduce_bandwidth"]]
    assert rates == pytest.approx([BASE["host"]["reduce_bandwidth"]] * len(rates))
    assert network["host"]["copy_bandwidth"] is None
    assert network["host"]["fresh_bandwidth"] is None
    assert network["topology"] == BASE["topology"]


def test_a_jump_raises_all_larger_messages_and_a_slope_those_of_its_range() -> None:
    parameters = parameters_of(BASE)
    values = [parameter.base for parameter in parameters]
    names = [parameter.name for parameter in parameters]
    before = with_values(BASE, parameters, values)["host"]
    values[names.index("overhead from 64 KiB")] += 1e-5
    values[names.index("overhead per byte from 8 KiB")] += 2e-10
    after = with_values(BASE, parameters, values)["host"]
    # Each end has half.
    rises = {4096: 0.0, 32 * 1024: 1e-10 * 32 * 1024, 2**17: 5e-6 + 1e-10 * 2**17, 2**20: 5e-6}
    for size, rise in rises.items():
        assert overhead_at(after, size) == pytest.approx(overhead_at(before, size) + rise)


def test_limits_of_messages_that_the_base_knows_replace_the_usual_ones_nearby() -> None:
    assert jumps_of(BASE["host"]) == JUMPS
    known = [{"from": 0.0, "time": 1e-6, "per_byte": 0.0}, {"from": 300.0, "time": 2e-6, "per_byte": 0.0}]
    host = {**BASE["host"], "overhead_send": known}
    assert jumps_of(host) == (300, *JUMPS[2:]), "not 193 B and 1 KiB"
    parameters = parameters_of({**BASE, "host": host})
    rise = next(parameter for parameter in parameters if parameter.name == "overhead from 300 B")
    assert rise.base == pytest.approx(1e-6 + BASE["host"]["overhead_per_byte"] * 300)
    found = with_values(BASE, parameters, [parameter.base for parameter in parameters])["host"]
    assert overhead_at(found, 300) - overhead_at(found, 299) == pytest.approx(rise.base / 2)


def rate_at(segments: list[dict[str, float]], size: int) -> float:
    return 1 / [segment for segment in segments if segment["from"] <= size][-1]["bandwidth"]


def test_a_rate_goes_from_one_level_of_memory_to_the_next_by_the_logarithm_of_the_size() -> None:
    parameters = parameters_of(BASE)
    values = [parameter.base for parameter in parameters]
    names = [parameter.name for parameter in parameters]
    values[names.index("copy_bandwidth at 256 KiB")] = 1e-10
    values[names.index("copy_bandwidth at 4 MiB")] = 5e-10
    host = with_values(BASE, parameters, values)["host"]
    found = host["copy_bandwidth"]
    assert [found[0]["from"], found[-1]["from"]] == [0.0, RATE_SIZES[-1]]
    # From 2^18 to 2^22; a doubling has the value of its middle.
    assert rate_at(found, 3 * 2**18) == pytest.approx(1e-10 + 4e-10 * 1.5 / 4)
    assert rate_at(found, 2**21) == pytest.approx(1e-10 + 4e-10 * 3.5 / 4)
    assert rate_at(found, 2**22) == pytest.approx(5e-10 * (1 - 0.5 / 4))
    values[names.index("fresh_bandwidth at 1 MiB")] = 4e-10
    fresh = with_values(BASE, parameters, values)["host"]["fresh_bandwidth"]
    assert rate_at(fresh, 1000) == pytest.approx(4e-10)


def test_neighbouring_rates_are_alike_a_priori_and_no_other_parameters() -> None:
    parameters = parameters_of(BASE)
    rows = smoothness(parameters)
    assert len(rows) == 2 * (len(RATE_SIZES) - 1) + 1
    spread = np.array([parameter.spread for parameter in parameters])
    rates = np.array([parameter.key.endswith("_bandwidth") and parameter.size is not None for parameter in parameters])
    # All rates slower by as much, and any other change, cost nothing beyond the parameters' own prior.
    assert rows @ (np.where(rates, 1e-10, 1.0) / spread) == pytest.approx(0, abs=1e-12)
    moved = np.zeros(len(parameters))
    moved[[parameter.name for parameter in parameters].index("copy_bandwidth at 256 KiB")] = 1e-10
    assert np.count_nonzero(rows @ (moved / spread)) == 2


def test_a_longer_latency_begins_at_a_size_and_keeps_that_of_the_base() -> None:
    base = {**BASE, "host": {**BASE["host"], "message_latency": 1e-7}}
    parameters = parameters_of(base)
    values = [parameter.base for parameter in parameters]
    assert with_values(base, parameters, values)["host"]["message_latency"] == pytest.approx(1e-7)
    names = [parameter.name for parameter in parameters]
    values[names.index("message_latency from 193 B")] = 4e-7
    values[names.index("message_latency from 8 KiB")] = 1e-6
    found = with_values(base, parameters, values)["host"]["message_latency"]
    assert [part["from"] for part in found] == [0, 193, 8192]
    assert [part["time"] for part in found] == pytest.approx([1e-7, 5e-7, 1.5e-6])
    again = parameters_of({**base, "host": {**base["host"], "message_latency": found}})
    assert [parameter.base for parameter in again if parameter.key == LATENCY] == pytest.approx([4e-7, 0, 1e-6, 0])
    assert "message_latency from 512 KiB" not in names


def solution(told: float) -> tuple[Any, Solution]:
    parameters = parameters_of(BASE)
    count = len(parameters)
    values = np.array([2 * parameter.base for parameter in parameters])
    return parameters, Solution(
        values=values,
        deviations=0.1 * values + 1e-12,
        told=np.full(count, told),
        correlations=np.eye(count),
        simulated=np.ones(3),
        steps=2,
    )


def test_the_file_reads_back_and_says_where_each_value_is_from() -> None:
    parameters, found = solution(0.9)
    text = file_text.text(
        WRITTEN,
        BASE,
        parameters,
        found,
        name="mine",
        description="of a test",
        fitted_to="a test",
        remarks=["by a test"],
    )
    assert text.startswith("# by a test\nname: mine\n")
    read = Network.model_validate(yaml.safe_load(text)).model_dump(mode="json")
    expected = with_values(BASE, parameters, list(found.values))
    assert read["host"]["nic_latency"] == pytest.approx(expected["host"]["nic_latency"], rel=1e-4)
    assert read["host"]["nic_bandwidth"] == pytest.approx(BASE["host"]["nic_bandwidth"] / 2, rel=1e-4)
    assert overhead_at(read["host"], 100_000) == pytest.approx(overhead_at(expected["host"], 100_000), rel=1e-3)
    assert read["host"]["eager_limit"] == BASE["host"]["eager_limit"]
    assert "# fitted to collectives: +- 10%\n  nic_latency:" in text
    assert file_text.notes(parameters, found) == []


def test_what_the_data_do_not_tell_is_called_assumed() -> None:
    parameters, found = solution(0.1)
    text = file_text.text(
        WRITTEN, BASE, parameters, found, name="mine", description="of a test", fitted_to="a test", remarks=[]
    )
    assert "fitted" not in text.replace("fitted_to:", "")
    assert "# assumed, near the base network: the collectives hardly tell it\n  nic_latency:" in text
    (note,) = file_text.notes(parameters, found)
    assert note.startswith(
        "hardly told by the data, near the base network: overhead_send, overhead_recv, overhead from 193 B, "
    )


def test_parameters_of_which_only_the_sum_is_told_are_named() -> None:
    parameters, found = solution(0.9)
    found.correlations[0, 1] = found.correlations[1, 0] = -0.97
    assert file_text.notes(parameters, found) == ["only the sum of these is told: overhead_recv and overhead_send"]
