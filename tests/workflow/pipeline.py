"""A tiny experiment that runs the whole pipeline with real engines, for the tests of workflows."""

from __future__ import annotations

import functools
import hashlib
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import yaml

from phase2_nodesim.engines._interface import ENGINES

ROOT = Path(__file__).resolve().parent.parent.parent


# Applications beside HPCG at sizes of a million instructions or so.
SMALL: dict[str, dict[str, int]] = {
    "snap": {"nx": 24, "ny": 2, "nz": 2, "chunk": 6, "angles": 2, "groups": 1, "outers": 1, "inners": 2},
    "milc": {"nx": 4, "ny": 4, "nz": 2, "nt": 2, "iterations": 3},
    "fft2d": {"elements": 1024, "iterations": 2},
    "caffe": {"images": 2, "side": 8, "filters": 2, "hidden": 8, "iterations": 2},
}

# Two points that make every kind of file.
TWO_POINTS: dict[str, list[Any]] = {"nodes": [4], "techniques": ["ext-var", "no-ext-const"]}

# A network on which congestion spreads.
SMALL_DRAGONFLY: dict[str, Any] = {
    "name": "small",
    "topology": {
        **{"kind": "dragonfly", "groups": 3, "routers_per_group": 2, "hosts_per_router": 4},
        **{"global_links": 2, "routing": "minimal"},
    },
    "flow_control": "credits",
    "input_buffer": "8 KiB",
    "output_buffer": "8 KiB",
}


# The day that a report states; runs on two days have other bytes.
SAME_DAY = {"SOURCE_DATE_EPOCH": "1700000000"}


@functools.cache
def engine() -> str:
    """Return the engine of phase 2 that is quick and on this host: qemu if it takes plugins, else valgrind."""
    return "qemu" if ENGINES.get("qemu").probe().available else "valgrind"


def source() -> str:
    """Return the source of phase 1 that goes with :func:`engine`."""
    return "qemu" if engine() == "qemu" else "callgrind"


def tiny(**changes: Any) -> dict[str, Any]:
    """HPCG on 8^3 points, 3 levels, 8 iterations, 1 to 4 nodes of one rank; by :func:`engine`."""
    content: dict[str, Any] = {
        "name": "tiny",
        "application": {
            "name": "hpcg",
            "parameters": {"nx": 8, "ny": 8, "nz": 8, "levels": 3, "iterations": 8},
            "timeout_s": 300,
        },
        "nodes": [1, 4],
        "ranks_per_node": 1,
        "machine": "broadwell",
        "network": "opa100-fat-tree",
        "profile": {"source": source(), "nodes": [2], "repetitions": 1},
        "nodesim": {"engine": engine(), "nodes": 2},
        "simulate": {"replicas": 3},
    }
    content.update(changes)
    return content


def write(folder: Path, content: dict[str, Any], name: str = "experiment.yaml") -> Path:
    """Write an experiment file."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(yaml.safe_dump(content, sort_keys=False))
    return path


def manynode(
    *arguments: object, env: dict[str, str] | None = None, timeout: float = 600, cwd: Path = ROOT
) -> subprocess.CompletedProcess:
    """Run the command line as a user would."""
    command = [sys.executable, "-m", "manynode", *map(str, arguments)]
    # The report names the day of its run, and equal runs are compared by all bytes.
    environment = {**os.environ, **SAME_DAY, **(env or {})}
    return subprocess.run(
        command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=timeout, stdin=subprocess.DEVNULL
    )


def run(experiment: Path, folder: Path, options: list[Any] | None = None) -> subprocess.CompletedProcess:
    """``manynode run`` on two cores."""
    return manynode("run", experiment, "--cores", 2, "--directory", folder, *(options or []))


def rules(log: str) -> set[str]:
    """Return the rules that a run, or a dry run, named."""
    return set(re.findall(r"^(?:local)?rule (\w+):$", log, re.M)) - {"all"}


def tables(results: Path) -> dict[str, str]:
    """Return relative path -> digest of every table and document of the results (not of logs and raw files)."""
    kept = [p for p in results.rglob("*") if p.suffix in (".parquet", ".json", ".html") and ".snakemake" not in p.parts]
    return {
        str(path.relative_to(results)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(kept)
        if not {"ranks", "markers", "logs"} & set(path.relative_to(results).parts)
    }
