from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from manynode.errors import InputError
from phase1_profile.nodes import representative_nodes


def place(ranks: int, per_node: int) -> dict[int, int]:
    return {rank: rank // per_node for rank in range(ranks)}


def test_one_class_needs_the_first_node_alone() -> None:
    cover = representative_nodes(dict.fromkeys(range(8), "0"), place(8, 2))
    assert (cover.nodes, cover.coverage, cover.missing) == ((0,), 1.0, ())


def test_the_root_of_a_tree_shares_its_node_with_other_ranks_or_not() -> None:
    classes = {rank: "1" if rank == 0 else "0" for rank in range(8)}
    assert representative_nodes(classes, place(8, 4)).nodes == (0,)
    assert representative_nodes(classes, place(8, 1)).nodes == (0, 1)


def test_exact_search_beats_the_greedy_trap() -> None:
    # Greedy would take node 0 (4 classes) and then need two more; nodes 1 and 2 hold all six.
    held = {0: "bcde", 1: "abc", 2: "def"}
    classes, nodes = {}, {}
    for node, names in held.items():
        for name in names:
            rank = len(classes)
            classes[rank], nodes[rank] = name, node
    assert representative_nodes(classes, nodes).nodes == (1, 2)


def test_a_stated_share_of_ranks_may_leave_rare_classes_out() -> None:
    classes = {rank: "1" if rank == 99 else "0" for rank in range(100)}
    cover = representative_nodes(classes, place(100, 10), coverage=0.99)
    assert (cover.nodes, cover.coverage, cover.missing) == ((0,), 0.99, ("1",))
    assert representative_nodes(classes, place(100, 10), coverage=1.0).nodes == (9,)


def test_more_classes_than_the_exact_search_takes_are_covered_as_well() -> None:
    classes = {rank: str(rank % 20) for rank in range(200)}
    cover = representative_nodes(classes, place(200, 5))
    assert cover.coverage == 1.0
    assert cover.nodes == (0, 1, 2, 3)


def test_ten_thousand_ranks_on_five_hundred_nodes_take_no_time() -> None:
    classes = {rank: str((rank * rank) % 9) for rank in range(10_000)}
    assert representative_nodes(classes, place(10_000, 20)).coverage == 1.0


def test_a_rank_without_a_node_is_an_error() -> None:
    with pytest.raises(InputError, match="a class and a node for every rank"):
        representative_nodes({0: "0", 1: "0"}, {0: 0})


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 4), st.sampled_from("abcd")), min_size=1, max_size=14), st.floats(0.1, 1))
def test_the_answer_is_the_first_of_all_smallest_sets(ranks: list[tuple[int, str]], coverage: float) -> None:
    nodes = {rank: node for rank, (node, _) in enumerate(ranks)}
    classes = {rank: name for rank, (_, name) in enumerate(ranks)}

    def share(chosen: tuple[int, ...]) -> float:
        seen = {classes[rank] for rank in nodes if nodes[rank] in chosen}
        return sum(name in seen for name in classes.values()) / len(classes)

    numbers = sorted(set(nodes.values()))
    every = (c for size in range(1, len(numbers) + 1) for c in itertools.combinations(numbers, size))
    first = next(c for c in every if share(c) >= coverage - 1e-9)
    cover = representative_nodes(classes, nodes, coverage)
    assert cover.nodes == first
    assert cover.coverage == pytest.approx(share(first))


def test_every_phase_of_a_class_is_on_a_representative_node() -> None:
    classes, nodes = dict.fromkeys(range(8), "0"), place(8, 2)
    same = {rank: {"a", "b"} for rank in range(8)}
    assert representative_nodes(classes, nodes, phases_of_rank=same).nodes == (0,)
    # Rank 5, on node 2, executes a phase of its own.
    assert representative_nodes(classes, nodes, phases_of_rank=same | {5: {"a", "b", "c"}}).nodes == (2,)
    # The ends of a line lack one phase each: two nodes have both.
    ends = {rank: {"a"} if rank == 0 else {"b"} if rank == 7 else {"a", "b"} for rank in range(8)}
    assert representative_nodes(classes, nodes, phases_of_rank=ends).nodes == (0,)
    one_each = {rank: {str(rank)} for rank in range(8)}
    assert representative_nodes(classes, nodes, phases_of_rank=one_each).nodes == (0, 1, 2, 3)


def test_a_phase_counts_for_each_class_that_executes_it() -> None:
    classes = {0: "a", 1: "a", 2: "b", 3: "b"}
    phases = {0: {"x"}, 1: {"x"}, 2: set(), 3: {"x"}}
    assert representative_nodes(classes, place(4, 1), phases_of_rank=phases).nodes == (0, 3)


def test_many_phases_are_covered_greedily() -> None:
    classes, nodes = dict.fromkeys(range(40), "0"), place(40, 2)
    phases = {rank: {f"{rank // 2}"} for rank in range(40)}
    assert representative_nodes(classes, nodes, phases_of_rank=phases).nodes == tuple(range(20))
