"""Programs that make the grid of their ranks themselves: recordings have its extents, where no rule has them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import pytest
from small_programs import COUNTS, FACES, Parameters, Rank, neighbour, run

from manynode.derived.grids import Grid, extents
from manynode.errors import InputError
from phase2_nodesim.derive.derivation import Derivation, derive
from phase2_nodesim.derive.judging.compared import first_difference
from phase2_nodesim.derive.judging.interpret import Job
from phase2_nodesim.derive.judging.verdict import disagrees, verdict
from phase2_nodesim.derive.recorded.recordings import Recording

Extents = Callable[[int], tuple[int, ...]]

OTHER_ORDER = (24, 40, 48)  # ranks at which the program takes another one of several equal grids


def made(ranks: int) -> tuple[int, ...]:
    """Return the extents that the program takes, the last axis fastest."""
    a, b, c = extents("least-surface", ranks, 3, "ascending")
    return (c, a, b) if ranks in OTHER_ORDER else (a, b, c)


def swapped(ranks: int) -> tuple[int, ...]:
    """Return the extents of another program, which no rule gives at multiples of 10 and 12."""
    a, b, c = extents("dims-create-mpich", ranks, 3, "descending")
    return (c, b, a) if ranks % 12 == 0 or ranks % 10 == 0 else (a, b, c)


def torus(rank: Rank, parameters: Parameters, *, extents_of: Extents = made) -> None:
    grid = Grid(extents_of(rank.ranks), (True,) * 3, "last-fastest")
    for _ in range(5):
        for axis, step in FACES:
            if grid.extents[axis] > 2 or (grid.extents[axis] == 2 and step == 1):
                to, source = (neighbour(grid, rank.rank, axis, sign * step, around=True) for sign in (1, -1))
                rank.sendrecv(to, source, 64, axis)
        rank.collective("MPI_Allreduce", 8)


def recorded(ranks: int, *, knows: bool = True, extents_of: Extents = made) -> Recording:
    found = run(partial(torus, extents_of=extents_of), ranks)
    return replace(found, extents=extents_of(ranks)) if knows else found


@pytest.fixture(scope="module")
def derived() -> Derivation:
    return derive([recorded(ranks) for ranks in COUNTS], [recorded(36), recorded(48)])


def test_runs_with_another_order_of_the_axes_are_exact(derived: Derivation) -> None:
    assert derived.skeleton["grid"]["extents"] == {24: list(made(24)[::-1]), 48: list(made(48)[::-1])}
    assert "but as the program made it at 24 ranks: " in derived.report.grid
    assert set(derived.report.held_out.values()) == {"equal"}
    for ranks in (*COUNTS, 36, 48, 64, 125):
        assert first_difference(derived.skeleton, recorded(ranks)) is None


def test_elsewhere_the_order_is_a_doubt_unless_all_orders_are_one(derived: Derivation) -> None:
    (doubt,) = [one for one in derived.skeleton["doubts"] if one["at"] == "grid"]
    assert disagrees(doubt, Job(derived.skeleton, 40)) and not disagrees(doubt, Job(derived.skeleton, 64))
    refused = verdict(derived.skeleton, 40)
    assert refused.level == "refused" and "grid: the recordings fit least-surface 3-D" in refused.reasons[0]
    assert verdict(derived.skeleton, 64).level == "agreed" and verdict(derived.skeleton, 24).level == "proved"


def test_a_run_held_out_that_has_the_rules_grid_settles_nothing_elsewhere() -> None:
    program = partial(recorded, extents_of=swapped)
    skeleton = derive([program(ranks) for ranks in COUNTS], [program(16), program(36)]).skeleton
    for ranks in (20, 30, 40, 48, 60, 80):
        refused = verdict(skeleton, ranks)
        assert refused.level == "refused" and first_difference(skeleton, program(ranks)) is not None
        assert f"at 12, 24, 36 ranks; a recording of {ranks} would decide" in refused.reasons[0]
    assert verdict(skeleton, 64).level == "agreed" and first_difference(skeleton, program(64)) is None


def test_a_user_may_state_the_order(derived: Derivation) -> None:
    stated = [{"at": "grid", "says": "least-surface 3-D descending"}]
    found = derive([recorded(ranks) for ranks in COUNTS], [], stated=stated)
    assert verdict(found.skeleton, 60).level == "assumed"
    assert found.skeleton["grid"]["extents"] == {24: list(made(24)[::-1])}


def test_without_the_programs_own_grid_nothing_is_wrong_in_silence() -> None:
    try:
        found = derive([recorded(ranks, knows=False) for ranks in COUNTS])
    except InputError:
        return
    for ranks in (36, 40, 48, 64):
        assert verdict(found.skeleton, ranks).level == "refused" or not first_difference(
            found.skeleton, recorded(ranks, knows=False)
        )


def shifts(rank: Rank, parameters: Parameters) -> None:
    """Send along each axis of the grid, also where the only rank of the axis is the sender itself."""
    grid = Grid(swapped(rank.ranks), (True,) * 3, "last-fastest")
    for _ in range(5):
        for axis in range(3):
            to, source = (neighbour(grid, rank.rank, axis, step, around=True) for step in (1, -1))
            rank.sendrecv(to, source, 80)
        rank.collective("MPI_Allreduce", 8)


def test_a_rule_that_the_program_did_not_follow_at_one_run_is_not_taken() -> None:
    """At 4 ranks the messages are those of the same extents in another order; the program made 2 x 2 x 1."""
    runs = {ranks: replace(run(shifts, ranks), extents=swapped(ranks)) for ranks in (4, 12, 18, 24, 27, 32, 36)}
    skeleton = derive([runs[ranks] for ranks in (4, 12, 36)]).skeleton
    assert skeleton["grid"]["extents"]
    wrong = [ranks for ranks, one in runs.items() if first_difference(skeleton, one) is not None]
    assert wrong and not any(verdict(skeleton, ranks).usable for ranks in wrong)


def long_ones(ranks: int) -> tuple[int, ...]:
    """Return the extents of a program whose domain is four times as long as it is wide: no rule has them."""
    wide = min((one for one in range(1, ranks + 1) if ranks % one == 0), key=lambda one: abs(ranks - 4 * one * one))
    return (wide, ranks // wide)


def faces(rank: Rank, parameters: Parameters) -> None:
    """Neighbours on both sides of both axes, where they are; one call for all of them."""
    grid = Grid(long_ones(rank.ranks), (False,) * 2, "last-fastest")
    for _ in range(5):
        for axis in (0, 1):
            for step in (1, -1):
                to, source = (neighbour(grid, rank.rank, axis, sign * step, around=False) for sign in (1, -1))
                rank.sendrecv(to, source, 64 * (axis + 1))
        rank.collective("MPI_Allreduce", 8)


@pytest.mark.parametrize("knows", [True, False])
def test_a_grid_of_no_rule_is_that_of_the_messages(knows: bool) -> None:
    def recording(ranks: int) -> Recording:
        found = run(faces, ranks)
        return replace(found, extents=long_ones(ranks)) if knows else found

    found = derive([recording(ranks) for ranks in COUNTS], [recording(36), recording(48)])
    extents_of = found.skeleton["grid"]["extents"]
    assert all(extents_of[ranks] == list(long_ones(ranks)[::-1]) for ranks in (12, 18, 24, 27, 32, 36, 48))
    assert all(sorted(extents_of[ranks]) == [1, ranks] for ranks in (4, 8)), "lines are what they are along both axes"
    assert "rule" not in found.skeleton["grid"] and "of the program's own, 2-D" in found.report.grid
    assert set(found.report.held_out.values()) == {"equal"}
    assert verdict(found.skeleton, 48).level == "proved"
    refused = verdict(found.skeleton, 64)
    assert refused.level == "refused" and "has no extents for this number of ranks" in refused.reasons[0]


def test_a_line_of_few_ranks_may_be_a_grid_of_more() -> None:
    found = derive([run(faces, ranks) for ranks in (2, 4, 8)])
    assert found.skeleton["grid"]["rule"] == "line" and verdict(found.skeleton, 8).level == "proved"
    refused = verdict(found.skeleton, 16)
    assert (refused.level, refused.deciding) == ("refused", (16,)) and "may be a line" in refused.reasons[0]
    assert verdict(derive([run(faces, ranks) for ranks in (2, 3, 4, 6)]).skeleton, 16).deciding == (12,)
