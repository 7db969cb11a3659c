"""Placement: every job gets nodes of its own, on the machine, the same for the same seed."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from manynode.config.host_names import expanded
from manynode.config.network import Network
from manynode.config.placement import Placement
from manynode.errors import UsageError
from phase3_sst.point.placement import hosts, own_node, rank_order_of


def place(count: int, room: int, /, *, seed: int = 1, taken: tuple[int, ...] = (), **keys: Any) -> list[int]:
    return hosts(Placement(**keys), count, room, seed, taken)


def test_linear_placement_takes_the_first_nodes() -> None:
    assert place(4, 8) == [0, 1, 2, 3]


def test_linear_placement_steps_over_the_nodes_of_other_jobs_and_goes_round() -> None:
    assert place(4, 8, offset=5, taken=(6, 0)) == [5, 7, 1, 2]


def test_strided_placement_takes_every_stride_th_node_and_then_the_next_free_ones() -> None:
    assert place(3, 12, nodes="strided", stride=4) == [0, 4, 8]
    assert place(8, 8, nodes="strided", stride=4) == [0, 4, 1, 5, 2, 6, 3, 7]
    assert place(4, 10, nodes="strided", stride=4, offset=1) == [1, 5, 9, 3]
    assert place(4, 8, nodes="strided", stride=2, taken=(2, 3)) == [0, 4, 6, 1]


def test_fragmented_placement_follows_the_seed_and_ascends() -> None:
    chosen = place(40, 1000, nodes="fragmented", seed=7)
    assert chosen == sorted(chosen) == place(40, 1000, nodes="fragmented", seed=7)
    assert chosen != place(40, 1000, nodes="fragmented", seed=8)


def test_a_fragmented_job_has_pieces_as_other_jobs_leave_them() -> None:
    def pieces(busy: float) -> float:
        counts = []
        for seed in range(50):
            nodes = place(64, 2048, nodes="fragmented", busy=busy, seed=seed)
            counts.append(1 + sum(after - before > 1 for before, after in pairwise(nodes)))
        return sum(counts) / len(counts)

    assert pieces(0.0) == 1  # an empty machine
    assert 1 < pieces(0.5) < pieces(0.9)


def test_random_placement_follows_the_seed() -> None:
    assert place(20, 100, nodes="random", seed=7) == place(20, 100, nodes="random", seed=7)
    assert place(20, 100, nodes="random", seed=7) != place(20, 100, nodes="random", seed=8)
    assert place(20, 100, nodes="random") != sorted(place(20, 100, nodes="random"))


def test_random_placements_of_more_nodes_begin_with_those_of_fewer() -> None:
    assert place(30, 100, nodes="random")[:20] == place(20, 100, nodes="random")


@given(
    data=st.data(),
    room=st.integers(1, 200),
    kind=st.sampled_from(["linear", "random", "strided", "fragmented"]),
    seed=st.integers(0, 2**63 - 1),
)
def test_nodes_are_different_on_the_machine_and_free(data: st.DataObject, room: int, kind: str, seed: int) -> None:
    taken = data.draw(st.sets(st.integers(0, room - 1), max_size=room - 1))
    nodes = data.draw(st.integers(1, room - len(taken)))
    keys: dict[str, Any] = {"nodes": kind}
    if kind == "strided":
        keys["stride"] = data.draw(st.integers(1, 2 * room))
    if kind in ("linear", "strided"):
        keys["offset"] = data.draw(st.integers(0, room - 1))
    chosen = place(nodes, room, seed=seed, taken=tuple(taken), **keys)
    assert len(chosen) == len(set(chosen)) == nodes
    assert all(type(node) is int and 0 <= node < room for node in chosen)
    assert taken.isdisjoint(chosen)


@pytest.mark.parametrize("kind", ["linear", "random", "strided", "fragmented"])
def test_a_job_that_does_not_fit_is_refused_with_what_is_free(kind: str) -> None:
    with pytest.raises(UsageError) as caught:
        place(6, 8, nodes=kind, taken=(1, 2, 3))
    text = caught.value.render()
    assert "6 nodes on a machine of 8, 3 of them taken" in text
    assert "at most 5 nodes" in text


def test_an_offset_beyond_the_machine_is_refused() -> None:
    with pytest.raises(UsageError, match="0 to 7"):
        place(1, 8, offset=8)


@pytest.mark.parametrize(
    "keys",
    [
        {"stride": 2},
        {"nodes": "random", "offset": 1},
        {"nodes": "fragmented", "offset": 1},
        {"nodes": "fragmented", "busy": 1.0},
        {"busy": 0.5},
        {"nodes": "strided", "stride": 0},
        {"rank_order": "odd"},
        {"shape": [2, 2]},
        {"nodes": "folded"},
        {"nodes": "folded", "shape": [2, 2], "axes": [[0]]},
        {"nodes": "folded", "shape": [2, 2], "axes": [[0], [0]]},
        {"nodes": "folded", "shape": [2], "axes": [[0, 1, 2]]},
    ],
)
def test_keys_that_would_do_nothing_are_refused(keys: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Placement(**keys)


def test_a_large_machine_with_long_runs_of_taken_nodes_is_placed_at_once() -> None:
    room = 65_536
    chosen = place(30_000, room, nodes="strided", stride=30_001, taken=tuple(range(room // 2)))
    assert len(set(chosen)) == 30_000


def test_listed_placement_gives_the_nodes_in_their_order() -> None:
    assert place(3, 8, nodes="listed", hosts=[5, 0, 7], taken=(1,)) == [5, 0, 7]
    assert place(2, 8, nodes="listed", hosts=[5, 0, 7]) == [5, 0]


@pytest.mark.parametrize(
    ("listed", "words"), [([1, 8], "not on the machine"), ([1, 2], "another job"), ([1], "more nodes than")]
)
def test_a_listed_node_must_be_there_and_free(listed: list[int], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        place(2, 8, nodes="listed", hosts=listed, taken=(2,))


NAMED = Network.model_validate(
    {
        "name": "named",
        "topology": {"kind": "fat-tree", "children": [4, 3], "parents": [1, 1], "parallel_links": [1, 1]},
        "node_names": ["as[01-02]r[1-2]b[08-09]", "login"],
    }
)


def test_listed_nodes_may_have_the_names_of_the_network() -> None:
    keys = {"nodes": "listed", "hosts": ["as02r1b08", "as01r[1-2]b09", 11]}
    assert hosts(Placement(**keys), 4, 12, 1, (), NAMED) == [4, 1, 3, 11]


@pytest.mark.parametrize(
    ("name", "network", "words"),
    [
        ("as03r1b08", NAMED, r"not on the machine(.|\n)*as03r1b08(.|\n)*the 9 nodes from as01r1b08 to login"),
        ("login1", NAMED, "did you mean 'login'"),
        ("as01r1b08", None, "by name on a machine whose nodes have none"),
    ],
)
def test_a_name_that_the_machine_does_not_have_is_refused(name: str, network: Network | None, words: str) -> None:
    with pytest.raises(UsageError) as caught:
        hosts(Placement(nodes="listed", hosts=[name]), 1, 12, 1, (), network)
    assert re.search(words, caught.value.render())


@pytest.mark.parametrize("text", ["", "a[", "a[1-", "a[2-1]", "a[x]", "a b", "a[1--2]"])
def test_what_is_no_host_list_is_refused(text: str) -> None:
    with pytest.raises(ValidationError, match="host list"):
        Placement(nodes="listed", hosts=[text])


def test_host_lists_keep_leading_zeros_and_run_fastest_at_the_end() -> None:
    assert expanded("x[9-10]c[0,3]n0") == ["x9c0n0", "x9c3n0", "x10c0n0", "x10c3n0"]
    assert expanded("nid[0099-0101]") == ["nid0099", "nid0100", "nid0101"]


@pytest.mark.parametrize(
    ("names", "words"),
    [(["n[1-13]"], "13 names for a machine of 12 nodes"), (["n1", "n1"], "given twice"), (["[2-1]"], "runs")],
)
def test_names_that_do_not_fit_the_machine_are_refused(names: list[str], words: str) -> None:
    content = {**NAMED.model_dump(mode="json", include={"name", "topology"}), "node_names": names}
    with pytest.raises(ValidationError, match=words):
        Network.model_validate(content)


@pytest.mark.parametrize(
    "keys",
    [
        {"nodes": "listed"},
        {"nodes": "linear", "hosts": [1]},
        {"nodes": "listed", "hosts": [1, 1]},
        {"nodes": "listed", "hosts": [1], "offset": 2},
    ],
)
def test_listed_nodes_belong_to_the_listed_placement_alone(keys: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Placement(**keys)


def test_listed_slots_are_a_permutation_and_go_into_the_run_file() -> None:
    placement = Placement(rank_order="listed", slots=[3, 0, 2, 1])
    assert rank_order_of(placement, 2, 2) == {"rank_order": "listed", "slots": [3, 0, 2, 1]}
    assert [own_node(placement, rank, 2, 2) for rank in range(4)] == [1, 0, 1, 0]
    assert rank_order_of(Placement(), 2, 2) == {"rank_order": "block"}
    assert [own_node(Placement(rank_order="cyclic"), rank, 2, 2) for rank in range(4)] == [0, 1, 0, 1]
    with pytest.raises(UsageError, match="slots"):
        rank_order_of(placement, 3, 2)


@pytest.mark.parametrize("keys", [{"slots": [0, 1]}, {"rank_order": "listed"}, {"rank_order": "listed", "slots": [1]}])
def test_slots_that_are_no_permutation_or_serve_nothing_are_refused(keys: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Placement(**keys)
