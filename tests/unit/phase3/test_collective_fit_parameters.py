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
from phase3_sst.calibration.collective_fit.parameters import JUMPS, parameters_of, with_values
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
    text = file_text.text(WRITTEN, BASE, parameters, found, name="mine", description="of a test", remarks=["by a test"])
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
    text = file_text.text(WRITTEN, BASE, parameters, found, name="mine", description="of a test", remarks=[])
    assert "fitted" not in text
    assert "# assumed, near the base network: the collectives hardly tell it\n  nic_latency:" in text
    (note,) = file_text.notes(parameters, found)
    assert note.startswith(
        "hardly told by the data, near the base network: overhead_send, overhead_recv, overhead from 64 B, "
    )


def test_parameters_of_which_only_the_sum_is_told_are_named() -> None:
    parameters, found = solution(0.9)
    found.correlations[0, 1] = found.correlations[1, 0] = -0.97
    assert file_text.notes(parameters, found) == ["only the sum of these is told: overhead_recv and overhead_send"]
