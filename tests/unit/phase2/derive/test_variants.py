"""What a derivation makes of programs with known habits, and of ones with habits that small jobs show in part.

A skeleton equals the program at numbers of ranks that nobody recorded, or its verdict is ``refused``. A skeleton that
differs in silence is the one failure that nobody would notice. From fewer numbers of ranks, each program is derived
once; with ``MANYNODE_FUZZ=all`` from all of ``OTHER_COUNTS``.
"""

from __future__ import annotations

import functools
import os

import pytest
from program_variants import KNOWN, UNKNOWN, barrier_if
from small_programs import COUNTS, Parameters, Program, Rank, halo, run, runs

from manynode.errors import InputError
from phase2_nodesim.derive.derivation import derive
from phase2_nodesim.derive.judging.compared import first_difference
from phase2_nodesim.derive.judging.verdict import verdict

LARGE = (33, 36, 64, 96, 125)
# Powers of two, small numbers, and few numbers hide other things than the usual numbers do.
OTHER_COUNTS = ((2, 4, 8, 16, 32), (4, 6, 9, 12, 16), (8, 12, 16, 24, 32))

# With and without sites, a skeleton is compared with the same runs.
large_run = functools.lru_cache(len(LARGE))(run)


@pytest.mark.parametrize("sites", [True, False])
@pytest.mark.parametrize("program", KNOWN.values(), ids=KNOWN)
def test_a_known_habit_is_exact_at_larger_numbers_of_ranks(program: Program, sites: bool) -> None:
    derived = derive(runs(program, sites=sites))
    for ranks in (36, 64, 125):
        assert verdict(derived.skeleton, ranks).level == "agreed"
        assert first_difference(derived.skeleton, large_run(program, ranks)) is None


def silently_wrong(program: Program, counts: tuple[int, ...], sites: bool) -> list[str]:
    """Return the first difference at each number of ranks where the verdict lets a wrong skeleton pass."""
    try:
        derived = derive(runs(program, counts, sites=sites))
    except InputError as error:
        assert error.found is not None and error.remedy is not None  # a refusal helps its reader on
        return []
    usable = [ranks for ranks in LARGE if verdict(derived.skeleton, ranks).usable]
    differences = [first_difference(derived.skeleton, large_run(program, ranks)) for ranks in usable]
    return [difference for difference in differences if difference is not None]


@pytest.mark.parametrize("sites", [True, False])
@pytest.mark.parametrize("program", UNKNOWN.values(), ids=UNKNOWN)
def test_an_unknown_habit_is_exact_or_refused(program: Program, sites: bool) -> None:
    assert silently_wrong(program, COUNTS, sites) == []


@pytest.mark.parametrize(
    ("name", "counts"),
    [
        (name, counts)
        for number, name in enumerate(KNOWN)
        for of, counts in enumerate(OTHER_COUNTS)
        if number % len(OTHER_COUNTS) == of or os.environ.get("MANYNODE_FUZZ") == "all"
    ],
    ids=str,
)
def test_from_fewer_numbers_of_ranks_a_known_habit_is_exact_or_refused(name: str, counts: tuple[int, ...]) -> None:
    assert silently_wrong(KNOWN[name], counts, True) == []


def test_a_change_above_all_training_runs_is_found_by_a_run_that_is_held_out() -> None:
    """No training run shows it: without the held-out run the skeleton would be wrong from 33 ranks on."""

    def program(rank: Rank, parameters: Parameters) -> None:
        halo(rank, parameters, extra=barrier_if(lambda ranks: ranks > 32))

    derived = derive(runs(program), [run(program, 36)])
    found = verdict(derived.skeleton, 64)
    assert found.level == "refused" and "differs from the recording of 36 ranks" in found.reasons[0]
    assert "MPI_Barrier" in derived.report.held_out["36 ranks"]


def test_a_barrier_from_32_ranks_on_is_refused_by_its_reason() -> None:
    derived = derive(runs(UNKNOWN["a barrier from 32 ranks on"]))
    found = verdict(derived.skeleton, 36)
    assert found.level == "refused" and any("P > 32" in reason for reason in found.reasons)
    # At a number of ranks that was recorded nothing is open.
    assert verdict(derived.skeleton, 32).level == "proved"
