"""Inputs of a point and output of an engine: files of something else, and rows that are missing or repeated."""

from __future__ import annotations

import shutil
from pathlib import Path

import pandas as pd
import pytest
from phase3_cases import point

from manynode import tables
from manynode.errors import InputError
from phase3_sst.analysis.projection_tables import analyse
from phase3_sst.point import folders
from phase3_sst.point.contract import RANKS_SCHEMA, RESULT_SCHEMA


@pytest.mark.parametrize(
    ("change", "found"),
    [
        (lambda ranks: ranks.head(0), "replicas \\[\\]"),
        (lambda ranks: ranks[ranks["rank"] == 0], "1 ranks in replica 0"),
        (lambda ranks: ranks[ranks["replica"] == 0], "replicas \\[0\\]"),
        (lambda ranks: pd.concat([ranks, ranks]), "a row twice"),
    ],
)
def test_a_table_of_ranks_that_lacks_rows_is_refused(change: object, found: str, tmp_path: Path) -> None:
    folder = point(tmp_path / "1", [1.0, 3.0])
    ranks = tables.read_table(folder / "ranks.parquet", RANKS_SCHEMA)
    assert callable(change)
    tables.write_table(folder / "ranks.parquet", RANKS_SCHEMA, change(ranks))
    with pytest.raises(InputError, match=rf"(?s)ranks\.parquet.*{found}"):
        analyse([("ext-var", 1, folder)], ranks_per_node=2, confidence=0.9, seed=1)


def test_results_of_two_situations_cannot_be_exchanged(tmp_path: Path) -> None:
    first, second = (tmp_path / "situations" / f"alone-{digit * 12}" / "result.json" for digit in "ab")
    with folders.bound(tmp_path):
        for path in (first, second):
            tables.write_json(path, RESULT_SCHEMA, {"replicas": []})
        shutil.copyfile(first, second)
        assert tables.read_json(first, RESULT_SCHEMA)["replicas"] == []
        with pytest.raises(InputError, match="alone-b"):
            tables.read_json(second, RESULT_SCHEMA)
