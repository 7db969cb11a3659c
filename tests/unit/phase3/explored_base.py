"""The results folder of an experiment with its own compute times, as phases 1 and 2 leave it, without a process."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from manynode import rank_classes, tables
from manynode.config.loader import resolve
from manynode.config.resolved import Resolved, write_resolved
from manynode.steps import step_of
from manynode.timing_profile import write_timing_profile
from phase2_nodesim import own_times

PHASES = "setup initial zero pack symgs residual dot direction spmv update checksum".split()


def content(**changes: Any) -> dict[str, Any]:
    """HPCG on 1 and 4 nodes of two ranks."""
    times = [{"phase": name, "mean": "20 us", "spread": 0.2} for name in PHASES]
    return {
        **{"name": "own", "application": {"name": "hpcg", "parameters": {"iterations": 2}}, "nodes": [1, 4]},
        **{"ranks_per_node": 2, "machine": "broadwell", "network": "opa100-fat-tree", "own_times": {"phases": times}},
        **{"techniques": ["ext-const", "ext-var"], "simulate": {"replicas": 6}},
        **changes,
    }


def base_folder(folder: Path, **changes: Any) -> Path:
    """Make the results of phases 1 and 2 below ``folder``; return the results folder."""
    resolved: Resolved = resolve(content(**changes), where="base", base=folder)
    results = folder / "results" / resolved.name
    results.mkdir(parents=True)
    write_resolved(results / "experiment.json", resolved)
    with step_of(results / "experiment.json") as bound:
        tables.write_json(results / "profile/rank-classes.json", rank_classes.SCHEMA, own_times.rank_classes(bound))
        profile = own_times.timing_profile(bound, external=True, provenance={})
        write_timing_profile(results / "nodesim/timing-profile-ext.json", profile)
    return results
