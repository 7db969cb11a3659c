"""Engines charge the copy of an eager message: a ping-pong takes its time longer, up to the eager limit."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from manynode import process
from manynode.config.network import Network
from phase3_sst.point.run_file import network_description

LIMIT = 8192
COPIES = {"none": 0, "receiver": 1, "both": 2}


def half_round_trip(program: Path, folder: Path, eager_copy: str, size: int) -> float:
    network = Network.model_validate(
        {
            "name": "test",
            "topology": {"kind": "fat-tree", "children": [2], "parents": [1], "parallel_links": [1]},
            "host": {"eager_limit": f"{LIMIT} B", "eager_copy": eager_copy, "copy_bandwidth": "10 GB/s"},
        }
    )
    application = {"name": "patterns", "parameters": {"pattern": "ping-pong", "iterations": 1, "bytes": size}}
    run = {
        "schema": "network-run/2",
        "jobs": [{"application": application, "nodes": 2, "ranks_per_node": 1}],
        "network": network_description(network),
    }
    folder.mkdir()
    (folder / "run.json").write_text(json.dumps(run), encoding="utf-8")
    process.run([program, folder / "run.json", "--output", folder / "out"], what=program.name)
    result = json.loads((folder / "out" / "result.json").read_text(encoding="utf-8"))
    return float(result["replicas"][0]["makespan_s"]) / 2


@pytest.mark.parametrize("engine", ["fast", "simgrid"])
def test_a_ping_pong_takes_the_copies_longer(engine: str, build_dir: Path, tmp_path: Path) -> None:
    program = build_dir / "bin" / f"manynode-{engine}"
    for size in (1, 4096, LIMIT, LIMIT + 1):
        times = {kind: half_round_trip(program, tmp_path / f"{kind}-{size}", kind, size) for kind in COPIES}
        copy = size / 10e9 if size <= LIMIT else 0.0
        for kind, copies in COPIES.items():
            assert times[kind] - times["none"] == pytest.approx(copies * copy, abs=1e-11), (kind, size)
