"""Snakemake's lines -> points finished, and the time left."""

from __future__ import annotations

from pathlib import Path

import pytest

from manynode.study_progress import StudyProgress, read_estimate
from manynode.tables import write_json

PLANNED = (
    "phase2_fit_profile                2\nphase3_simulate_point             2\nphase3_simulate_variant           2\n"
)
EXPECTED = {
    ("", "ext-var", 4): 10.0,
    ("", "ext-var", 64): 50.0,
    ("bandwidth=10_Gbit_s,latency=40_ns", "ext-var", 64): 60.0,
    ("bandwidth=20_Gbit_s,latency=40_ns", "ext-var", 64): 80.0,
}


class Clock:
    """A clock that is set by hand."""

    now = 1000.0

    def __call__(self) -> float:
        return self.now


def started(rule: str, job: int, wildcards: str) -> str:
    lines = [f"rule {rule}:", "    input: x", f"    jobid: {job}", "    reason: y", f"    wildcards: {wildcards}"]
    return "\n".join(["[a date]", *lines, "    threads: 1", ""])


def finished(job: int, rule: str) -> str:
    return f"[a date]\nFinished jobid: {job} (Rule: {rule})\n"


def read(progress: StudyProgress, text: str) -> None:
    for line in text.splitlines():
        progress.read(line)


def run(expected: dict[tuple[str, str, int], float]) -> tuple[StudyProgress, Clock]:
    """A run of four points; the first two have begun."""
    clock = Clock()
    progress = StudyProgress(expected, clock)
    read(progress, PLANNED)
    read(progress, started("phase2_fit_profile", 1, "mode=ext") + finished(1, "phase2_fit_profile"))
    assert progress.words() == ""
    read(progress, started("phase3_simulate_point", 7, "technique=ext-var, nodes=4"))
    variant = "study=sensitivity, variant=bandwidth=10_Gbit_s,latency=40_ns, technique=ext-var, nodes=64"
    read(progress, started("phase3_simulate_variant", 8, variant))
    return progress, clock


def test_nothing_is_said_of_the_time_before_a_point_has_ended() -> None:
    progress, _ = run(EXPECTED)
    assert progress.words() == "0 of 4 points"


def test_the_time_left_is_the_estimate_at_the_speed_so_far() -> None:
    """10 of 200 expected seconds took 20, two beside each other or not: 190 more take 380."""
    progress, clock = run(EXPECTED)
    clock.now += 20
    read(progress, finished(7, "phase3_simulate_point"))
    assert progress.left_s() == pytest.approx(380)
    assert progress.words() == "1 of 4 points, about 6 min left"


def test_without_an_estimate_all_points_count_alike() -> None:
    progress, clock = run({})
    clock.now += 20
    read(progress, finished(7, "phase3_simulate_point"))
    assert progress.words() == "1 of 4 points, about 60 s left"


def test_at_the_end_nothing_is_left() -> None:
    progress, clock = run(EXPECTED)
    read(progress, started("phase3_simulate_point", 9, "technique=ext-var, nodes=64"))
    read(
        progress,
        started(
            "phase3_simulate_variant",
            10,
            "study=sensitivity, variant=bandwidth=20_Gbit_s,latency=40_ns, technique=ext-var, nodes=64",
        ),
    )
    for job in (7, 8, 9, 10):
        clock.now += 10
        read(progress, finished(job, "phase3_simulate_point"))
    assert progress.words() == "4 of 4 points" and progress.left_s() == 0


def test_an_estimate_of_another_experiment_is_none(tmp_path: Path) -> None:
    point = {"technique": "ext-var", "nodes": 4, "variant": "", "processor_s": 3.5, "least_s": 3.5, "memory_bytes": 1e8}
    unknown = {**point, "nodes": 8, "processor_s": None}
    path = tmp_path / "estimate.json"
    write_json(path, "cost-estimate/1", {"digest": "d", "points": [point, unknown]})
    assert read_estimate(path, "d") == {("", "ext-var", 4): 3.5}
    assert read_estimate(path, "other") == {} and read_estimate(tmp_path / "none.json", "d") == {}
    path.write_text("{")
    assert read_estimate(path, "d") == {}
