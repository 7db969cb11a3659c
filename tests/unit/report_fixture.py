"""A result folder for tests of the report: made-up numbers in the schemas of real results, hostile names included.

Nothing here was measured or projected; the numbers only have to be of the right shape.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.parquet as pq

from manynode import artefacts, tables
from manynode.config.experiment import TECHNIQUES
from manynode.config.loader import load_experiment
from manynode.steps import Steps
from manynode.tables import write_json, write_table
from manynode.timing_profile import TimingProfile, write_timing_profile

ROOT = Path(__file__).resolve().parent.parent.parent
HOSTILE = "</script><script>alert(1)</script>"
HOSTILE_IMAGE = '"><img src=x onerror=alert(2)> {{ 7 * 7 }}'
NODES = [1, 2, 4, 8, 16, 32, 64]
RANKS_PER_NODE = 2
PHASES = {
    "smoother": [0.8e-3, 0.1e-3, 14e-6, 2.1e-6],
    HOSTILE: [0.35e-3],
    "dot product": [21e-6, 60e-6],
    f"MPI_Wait@app.cpp:91 {HOSTILE_IMAGE} -> MPI_Allreduce@app.cpp:120": [3e-6],
}
PATTERN = [0, 1, 2, 3, 2, 1, 0]


def write_results(directory: Path, *, skeleton: bool = True, parts: tuple[str, ...] = ("1", "2", "3")) -> Path:
    """Write a result folder with the given phases' results and return it."""
    rng = np.random.default_rng(7)
    _write_experiment(directory, skeleton)
    if "1" in parts:
        _write_profile(directory, rng)
    if "2" in parts:
        for mode in ("ext", "no-ext"):
            _write_timings(directory, mode, rng)
    if "3" in parts and skeleton:
        _write_projection(directory, rng)
        write_json(
            directory / "provenance.json",
            "provenance/1",
            {
                "manynode": "0.1.0",
                "code": "c0de" * 4,
                "experiment": "e" * 16,
                "seed": 1,
                "tools": {"valgrind": HOSTILE},
            },
        )
    return sign(directory)


def sign(directory: Path) -> Path:
    """Give every file, also those changed by hand, its checksum and identity, as a run does."""
    path = directory / "experiment.json"
    _write_document(path, path)
    content = json.loads(path.read_text())["experiment"]
    with artefacts.bound(directory, Steps(content).identity_of):
        for path in sorted(directory.rglob("*.json")):
            if path.name != "experiment.json":
                _write_document(path, path)
        for path in sorted(directory.rglob("*.parquet")):
            told = tables.metadata_of(path.read_bytes())
            write_table(path, told["schema"], pq.read_table(path).to_pandas(), told["provenance"])
    return directory


def _write_document(source: Path, target: Path) -> None:
    document = json.loads(source.read_text())
    own = ("schema", "checksum", "of", "made_from")
    write_json(target, document["schema"], {key: value for key, value in document.items() if key not in own})


def _write_experiment(directory: Path, skeleton: bool) -> None:
    content = json.loads(load_experiment(ROOT / "configs" / "demo.yaml").model_dump_json())
    content["title"] = f"HPCG, made-up numbers {HOSTILE}"
    content["application"]["executable"] = "/somewhere/hpcg"
    content["application"]["parameters"]["note"] = HOSTILE_IMAGE
    content["nodes"] = NODES
    if not skeleton:
        content["application"] |= {"name": None, "command": ["/usr/bin/program", HOSTILE]}
    write_json(directory / "experiment.json", "experiment/1", {"digest": "e" * 16, "experiment": content})


