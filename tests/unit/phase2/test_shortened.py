"""Which repetitions are left out, and how the loops of a skeleton get them back."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest
from marked_ranks import marked

from manynode.markers import MarkerFile
from phase2_nodesim.derive.recorded.columns import checksums, ends_of_columns, joined, without_columns
from phase2_nodesim.derive.sequence.fold import Leaf, Node, folded
from phase2_nodesim.derive.sequence.shortened import LoopsDifferError, note_lacking, shortening


def tree(numbers: list[int]) -> list[Node]:
    return folded([Leaf([place], number, np.zeros(0, np.int64)) for place, number in enumerate(numbers)])


def unfolded(nodes: list[Node], shapes: list[int]) -> list[int]:
    """Return the numbers of a tree with what its loops lack."""
    found: list[int] = []
    for node in nodes:
        if isinstance(node, Leaf):
            found.append(shapes[node.slots[0]])
        else:
            found += unfolded(node.body, shapes) * (node.count + node.lacking)
    return found


def given_back(numbers: list[int]) -> tuple[int, list[int]]:
    """Return how many columns stay, and all that the loops over them give."""
    found = shortening(np.array(numbers, np.uint64))
    kept = [number for number, stays in zip(numbers, found.kept, strict=True) if stays]
    nodes = tree(kept)
    note_lacking(nodes, found.regions, range(len(kept)))
    return len(kept), unfolded(nodes, kept)


@pytest.mark.parametrize(
    ("numbers", "stay"),
    [
        ([1] * 50, 3),
        ([7, *[1, 2] * 20, 8], 8),
        ([9, *([1] * 10 + [2]) * 30, 8], 2 + 4 * 4),  # a loop in a loop; ten stay as three, thirty as four
        ([*[1] * 10, 2, *[1] * 11, 2], 3 + 1 + 4 + 1),  # loops of different lengths stay different
        ([1, 1, 2, 2, 2, 3], 6),
        ([1, 2, 3, 4], 4),
    ],
)
def test_a_few_repetitions_stay_and_the_others_come_back(numbers: list[int], stay: int) -> None:
    assert given_back(numbers) == (stay, numbers)


def test_random_programs_come_back_or_are_refused() -> None:
    chance = random.Random(5)

    def program(depth: int) -> list[int]:
        parts = [program(depth - 1) if depth else [chance.randint(1, 4)] for _ in range(chance.randint(1, 3))]
        return [one for part in parts for one in part] * chance.choice([1, 2, 3, 6, 7])

    shorter = refused = 0
    for _ in range(300):
        numbers = program(2)
        try:
            stay, found = given_back(numbers)
        except LoopsDifferError:
            refused += 1
            continue
        assert found == numbers
        shorter += stay < len(numbers)
    assert shorter > 150 and refused < 30


def file_of(rank: int, iterations: int, *, size: int = 8, back: int = 1) -> MarkerFile:
    """Return a rank that makes a request in each iteration, and waits for the one made ``back`` before."""
    rows = []
    for number in range(iterations):
        rows.append(("MPI_Irecv", {"peer": rank, "bytes": size, "request": number, "call_site_name": "a"}))
        rows.append(("MPI_Wait", {"detail": [back], "call_site_name": "b"}))
        rows.append(("MPI_Barrier", {"call_site_name": "c"}))
    file = marked(rank, 2, *rows)
    for name in ("operation", "call_site_name", "phase"):
        file.records[name] = file.records[name].astype("category")
    return file


def columns(file: MarkerFile) -> list[int]:
    return checksums(file, ends_of_columns(file, frozenset({0}))).tolist()


def test_columns_are_equal_where_their_calls_are() -> None:
    first, *middle, last = columns(file_of(0, 5))
    assert len(middle) == 4 and len({first, *middle, last}) == 3  # MPI_Init, and MPI_Finalize, are in others
    assert set(columns(file_of(0, 5))[1:-1]).isdisjoint(columns(file_of(0, 5, size=9))[1:-1])
    assert set(columns(file_of(0, 5))[1:-1]).isdisjoint(columns(file_of(1, 5))[1:-1])
    assert set(columns(file_of(0, 5))[1:-1]).isdisjoint(columns(file_of(0, 5, back=2))[1:-1])
    one, other = (np.array(columns(file_of(rank, 5)), np.uint64) for rank in (0, 1))
    assert joined([one, other]).tolist() != joined([other, one]).tolist()


def without(file: MarkerFile, *left_out: int) -> MarkerFile | None:
    ends = ends_of_columns(file, frozenset({0}))
    return without_columns(file, ends, checksums(file, ends), ~np.isin(np.arange(len(ends)), left_out))


def test_records_and_requests_are_numbered_anew() -> None:
    file = file_of(0, 5)
    found = without(file, 2, 3)
    assert found is not None and len(file.records) == 17
    assert found.records["sequence"].tolist() == list(range(11))
    assert found.records["request"][found.records["operation"] == "MPI_Irecv"].tolist() == [0, 1, 2]


def test_requests_may_stay_open_into_the_next_column_only_if_it_is_alike() -> None:
    """The wait after the loop is for the request of its last iteration, or of an equal one; never of one before."""
    file = file_of(0, 6)
    waits = np.flatnonzero(file.records["operation"] == "MPI_Wait")
    file.records.loc[waits[:-1], "detail"] = 0  # only the last one waits, for the request made two before its own
    file = replace(file, details=np.array([0, 1, 3]))
    file.records.loc[waits[-1], "detail"] = 1
    assert without(file, 2) is not None and without(file, 3, 4) is not None
    first = np.flatnonzero(file.records["operation"] == "MPI_Irecv")[3]
    file.records.loc[first, "bytes"] = 9
    assert without(file, 2) is not None and without(file, 3) is None and without(file, 4) is None
