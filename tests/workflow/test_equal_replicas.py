"""Where nothing is drawn, the native engines simulate one replica for all of them; where something is, each of them."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from manynode.config.network import Network
from manynode.config.resolved import read_yaml
from manynode.config.simulate import CollectivesSection
from manynode.paths import ROOT
from phase3_sst.point.run_file import run_of

NODES = 4
REPLICAS = [3, 1, 2]
PATTERNS = {"a sequence": {"kind": "sequence", "sequence": [0, 1, 1]}, "weights": {"kind": "weights"}}


def network(routing: str) -> Network:
    content = read_yaml(ROOT / "configs" / "networks" / "opa100-fat-tree.yaml", "the network")
    content["topology"]["routing"] = routing
    return Network.model_validate(content)


def profile(folder: Path, pattern: str) -> Path:
    clusters = [
        {"mean_s": mean, "count": 1, "cdf": {"time_s": [mean / 2, 2 * mean], "probability": [0.0, 1.0]}}
        for mean in (3e-6, 1e-6)
    ]
    names = ["setup", "initial", "zero", "pack", "symgs", "residual", "dot", "direction", "spmv", "update", "checksum"]
    phases = [{"name": name, "clusters": clusters, "pattern": PATTERNS[pattern]} for name in names]
    content = {"schema": "timing-profile/1", "version": 1, "classes": [{"name": "all", "phases": phases}]}
    path = folder / "profile.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def simulate(machine: Network, times: Path | None, folder: Path, build_dir: Path, **job: Any) -> tuple[list[int], Path]:
    """Simulate HPCG with several replicas; return which of them were simulated, and the folder of the results."""
    settings = {"name": "main", "application": {"name": "hpcg", "parameters": {"nx": 8, "iterations": 2}}}
    settings |= {"nodes": NODES, "ranks_per_node": 2, "timing_profile": times and str(times), **job}
    run = run_of(machine, CollectivesSection(), [settings], seed=1, replicas=REPLICAS)
    (folder / "run.json").write_text(json.dumps(run), encoding="utf-8")
    command = [build_dir / "bin" / "manynode-fast", folder / "run.json", "--output", folder / "out", "--progress"]
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=60)
    ends = [line for line in done.stderr.splitlines() if f" {NODES * 2} of {NODES * 2} ranks finished" in line]
    return [int(line.split()[1].rstrip(":")) for line in ends], folder / "out"


@pytest.mark.parametrize("times", ["a sequence", "weights", None])
def test_without_draws_one_replica_is_all_of_them(times: str | None, tmp_path: Path, build_dir: Path) -> None:
    written = profile(tmp_path, times) if times else None
    simulated, out = simulate(network("d-mod-k"), written, tmp_path, build_dir, constant=True)
    assert simulated == REPLICAS[:1]
    replicas = json.loads((out / "result.json").read_text())["replicas"]
    assert [one.pop("replica") for one in replicas] == REPLICAS
    assert replicas[0] == replicas[1] == replicas[2]
    for name in ("ranks", "links", "link_jobs"):
        table = pd.read_csv(out / f"{name}.csv")
        first, *others = (table[table["replica"] == one].drop(columns="replica").to_numpy() for one in REPLICAS)
        assert len(first) > 0 and all((first == other).all() for other in others), name


@pytest.mark.parametrize(
    ("routing", "pattern", "constant"),
    [
        ("d-mod-k", "a sequence", False),
        ("d-mod-k", "weights", False),
        ("adaptive", "a sequence", True),
    ],
)
def test_with_draws_each_replica_is_simulated(
    routing: str, pattern: str, constant: bool, tmp_path: Path, build_dir: Path
) -> None:
    machine = network(routing)
    simulated, _ = simulate(machine, profile(tmp_path, pattern), tmp_path, build_dir, constant=constant)
    assert simulated == REPLICAS
