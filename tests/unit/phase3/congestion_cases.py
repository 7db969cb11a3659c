"""A congestion study's machine without an engine, for tests of its machinery and parts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from phase3_sst.studies.congestion.contract import Workload
from phase3_sst.studies.congestion.situation import Member, Situation
from phase3_sst.studies.congestion.situation_runs import Runs
from phase3_sst.studies.congestion.study_file import as_content, read_study

RING: dict[str, Any] = {"pattern": "random-ring", "bytes": 4096, "iterations": 8}
NETWORK: dict[str, Any] = {
    "name": "small",
    "topology": {
        **{"kind": "dragonfly", "groups": 3, "routers_per_group": 4, "hosts_per_router": 4},
        **{"global_links": 2, "routing": "minimal"},
    },
    "flow_control": "credits",
}


def content(**changes: Any) -> dict[str, Any]:
    """Return the content of a study's file with the part impact."""
    found: dict[str, Any] = {
        "name": "trial",
        "network": NETWORK,
        "seed": 7,
        "workloads": {"ring": {"application": {"name": "patterns", "parameters": RING}}},
        "impact": {"nodes": 4, "rotations": 2, "congestor": {"pattern": "incast"}, "intensity": None},
    }
    return {**found, **changes}


def write(folder: Path, **changes: Any) -> Path:
    """Write a study's file."""
    path = folder / "study.yaml"
    path.write_text(yaml.safe_dump(content(**changes), sort_keys=False))
    return path


def runs(folder: Path, **changes: Any) -> Runs:
    """Return the machine of a study, with results below ``folder``/out."""
    study = read_study(write(folder, **changes)).study
    network, simulate = as_content(study)
    workloads = {"ring": Workload("ring", "patterns", RING, 1, None)}
    confidence = study.simulate.confidence
    return Runs(study.network, network, simulate, study.seed, confidence, workloads, folder / "out")


def situation(name: str = "pair", *, hosts: tuple[int, ...] = (0, 1), seed: int = 5, **options: Any) -> Situation:
    """Return a ring on ``hosts`` beside an endless one on nodes 8 and 9."""
    main = Member("ring", "patterns", RING, list(hosts), **options)
    return Situation(name, [main, Member("other", "patterns", RING, [8, 9], background=True)], seed)
