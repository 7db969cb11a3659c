"""How means grow with the number of ranks, and what a recorded run's measures are."""

from __future__ import annotations

import math
from typing import Any

import pytest

from manynode.derived.skeleton_model import Growth
from phase2_nodesim.approximate.growth import at, growth_of
from phase2_nodesim.approximate.measures import Measures, measures

COUNTS = (4, 8, 12, 16, 18, 24, 27, 32)


@pytest.mark.parametrize(
    ("truth", "mean"),
    [
        (Growth(family="constant", scale=30), lambda _ranks: 30),
        (Growth(family="faces", dimensions=3, scale=2), lambda ranks: 2 * (6 - 2 * _inverse_sides(ranks))),
        (Growth(family="boxes", dimensions=3, scale=5), None),
        (Growth(family="level-boxes", dimensions=3, scale=2), None),
        (Growth(family="divided-torus", dimensions=3, scale=1e6), None),
        (Growth(family="divided-faces", dimensions=3, scale=1e6), None),
        (Growth(family="divided-faces", dimensions=3, width=2**-4, scale=1e6), None),
        (Growth(family="divided-torus", dimensions=3, width=2**-5, scale=1e6), None),
        (Growth(family="side", scale=6, constant=6), lambda ranks: 6 + 6 * math.sqrt(ranks)),
        (Growth(family="ranks", scale=1, constant=2), lambda ranks: ranks + 1),
        (Growth(family="levels", scale=3), lambda ranks: 3 * math.log2(ranks)),
    ],
)
def test_a_growth_is_found_and_predicts_larger_jobs(truth: Growth, mean: Any) -> None:
    value = mean or (lambda ranks: at(truth, ranks))
    found = growth_of({ranks: value(ranks) for ranks in COUNTS}, 32)
    for ranks in (64, 128, 1024):
        assert at(found, ranks) == pytest.approx(value(ranks), rel=1e-6), found


def test_two_factors_need_more_than_a_good_fit_of_few_runs() -> None:
    """Three runs fit any straight line: the larger job then is what one factor says."""
    noisy = {4: 163.0, 8: 201.0, 16: 284.0}
    found = growth_of(noisy, 16)
    assert (found.family, found.dimensions, found.constant) == ("boxes", 2, 0)
    assert at(found, 32) == pytest.approx(325, rel=0.05)


def _inverse_sides(ranks: int) -> float:
    sides = {4: (2, 2, 1), 8: (2, 2, 2), 12: (3, 2, 2), 16: (4, 2, 2), 18: (3, 3, 2), 24: (4, 3, 2), 27: (3, 3, 3)}
    larger = {32: (4, 4, 2), 64: (4, 4, 4), 128: (8, 4, 4), 1024: (16, 8, 8)}
    return sum(1 / side for side in (sides | larger)[ranks])


def test_runs_of_other_grids_do_not_count_where_enough_are_alike() -> None:
    """Powers of two have grids of one kind; a program may have another rule for the rest."""
    truth = Growth(family="boxes", dimensions=3)
    found = growth_of({ranks: at(truth, ranks) * (1 if 32 % ranks == 0 else 0.8) for ranks in COUNTS}, 32)
    assert at(found, 64) == pytest.approx(14.625)


def test_few_runs_and_runs_without_messages_grow_not() -> None:
    assert growth_of({4: 1.0, 8: 2.0}, 8).family == "constant"
    assert growth_of({4: 0.0, 8: 0.0, 16: 0.0}, 16).family == "constant"


def stream(ranks: int, calls: list[dict[str, Any]], streams: list[list[int]], groups: Any = ()) -> dict[str, Any]:
    return {"ranks": ranks, "calls": calls, "streams": streams, "communicators": list(groups), "phases": []}


def test_measures_of_a_run() -> None:
    calls = [
        {"call": "MPI_Isend", "peer": 1, "bytes": 100},
        {"call": "MPI_Irecv", "peer": 0, "bytes": 100},
        {"call": "MPI_Sendrecv", "peer": 0, "communicator": 1, "bytes": 50},  # to rank 2 of the world
        {"call": "MPI_Isend", "peer": -3, "bytes": 7},
        {"call": "MPI_Iallreduce", "bytes": 8},
        {"call": "MPI_Reduce", "bytes": 24},
        {"call": "MPI_Alltoallv", "sent": [1, 2, 3], "received": [1, 1, 1]},
        {"call": "MPI_Rput", "peer": 2, "bytes": 1},
    ]
    found = measures(stream(3, calls, [[0, 0, 3, 4, 4], [1, 1, 2, 5, 6], [7]], [[[2, 1]]]))
    assert found.pairs == {(0, 1): (2, 200), (1, 2): (1, 50)}, "rank 2 puts to itself"
    assert (found.messages, found.bytes, found.peers) == (1, 250 / 3, [1, 2, 1])
    assert found.sizes == {"MPI_Allreduce": 8, "MPI_Reduce": 24, "MPI_Alltoallv": 6}
    assert found.groups == (2,)


def line(ranks: int, *apart: int) -> Measures:
    """Ranks in a line with messages to those at these distances."""
    pairs = {(rank, rank + one): (1, 8) for rank in range(ranks) for one in apart if rank + one < ranks}
    return Measures(ranks, pairs, {}, ())


def test_how_far_messages_go_in_larger_jobs() -> None:
    assert line(32, 1, 4).reach(line(16, 1, 4)) >= 4, "as far as before"
    assert 1 <= line(32, 1, 16).reach(line(16, 1, 8)) < 8, "to the other half"


def test_a_hub_is_told_from_a_dense_graph() -> None:
    star = Measures(9, {(0, rank): (1, 8) for rank in range(1, 9)}, {}, ())
    assert star.hubs == {0}
    dense = Measures(9, {(a, b): (1, 8) for a in range(9) for b in range(9) if a != b}, {}, ())
    assert dense.hubs == set()
