"""Folding: neighbours of a job's logical shape are neighbours on the torus."""

from __future__ import annotations

import itertools
import math
from typing import Any

import pytest

from manynode.config.network import Network
from manynode.config.placement import Placement
from manynode.errors import UsageError
from phase3_sst.point.folding import walk
from phase3_sst.point.placement import hosts


def network(shape: list[int], mesh: list[int], rails: int = 6) -> Network:
    topology = {"kind": "torus", "shape": shape, "hosts_per_switch": rails, "mesh": mesh}
    return Network.model_validate({"name": "test", "topology": topology, "host": {"rails": rails}})


def tofu(x: int, y: int, z: int) -> Network:
    return network([2, 3, 2, x, y, z], [0, 2])


def place(on: Network, shape: list[int], **keys: Any) -> list[int]:
    nodes = math.prod(shape)
    return hosts(Placement(nodes="folded", shape=shape, **keys), nodes, on.room(), 1, (), on)


def hops(on: Network, one: int, other: int) -> int:
    """Return the links between the switches of two nodes."""
    topology: Any = on.topology
    count = 0
    for dimension, size in enumerate(topology.shape):
        one, a = divmod(one, size)
        other, b = divmod(other, size)
        count += abs(a - b) if dimension in topology.mesh else min(abs(a - b), size - abs(a - b))
    return count


def steps(on: Network, nodes: list[int], shape: list[int], *, around: bool) -> set[int]:
    """Return the links between nodes that are neighbours in the job; ``around``: at the ends of its dimensions."""
    found = set()
    for at in itertools.product(*map(range, shape)):
        number = sum(where * math.prod(shape[:d]) for d, where in enumerate(at))
        for dimension, size in enumerate(shape):
            is_last = at[dimension] == size - 1
            if size > 2 and is_last == around:
                onward = (1 - size if is_last else 1) * math.prod(shape[:dimension])
                found.add(hops(on, nodes[number], nodes[number + onward]))
    return found


@pytest.mark.parametrize("shape", [[2, 2, 2], [4, 4, 4], [4, 6, 4], [8, 9, 6], [8, 12, 8], [6, 5, 4], [8, 8, 8]])
def test_neighbours_of_a_job_on_tofu_are_one_link_apart_around_the_ends_too(shape: list[int]) -> None:
    on = tofu(4, 4, 4)
    nodes = place(on, shape)
    assert len(set(nodes)) == math.prod(shape)
    assert steps(on, nodes, shape, around=False) <= {1}
    assert steps(on, nodes, shape, around=True) <= {1}


def test_the_4x4x4_job_has_the_units_that_a_scheduler_gives_it() -> None:
    on = tofu(4, 4, 4)
    units = {node // 12 for node in place(on, [4, 4, 4])}
    assert units == {x + 4 * y + 16 * z for x, y, z in itertools.product(range(2), repeat=3)}


def test_the_first_nodes_of_a_folded_job_go_along_x_and_come_back_on_a() -> None:
    assert place(tofu(4, 4, 4), [4, 1, 1]) == [0, 12, 13, 1]


@pytest.mark.parametrize("rows", range(1, 8))
@pytest.mark.parametrize("inner", range(1, 6))
@pytest.mark.parametrize("is_ring", [False, True])
def test_walks_take_steps_of_one_and_end_where_they_began_if_that_is_possible(
    rows: int, inner: int, is_ring: bool
) -> None:
    def apart(a: tuple[int, int], b: tuple[int, int]) -> int:
        across = abs(a[1] - b[1])
        return abs(a[0] - b[0]) + (min(across, inner - across) if is_ring else across)

    for length in range(1, rows * inner + 1):
        found = walk(length, rows, inner, is_ring)
        assert len(set(found)) == length
        assert all(row < -(-length // inner) and place < inner for row, place in found)
        assert all(apart(a, b) == 1 for a, b in itertools.pairwise(found))
        if inner in (2, 3) and length > max(2, inner):
            # On a chessboard, a closed walk has an even length; a ring of three is none.
            possible = length % 2 == 0 or (inner == 3 and is_ring)
            assert (apart(found[0], found[-1]) == 1) == possible, length


def test_one_dimension_of_the_torus_for_each_of_the_job() -> None:
    on = network([4, 3, 2], [], 1)
    assert place(on, [2, 2, 2]) == [0, 1, 4, 5, 12, 13, 16, 17]
    assert place(on, [2, 2], axes=[[1], [2]], offset=5) == [5, 9, 17, 21]
    assert place(on, [2], axes=[[0]], offset=3) == [3, 0]  # round the ring


@pytest.mark.parametrize(
    ("on", "shape", "keys", "words"),
    [
        (tofu(4, 4, 4), [9, 2, 2], {}, "at most 8: dimensions 3 and 0"),
        (tofu(4, 4, 4), [2, 2], {}, "axes(.|\n)*2 dimensions on 6"),
        (tofu(4, 4, 4), [2], {"axes": [[6]]}, "dimension 6(.|\n)*0 to 5"),
        (network([4, 4], [0], 1), [2, 1], {"offset": 3}, "at most 1"),
        (network([4, 4], [], 2), [2, 2], {"offset": 16}, "beyond the machine"),
    ],
)
def test_shapes_that_do_not_fit_are_refused(on: Network, shape: list[int], keys: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError) as caught:
        place(on, shape, **keys)
    import re

    assert re.search(words, caught.value.render())


def test_only_a_torus_with_a_node_at_each_switch_can_have_a_folded_job() -> None:
    tree = {"kind": "fat-tree", "children": [4, 4], "parents": [1, 2], "parallel_links": [1, 1]}
    with pytest.raises(UsageError, match="only a torus"):
        place(Network.model_validate({"name": "tree", "topology": tree}), [2, 2])
    several = {"kind": "torus", "shape": [4, 4], "hosts_per_switch": 2}
    with pytest.raises(UsageError, match="one node at each switch"):
        place(Network.model_validate({"name": "several", "topology": several}), [2, 2])


def test_a_folded_job_must_be_large_enough_and_on_free_nodes() -> None:
    on = tofu(2, 2, 2)
    placement = Placement(nodes="folded", shape=[2, 2, 2])
    with pytest.raises(UsageError, match="too few nodes"):
        hosts(placement, 9, on.room(), 1, (), on)
    with pytest.raises(UsageError, match="another job"):
        hosts(placement, 8, on.room(), 1, (0,), on)
    assert hosts(placement, 4, on.room(), 1, (), on) == hosts(placement, 8, on.room(), 1, (), on)[:4]
