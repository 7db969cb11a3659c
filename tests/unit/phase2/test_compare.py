"""Mean times of compute phases by several engines in one table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from phase2_cases import segments

from manynode.errors import InputError
from manynode.tables import write_table
from phase2_nodesim.compare import compare_engines, table_lines
from phase2_nodesim.segments import SCHEMA

ORIGIN: dict[str, Any] = {
    "engine": "valgrind",
    "engine_version": "3",
    "machine": "broadwell",
    "external": True,
    "nodes": 2,
    "ranks": 4,
    "ranks_per_node": 2,
    "application": {"name": "hpcg"},
}


def written(folder: Path, engine: str, frame: pd.DataFrame, **changes: Any) -> Path:
    path = folder / f"{engine}-{len(list(folder.iterdir()))}.parquet"
    write_table(path, SCHEMA, frame, {**ORIGIN, "engine": engine, **changes})
    return path


def test_each_engine_has_its_mean_and_its_instructions(tmp_path: Path) -> None:
    slow, fast = segments([0, 1], 6), segments([0, 1], 6)
    fast["compute_s"] = slow["compute_s"] / 2
    slow["Ir"], fast["instructions"], fast["last_level_misses"] = 1000.0, 990.0, 7.0
    fast.loc[fast["phase"] == "dot", "warm_up"] = True
    table = compare_engines([written(tmp_path, "valgrind", slow), written(tmp_path, "gem5", fast)])
    row = table.set_index("phase").loc["symgs"]
    assert row["gem5_mean_s"] == pytest.approx(row["valgrind_mean_s"] / 2)
    assert (row["valgrind_instructions"], row["gem5_instructions"]) == (1000.0, 990.0)
    assert row["gem5_last_level_misses"] == 7.0 and "valgrind_last_level_misses" not in row
    assert table["phase"].iloc[0] == "symgs" and table["share"].sum() == pytest.approx(1.0)
    assert pd.isna(table.set_index("phase").loc["dot", "gem5_mean_s"])
    lines = table_lines(table, most=2)
    assert lines[0].split()[:4] == ["phase", "share", "valgrind", "[us]"] and lines[-1] == (
        "... and 1 more phases (--csv has all)"
    )


def test_only_runs_that_differ_in_nothing_but_the_engine_are_compared(tmp_path: Path) -> None:
    frame = segments([0], 3)
    one = written(tmp_path, "valgrind", frame)
    with pytest.raises(InputError, match="nothing to compare"):
        compare_engines([one])
    with pytest.raises(InputError, match="from the same engine"):
        compare_engines([one, written(tmp_path, "valgrind", frame)])
    with pytest.raises(InputError, match="different runs") as caught:
        compare_engines([one, written(tmp_path, "gem5", frame, ranks=8)])
    assert caught.value.found == 8
