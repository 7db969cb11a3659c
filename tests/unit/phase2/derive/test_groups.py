"""Communicators beside the world: derived where a rule says who is together, else refused; never silently wrong.

``MANYNODE_FUZZ=all`` derives from three times as many sets of runs.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from dataclasses import replace

import pytest
from small_programs import COUNTS, Parameters, Rank, grid_of, halo, place, run, runs

from manynode.errors import InputError
from phase2_nodesim.derive.derivation import derive
from phase2_nodesim.derive.judging.compared import first_difference
from phase2_nodesim.derive.judging.interpret import Content, Job
from phase2_nodesim.derive.judging.matching import mismatch
from phase2_nodesim.derive.judging.verdict import verdict
from phase2_nodesim.derive.writing.assumptions import with_assumptions

TARGETS = (36, 64)
SETS: tuple[tuple[int, ...], ...] = ((4, 8, 16), (12, 18, 20))
if os.environ.get("MANYNODE_FUZZ") == "all":
    SETS += ((2, 4, 6), (3, 9, 27), (6, 12, 24), COUNTS)

# Of a rank among so many: color (below 0: in none) and key.
Split = Callable[[int, int], tuple[int, int]]


def _line(axis: int, dimensions: int = 2) -> Split:
    def split(rank: int, ranks: int) -> tuple[int, int]:
        grid = grid_of(ranks, dimensions)
        rest = [one for number, one in enumerate(place(grid, rank)) if number != axis]
        return sum(one * 1000**number for number, one in enumerate(rest)), rank

    return split


def _plane(axis: int) -> Split:
    return lambda rank, ranks: (place(grid_of(ranks), rank)[axis], rank)


# What is to be derived, with the color that says it.
KNOWN: dict[str, tuple[Split, str]] = {
    "all": (lambda rank, ranks: (0, rank), "0"),
    "alone": (lambda rank, ranks: (rank, 0), "rank"),
    "reversed": (lambda rank, ranks: (0, -rank), "0"),
    "rows": (_line(0), "c1"),
    "columns": (_line(1), "c0"),
    "lines": (_line(0, 3), "c2 * d1 + c1"),
    "planes": (_plane(1), "c1"),
    "blocks": (lambda rank, ranks: (rank // 4, rank), "rank // 4"),
    "dealt": (lambda rank, ranks: (rank % 4, rank), "rank % 4"),
    "parity": (lambda rank, ranks: (rank % 2, rank), "rank % 2"),
    "halves": (lambda rank, ranks: (rank * 2 // ranks, rank), "rank * 2 // P"),
    "thirds": (lambda rank, ranks: (rank * 3 // ranks, rank), "rank * 3 // P"),
    "first ten": (lambda rank, ranks: (rank >= 10, rank), "min(rank // 10, 1)"),
    "odd": (lambda rank, ranks: (0 if rank % 2 else -1, rank), "0 if rank % 2 == 1 else -1"),
    "all but the first": (lambda rank, ranks: (0 if rank else -1, rank), "0 if rank > 0 else -1"),
}
# What no rule here says; a wrong one may fit small jobs.
UNKNOWN: dict[str, Split] = {
    "sevenths": lambda rank, ranks: (rank * 7 // ranks, rank),
    "squares": lambda rank, ranks: (rank * rank % 7, rank),
    "bits": lambda rank, ranks: (rank.bit_count(), rank),
    "shuffled": lambda rank, ranks: (0, random.Random(ranks).sample(range(ranks), ranks)[rank]),
    "drawn": lambda rank, ranks: (random.Random(ranks * 1000 + rank).randrange(3), rank),
}


def program(split: Split, *, messages: bool = False) -> Callable[[Rank, Parameters], None]:
    """Return a program that sums up, and hears from the first rank, in the communicators of a split."""

    def run_of(rank: Rank, parameters: Parameters) -> None:
        rank.split(3, lambda one: split(one, rank.ranks))
        if messages:
            halo(rank, parameters)
        for _ in range(4):
            if 3 in rank.groups:
                rank.collective("MPI_Allreduce", 8, communicator=3)
                rank.collective("MPI_Bcast", 64, min(rank.groups[3]), communicator=3)
            rank.collective("MPI_Barrier")

    return run_of


@pytest.mark.parametrize(
    ("name", "messages"),
    [*((name, False) for name in KNOWN), *((name, True) for name in ("all", "lines", "planes", "blocks", "odd"))],
)
def test_a_rule_is_found_and_holds_in_larger_jobs(name: str, messages: bool) -> None:
    split, color = KNOWN[name]
    recordings = runs(program(split, messages=messages))
    content = derive(recordings, [run(program(split, messages=messages), 36)]).skeleton
    (found,) = content["communicators"]
    assert found["color"] == color
    assert found["key"] == ("P - rank" if name == "reversed" else "rank")
    agreed = [ranks for ranks in TARGETS if verdict(content, ranks).usable]
    assert 64 in agreed
    for ranks in agreed:
        assert first_difference(content, run(program(split, messages=messages), ranks)) is None


@pytest.mark.parametrize("name", ["rows", "columns"])
def test_rows_of_a_grid_beside_messages_around_a_ring(name: str) -> None:
    def ring(rank: Rank, parameters: Parameters) -> None:
        for _ in range(4):
            rank.sendrecv((rank.rank + 1) % rank.ranks, (rank.rank - 1) % rank.ranks, 80)
        program(KNOWN[name][0])(rank, parameters)

    content = derive(runs(ring), [run(ring, 36)]).skeleton
    assert content["communicators"][0]["color"] == KNOWN[name][1] and content["recorded"][-1]["equal"]
    assert all(
        first_difference(content, run(ring, ranks)) is None for ranks in TARGETS if verdict(content, ranks).usable
    )
    assert verdict(content, 64).usable


@pytest.mark.parametrize("name", [*KNOWN, *UNKNOWN])
@pytest.mark.parametrize("counts", SETS)
def test_what_is_agreed_is_right(name: str, counts: tuple[int, ...]) -> None:
    split = KNOWN[name][0] if name in KNOWN else UNKNOWN[name]
    try:
        content = derive(runs(program(split), counts)).skeleton
    except InputError:
        return
    for ranks in (5, 7, 16, 20, 30, 36, 48):
        if ranks not in counts and verdict(content, ranks).usable:
            assert first_difference(content, run(program(split), ranks)) is None, ranks


def test_ranks_that_nothing_puts_together_are_refused_by_name() -> None:
    with pytest.raises(InputError, match="no expression says which ranks are together") as caught:
        derive(runs(program(UNKNOWN["squares"])))
    assert "communicator of ranks 0, 7, 14, 21, 28 of 32" in str(caught.value)
    with pytest.raises(InputError, match="no expression gives the order of the ranks"):
        derive(runs(program(UNKNOWN["shuffled"])))


def test_communicators_of_some_runs_only_are_refused() -> None:
    def more(rank: Rank, parameters: Parameters) -> None:
        if rank.ranks > 20:
            program(KNOWN["all"][0])(rank, parameters)
        else:
            rank.collective("MPI_Barrier")

    with pytest.raises(InputError, match="the number of communicators differs"):
        derive(runs(more))


def test_ranks_that_share_memory_are_others_on_other_nodes() -> None:
    recordings = [replace(one, by_node=frozenset({3})) for one in runs(program(KNOWN["all"][0]))]
    with pytest.raises(InputError, match="ranks that share memory"):
        derive(recordings)


def test_a_stated_color_settles_a_doubt() -> None:
    content = derive(runs(program(KNOWN["first ten"][0]), (9, 12, 18))).skeleton
    refused = verdict(content, 36)
    said = "the recordings fit rank // 10 as well as min(rank // 10, 1); a recording of 21 ranks would decide"
    assert not refused.usable and f"communicators/0/color: {said}" in refused.reasons
    settled = with_assumptions(content, [{"at": "color", "says": "min(rank // 10, 1)"}])
    assert settled["communicators"][0]["color"] == "min(rank // 10, 1)"
    assert content["communicators"][0]["color"] == "rank // 10"


def _content(color: str, call: Content) -> Content:
    group = {"name": "some", "color": color, "key": "rank"}
    return {"communicators": [group], "body": [{**call, "communicator": "some"}]}


@pytest.mark.parametrize(
    ("color", "call", "found"),
    [
        ("rank % 2", {"call": "MPI_Allreduce", "bytes": 8}, None),
        ("rank % 2", {"call": "MPI_Allreduce", "bytes": 8, "when": "rank % 2"}, None),
        ("rank % 2", {"call": "MPI_Allreduce", "bytes": 8, "when": "rank > 3"}, "ranks 0 and 4 make different"),
        ("rank % 2", {"call": "MPI_Bcast", "bytes": 8, "peer": 0}, "rank 1 has peer 0 in another communicator"),
        ("0 if rank else -1", {"call": "MPI_Barrier"}, "calls MPI_Barrier in a communicator that it is not in"),
        (
            "rank // 2",
            {"call": "MPI_Sendrecv", "peer": "(rank + 1) % P", "source": "(rank + P - 1) % P", "bytes": 8}
            | {"receive_bytes": 8, "tag": 0, "receive_tag": 0},
            "in another communicator",
        ),
    ],
)
def test_a_job_is_matched_within_its_communicators(color: str, call: Content, found: str | None) -> None:
    said = mismatch(Job(_content(color, call), 8))
    assert said is None if found is None else (said is not None and found in said)


def test_a_message_is_received_in_the_communicator_in_which_it_was_sent() -> None:
    group = {"name": "again", "color": "0", "key": "rank"}
    send = {"call": "MPI_Send", "when": "rank == 0", "peer": "1", "bytes": 8, "tag": 0, "communicator": "again"}
    receive = {"call": "MPI_Recv", "when": "rank == 1", "peer": "0", "bytes": 8, "tag": 0}
    said = mismatch(Job({"communicators": [group], "body": [send, receive]}, 2))
    assert said is not None and "receives" in said
    assert mismatch(Job({"communicators": [group], "body": [send, {**receive, "communicator": "again"}]}, 2)) is None
