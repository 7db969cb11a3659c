"""Programs that take some numbers of ranks only: the others are left out, and those that it takes are proposed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from manynode.derived.skeleton_model import GridSection
from manynode.errors import UsageError
from manynode.launch import ProgramFailedError
from phase2_nodesim.derive import campaign as campaigns
from phase2_nodesim.derive.accepted import Accepted, record
from phase2_nodesim.derive.campaign import Campaign, Run

LEARNED = [Run.of(ranks, {}) for ranks in (4, 8, 12, 18, 24, 27, 32)]
HELD_OUT = [Run.of(ranks, {}) for ranks in (16, 36)]


@pytest.fixture
def campaign(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[..., bool]], Campaign]:
    """Return a campaign of a program that takes the numbers of ranks and arguments of a test; it says what it does."""

    def of(takes: Callable[..., bool]) -> Campaign:
        def run(folder: Path, command: Sequence[str], _mpi: str, ranks: int, **_: Any) -> None:
            if not takes(ranks, *command[1:]):
                words = f"I take no {ranks} ranks\nAbort(1) on node 0: application called MPI_Abort"
                raise ProgramFailedError("the recorded run failed", found="rank 0: exit code 1", details=words)
            folder.mkdir(parents=True)

        monkeypatch.setattr(campaigns, "record_run", run)
        said.clear()
        return Campaign(["/bin/true", "{n}"], "mpich", tmp_path, say=said.append, to_derive=False)

    return of


said: list[str] = []


@pytest.mark.parametrize(
    ("takes", "learned", "held_out", "proposed"),
    [
        (lambda n, _: n & (n - 1) == 0, [4, 8, 32], [16], "powers of two (--ranks 2,4,8,16,32,64)"),
        (lambda n, _: n in (4, 9, 12, 16, 36), [4, 12], [16, 36], ""),
        (lambda n, _: round(n ** (1 / 3)) ** 3 == n, [8, 27, 1], [64], "cubes (--ranks 8,27,64)"),
        (lambda n, _: n in (8, 27), [8, 27], [], ""),
        (lambda n, _: n in (1, 2, 4, 8, 16), [4, 8, 2, 1], [16], "powers of two (--ranks 2,4,8,16)"),
        (lambda n, _: n in (4, 9, 16, 25, 36, 49), [4, 9, 25, 49], [16, 36], "squares (--ranks 4,9,16,25,36,49,64)"),
    ],
)
def test_other_numbers_of_ranks_are_left_out_and_more_of_a_kind_are_recorded(
    takes: Callable[..., bool],
    learned: list[int],
    held_out: list[int],
    proposed: str,
    campaign: Callable[[Callable[..., bool]], Campaign],
) -> None:
    try:
        left, compared, found = record(campaign(takes), LEARNED, HELD_OUT)
    except UsageError as error:
        assert "too few of these numbers of ranks" in error.what and len(learned) < 3
        text = error.render()
    else:
        assert ([run.ranks for run in left], [run.ranks for run in compared]) == (learned, held_out)
        assert found.ran == {*learned, *held_out}
        text = "\n".join(said)
    ran = ", ".join(map(str, sorted([*learned, *held_out])))
    assert f"it runs on {ran} ranks" in text and proposed in text and "ranks: I take no " in text
    assert ("seems to take" in text) is bool(proposed)


def test_what_was_not_asked_for_is_not_recorded(campaign: Callable[[Callable[..., bool]], Campaign]) -> None:
    wanted = campaign(lambda n, _: n & (n - 1) == 0)
    learned, held_out, _ = record(wanted, [Run.of(n, {}) for n in (2, 4, 8, 12)], [])
    assert ([run.ranks for run in learned], held_out) == ([2, 4, 8], [])


def test_a_program_that_takes_all_says_nothing(campaign: Callable[[Callable[..., bool]], Campaign]) -> None:
    assert record(campaign(lambda *_: True), LEARNED, HELD_OUT)[:2] == (LEARNED, HELD_OUT)
    assert all(line.startswith("recording ") for line in said)


def test_a_program_that_runs_nowhere_keeps_its_error(campaign: Callable[[Callable[..., bool]], Campaign]) -> None:
    with pytest.raises(ProgramFailedError, match="I take no 4 ranks"):
        record(campaign(lambda *_: False), LEARNED, HELD_OUT)


def test_runs_with_varied_parameters_need_a_number_of_ranks_that_is_taken(
    campaign: Callable[[Callable[..., bool]], Campaign],
) -> None:
    usual = [Run.of(ranks, {"n": 3}) for ranks in (4, 8, 12, 16)]
    varied = [*usual, Run.of(12, {"n": 5})]
    with pytest.raises(UsageError, match=r"--varied-ranks 8"):
        record(campaign(lambda n, _: n != 12), varied, [])
    with pytest.raises(ProgramFailedError):
        record(campaign(lambda _, n: n != "5"), varied, [])


def test_larger_jobs_are_judged_by_what_the_program_seems_to_take() -> None:
    cubes = Accepted(frozenset({8, 27}), {4: "give me a cube", 12: "give me a cube"})
    assert cubes.why_not(64) is None and cubes.why_not(27) is None
    assert "seems to take cubes only" in str(cubes.why_not(128))
    assert cubes.why_not(12) == "the program does not run on 12 ranks: give me a cube"
    small = Accepted(frozenset({4, 8, 16}), {12: "powers only", 32: "too small"})
    assert small.kinds == ["powers of two"] and small.proposed(small.kinds) == [1, 2, 4, 8, 16]
    assert small.why_not(64) == "the program does not run on 32 ranks: too small; nor, it seems, on more"
    assert small.why_not(2) is None
    assert not Accepted(frozenset({4, 9, 16}), {25: "too small", 36: "too small"}).kinds, "no other number was tried"
    unknown = Accepted(frozenset({4, 12}), {18: "no"})
    assert unknown.why_not(20) is None and unknown.why_not(18) is not None
    assert Accepted(frozenset({4}), {}).why_not(18) is None


def test_numbers_of_ranks_for_which_the_command_has_no_arguments_are_left_out(
    campaign: Callable[[Callable[..., bool]], Campaign],
) -> None:
    wanted = replace(
        campaign(lambda *_: True), command=["/bin/true", "{root}"], grid=GridSection(rule="line", dimensions=1)
    )
    assert record(wanted, LEARNED, HELD_OUT)[2].refused == {}
    cubes = replace(wanted, command=["/bin/true", "{nodes}"], folder=wanted.folder / "nodes", ranks_per_node=4)
    learned, held_out, found = record(cubes, LEARNED, HELD_OUT)
    assert [run.ranks for run in (*learned, *held_out)] == [4, 8, 12, 24, 32, 16, 36]
    assert any("18, 27 ranks: a job has no whole number of nodes" in line for line in said)
    assert found.why_not(48) is None and found.why_not(50) == "a job has no whole number of nodes"


def test_what_has_no_arguments_says_nothing_of_the_numbers_that_the_program_takes(
    campaign: Callable[[Callable[..., bool]], Campaign],
) -> None:
    wanted = replace(campaign(lambda *_: True), command=["/bin/true", "{nodes}"], ranks_per_node=4)
    _, _, found = record(wanted, [Run.of(ranks, {}) for ranks in (4, 8, 16, 18)], [])
    assert found.refused.keys() == {18} and found.kinds == [] and found.why_not(12) is None


@pytest.mark.parametrize(
    "details",
    [
        "some output\ngive me a cube\nAbort(1) on node 0: application called MPI_Abort",
        f"give me a cube\n{'-' * 74}\nMPI_ABORT was invoked on rank 0\n\nYou may not see all.\n{'-' * 74}\n"
        '[host:31] Set MCA parameter "orte_base_help_aggregate" to 0',
    ],
)
def test_the_words_are_those_of_the_program(
    details: str, campaign: Callable[[Callable[..., bool]], Campaign], monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = campaign(lambda *_: True)
    made = campaigns.record_run

    def run(folder: Path, command: Sequence[str], mpi: str, ranks: int, **more: Any) -> None:
        if ranks == 12:
            raise ProgramFailedError("the recorded run failed", found="rank 0: exit code 1", details=details)
        made(folder, command, mpi, ranks, **more)

    monkeypatch.setattr(campaigns, "record_run", run)
    assert record(wanted, LEARNED, HELD_OUT)[2].refused == {12: "give me a cube"}
