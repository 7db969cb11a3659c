"""The section ``sensitivity``: plans, names, values, refusals."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest
import yaml

from manynode.config.loader import resolve
from manynode.config.resolved import Resolved
from manynode.config.studies import variant_of
from manynode.config.variants import setting_value, study_nodes, study_techniques, variants
from manynode.errors import UsageError

ROOT = Path(__file__).resolve().parent.parent.parent
BANDWIDTH = {"keys": ["network.link.bandwidth", "network.host.nic_bandwidth"], "values": ["20 Gbit/s", "100 Gbit/s"]}
LATENCY = {"keys": ["network.link.latency"], "values": ["40 ns", "90 ns", "1 us"]}


def study(**section: Any) -> Resolved:
    """The demo, resolved, with a study."""
    content = yaml.safe_load((ROOT / "configs" / "demo.yaml").read_text())
    section.setdefault("parameters", {"bandwidth": BANDWIDTH, "latency": LATENCY})
    content["sensitivity"] = copy.deepcopy(section)
    return resolve(content, where="test", base=ROOT / "configs")


def test_a_grid_has_every_combination() -> None:
    experiment = study()
    found = variants(experiment)
    assert len(found) == 6 and len({variant.name for variant in found}) == 6
    assert found[0].settings == {"bandwidth": "20 Gbit/s", "latency": "40 ns"}
    changed = found[0].applied(experiment).network
    assert changed.link.bandwidth == changed.host.nic_bandwidth == 2.5e9
    assert changed.link.latency == pytest.approx(40e-9)
    assert setting_value(experiment, found[5], "latency") == pytest.approx(1e-6)
    assert (study_nodes(experiment), study_techniques(experiment)) == ([64], experiment.techniques)


def test_one_at_a_time_keeps_the_others() -> None:
    experiment = study(plan="one-at-a-time")
    found = variants(experiment)
    assert [len(variant.settings) for variant in found] == [1] * 5
    assert found[0].applied(experiment).network.link.latency == experiment.network.link.latency
    assert setting_value(experiment, found[0], "latency") == experiment.network.link.latency


def test_a_sobol_plan_stays_in_its_ranges_and_repeats() -> None:
    parameters = {
        "bandwidth": {"keys": BANDWIDTH["keys"], "low": "20 Gbit/s", "high": "1000 Gbit/s"},
        "nodes chosen": {"keys": ["simulate.placement.nodes"], "values": ["linear", "random"]},
    }
    experiment = study(plan="sobol", samples=8, parameters=parameters)
    found = variants(experiment)
    assert len(found) == 8 * (2 + 2)
    rates = [variant.settings["bandwidth"] for variant in found]
    assert 2.5e9 <= min(rates) < 1e10 < max(rates) <= 1.25e11
    assert {variant.settings["nodes chosen"] for variant in found} == {"linear", "random"}
    assert variants(experiment) == found
    assert variant_of(experiment, found[7].name) == found[7]


def test_a_whole_network_is_named_as_in_an_experiment(tmp_path: Path) -> None:
    own = tmp_path / "own.yaml"
    own.write_text((ROOT / "configs/networks/paper-torus.yaml").read_text())
    values = ["paper-dragonfly", str(own)]
    experiment = study(parameters={"topology": {"keys": ["network"], "values": values}})
    first, second = (variant.applied(experiment).network for variant in variants(experiment))
    assert (first.topology.kind, second.topology.kind) == ("dragonfly", "torus")


@pytest.mark.parametrize(
    ("section", "words"),
    [
        ({"parameters": {"x": {"keys": ["machine.frequency"], "values": ["1 GHz", "2 GHz"]}}}, "only phase 3 uses"),
        ({"parameters": {"x": {"keys": ["network.link.bandwith"], "values": ["1 GB/s", "2 GB/s"]}}}, "bandwidth"),
        ({"parameters": {"x": {"keys": ["network.link.latency"], "values": ["1 GB/s", "2 GB/s"]}}}, "latency"),
        ({"parameters": {"x": {"keys": ["network.link.latency"], "values": ["1 us"]}}}, "at least two"),
        ({"parameters": {"time_s": LATENCY}}, "column"),
        ({"parameters": {"a": LATENCY, "b": LATENCY}}, "varied twice"),
        ({"parameters": {"x": {"keys": ["network.link.latency"], "low": "1 us"}}}, "'low' and 'high'"),
        (
            {"parameters": {"x": {"keys": ["network.link.latency"], "low": "1 us", "high": "2 us"}}},
            "ranges need plan: sobol",
        ),
        ({"plan": "sobol", "samples": 12}, "power of two"),
        (
            {
                "plan": "sobol",
                "parameters": {"x": {"keys": ["network.link.latency"], "low": "2 us", "high": "1 us"}},
            },
            "low < high",
        ),
        ({"nodes": [4096]}, "do not fit"),
        ({"nodes": [2, 2]}, "given twice"),
        ({"parameters": {}}, "at least 1"),
    ],
)
def test_a_wrong_study_is_refused_before_anything_runs(section: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        study(**section)


def test_an_unknown_variant_is_named() -> None:
    with pytest.raises(UsageError, match="did you mean"):
        variant_of(study(), "bandwidth=20_Gbit_s,latency=41_ns")
