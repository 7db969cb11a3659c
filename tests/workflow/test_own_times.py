"""The user's own compute times in place of phases 1 and 2: from the table to the report, with all four techniques."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml
from pipeline import manynode

ROOT = Path(__file__).resolve().parent.parent.parent
PHASES = "setup initial zero pack symgs residual dot direction spmv update checksum".split()


def run(folder: Path, **own: Any) -> pd.DataFrame:
    """Run a small experiment with its own times; return its projection by technique and nodes."""
    experiment = {
        **{"name": "own", "application": {"name": "hpcg", "parameters": {"iterations": 4}}, "nodes": [1, 8]},
        **{"ranks_per_node": 2, "machine": "broadwell", "network": "opa100-fat-tree", "own_times": own},
        **{"techniques": ["no-ext-const", "no-ext-var", "ext-const", "ext-var"], "simulate": {"replicas": 3}},
    }
    (folder / "own.yaml").write_text(yaml.safe_dump(experiment))
    done = manynode("run", folder / "own.yaml", "--directory", folder, "--cores", 2)
    assert done.returncode == 0, done.stdout + done.stderr
    frame = pd.read_parquet(folder / "results" / "own" / "projection.parquet")
    return frame.set_index(["technique", "nodes"])["time_s"].unstack("technique")


def rows(factor: float, spread: float) -> list[dict[str, Any]]:
    return [{"phase": name, "mean": f"{factor:g} us", **({"spread": spread} if spread else {})} for name in PHASES]


def test_without_spread_variable_equals_constant_and_with_it_takes_longer(tmp_path: Path) -> None:
    (tmp_path / "constant").mkdir()
    times = run(tmp_path / "constant", phases=rows(20, 0), alone=rows(10, 0))
    pd.testing.assert_series_equal(times["ext-const"], times["ext-var"], check_names=False)
    pd.testing.assert_series_equal(times["no-ext-const"], times["no-ext-var"], check_names=False)
    assert (times["no-ext-const"] < times["ext-const"]).all()
    # On one rank's node: 4 iterations of 7 symgs, 3 residual and 4 other phases, and setup, initial, checksum once.
    assert times["ext-const"].loc[1] > 20e-6 * (4 * 14 + 3)
    report = (tmp_path / "constant/results/own/report.html").read_text()
    assert "Compute times are the user&#39;s own, from the experiment itself" in report
    (tmp_path / "variable").mkdir()
    varied = run(tmp_path / "variable", phases=rows(20, 0.3), alone=rows(10, 0.3))
    assert varied["ext-const"].to_dict() == pytest.approx(times["ext-const"].to_dict(), rel=1e-9)
    assert varied["ext-var"].loc[8] > 1.05 * varied["ext-const"].loc[8], "the slowest rank is waited for"