def _write_profile(directory: Path, rng: np.random.Generator) -> None:
    reference = 4
    ranks = list(range(reference * RANKS_PER_NODE))
    inner = [rank for rank in ranks if 2 <= rank < 6]
    outer = [rank for rank in ranks if rank not in inner]
    rows = [
        {
            "nodes": nodes,
            "repetition": repetition,
            "node": rank // RANKS_PER_NODE,
            "rank": rank,
            "phase": phase,
            "seconds": 0.1,
            "instructions": 1e8 * (1.08 if rank in inner else 1.0) * (1 + 2e-4 * rng.standard_normal()),
            "cycles": 6e7 * (1 + 1e-3 * rng.standard_normal()),
            "branches": 1.4e7 * (1.03 if rank in inner else 1.0),
            "branch_misses": float("nan"),
            "loads": 3e7 * (1.05 if rank in inner else 1.0),
        }
        for nodes in (1, 2, 4)
        for repetition in (0, 1)
        for rank in range(nodes * RANKS_PER_NODE)
        for phase in PHASES
    ]
    write_table(directory / "profile/counters.parquet", "counters/1", pd.DataFrame(rows))
    features = ["instructions", "ipc", "branches", "loads"]
    members = {"0": inner, "1": outer}
    write_json(
        directory / "profile/rank-classes.json",
        "rank-classes/1",
        {
            "source": "callgrind",
            "source_reason": "hardware counters are refused on this host",
            "features": features,
            "noise": {"relative": dict.fromkeys(features, 0.005), "description": "made up"},
            "nodes_profiled": [1, 2, 4],
            "reference_nodes": reference,
            "classes": [
                {
                    "name": name,
                    "share": 0.5,
                    "ranks": own,
                    "centroid": {feature: 4e8 + 1e7 * n for n, feature in enumerate(features)},
                    "description": f"ranks in the {'interior' if name == '0' else 'corners'} {HOSTILE}",
                }
                for name, own in members.items()
            ],
            "rank_class": {str(rank): name for name, own in members.items() for rank in own},
            "representative_nodes": [0, 1],
            "coverage": 1.0,
            "stability": {"stable": False, "reasons": ["1 node has one class, 4 nodes have two"]},
            "assignment": {"fixed": {}, "shares": {"0": 0.5, "1": 0.5}},
        },
    )


def _cluster(mean: float, count: int, weight: float) -> dict[str, Any]:
    edges = np.linspace(0, 1, 41)
    return {
        "mean_s": mean,
        "count": count,
        "weight": weight,
        "cdf": {"time_s": list(mean * (0.9 + 0.2 * edges)), "probability": list(edges)},
    }


