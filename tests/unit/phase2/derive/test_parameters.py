"""Sizes and numbers of iterations as expressions of a problem's parameters, and parameters that stay fixed."""

from __future__ import annotations

from dataclasses import replace

import pytest
from small_programs import COUNTS, Parameters, Rank, grid_of, halo, neighbour, run, runs

from manynode.errors import InputError
from phase2_nodesim.derive.derivation import Derivation, derive
from phase2_nodesim.derive.judging.compared import first_difference
from phase2_nodesim.derive.judging.verdict import verdict
from phase2_nodesim.derive.recorded.recordings import Recording

BASE = {"nx": 4, "ny": 6, "iterations": 4}


def columns(rank: Rank, parameters: Parameters) -> None:
    """Exchange nx * ny values with the neighbours along a 3-D grid's last axis, in each iteration."""
    grid = grid_of(rank.ranks)
    found = [peer for step in (-1, 1) if (peer := neighbour(grid, rank.rank, 2, step)) >= 0]
    for _ in range(parameters["iterations"]):
        for peer in found:
            rank.irecv(peer, 8 * parameters["nx"] * parameters["ny"])
        for peer in found:
            rank.isend(peer, 8 * parameters["nx"] * parameters["ny"])
        rank.waitall()
        rank.collective("MPI_Allreduce", 8)
    halo(rank, {"n": parameters["nx"], "iterations": 4})


def varied(*changes: dict[str, int], ranks: int = 12) -> list[Recording]:
    return [run(columns, ranks, {**BASE, **change}) for change in changes]


ONE_AT_A_TIME = varied({"nx": 5}, {"nx": 8}, {"ny": 3}, {"ny": 7}, {"iterations": 5}, {"iterations": 7})


def derived(others: list[Recording], held_out: list[Recording] | None = None) -> Derivation:
    return derive([*runs(columns, **BASE), *others], held_out or [])


def test_sizes_and_iterations_follow_parameters_that_nobody_recorded_together() -> None:
    found = derived(ONE_AT_A_TIME, varied({"nx": 10, "ny": 9, "iterations": 6}, ranks=18))
    assert found.report.fixed == {} and set(found.report.held_out.values()) == {"equal"}
    for ranks, nx, ny, iterations in ((36, 4, 6, 4), (64, 11, 2, 9), (125, 7, 13, 5)):
        new = {"nx": nx, "ny": ny, "iterations": iterations}
        assert verdict(found.skeleton, ranks, new).level == "agreed"
        assert first_difference(found.skeleton, run(columns, ranks, new)) is None


def test_a_product_of_parameters_that_were_never_changed_together_is_a_doubt() -> None:
    found = derived(ONE_AT_A_TIME)
    assert verdict(found.skeleton, 36, {"nx": 9}).level == "agreed"
    refused = verdict(found.skeleton, 36, {"nx": 9, "ny": 9})
    assert refused.level == "refused" and "8 * nx * ny as well as" in refused.reasons[0]


def test_two_values_of_a_parameter_are_too_few() -> None:
    found = derived(varied({"nx": 5}, {"iterations": 5}, {"iterations": 7}))
    assert found.report.fixed == {"nx": "fewer than 3 values were recorded"}
    assert found.skeleton["program"]["fixed"] == {"nx": 4, "ny": 6}
    assert verdict(found.skeleton, 36, {"iterations": 30}).level == "agreed"
    assert verdict(found.skeleton, 36, {"nx": 5}).reasons == ("nx was recorded as 4 only, not as 5",)


def test_a_parameter_that_changes_what_the_program_does_stays_fixed() -> None:
    def program(rank: Rank, parameters: Parameters) -> None:
        halo(rank, {"iterations": 4})
        for _ in range(parameters["mode"] % 3):
            rank.collective("MPI_Barrier")

    found = derive([*runs(program, mode=0), *(run(program, 12, {"mode": mode}) for mode in (1, 2))])
    assert found.report.fixed == {"mode": "a recording with other parameters has another structure of calls"}
    assert verdict(found.skeleton, 36, {"mode": 1}).level == "refused"


def test_a_size_that_is_rounded_is_no_product() -> None:
    def program(rank: Rank, parameters: Parameters) -> None:
        halo(rank, {"iterations": 4}, size=lambda axis, ranks: 8 * ((parameters["cells"] + 2) // 4))

    found = derive([*runs(program, cells=16), *(run(program, 12, {"cells": cells}) for cells in (8, 9, 15))])
    assert "cells" in found.report.fixed
    halved = derive([*runs(program, cells=16), *(run(program, 12, {"cells": cells}) for cells in (8, 24))])
    # All values are multiples of 8, which hides the division: others are a doubt.
    assert verdict(halved.skeleton, 36, {"cells": 32}).level == "agreed"
    refused = verdict(halved.skeleton, 36, {"cells": 10})
    assert refused.level == "refused" and "cells // 8 * 8" in refused.reasons[0]


def test_a_size_along_an_axis_that_the_changed_runs_do_not_have_is_a_doubt() -> None:
    """At 4 ranks the first axis has one rank: how its messages depend on nx was not seen."""

    def program(rank: Rank, parameters: Parameters) -> None:
        halo(rank, {"iterations": 4}, size=lambda axis, ranks: 8 * parameters["nx"] * (axis + 1))

    found = derive([*runs(program, nx=4), *(run(program, 4, {"nx": nx}) for nx in (5, 8))])
    assert verdict(found.skeleton, 4, {"nx": 9}).level == "agreed"
    refused = verdict(found.skeleton, 36, {"nx": 9})
    assert refused.level == "refused" and "nx != 4" in refused.reasons[0]


def test_two_recordings_of_one_run_that_differ_are_refused() -> None:
    other = run(lambda rank, parameters: halo(rank, {"iterations": 5}), 12)
    with pytest.raises(InputError, match="two recordings of the same run differ"):
        derive([*runs(halo, COUNTS), other])


def test_two_recordings_of_one_run_may_differ_in_what_no_call_has() -> None:
    twins = runs(halo)
    assert derive([*twins, replace(twins[0], checksum="with other tests in vain")]).report.slots
