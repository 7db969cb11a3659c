"""The built-in engine: writes the run's description, starts ``manynode-fast``, brings its tables into the contract."""

from __future__ import annotations

import json
import shutil
import tempfile
from pathlib import Path
from typing import Any

from manynode import process, tables
from manynode.errors import EngineFailedError, EngineMissingError, ManynodeError, UsageError
from manynode.paths import native_program
from manynode.probe import Probe
from phase3_sst.engines.interface import LINKS_SCHEMA, RANKS_SCHEMA, RESULT_SCHEMA, Point, engines

PROGRAM = "manynode-fast"
RUN_SCHEMA = "network-run/1"


def run_description(point: Point) -> dict[str, Any]:
    """Return the engine's input for ``point`` (SI units)."""
    experiment = point.experiment
    network = experiment["network"]
    host = network["host"]
    return {
        "schema": RUN_SCHEMA,
        "application": {
            "name": experiment["application"]["name"],
            "parameters": experiment["application"]["parameters"],
        },
        "nodes": point.nodes,
        "ranks_per_node": experiment["ranks_per_node"],
        "network": {
            "topology": network["topology"],
            "link_bandwidth_Bps": network["link"]["bandwidth"],
            "link_latency_s": network["link"]["latency"],
            "switch_latency_s": network["switch_latency"],
            "chunk_bytes": round(network["chunk"]),
            "host": {
                "overhead_send_s": host["overhead_send"],
                "overhead_recv_s": host["overhead_recv"],
                "overhead_per_byte_s": host["overhead_per_byte"],
                "gap_s": host["gap"],
                "eager_limit_bytes": round(host["eager_limit"]),
                "nic_bandwidth_Bps": host["nic_bandwidth"],
                "nic_latency_s": host["nic_latency"],
                "reduce_bandwidth_Bps": host["reduce_bandwidth"],
            },
            "intranode": {
                "latency_s": network["intranode"]["latency"],
                "bandwidth_Bps": network["intranode"]["bandwidth"],
            },
        },
        "collectives": experiment["simulate"]["collectives"],
        "timing_profile": str(point.timing_profile.resolve()),
        # A node that ran alone never executed what only external communication brings about: it takes no time there.
        "missing_is_zero": point.technique.startswith("no-ext"),
        "class_of_rank": list(point.class_of_rank),
        "constant": point.technique.endswith("const"),
        "seed": point.seed,
        "replicas": list(range(experiment["simulate"]["replicas"])),
    }


@engines.register("fast")
class FastEngine:
    """Event-driven LogGPS hosts on a chunk-level network; see ``phase3_sst/fast/README.md``."""

    def probe(self) -> Probe:
        """Look for the program in the native build and ask its version."""
        purpose = "phase 3: the built-in network simulator"
        try:
            path = native_program(PROGRAM)
            version = process.run([path, "--version"], what=PROGRAM).output.strip()
        except ManynodeError as error:
            return Probe(False, "", "", purpose, error.remedy or "run 'make build'")
        return Probe(True, str(path), version, purpose, "")

    def simulate(self, point: Point, directory: Path) -> None:
        """Simulate all replicas of ``point``."""
        import pandas as pd

        program = native_program(PROGRAM)
        directory.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".fast.", dir=directory) as name:
            scratch = Path(name)
            description = scratch / "run.json"
            description.write_text(json.dumps(run_description(point)), encoding="utf-8")
            completed = process.run(
                [program, description, "--output", scratch / "out"], what="the fast engine", check=False
            )
            if completed.returncode != 0:
                raise engine_error(completed, "the fast engine")
            out = scratch / "out"
            tables.write_table(
                directory / "ranks.parquet", RANKS_SCHEMA, pd.read_csv(out / "ranks.csv", dtype={"operation": str})
            )
            links = pd.read_csv(out / "links.csv", dtype={"class": str, "source": str, "target": str})
            tables.write_table(directory / "links.parquet", LINKS_SCHEMA, links)
            # The result last: its presence says that the other two are whole.
            tables.read_json(out / "result.json", RESULT_SCHEMA)
            with tables.replacing(directory / "result.json") as part:
                shutil.copyfile(out / "result.json", part)


def engine_error(completed: process.Completed, what: str) -> ManynodeError:
    """Turn the JSON line that a native program writes to stderr into an error; else show its last lines."""
    for line in reversed(completed.output.splitlines()):
        if not line.startswith('{"error"'):
            continue
        try:
            fields = json.loads(line)["error"]
        except (ValueError, KeyError):
            break
        kind = UsageError if completed.returncode == 2 else EngineFailedError
        known = {key: fields.get(key) or None for key in ("where", "found", "allowed", "remedy", "details")}
        return kind(f"{what}: {fields.get('what', 'failed')}", **known)
    if completed.returncode == 127:
        return EngineMissingError(f"{what} could not be loaded", details=completed.output, remedy="run 'make build'")
    return EngineFailedError(
        f"{what} failed",
        found=f"exit code {completed.returncode}"
        if completed.returncode >= 0
        else f"killed by signal {-completed.returncode} (9 is often the system out of memory)",
        remedy="run again; finished points are kept",
        details="\n".join(completed.output.splitlines()[-process.LAST_LINES :]),
    )
