"""Questions: which are equal, which are refused and why, and which experiment answers them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from explored_base import base_folder

from manynode.config import yaml_text
from manynode.config.loader import resolve
from manynode.errors import InputError, UsageError
from phase3_sst.explore import export
from phase3_sst.explore.answer_files import _limits
from phase3_sst.explore.base import Base, digest_of_question
from phase3_sst.explore.question import MOST_CHARACTERS, Question, question_of


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Base:
    return Base(base_folder(tmp_path_factory.mktemp("base")))


def ask(**changes: Any) -> Question:
    return question_of({"nodes": 4, "changes": changes})


def test_a_question_in_other_words_is_the_same_point(base: Base) -> None:
    one = ask(**{"network.link.bandwidth": "50 Gbit/s", "simulate.replicas": 3})
    other = ask(**{"simulate.replicas": 3, "network.link": {"bandwidth": "6.25 GB/s"}})
    assert one != other and base.asked(one).digest == base.asked(other).digest
    assert one == ask(**{"simulate.replicas": 3, "network.link.bandwidth": "50 Gbit/s"})
    # The base's own value changes nothing.
    assert base.asked(ask(**{"network.link.bandwidth": "100 Gbit/s"})).digest == base.asked(ask()).digest


def test_what_changes_a_number_changes_the_digest(base: Base) -> None:
    questions = [
        ask(),
        ask(**{"network.link.bandwidth": "50 Gbit/s"}),
        ask(**{"simulate.replicas": 3}),
        ask().changed(nodes=2),
        ask().changed(technique="ext-const"),
        ask().changed(losses=True),
        ask(**{"network": "paper-torus"}),
    ]
    assert len({base.asked(question).digest for question in questions}) == len(questions)


def test_a_network_comes_before_the_changes_inside_it(base: Base) -> None:
    changes = {"network.link.latency": "55 ns", "network": "paper-torus"}
    resolved = base.asked(ask(**changes)).resolved
    assert resolved.network.topology.kind == "torus" and resolved.network.link.latency == pytest.approx(55e-9)


def test_the_experiment_of_a_question_reads_back_from_its_file(base: Base, tmp_path: Path) -> None:
    asked = base.asked(ask(**{"network.link.latency": "33.3 ns"}).changed(losses=True))
    text = export.experiment(asked)
    found = resolve(yaml_text.parse(text), where="exported", base=tmp_path)
    assert digest_of_question(found) == asked.digest and found.digest() == asked.resolved.digest()
    assert found.name == f"own-{asked.digest[:12]}" and found.nodes == [1, 4]
    assert found.scaling is not None and found.scaling.nodes == [4]


def test_a_map_is_a_sensitivity_study_of_its_grid(base: Base, tmp_path: Path) -> None:
    keys = ("network.link.bandwidth", "network.host.nic_bandwidth")
    axes = [(keys, ["50 Gbit/s", "100 Gbit/s"]), (("nodes",), [2, 4])]
    found = resolve(yaml.safe_load(export.study(base, ask(), axes, [])), where="study", base=tmp_path)
    assert found.sensitivity is not None and found.sensitivity.nodes == [2, 4] and found.nodes == [1, 2, 4]
    (parameter,) = found.sensitivity.parameters.values()
    assert parameter.keys == list(keys) and len(parameter.values) == 2


def test_an_answer_says_which_end_of_a_node_limits_it(base: Base) -> None:
    fast = {"network.link.bandwidth": "200 Gbit/s"}
    (words,) = _limits(base.asked(ask(**fast)))
    assert "network.host.nic_bandwidth 100 Gbit/s limits" in words and "network.link.bandwidth 200 Gbit/s" in words
    assert _limits(base.asked(ask(**fast, **{"network.host.nic_bandwidth": "200 Gbit/s"}))) == []
    assert _limits(base.asked(ask())) == []


def test_what_only_pages_read_asks_no_other_question(base: Base) -> None:
    resolved = base.asked(ask()).resolved
    stricter = resolved.model_copy(update={"relevant_difference": 0.05})
    assert digest_of_question(stricter) == digest_of_question(resolved)
    assert stricter.projection_digest() == resolved.projection_digest()


def test_a_study_that_would_give_other_numbers_is_refused(base: Base) -> None:
    inside = ask(**{"network.link.latency": "55 ns"})
    with pytest.raises(UsageError, match="replaces the whole network"):
        export.study(base, inside, [(("network",), ["paper-torus", "fugaku"])], [])
    with pytest.raises(UsageError, match="cannot vary"):
        export.study(base, ask(), [(("machine",), ["a", "b"])], [])


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("application.parameters.nx", 4, "belongs to what was measured"),
        ("ranks_per_node", 4, "manynode run"),
        ("machine.frequency", "1 GHz", "belongs to what was measured"),
        ("own_times.machine", "x", "belongs to what was measured"),
        ("seed", 2, "belongs to what was measured"),
        ("nodes", [4], "member 'nodes'"),
        ("techniques", ["ext-var"], "member 'technique'"),
        ("scaling", {}, "member 'losses'"),
        ("sensitivity", {}, "cannot change this key"),
        ("known_errors", ["/etc/passwd"], "cannot change this key"),
        ("name", "x", "cannot change this key"),
        ("networks.link", 1, "no such key"),
        ("network.link.bandwith", "1 Gbit/s", "did you mean 'bandwidth'"),
        ("network.link.bandwidth", 5, "is not a quantity"),
        ("network", "../../etc/passwd", "names no files"),
        ("network", "/etc/passwd.yaml", "names no files"),
        ("network", "own.yaml", "names no files"),
        ("network", "no-such", "opa100-fat-tree"),
        ("machine", "../own", "names no files"),
        ("machine", "wide-core", "no such machine was measured"),
        ("simulate", {"sst": {"executable": "/bin/sh"}}, "as a whole"),
        ("simulate.sst", {"executable": "/bin/sh"}, "as a whole"),
        ("simulate.sst.executable", "/bin/sh", "as a whole"),
        ("simulate.sst.launcher", ["/bin/sh"], "as a whole"),
        ("simulate.sst.library", "/tmp", "as a whole"),
        ("simulate.preflight.vary", {}, "cannot change this key"),
        ("simulate.preflight", {"vary": {}}, "cannot change this key"),
        ("simulate.profile_bootstrap", 20, "has no such resamples"),
        ("simulate.jobs", [{"name": "a", "timing_profile": "/etc/passwd"}], "timing_profile"),
        ("simulate.jobs", [{"name": "a", "application": {"name": "../x"}}], "application.name"),
        ("simulate.jobs", [{"name": "a", "application": {"name": "derived"}}], "application.name"),
        ("simulate.replicas", True, "replicas"),
        ("simulate.replicas", 10**6, "replicas"),
    ],
)
def test_a_change_that_no_question_may_make_is_refused_in_words(base: Base, key: str, value: Any, words: str) -> None:
    with pytest.raises(UsageError) as refused:
        base.asked(ask(**{key: value}))
    assert words in str(refused.value)


def test_more_nodes_than_the_network_has_are_refused(base: Base) -> None:
    with pytest.raises(UsageError, match="do not fit the network"):
        base.asked(ask().changed(nodes=100_000))


def test_a_technique_without_measured_times_is_refused(base: Base) -> None:
    with pytest.raises(UsageError, match="not measured") as refused:
        base.asked(ask().changed(technique="no-ext-var"))
    assert "ext-var, ext-const" in str(refused.value)


@pytest.mark.parametrize(
    "content",
    [
        {},
        {"nodes": 0},
        {"nodes": 4.0},
        {"nodes": 4, "chages": {}},
        {"nodes": 4, "technique": "best"},
        {"nodes": 4, "changes": {"a b": 1}},
        {"nodes": 4, "changes": {"../x": 1}},
        {"nodes": 4, "changes": {"network.link.latency": float("nan")}},
        {"nodes": 4, "changes": {"network.name": "a\x1b[31m"}},
        {"nodes": 4, "changes": {"network.name": "x" * MOST_CHARACTERS}},
        {"nodes": 4, "changes": {f"network.k{index}": 1 for index in range(101)}},
    ],
    ids=lambda content: str(content)[:40],
)
def test_a_question_that_is_not_one_is_refused(content: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        question_of(content)


def test_other_measured_machines_beside_the_base_can_be_chosen(tmp_path: Path) -> None:
    results = base_folder(tmp_path)
    base_folder(tmp_path, name="fast", machine="epyc-9654")
    base_folder(tmp_path, name="seeded", machine="epyc-9654", seed=2)
    base_folder(tmp_path, name="thin", machine="epyc-9654", ranks_per_node=1)
    base = Base(results)
    assert list(base.machines) == ["own", "fast"]
    asked = base.asked(ask(machine="fast"))
    assert asked.measured.name == "fast" and asked.resolved.machine.name == "epyc-9654"
    assert base.asked(ask(machine="own")).digest == base.asked(ask()).digest != asked.digest


def test_an_unfinished_or_damaged_base_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no finished experiment"):
        Base(tmp_path)
    results = base_folder(tmp_path)
    profile = results / "nodesim/timing-profile-ext.json"
    whole = profile.read_text()
    profile.write_text(whole.replace("ext", "exT", 1))
    with pytest.raises(InputError, match="cannot be used") as refused:
        Base(results)
    assert "manynode run" in str(refused.value)
    profile.unlink()
    with pytest.raises(InputError, match="has not finished"):
        Base(results)


def test_the_canonical_form_is_json_that_reads_back() -> None:
    question = ask(**{"network.link.latency": "55 ns"})
    assert question_of(json.loads(question.canonical())) == question
    assert len({question, question_of(question.as_json())}) == 1
