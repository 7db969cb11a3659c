"""The controls: each shows a key of the experiment as it is, with the bounds that the experiment checks."""

from __future__ import annotations

from pathlib import Path

import pytest
from explored_base import base_folder

from manynode.errors import UsageError
from phase3_sst.explore import controls
from phase3_sst.explore.base import Base
from phase3_sst.explore.controls import Control
from phase3_sst.explore.question import question_of

MEMBERS = ("nodes", "technique", "losses")


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Base:
    return Base(base_folder(tmp_path_factory.mktemp("base")))


@pytest.fixture(scope="module")
def shown(base: Base) -> dict[str, Control]:
    return {one.key: one for one in controls.controls(base, base.asked(base.baseline()))}


def test_the_keys_that_architects_compare_are_there(shown: dict[str, Control]) -> None:
    wanted = """nodes technique network machine losses network.topology network.topology.routing
    network.topology.parents network.link.bandwidth network.link.latency network.flow_control
    network.host.nic_bandwidth network.slow_links simulate.placement.nodes simulate.collectives.allreduce
    simulate.slow_node.factor simulate.replicas simulate.engine"""
    assert set(wanted.split()) <= shown.keys()
    assert not [key for key in shown if key.startswith("simulate.sst")]
    assert all(one.help for one in shown.values())


def test_every_value_shown_is_that_of_the_base(base: Base, shown: dict[str, Control]) -> None:
    digest = base.asked(base.baseline()).digest
    for key, one in shown.items():
        if key in MEMBERS:
            question = base.baseline().changed(**{key: one.value})
        else:
            question = base.baseline()
            for each in one.keys or [key]:
                question = question.with_change(each, one.value)
        assert base.asked(question).digest == digest, key


def test_link_and_adapter_have_a_control_for_both(shown: dict[str, Control]) -> None:
    both = shown["+".join(controls.ENDS)]
    assert both.keys == ["network.link.bandwidth", "network.host.nic_bandwidth"] and both.kind == "quantity"
    assert both.value == "100 Gbit/s" and both.group == "link"


def test_bounds_are_those_that_the_experiment_checks(base: Base, shown: dict[str, Control]) -> None:
    one = shown["network.link.bandwidth"]
    assert (one.kind, one.dimension, one.value, one.scale) == ("quantity", "bandwidth", "100 Gbit/s", "log")
    for key, (least, most) in {
        "simulate.replicas": (1, 100_000),
        "simulate.slow_node.factor": (1e-3, 1000),
        "network.most_chunks": (1, 128),
        "simulate.placement.busy": (0, 1),
        "nodes": (1, base.resolved.network.room()),
    }.items():
        assert (shown[key].least, shown[key].most) == (least, most), key
        with pytest.raises(UsageError):
            base.asked(base.baseline().with_change(key, shown[key].most * 10 if key == "nodes" else most * 10 + 1))


def test_every_choice_is_one_of_the_key(base: Base, shown: dict[str, Control]) -> None:
    assert shown["network.topology.routing"].choices
    assert shown["network.flow_control"].choices == ["auto", "none", "credits"]
    for name in shown["network"].choices:
        base.asked(base.baseline().with_change("network", name))
    assert shown["technique"].choices == ["ext-var", "ext-const"]


def test_a_question_with_another_network_has_the_keys_of_that_network(base: Base) -> None:
    question = base.baseline().with_change("network", "paper-torus")
    keys = {one.key: one for one in controls.controls(base, base.asked(question))}
    assert "network.topology.shape" in keys and "network.topology.parents" not in keys
    assert keys["network"].value == "paper-torus"


def test_a_new_question_has_fewer_replicas_than_the_base(base: Base, shown: dict[str, Control]) -> None:
    assert base.resolved.simulate.replicas == 6
    assert controls.starts(list(shown.values())) == {"simulate.replicas": 5}


@pytest.mark.parametrize(
    ("name", "shown_as"), [("mine", "mine"), ("paper-torus", "paper-torus-of-the-base")], ids=["unknown", "shipped"]
)
def test_the_base_s_own_network_is_a_value_that_changes_nothing(tmp_path: Path, name: str, shown_as: str) -> None:
    network = {"name": name, "topology": {"kind": "torus", "shape": [4, 4], "hosts_per_switch": 1}}
    base = Base(base_folder(tmp_path, network=network))
    shown = {one.key: one for one in controls.controls(base, base.asked(base.baseline()))}
    assert shown["network"].value == shown_as and shown_as in shown["network"].choices
    same = question_of({"nodes": 4, "changes": {"network": shown_as}})
    assert base.asked(same).digest == base.asked(base.baseline()).digest
    if shown_as != name:
        shipped = base.asked(question_of({"nodes": 4, "changes": {"network": name}}))
        assert shipped.digest != base.asked(base.baseline()).digest, "the shipped file of the same name"