def _write_timings(directory: Path, mode: str, rng: np.random.Generator) -> None:
    rows, sequence = [], {rank: 0 for rank in range(RANKS_PER_NODE)}
    for rank in sequence:
        for _ in range(20):
            for phase, means in PHASES.items():
                order = PATTERN if len(means) == 4 else [int(rng.integers(len(means))) for _ in range(3)]
                for cluster in order:
                    rows.append(
                        {
                            "rank": rank,
                            "node": 0,
                            "sequence": sequence[rank],
                            "phase": phase,
                            "call_before": "MPI_Waitall@app.cpp:91 exchange_halo",
                            "call_after": f"MPI_Irecv@app.cpp:{100 + cluster} exchange_halo",
                            "compute_s": means[cluster] * float(rng.uniform(0.92, 1.08)),
                            "bytes": 2048,
                            "peer": 1,
                            "call_site": f"app.cpp:{100 + cluster} exchange_halo",
                            "labelled": " -> " not in phase,
                            "warm_up": False,
                            "Ir": 1e6,
                            "cycles_base": 0.4e6,
                            "cycles_memory": (0.3 + 0.2 * rank) * 1e6,
                        }
                    )
                    sequence[rank] += 1
    write_table(directory / f"nodesim/{mode}/segments.parquet", "segments/1", pd.DataFrame(rows))
    phases = [
        {
            "name": name,
            "count": 280 if len(means) == 4 else 120,
            "mean_s": float(np.mean(means)),
            "clusters": [_cluster(mean, 140 // len(means), 1 / len(means)) for mean in means],
            "pattern": {"kind": "sequence", "sequence": PATTERN, "repeat": 20, "agreement": 0.98, "prefix": 0}
            if len(means) == 4
            else {"kind": "weights"},
            "variance": {"between_ranks_s2": 1e-10, "within_rank_s2": 3e-10, "total_s2": 4e-10},
        }
        for name, means in PHASES.items()
    ]
    profile = {
        "application": {"name": "hpcg"},
        "engine": "valgrind",
        "engine_version": "3.19.0",
        "machine": "broadwell",
        "external": mode == "ext",
        "nodes": 4 if mode == "ext" else 1,
        "ranks": 8 if mode == "ext" else 2,
        "simulated_ranks": [0, 1],
        "compute_s": 1.0,
        "skipped_s": 0.03,
        "classes": [
            {"name": name, "share": 0.5, "simulated_ranks": [n], "phases": phases} for n, name in enumerate(("0", "1"))
        ],
        "provenance": {},
    }
    path = directory / f"nodesim/timing-profile-{mode}.json"
    write_timing_profile(path, TimingProfile.model_validate(profile))


def _write_projection(directory: Path, rng: np.random.Generator) -> None:
    projection, makespans, breakdown, links = [], [], [], []
    for t, technique in enumerate(TECHNIQUES):
        first = None
        for n, nodes in enumerate(NODES):
            times = (0.4 + 0.05 * t + (0.02 + 0.01 * t) * n) * (1 + 0.01 * rng.standard_normal(10))
            mean = float(times.mean())
            first = first or mean
            key = {"technique": technique, "nodes": nodes}
            projection.append(
                {
                    **key,
                    "ranks": nodes * RANKS_PER_NODE,
                    "replicas": len(times),
                    "time_s": mean,
                    "low_s": mean * 0.992,
                    "high_s": mean * 1.009,
                    "efficiency": first / mean,
                    "iteration_s": mean / 20,
                }
            )
            makespans += [{**key, "replica": r, "makespan_s": float(time)} for r, time in enumerate(times)]
            parts = {"compute": 0.4, "MPI_Allreduce": 0.02 * n, "MPI_Waitall": 0.008 * n + 0.02 * t, "MPI_Irecv": 0.001}
            scale = 0.98 * mean / sum(parts.values())
            breakdown += [
                {**key, "operation": k, "seconds": v * scale, "share": v * scale / (0.98 * mean)}
                for k, v in parts.items()
            ]
            links += [
                {
                    **key,
                    "class": name,
                    "links": 2.0 * nodes,
                    "bytes": 1e8 * (n + 1),
                    "busy_s": 0.01 * nodes * f,
                    "busy_share_max": 0.02 * (n + 1) * f,
                    "stall_s": 1e-4 * n,
                    "queue_mean_chunks": 1e-4 * n / mean,
                    "queue_max_bytes": 2048.0 * n,
                }
                for name, f in (("node to leaf", 1.0), ("leaf to spine", 0.4))
            ]
    for name, schema, rows in (
        ("projection", "projection/1", projection),
        ("makespans", "makespans/1", makespans),
        ("iterations", "iterations/1", _iterations(projection)),
        ("breakdown", "breakdown/1", breakdown),
        ("links", "link-load-summary/2", links),
        ("jobs", "jobs/1", _jobs(projection)),
        ("link_jobs", "link-job-summary/1", _link_jobs(links)),
        ("series", "link-series-summary/1", _series(projection)),
    ):
        write_table(directory / f"{name}.parquet", schema, pd.DataFrame(rows))


def _iterations(projection: list[dict[str, Any]]) -> list[dict[str, Any]]:
    shares = {"p05_s": 0.9, "p25_s": 0.95, "p50_s": 1.0, "p75_s": 1.05, "p95_s": 1.15, "p99_s": 1.3, "max_s": 1.5}
    return [
        {
            **{"technique": row["technique"], "nodes": row["nodes"], "iterations": 200.0},
            **{name: share * row["iteration_s"] for name, share in shares.items()},
            **{"compute_s": 0.8 * row["time_s"], "slowest_compute_s": 0.9 * row["time_s"]},
        }
        for row in projection
    ]


def _jobs(projection: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [
        {
            **{key: row[key] for key in ("technique", "nodes", "time_s", "low_s", "high_s")},
            **{"job": job, "background": job != "main", "iterations": 20.0, "messages": 1e5, "bytes": 3e8},
        }
        for row in projection
        for job in ("main", HOSTILE)
    ]


def _link_jobs(links: list[dict[str, Any]]) -> list[dict[str, Any]]:
    kept = ("technique", "nodes", "class")
    halved = ("bytes", "busy_s", "stall_s", "queue_mean_chunks")
    return [
        {**{key: row[key] for key in kept}, "job": job, **{key: row[key] / 2 for key in halved}}
        for row in links
        for job in ("main", HOSTILE)
    ]


def _series(projection: list[dict[str, Any]], intervals: int = 1200) -> list[dict[str, Any]]:
    """More intervals than a figure draws."""
    rows = []
    for row in (entry for entry in projection if entry["nodes"] == NODES[-1]):
        step = row["time_s"] / intervals
        for index in range(intervals):
            for name, load in (("node to leaf", 0.5), ("leaf to spine", 0.1)):
                share = load * (1 + (index // 100) % 2)
                rows.append(
                    {
                        **{"technique": row["technique"], "nodes": row["nodes"], "class": name},
                        **{"start_s": index * step, "end_s": (index + 1) * step, "busy_share": share},
                        **{"busy_share_max": None, "stall_s": 1e-6, "queue_bytes": 100.0 * index},
                    }
                )
    return rows
