"""The user's own compute times in place of phases 1 and 2: from the table to the report, with all four techniques."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import yaml
from pipeline import manynode

PHASES = "setup initial zero pack symgs residual dot direction spmv update checksum".split()


def rows(factor: float, spread: float) -> list[dict[str, Any]]:
    return [{"phase": name, "mean": f"{factor:g} us", **({"spread": spread} if spread else {})} for name in PHASES]


def test_without_spread_variable_equals_constant_and_with_it_takes_longer(tmp_path: Path) -> None:
    experiment = {
        **{"name": "own", "application": {"name": "hpcg", "parameters": {"iterations": 4}}, "nodes": [1, 8]},
        **{"ranks_per_node": 2, "machine": "broadwell", "network": "opa100-fat-tree", "simulate": {"replicas": 3}},
        **{"techniques": ["no-ext-const", "no-ext-var", "ext-const", "ext-var"]},
        "own_times": {"phases": rows(20, 0.3), "alone": rows(10, 0)},
    }
    (tmp_path / "own.yaml").write_text(yaml.safe_dump(experiment))
    done = manynode("run", tmp_path / "own.yaml", "--directory", tmp_path, "--cores", 2)
    assert done.returncode == 0, done.stdout + done.stderr
    frame = pd.read_parquet(tmp_path / "results/own/projection.parquet")
    times = frame.set_index(["technique", "nodes"])["time_s"].unstack("technique")
    pd.testing.assert_series_equal(times["no-ext-const"], times["no-ext-var"], check_names=False)
    assert (times["no-ext-const"] < times["ext-const"]).all()
    # On one rank's node: 4 iterations of 7 symgs, 3 residual and 4 other phases, and setup, initial, checksum once.
    assert times["ext-const"].loc[1] > 20e-6 * (4 * 14 + 3)
    assert times["ext-var"].loc[8] > 1.05 * times["ext-const"].loc[8], "the slowest rank is waited for"
    report = (tmp_path / "results/own/report.html").read_text()
    assert "Compute times are the user&#39;s own, from the experiment itself" in report
