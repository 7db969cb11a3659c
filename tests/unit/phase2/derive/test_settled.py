"""Runs that decide what the first ones leave open are recorded, and held-out runs that differ are learned from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from small_programs import DEALS, Parameters, Program, Rank, run
from test_divided import sides

from manynode.launch import ProgramFailedError
from phase2_nodesim.derive.campaign import Campaign, Run
from phase2_nodesim.derive.derivation import Derivation
from phase2_nodesim.derive.judging.compared import first_difference
from phase2_nodesim.derive.judging.verdict import verdict
from phase2_nodesim.derive.program import Program as Command
from phase2_nodesim.derive.recorded import recordings
from phase2_nodesim.derive.recorded.recordings import NotDerivedError, Recording
from phase2_nodesim.derive.settled import settled


@dataclass(frozen=True)
class Noted(Campaign):
    """Runs of a small program, on the numbers of ranks that it takes; ``asked`` are all that were asked for."""

    made: Program = lambda rank, parameters: None
    takes: Callable[[int], bool] = lambda ranks: True
    asked: list[int] = field(default_factory=list)

    def recorded(self, run: Run) -> Path:
        if run.ranks not in self.asked:
            self.asked.append(run.ranks)
        if not self.takes(run.ranks):
            raise ProgramFailedError("the program ended with an error", found="exit code 1")
        return self.folder / run.name

    def recording(self, one: Run) -> Recording:
        return run(self.made, one.ranks)


def derived(
    program: Program, ranks: list[int], held_out: list[int], folder: Path, *, takes: Callable[[int], bool] | None = None
) -> tuple[Derivation, list[int], list[str]]:
    """Return the skeleton, the numbers of ranks that were recorded beside the first ones, and what was said."""
    said: list[str] = []
    campaign = Noted(["p"], "mpich", folder, say=said.append, made=program, takes=takes or (lambda ranks: True))
    runs = [[Run.of(count, {}) for count in counts] for counts in (ranks, held_out)]
    command = Command("p", ["p"], {}, "mpich")
    found = settled(campaign, *runs, command, folder / "p.skeleton.yaml", [64])
    return found, [one for one in campaign.asked if one not in ranks + held_out], said


def test_the_run_that_decides_is_recorded(tmp_path: Path) -> None:
    program = sides(DEALS["first larger"], 48, 8, 40)
    first = [4, 6, 8, 9, 12, 16]  # 48 divides by the extents of all their grids, but not by 5
    found, more, _ = derived(program, first, [36], tmp_path)
    assert more and max(more) <= 2 * max(first)
    assert verdict(found.skeleton, 64).level == "agreed" and first_difference(found.skeleton, run(program, 64)) is None
    assert [one["ranks"] for one in found.skeleton["recorded"] if one["role"] == "held out"] == [36]


def test_without_room_for_the_run_that_decides_the_skeleton_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = sides(DEALS["first larger"], 48, 8, 40)
    first = [4, 6, 8, 9, 12, 16]
    monkeypatch.setattr(recordings, "_MOST_CALLS", sum(len(calls) for n in first for calls in run(program, n).calls))
    found, more, said = derived(program, first, [], tmp_path)
    assert more and any(line.startswith("not learned from: ") for line in said)
    assert [one["ranks"] for one in found.skeleton["recorded"]] == first and not verdict(found.skeleton, 64).usable


def test_a_program_may_refuse_the_run_that_decides(tmp_path: Path) -> None:
    program = sides(DEALS["first larger"], 48, 8, 40)
    found, more, said = derived(program, [4, 6, 8, 9, 12, 16], [], tmp_path, takes=lambda ranks: ranks % 5 > 0)
    assert any(line.startswith(f"left out: the program does not run on {more[0]} ranks") for line in said)
    assert not verdict(found.skeleton, 64).usable


def eights(rank: Rank, parameters: Parameters) -> None:
    """Synchronise once more on multiples of eight ranks."""
    for _ in range(4):
        rank.sendrecv((rank.rank + 1) % rank.ranks, (rank.rank - 1) % rank.ranks, 8)
        rank.collective("MPI_Allreduce", 8)
        if rank.ranks % 8 == 0:
            rank.collective("MPI_Barrier")


def test_a_held_out_run_that_differs_is_learned_from(tmp_path: Path) -> None:
    found, _, said = derived(eights, [4, 6, 9, 12], [16, 36], tmp_path)
    assert "learned from as well: 16 ranks" in said
    roles = {one["ranks"]: (one["role"], one["equal"]) for one in found.skeleton["recorded"]}
    assert roles[16] == ("trained", True) and roles[36] == ("held out", True)


def test_small_jobs_that_follow_no_rule_are_left_to_their_recordings(tmp_path: Path) -> None:
    def program(rank: Rank, parameters: Parameters) -> None:
        size = {1: 111, 2: 60480, 3: 7}.get(rank.ranks, 4096)
        for _ in range(4):
            rank.sendrecv((rank.rank + 1) % rank.ranks, (rank.rank - 1) % rank.ranks, size)

    found, more, said = derived(program, [1, 2, 4, 6, 9, 12], [16], tmp_path)
    assert "left to their recordings: 1 ranks, 2 ranks" in said and not more
    assert [one["ranks"] for one in found.skeleton["recorded"]] == [4, 6, 9, 12, 16]
    assert verdict(found.skeleton, 64).level == "agreed" and not verdict(found.skeleton, 2).usable


def test_the_largest_stays_held_out(tmp_path: Path) -> None:
    def data(rank: Rank, parameters: Parameters) -> None:
        for _ in range((7 * rank.ranks + 3 * rank.rank) % 5):
            rank.collective("MPI_Barrier")

    for held_out in ([16, 36], [16, 18, 20, 24, 36, 48]):
        with pytest.raises(NotDerivedError):
            derived(data, [4, 6, 8, 12], held_out, tmp_path)
