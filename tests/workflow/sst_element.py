"""Runs the element library in a real SST on a small machine, and the same run file with the engine fast."""

from __future__ import annotations

import csv
import json
import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from manynode.launch import Flavour, detect_mpi, job_environment, launcher
from phase3_sst.engines.sst.run.sst_installation import simulator_of

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("MANYNODE_BUILD_DIR", ROOT / "build"))
LIBRARY = BUILD / "lib" / "sst" / "libmanynode.so"
MACHINE = ROOT / "tests" / "data" / "sst" / "one_router.py"
SST = shutil.which("sst")


def lacks() -> str | None:
    """Return what is missing for a run of SST with the library; None if nothing."""
    if SST is None:
        return "SST is not installed (no sst on PATH)"
    return None if LIBRARY.exists() else f"the engine sst is not part of this build ({LIBRARY} is not there)"


def lacks_mpi() -> str | None:
    """Return what is missing for a run with several processes."""
    if lacks() is not None:
        return lacks()
    built = json.loads((LIBRARY.parent / "built-against.json").read_text(encoding="utf-8"))
    return None if built["mpi_preload"] else "this SST was built without MPI"


def job(application: str, parameters: dict[str, Any], nodes: int, ranks_per_node: int, **more: Any) -> dict[str, Any]:
    """Return one job of a run file."""
    return {
        "application": {"name": application, "parameters": parameters},
        "nodes": nodes,
        "ranks_per_node": ranks_per_node,
        **more,
    }


def run_file(*jobs: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Return a run file with a machine of at most 64 nodes."""
    overhead = [{"from_bytes": 0, "seconds": 3e-7, "seconds_per_byte": 0.0}]
    return {
        "schema": "network-run/2",
        "seed": 7,
        "replicas": [0],
        "jobs": list(jobs),
        "network": {
            "topology": {"kind": "fat-tree", "children": [64], "parents": [1], "parallel_links": [1]},
            "link": {"bandwidth_Bps": 1.25e10, "latency_s": 1e-7},
            "switch_latency_s": 1e-7,
            "chunk_bytes": 2048,
            "host": {
                "overhead_send": overhead,
                "overhead_recv": overhead,
                "gap_s": 0.0,
                "eager_limit_bytes": 8192,
                "nic_bandwidth_Bps": 1.25e10,
                "nic_latency_s": 1e-9,
                "reduce_bandwidth_Bps": 1e10,
            },
            "intranode": {"latency_s": 1e-7, "bandwidth_Bps": 1e10},
        },
        **more,
    }


@dataclass(frozen=True)
class Use:
    """What a rank spent in one operation."""

    seconds: float
    calls: int
    bytes: int


Uses = dict[tuple[int, int, str], Use]  # job, rank, operation


def read_uses(paths: Iterator[Path]) -> Uses:
    """Read tables of ranks; each rank is in one of them."""
    uses: Uses = {}
    for path in paths:
        with path.open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                key = (int(row["job"]), int(row["rank"]), row["operation"])
                assert key not in uses, f"{key} twice"
                uses[key] = Use(float(row["seconds"]), int(row["calls"]), int(row["bytes"]))
    return uses


@dataclass(frozen=True)
class Outcome:
    """What a run of SST left."""

    done: subprocess.CompletedProcess[str]
    folder: Path

    def uses(self) -> Uses:
        """Return the uses of all ranks."""
        return read_uses(iter(sorted(self.folder.glob("ranks-*.csv"))))

    def parts(self) -> list[dict[str, Any]]:
        """Return the parts of all processes."""
        return [json.loads(path.read_text(encoding="utf-8")) for path in sorted(self.folder.glob("part-*.json"))]


def sst_command(
    run: dict[str, Any],
    folder: Path,
    *,
    collectives: str = "expanded",
    threads: int = 1,
    processes: int = 1,
    options: Sequence[str] = (),
) -> list[str]:
    """Write the run file and return the command that simulates it with SST into ``folder / "sst"``."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "run.json").write_text(json.dumps(run), encoding="utf-8")
    command = [str(SST), "-n", str(threads), *options, f"--add-lib-path={LIBRARY.parent}", str(MACHINE), "--"]
    command += [str(folder / "run.json"), str(folder / "sst"), collectives]
    if processes > 1:
        built = json.loads((LIBRARY.parent / "built-against.json").read_text(encoding="utf-8"))
        preload = ["env", f"LD_PRELOAD={built['mpi_preload']}"]
        command = [*launcher(_mpi()), "-n", str(processes), *preload, *command]
    return command


def _mpi() -> Flavour:
    """Return the MPI that SST is linked with."""
    return detect_mpi(str(simulator_of(str(Path(str(SST)).resolve().parent.parent))))


def environment(**more: str) -> dict[str, str]:
    """Return the environment for SST."""
    # UCX, which MPICH may use, answers a crash with a handler that can hang.
    found = {**os.environ, "UCX_HANDLE_ERRORS": "none", **more}
    return found if lacks_mpi() else {**found, **job_environment(_mpi())}


def simulate(run: dict[str, Any], folder: Path, **how: Any) -> Outcome:
    """Simulate with SST."""
    command = sst_command(run, folder, **how)
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=300, cwd=folder, env=environment(), check=False
    )
    return Outcome(done, folder / "sst")


def fast(run: dict[str, Any], folder: Path) -> tuple[dict[str, Any], Uses]:
    """Simulate with the engine fast; return the only replica of the result and the uses."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "run.json").write_text(json.dumps(run), encoding="utf-8")
    command = [str(BUILD / "bin" / "manynode-fast"), str(folder / "run.json"), "--output", str(folder / "fast")]
    subprocess.run(command, check=True, timeout=300)
    result = json.loads((folder / "fast" / "result.json").read_text(encoding="utf-8"))
    return result["replicas"][0], read_uses(iter([folder / "fast" / "ranks.csv"]))
