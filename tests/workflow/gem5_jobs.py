"""Jobs with ranks under a real gem5, for tests; without one they are skipped by name."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml
from bridge_programs import ROOT, Programs

from manynode.config.experiment import Gem5Section, NodesimSection
from manynode.config.machine import Machine
from manynode.errors import EngineMissingError
from manynode.markers import read_marker_directory
from phase2_nodesim.engines._interface import ENGINES, NodeJob, NodeRun
from phase2_nodesim.gem5.installation import find_gem5

LIMIT_S = 600.0


def gem5_or_skip() -> str:
    """Return gem5's version; without a gem5 that can run the board the test is skipped."""
    try:
        return find_gem5().version
    except EngineMissingError as error:
        pytest.skip(f"gem5: {error.found}")


def machine(name: str = "generic") -> Machine:
    """Return a shipped machine."""
    return Machine.model_validate(yaml.safe_load((ROOT / "configs" / "machines" / f"{name}.yaml").read_text()))


def settings(**changes: Any) -> NodesimSection:
    """Return a section ``nodesim`` for gem5."""
    section = Gem5Section.model_validate({"inject": "none", "progress": "1 s", **changes})
    return NodesimSection(engine="gem5", gem5=section)


def node_job(
    programs: Programs,
    source: str,
    *words: object,
    ranks: int = 1,
    nodes: int = 2,
    node: int = 0,
    threads: int = 1,
    tell: Callable[[str], None] | None = None,
    **changes: Any,
) -> NodeJob:
    """Return the job of a program of tests/data/mpi, with ``ranks`` on each node."""
    arguments = [str(word) for word in words]
    return NodeJob(
        [str(programs.native(source)), *arguments],
        programs.flavour,
        node,
        nodes,
        ranks,
        guest=[str(programs.guest(source)), *arguments],
        threads=threads,
        settings=settings(**changes),
        timeout_s=LIMIT_S,
        tell=tell,
    )


def simulate(job: NodeJob, directory: Path, node: str | Machine = "generic") -> pd.DataFrame:
    """Run ``job`` under gem5 and return its simulated ranks' segments; ``node`` may be a shipped machine's name."""
    directory.mkdir(parents=True, exist_ok=True)
    engine = ENGINES.get("gem5")
    run = NodeRun(machine(node) if isinstance(node, str) else node, job.ranks_per_node, directory, crowded=True)
    engine.run(run, job)
    files = [
        file for file in read_marker_directory(directory, complete=False) if file.metadata["rank"] in job.simulated()
    ]
    return engine.segments(run, files)


def progress(directory: Path) -> list[dict[str, Any]]:
    """Return the progress that the board reported."""
    start = "manynode progress: "
    lines = (directory / "guests-0.log").read_text().splitlines()
    return [json.loads(line.removeprefix(start)) for line in lines if line.startswith(start)]
