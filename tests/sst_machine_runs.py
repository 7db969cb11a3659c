"""Run files of the sst engine's machine for tests, and SST itself where one is installed."""

from __future__ import annotations

import copy
import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
MACHINE = ROOT / "phase3_sst" / "engines" / "sst" / "machine" / "machine.py"
FULL_TREE = {"kind": "fat-tree", "children": [4, 4], "parents": [1, 4], "parallel_links": [1, 1]}

_NETWORK: dict[str, Any] = {
    "topology": FULL_TREE,
    "link": {"bandwidth_Bps": 12.5e9, "latency_s": 90e-9},
    "link_classes": {},
    "switch_latency_s": 110e-9,
    "chunk_bytes": 2048,
    "contention": True,
    "host": {
        "overhead_send": [{"from_bytes": 0, "seconds": 350e-9, "seconds_per_byte": 0.02e-9}],
        "overhead_recv": [{"from_bytes": 0, "seconds": 350e-9, "seconds_per_byte": 0.02e-9}],
        "gap_s": 10e-9,
        "eager_limit_bytes": 8192,
        "nic_bandwidth_Bps": 12.5e9,
        "nic_latency_s": 150e-9,
        "reduce_bandwidth_Bps": 5e9,
        "rails": 1,
        "rail_choice": "by-rank",
    },
    "intranode": {"latency_s": 300e-9, "bandwidth_Bps": 8e9},
}


def network(**changes: Any) -> dict[str, Any]:
    """Return the ``network`` of a run file; ``changes`` are members of it or of its ``host``."""
    found = copy.deepcopy(_NETWORK)
    for key, value in changes.items():
        (found["host"] if key in found["host"] else found)[key] = value
    return found


def at_rate(bytes_per_second: float, latency_s: float = 90e-9, **changes: Any) -> dict[str, Any]:
    """Return a network whose links and NICs have this rate, and whose hosts need no time per byte."""
    overhead = [{"from_bytes": 0, "seconds": 350e-9, "seconds_per_byte": 0.0}]
    link = {"bandwidth_Bps": bytes_per_second, "latency_s": latency_s}
    return network(
        link=link, nic_bandwidth_Bps=bytes_per_second, overhead_send=overhead, overhead_recv=overhead, **changes
    )


def job(hosts: list[int], ranks_per_node: int = 1, **members: Any) -> dict[str, Any]:
    """Return a job of a run file."""
    return {
        "name": "main",
        "application": {"name": "patterns", "parameters": {}},
        "nodes": len(hosts),
        "ranks_per_node": ranks_per_node,
        "hosts": hosts,
        **members,
    }


def run_content(net: dict[str, Any], *jobs: dict[str, Any], **sst: Any) -> dict[str, Any]:
    """Return a file ``sst-run/1``; ``counters`` belongs to the run, the other members to ``sst``."""
    described = {"schema": "network-run/2", "jobs": list(jobs), "network": net, "seed": 1, "replicas": [0]}
    if "counters" in sst:
        described["counters"] = sst.pop("counters")
    return {"schema": "sst-run/1", "run": described, "sst": sst, "parts": "."}


def stock(*motifs: tuple[str, dict[str, Any]]) -> dict[str, Any]:
    """Return the ``extra_parameters`` that run ember's own motifs in place of a skeleton."""
    parameters: dict[str, Any] = {"motif_count": len(motifs), "verbose": 1}
    for number, (name, arguments) in enumerate(motifs):
        parameters[f"motif{number}.name"] = f"ember.{name}Motif"
        parameters.update({f"motif{number}.arg.{key}": str(value) for key, value in arguments.items()})
    return {"ember.engine": parameters}


def library_folder() -> Path:
    """Return the folder of the project's element libraries."""
    return Path(os.environ.get("MANYNODE_BUILD_DIR", ROOT / "build")) / "lib" / "sst"


def lacking() -> str:
    """Return what lacks for a run of SST, empty when nothing does."""
    if shutil.which("sst") is None:
        return "no sst on PATH"
    if not (library_folder() / "libmanynodelink.so").is_file():
        return "libmanynodelink.so is not built: there was no sst-config"
    return ""


def run_sst(content: dict[str, Any], folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Run SST on ``content`` in ``folder``, which gets its statistics."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "run.json").write_text(json.dumps(content))
    command = ["sst", f"--add-lib-path={library_folder()}", *options, str(MACHINE), "--", "run.json", "."]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300, check=False)
