"""Results of engines with round numbers, and a small resolved experiment, for the tests of phase 3."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from manynode.config.loader import load_experiment
from phase3_sst.point.contract import Point
from phase3_sst.point.point_experiment import PointExperiment
from phase3_sst.point.result_files import collect

ROOT = Path(__file__).resolve().parent.parent.parent.parent


def experiment(**simulate: Any) -> dict[str, Any]:
    """The demo with 2 ranks a node, resolved, with changes to its section ``simulate``."""
    content: dict[str, Any] = json.loads(json.dumps(load_experiment(ROOT / "configs" / "demo.yaml").content))
    content["ranks_per_node"] = 2
    content["simulate"].update(simulate)
    return content


def demo_point(nodes: int = 4, technique: str = "ext-var", **simulate: Any) -> Point:
    """A point of the demo."""
    content = experiment(**simulate)
    ranks = nodes * content["ranks_per_node"]
    return Point(PointExperiment.read(content), nodes, technique, Path("timing-profile.json"), ["0"] * ranks, 7)


def engine_output(
    folder: Path, makespans: Sequence[float], *, first: int = 0, compute: float = 0.75, count: int = 2
) -> Path:
    """What a native engine writes: ``count`` ranks compute for a share of the makespan, then wait; one link.

    Beside them runs a background job of one rank, which causes a quarter of the link's load.
    """
    folder.mkdir(parents=True)
    replicas, ranks, links, loads, series = [], [], [], [], []
    for replica, time in enumerate(makespans, first):
        job = {"name": "main", "background": False, "makespan_s": time, "messages": 6, "bytes": 750}
        job["iteration_end_s"] = [0.5 * time, 0.75 * time, time]
        other = {"name": "noise", "background": True, "makespan_s": time, "messages": 2, "bytes": 250}
        other["iteration_end_s"] = [0.1 * time]
        entry = {"replica": replica, "makespan_s": time, "events": 10, "messages": 8, "bytes": 1000}
        replicas.append({**entry, "jobs": [job, other]})
        for rank in range(count):
            ranks.append((replica, 0, rank, "compute", compute * time, 3, 0))
            ranks.append((replica, 0, rank, "MPI_Allreduce", (1 - compute) * time, 3, 24))
        ranks.append((replica, 1, 0, "MPI_Send", time, 2, 250))
        links.append(
            (replica, 0, "host-up", "host-0", "leaf-0", 1000, 4, 0.1 * time, 0.02 * time, 0.01 * time, 0.0, 512)
        )
        loads.append((replica, 0, "host-up", 750, 3, 0.075 * time, 0.01 * time))
        loads.append((replica, 1, "host-up", 250, 1, 0.025 * time, 0.01 * time))
        for half in range(2):
            end = (half + 1) * time / 2
            load = (500, 0.05 * time, 0.01 * time, 0.005 * time, 0.0, 100 * half)
            series.append((replica, half * time / 2, end, "host-up", "", *load))
    (folder / "result.json").write_text(
        json.dumps({"schema": "network-result/2", "engine": {"name": "fast", "version": "1"}, "replicas": replicas})
    )
    _csv(folder / "ranks.csv", "replica,job,rank,operation,seconds,calls,bytes", ranks)
    stalls = "credit_stall_s,inq_stall_s"
    header = f"replica,link,class,source,target,bytes,chunks,busy_s,stall_s,{stalls},queue_max_bytes"
    _csv(folder / "links.csv", header, links)
    _csv(folder / "link_jobs.csv", "replica,job,class,bytes,chunks,busy_s,stall_s", loads)
    _csv(folder / "series.csv", f"replica,start_s,end_s,class,link,bytes,busy_s,stall_s,{stalls},queue_bytes", series)
    return folder


def _csv(path: Path, header: str, rows: list[tuple[Any, ...]]) -> None:
    path.write_text("\n".join([header, *(",".join(map(str, row)) for row in rows)]) + "\n")


def point(folder: Path, makespans: Sequence[float], compute: float = 0.75, count: int = 2) -> Path:
    """Write the result folder of a point, as :func:`engine_output` describes it."""
    collect(engine_output(folder / "out", makespans, compute=compute, count=count), folder)
    return folder
