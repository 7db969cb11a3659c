"""Which jobs are measured: one that executes all phases, else the largest projected job's, and one for the others."""

from __future__ import annotations

import pytest

from phase2_nodesim.project.measured_jobs import MeasuredJob, measured_jobs


def cube(ranks: int) -> list[int]:
    """The extents of a grid in three dimensions, as equal as they can be."""
    grids = [(a, b, ranks // a // b) for a in range(1, ranks + 1) for b in range(1, a + 1) if ranks % (a * b) == 0]
    return list(min(grids, key=lambda grid: (max(grid) - min(grid), sorted(grid))))


def ring(nodes: int) -> list[set[str]]:
    """Phases between blocking exchanges, 2 ranks a node: an axis has a second one where it has more than two ranks."""
    found = {"set-up"}
    calls = [name for extent in cube(2 * nodes) for name, least in (("first", 1), ("second", 2)) if extent > least]
    found |= {f"{before} -> {after}" for before, after in zip(calls, [*calls[1:], calls[0]], strict=True)}
    return [found] * (2 * nodes)


def test_a_job_between_the_projected_ones_may_have_all_phases() -> None:
    """Jobs of 2, 4 or 8 ranks have no second exchange, and one of 64 has one along each axis; 6 ranks have both."""
    projected = (1, 2, 4, 8, 16, 32, 64)
    assert measured_jobs(projected, 2, ring, lambda _: True) == ([MeasuredJob(3, projected, False)], {})


def test_a_second_job_is_measured_for_the_smaller_node_counts() -> None:
    def phases(nodes: int) -> list[set[str]]:
        return [{"large"} if nodes > 6 else {"small"}]

    jobs, left_out = measured_jobs([1, 2, 8, 64], 2, phases, lambda _: True)
    assert jobs == [MeasuredJob(7, (8, 64), False), MeasuredJob(2, (1, 2), False)] and not left_out


def test_the_smallest_job_with_all_phases_is_taken() -> None:
    assert measured_jobs([1, 4, 512], 2, lambda _: [{"a"}, {"b"}], lambda _: True)[0] == [
        MeasuredJob(2, (1, 4, 512), True)
    ]


def test_a_job_that_the_program_refuses_is_not_measured() -> None:
    (job,), _ = measured_jobs([4, 512], 2, lambda _: [{"a"}], lambda nodes: nodes % 4 == 0)
    assert job.nodes == 4 and not job.differ


@pytest.mark.parametrize("nodes", [1, 2, 8, 32])
def test_one_node_count_is_measured_itself(nodes: int) -> None:
    assert measured_jobs([nodes], 2, ring, lambda _: True)[0] == [MeasuredJob(nodes, (nodes,), False)]


def test_what_only_a_lone_node_executes_is_measured_on_it() -> None:
    """The lone node executes the phases of larger jobs as well, but has no external ranks: it stands for itself."""
    jobs, left_out = measured_jobs([1, 8], 1, lambda n: [{"a", "alone"} if n == 1 else {"a"}] * n, lambda _: True)
    assert jobs == [MeasuredJob(2, (8,), False), MeasuredJob(1, (1,), False)] and not left_out


def test_a_third_measured_job_is_left_to_the_user() -> None:
    jobs, left_out = measured_jobs([2, 4, 8], 1, lambda n: [{f"of {n}"}], lambda _: True)
    assert [job.nodes for job in jobs] == [8, 4] and "--nodes 2" in left_out[2]


def test_the_run_that_would_decide_is_named() -> None:
    """Some rank of a job of 100 nodes or more executes a phase that no smaller job has."""
    jobs, left_out = measured_jobs([4, 256], 2, lambda n: [{"a"}, {"b" if n >= 100 else "a"}], lambda _: True)
    assert jobs == [MeasuredJob(2, (4,), False)]
    assert "executes the phase b; a job of 128 nodes (256 ranks) does" in left_out[256]
