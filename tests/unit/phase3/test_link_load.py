"""The load of links per class, per job and over time."""

from __future__ import annotations

from pathlib import Path

import pytest
from phase3_cases import point

from phase3_sst.analysis.projection_tables import analyse


def test_a_class_of_links_has_its_mean_load_and_its_busiest_link(tmp_path: Path) -> None:
    points = [("ext-var", 1, point(tmp_path / "1", [2.0, 4.0]))]
    row = analyse(points, ranks_per_node=2, confidence=0.9, seed=1).links.iloc[0]
    assert (row["class"], row["links"], row["bytes"]) == ("host-up", 1, 1000)
    assert row["busy_s"] == pytest.approx((0.2 + 0.4) / 2)
    assert row["busy_share_max"] == pytest.approx(0.1)
    assert row["queue_max_bytes"] == 512


def test_the_mean_queue_is_stall_over_makespan(tmp_path: Path) -> None:
    """Little's law: waiting chunks on average = chunks per second * mean wait = stall time / makespan."""
    points = [("ext-var", 1, point(tmp_path / "1", [2.0, 4.0]))]
    result = analyse(points, ranks_per_node=2, confidence=0.9, seed=1)
    assert result.links["queue_mean_chunks"].iloc[0] == pytest.approx(0.02)
    assert result.links["stall_s"].iloc[0] == pytest.approx(0.02 * 3.0)


def test_the_jobs_share_the_load_between_them(tmp_path: Path) -> None:
    points = [("ext-var", 1, point(tmp_path / "1", [2.0]))]
    result = analyse(points, ranks_per_node=2, confidence=0.9, seed=1)
    own = result.link_jobs.set_index("job")
    assert own.loc["main", "bytes"] == 750 and own.loc["noise", "bytes"] == 250
    for column in ("bytes", "busy_s", "stall_s", "queue_mean_chunks"):
        assert own[column].sum() == pytest.approx(result.links[column].iloc[0])


def test_each_job_has_its_own_time_and_is_told_apart_from_the_background(tmp_path: Path) -> None:
    points = [("ext-var", 1, point(tmp_path / "1", [2.0, 4.0]))]
    jobs = analyse(points, ranks_per_node=2, confidence=0.9, seed=1).jobs
    assert jobs["job"].tolist() == ["main", "noise"] and jobs["background"].tolist() == [False, True]
    main = jobs.iloc[0]
    assert (main["time_s"], main["low_s"], main["high_s"], main["iterations"]) == (3.0, 2.0, 4.0, 3)


def test_over_time_the_first_replica_is_shown_per_interval(tmp_path: Path) -> None:
    points = [("ext-var", 1, point(tmp_path / "1", [2.0, 4.0]))]
    series = analyse(points, ranks_per_node=2, confidence=0.9, seed=1).series
    assert series["end_s"].tolist() == [1.0, 2.0]
    assert series["busy_share"].tolist() == pytest.approx([0.1, 0.1])
    assert series["queue_bytes"].tolist() == [0, 100]


def test_the_busiest_link_is_known_when_links_are_counted_each(tmp_path: Path) -> None:
    folder = tmp_path / "1"
    point(folder, [2.0])
    text = (folder / "out" / "series.csv").read_text().replace("host-up,,", "host-up,0,")
    (folder / "out" / "series.csv").write_text(text)
    from phase3_sst.point.result_files import collect

    collect(folder / "out", folder)
    series = analyse([("ext-var", 1, folder)], ranks_per_node=2, confidence=0.9, seed=1).series
    assert series["busy_share_max"].tolist() == pytest.approx([0.1, 0.1])
