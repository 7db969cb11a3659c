"""The base for long tests of explore: a small experiment with its own compute times, finished within seconds."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pipeline

PHASES = "setup initial zero pack symgs residual dot direction spmv update checksum".split()


def small() -> dict[str, Any]:
    """HPCG with four iterations on 1 to 8 nodes of two ranks; its compute times vary by 10 %."""
    times = [{"phase": name, "mean": "20 us", "spread": 0.1} for name in PHASES]
    return {
        **{"name": "small", "application": {"name": "hpcg", "parameters": {"iterations": 4}}, "nodes": [1, 8]},
        **{"ranks_per_node": 2, "machine": "broadwell", "network": "opa100-fat-tree", "own_times": {"phases": times}},
        **{"techniques": ["ext-const", "ext-var"], "simulate": {"replicas": 5}},
    }


def run_small(folder: Path) -> None:
    """Run the base in ``folder``: its results are in results/small."""
    done = pipeline.run(pipeline.write(folder, small()), folder)
    assert done.returncode == 0, done.stdout + done.stderr


def copied(results: Path, folder: Path) -> Path:
    """Return a copy of a results folder: exploring it adds to it, and other tests look at it as well."""
    return Path(shutil.copytree(results, folder / "results" / results.name, symlinks=True))
