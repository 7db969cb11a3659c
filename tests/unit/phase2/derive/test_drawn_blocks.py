"""Blocks of MPI_Alltoallv whose sizes depend on the data, such as those of a sort: drawn, each by both of its ranks."""

from __future__ import annotations

import functools

import numpy as np
import pytest
from small_programs import Parameters, Rank, run, runs

from manynode.derived import skeleton_file
from manynode.errors import InputError
from phase2_nodesim.derive.derivation import Derivation, derive
from phase2_nodesim.derive.judging.compared import first_difference
from phase2_nodesim.derive.judging.interpret import Job
from phase2_nodesim.derive.judging.load import LoadShare
from phase2_nodesim.derive.judging.matching import mismatch
from phase2_nodesim.derive.judging.verdict import verdict
from phase2_nodesim.derive.writing.drawn import comparison

COUNTS = (2, 4, 8, 16, 32)
KEYS = 1 << 22


@functools.cache
def keys(ranks: int, iteration: int) -> np.ndarray:
    """Return how many bytes each rank sends to each other one: parts of parts, within some percent."""
    draw = np.random.default_rng([ranks, iteration])
    return np.round(4 * KEYS / ranks**2 * draw.uniform(0.96, 1.04, (ranks, ranks))).astype(int)


def sort(rank: Rank, parameters: Parameters) -> None:
    for iteration in range(5):
        rank.compute("count")
        rank.collective("MPI_Allreduce", 4096)
        blocks = keys(rank.ranks, iteration // 2)
        sent, received = blocks[rank.rank].tolist(), blocks[:, rank.rank].tolist()
        rank.with_counts("MPI_Alltoallv", sum(sent), sent=sent, received=received)


@pytest.fixture(scope="module")
def derived() -> Derivation:
    return derive(runs(sort, COUNTS), [run(sort, 64)], name="small")


def test_calls_are_exact_and_the_volume_near_where_no_run_was(derived: Derivation) -> None:
    assert derived.report.held_out == {"64 ranks": "equal"}
    for ranks in (64, 128):
        recording = run(sort, ranks)
        assert first_difference(derived.skeleton, recording) is None
        found = comparison(derived.skeleton, recording)
        assert found is not None and abs(found.volume_error) < 0.01 and found.apart < 0.02 and 0.4 < found.calls <= 0.5
        assert mismatch(Job(derived.skeleton, ranks)) is None and verdict(derived.skeleton, ranks).usable


def test_a_block_is_a_part_of_a_part(derived: Derivation) -> None:
    for ranks in (64, 1024):
        (mean,) = Job(derived.skeleton, ranks).means.values()
        assert mean == pytest.approx(4 * KEYS / ranks**2, rel=0.02)
        share = LoadShare.of(Job(derived.skeleton, ranks), derived.skeleton)
        # All bytes of such calls, beside 4 KiB of each allreduce.
        wanted = 4 * KEYS / (4 * KEYS + ranks * 4096)
        assert share is not None and share.calls == 0.5 and share.bytes == pytest.approx(wanted, rel=0.02)


def test_both_sides_name_one_distribution(derived: Derivation) -> None:
    content = skeleton_file.checked(derived.skeleton, "small").model_dump(by_alias=True, exclude_none=True)
    (loop,) = (item for item in content["body"] if "repeat" in item)
    call = next(item for item in loop["do"] if item.get("call") == "MPI_Alltoallv")
    assert call["sent"] == call["received"] == {"draw": next(iter(content["distributions"]))}
    with pytest.raises(InputError, match="as those of 'received'"):
        call["received"] = "8"
        skeleton_file.checked(content, "small")


def test_blocks_that_no_sum_of_parts_gives_are_refused() -> None:
    def grows(rank: Rank, parameters: Parameters) -> None:
        blocks = keys(rank.ranks, 0) * (1 + (7 * rank.ranks) % 11)
        sent, received = blocks[rank.rank].tolist(), blocks[:, rank.rank].tolist()
        rank.with_counts("MPI_Alltoallv", sum(sent), sent=sent, received=received)

    with pytest.raises(InputError, match="follow no rule of the number of ranks"):
        derive(runs(grows, COUNTS), name="small")
