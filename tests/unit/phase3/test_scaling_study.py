"""The scaling study: its counterfactual networks, its refusals, and the losses of points with known times."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from phase3_cases import ROOT, point

from manynode.config.counterfactuals import BANDWIDTH, LATENCY, STAGES, counterfactuals, technique_of
from manynode.config.loader import resolve
from manynode.config.network import LinkClass, Network
from manynode.config.resolved import Resolved
from manynode.config.sections import section_of
from manynode.config.studies import study_named
from manynode.errors import UsageError
from phase3_sst.studies.scaling.loss_table import PARTS, analyse
from phase3_sst.studies.what_if.what_if_file import IDEAL_CHANGES

SECONDS = {"contention": 0.1, "bandwidth": 0.2, "latency": 0.05, "overhead": 0.3, "variability": 0.5, "dependency": 1.0}


def demo(**changes: Any) -> Resolved:
    content = yaml.safe_load((ROOT / "configs" / "demo.yaml").read_text()) | {"scaling": {}} | changes
    return resolve(content, where="test", base=ROOT / "configs")


def test_each_stage_takes_one_more_cost_away() -> None:
    network = yaml.safe_load((ROOT / "configs/networks/opa100-fat-tree.yaml").read_text())
    network["link_classes"] = {"leaf-up": {"bandwidth": "50 Gbit/s", "latency": "500 ns"}}
    network["flow_control"] = "credits"
    network["host"] = {"overhead_send": [{"from": "0 B", "time": "1 us"}], "overhead_per_byte": "1 ns/B"}
    network["host"] |= {"copy_bandwidth": "5 GB/s", "collective_call": "1 us", "collective_step": "1 us"}
    experiment = demo(network=network)
    changed = {variant.name: variant.applied(experiment).content for variant in counterfactuals(experiment)}
    assert list(changed) == list(STAGES)
    networks = {name: content["network"] for name, content in changed.items()}
    free = networks["without-contention"]
    assert not free["contention"] and free["flow_control"] == "none"
    assert free["link_classes"]["leaf-up"]["bandwidth"] == pytest.approx(6.25e9)
    wide = networks["without-bandwidth"]
    assert not wide["contention"] and wide["host"]["gap"] == 0
    rates = [wide["link"], wide["link_classes"]["leaf-up"], wide["intranode"]]
    assert min(wide["host"]["nic_bandwidth"], *(part["bandwidth"] for part in rates)) == pytest.approx(1.25e14)
    assert wide["link_classes"]["leaf-up"]["latency"] == pytest.approx(500e-9)
    near = networks["without-latency"]
    parts = [near["link"]["latency"], near["link_classes"]["leaf-up"]["latency"], near["intranode"]["latency"]]
    assert max(*parts, near["switch_latency"], near["host"]["nic_latency"]) == 0
    assert near["host"]["overhead_send"][0]["time"] == pytest.approx(1e-6)
    idle = networks["without-overhead"]["host"]
    assert idle["overhead_send"] == idle["overhead_recv"] == idle["overhead_per_byte"] == 0
    assert idle["copy_bandwidth"] is None and idle["collective_call"] == idle["collective_step"] == 0
    assert networks["without-latency"]["host"]["collective_step"] == pytest.approx(1e-6)
    assert changed["without-overhead"]["simulate"]["replicas"] == experiment.simulate.replicas
    assert changed["without-variability"]["simulate"]["replicas"] == 1
    assert technique_of("without-variability", "no-ext-var") == "no-ext-const"


def test_points_are_those_of_the_stages() -> None:
    experiment = demo(scaling={"nodes": [1, 64]})
    points = study_named("scaling").points(experiment)
    assert len(points) == len(STAGES) * 2
    assert points[-1].folder == "scaling/without-variability/ext-const/nodes-64"
    assert list(study_named("scaling").points(demo(scaling=None))) == []


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"simulate": {"engine": "simgrid"}}, "needs the engine fast"),
        ({"techniques": ["ext-const"]}, "variable times"),
        ({"scaling": {"nodes": [3]}}, "not among the experiment's nodes"),
        (
            {"techniques": ["no-ext-var"], "scaling": {"techniques": ["ext-var"]}},
            "not among the experiment's techniques",
        ),
        ({"scaling": {"nodes": [1, 1]}}, "given twice"),
    ],
)
def test_a_study_that_cannot_be_is_refused(changes: dict[str, Any], word: str) -> None:
    with pytest.raises(UsageError) as caught:
        demo(**changes)
    assert word in caught.value.render()


def test_losses_are_the_differences_between_neighbours_replica_by_replica(tmp_path: Path) -> None:
    """Replicas differ by 10 %, only in the computation: the losses do not vary."""
    experiment = demo(nodes=[1, 8], scaling={})
    for nodes in (1, 8):
        end = f"nodes-{nodes}"
        times = [10.0, 11.0]
        point(tmp_path / "simulate/ext-var" / end, [time + nodes * sum(SECONDS.values()) for time in times])
        left = dict(SECONDS)
        for stage, cost in zip(STAGES[:-1], SECONDS, strict=False):
            del left[cost]
            point(tmp_path / "scaling" / stage / "ext-var" / end, [t + nodes * sum(left.values()) for t in times])
        constant = 10.5 + nodes * SECONDS["dependency"]
        point(tmp_path / "scaling" / STAGES[-1] / "ext-const" / end, [constant], compute=10.5 / constant)
    losses = analyse(experiment, tmp_path)
    for nodes in (1, 8):
        own = losses[losses["nodes"] == nodes].set_index("part")
        assert list(own.index) == list(PARTS)
        expected = {part: nodes * seconds for part, seconds in SECONDS.items()} | {"compute": 10.5}
        assert own["seconds"].to_dict() == pytest.approx(expected)
        assert own["seconds"].sum() == pytest.approx(10.5 + nodes * sum(SECONDS.values()))
        assert own["share"].sum() == pytest.approx(1)
        sure = own.drop(index="variability")
        assert (sure["high_s"] - sure["low_s"]).max() < 1e-9
        assert own.loc["variability", "low_s"] < own.loc["variability", "seconds"] < own.loc["variability", "high_s"]
    grown = losses[losses["nodes"] == 8].set_index("part")["growth_s"]
    assert grown["dependency"] == pytest.approx(7) and grown["compute"] == pytest.approx(0)


# Keys of the network that no message waits for. A new key belongs here, or among the costs that a stage takes away.
FREE = {
    *("name", "description", "fitted_to", "topology", "slow_links", "chunk", "most_chunks", "node_names"),
    *("input_buffer", "output_buffer", "host.eager_limit", "host.rails", "host.rail_stride", "host.rail_choice"),
    "host.receive",
}


def test_every_cost_of_the_network_is_taken_away_at_some_stage() -> None:
    network = yaml.safe_load((ROOT / "configs/networks/opa100-fat-tree.yaml").read_text())
    network["link_classes"] = {"leaf-up": {"bandwidth": "50 Gbit/s", "latency": "500 ns"}}
    *_, last = counterfactuals(demo(network=network))
    removed = {key.removeprefix("network.") for key, _ in last.changes}
    wanted = set()
    for name, field in Network.model_fields.items():
        section = {"link_classes": LinkClass}.get(name) or section_of(field.annotation)
        inside = "link_classes.leaf-up" if name == "link_classes" else name
        wanted |= {f"{inside}.{key}" for key in section.model_fields} if section else {name}
    assert wanted - FREE == removed - {"simulate.replicas"}
    ideal = {key.removeprefix("network.") for key in IDEAL_CHANGES}
    by_network = {key.removeprefix("network.") for key, _ in (*BANDWIDTH, *LATENCY) if "intranode" not in key}
    assert by_network < ideal and "host.message_latency" in ideal
