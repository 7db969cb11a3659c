"""From what native engines write to the contract's files; how replicas are dealt to processes."""

from __future__ import annotations

from pathlib import Path

import pytest
from phase3_cases import engine_output

from manynode import tables
from manynode.errors import EngineFailedError, InputError, UsageError
from manynode.process import Completed
from phase3_sst.engines.native_engine import deal, engine_error
from phase3_sst.point.contract import LINK_JOBS_SCHEMA, LINK_SERIES_SCHEMA, LINKS_SCHEMA, RANKS_SCHEMA, RESULT_SCHEMA
from phase3_sst.point.result_files import collect, collect_parts

FILES = ["link_jobs.parquet", "links.parquet", "ranks.parquet", "result.json", "series.parquet"]


def test_every_table_has_its_schema_and_numbers_are_read_to_the_last_bit(tmp_path: Path) -> None:
    third = 1 / 3
    collect(engine_output(tmp_path / "out", [third]), tmp_path / "point")
    assert sorted(path.name for path in (tmp_path / "point").iterdir()) == FILES
    folder = tmp_path / "point"
    assert tables.read_json(folder / "result.json", RESULT_SCHEMA)["replicas"][0]["makespan_s"] == third
    ranks = tables.read_table(folder / "ranks.parquet", RANKS_SCHEMA)
    assert list(ranks["job"]) == [0, 0, 0, 0, 1] and ranks["seconds"].iloc[-1] == third
    assert tables.read_table(folder / "links.parquet", LINKS_SCHEMA)["queue_max_bytes"].iloc[0] == 512
    assert tables.read_table(folder / "link_jobs.parquet", LINK_JOBS_SCHEMA)["bytes"].tolist() == [750, 250]
    assert tables.read_table(folder / "series.parquet", LINK_SERIES_SCHEMA)["link"].isna().all()


def test_shares_of_the_replicas_give_the_same_bytes_as_the_whole(tmp_path: Path) -> None:
    times = [1.0, 2.0, 0.1 + 0.2]
    collect(engine_output(tmp_path / "whole", times), tmp_path / "a")
    parts = [engine_output(tmp_path / "1", times[:2]), engine_output(tmp_path / "2", times[2:], first=2)]
    collect_parts(parts, tmp_path / "b")
    for name in FILES:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


def test_without_counters_there_is_no_series(tmp_path: Path) -> None:
    out = engine_output(tmp_path / "out", [1.0])
    (out / "series.csv").unlink()
    collect(out, tmp_path / "point")
    assert not (tmp_path / "point" / "series.parquet").exists()


def test_an_empty_quantity_of_an_engine_that_cannot_tell_it_is_kept_empty(tmp_path: Path) -> None:
    out = engine_output(tmp_path / "out", [1.0])
    path = out / "links.csv"
    path.write_text(path.read_text().replace(",512\n", ",\n"))
    collect(out, tmp_path / "point")
    assert tables.read_table(tmp_path / "point" / "links.parquet", LINKS_SCHEMA)["queue_max_bytes"].isna().all()


@pytest.mark.parametrize(
    ("name", "old", "new", "error"),
    [
        ("ranks.csv", "replica,job", "replica,task", "other columns"),
        ("links.csv", ",1000,", ",many,", "cannot be read"),
        ("link_jobs.csv", None, None, "cannot be read"),
    ],
)
def test_a_table_of_another_version_is_refused_and_no_result_is_left(
    tmp_path: Path, name: str, old: str | None, new: str, error: str
) -> None:
    path = engine_output(tmp_path / "out", [1.0]) / name
    if old is None:
        path.unlink()
    else:
        path.write_text(path.read_text().replace(old, new))
    with pytest.raises(EngineFailedError, match=error):
        collect(tmp_path / "out", tmp_path / "point")
    assert not (tmp_path / "point" / "result.json").exists()


def test_a_result_of_another_schema_is_refused(tmp_path: Path) -> None:
    path = engine_output(tmp_path / "out", [1.0]) / "result.json"
    path.write_text(path.read_text().replace("network-result/2", "network-result/1"))
    with pytest.raises(InputError, match="network-result/1"):
        collect(tmp_path / "out", tmp_path / "point")


@pytest.mark.parametrize(("replicas", "processes"), [(1, 1), (10, 1), (10, 3), (3, 8), (7, 7), (5, 2)])
def test_replicas_are_dealt_whole_in_order_and_evenly(replicas: int, processes: int) -> None:
    shares = deal(replicas, processes)
    assert [replica for share in shares for replica in share] == list(range(replicas))
    assert len(shares) == min(replicas, processes)
    assert max(map(len, shares)) - min(map(len, shares)) <= 1


def test_an_engines_line_of_json_becomes_an_error_with_place_and_remedy() -> None:
    line = '{"error":{"what":"too few nodes","where":"jobs[0].nodes","found":"9","allowed":"8","remedy":"lower it"}}'
    error = engine_error(Completed(2, 0.1, f"replica 0: 1 s\n{line}\n", None), "the fast engine (ext-var on 9 nodes)")
    assert isinstance(error, UsageError)
    assert "ext-var on 9 nodes" in error.what and error.where == "jobs[0].nodes" and error.remedy == "lower it"


@pytest.mark.parametrize(("code", "words"), [(-9, "out of memory"), (3, "exit code 3")])
def test_an_engine_that_ends_without_a_word_is_told_by_its_exit_code(code: int, words: str) -> None:
    error = engine_error(Completed(code, 0.1, "some output", None), "the fast engine")
    assert isinstance(error, EngineFailedError) and words in str(error.found) and "some output" in str(error.details)
