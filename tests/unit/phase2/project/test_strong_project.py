"""Programs that divide the whole problem: the jobs to measure, and the study."""

from __future__ import annotations

from pathlib import Path

import pytest

from phase2_nodesim.project.strong import divides_the_problem, not_executed, sizes_to_measure, study_of


@pytest.mark.parametrize(
    ("per_node", "runs", "sizes"),
    [
        (2, range(1, 100), [2, 8, 16, 32]),
        (1, range(1, 100), [2, 16, 32, 64]),
        (8, range(1, 100), [2, 4, 8]),
        (1, [1, 4, 9, 16, 25, 36, 49, 64], [4, 16, 64]),
        (1, [1, 9, 25, 49], [9, 25, 49]),
        (64, range(1, 100), [2]),
        (1, [1], []),
    ],
)
def test_the_jobs_are_those_that_run_here_evenly_in_their_logarithms(
    per_node: int, runs: list[int], sizes: list[int]
) -> None:
    assert sizes_to_measure(per_node, lambda nodes: nodes in runs) == sizes


@pytest.mark.parametrize(
    ("nodes", "phase"), [(1, None), (4, None), (8, None), (16, "middle"), (256, None), (512, "huge")]
)
def test_phases_have_times_if_one_of_the_two_nearest_jobs_executes_them(nodes: int, phase: str | None) -> None:
    """Of 2, 8, 16 and 32 nodes the third is held out."""

    def phases(number: int) -> list[set[str]]:
        there = {"all": True, "small": number < 8, "middle": number == 16, "huge": number > 256}
        return [{name for name, here in there.items() if here}]

    assert not_executed([2, 8, 16, 32], nodes, phases) == phase


def test_the_third_of_four_sizes_is_held_out() -> None:
    study = study_of("p-strong", "P", Path("/somewhere/p.yaml"), [2, 8, 16, 32], (1, 64))
    assert study == {
        "name": "p-strong", "title": "P", "experiment": "p.yaml", "measured": [2, 8, 32], "held_out": 16,
        "nodes": [1, 64],
    }  # fmt: skip
    assert "held_out" not in study_of("p", "P", Path("p.yaml"), [2, 4, 8], (1, 2))


def test_one_run_says_nothing_of_the_problem() -> None:
    assert not divides_the_problem({4: Path("/nowhere")})
