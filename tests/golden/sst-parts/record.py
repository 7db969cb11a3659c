"""Records the output files of two processes of a real SST (PYTHONPATH=tests/unit/phase3).

HPCG without compute times, 3 iterations, 4 nodes of 2 ranks on a fat-tree of 4 hosts.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from pathlib import Path

from phase3_cases import experiment

from manynode import process
from phase3_sst.engines.sst.run.failure import failure_of
from phase3_sst.engines.sst.run.simulation import Simulation
from phase3_sst.engines.sst.run.sst_command import environment, sst_command
from phase3_sst.engines.sst.run.sst_installation import find_sst
from phase3_sst.point.point_experiment import PointExperiment
from phase3_sst.point.run_file import run_of

HERE = Path(__file__).resolve().parent


def main() -> None:
    """Run SST and keep its parts."""
    content = experiment()
    tree = {"children": [2, 2], "parents": [1, 2], "parallel_links": [1, 1]}
    content["network"]["topology"].update(tree)
    parameters = {"nx": 16, "ny": 16, "nz": 16, "iterations": 3}
    job = {"name": "main", "application": {"name": "hpcg", "parameters": parameters}, "nodes": 4, "ranks_per_node": 2}
    known = PointExperiment.read(content)
    run = run_of(known.network, known.simulate.collectives, [job], seed=1, replicas=[3])
    settings = known.simulate.sst.model_copy(update={"processes": 2})
    installation = find_sst(settings)
    with tempfile.TemporaryDirectory() as name:
        simulation = Simulation(run, Path(name) / "run", Path(name) / "log")
        command = sst_command(installation, settings, simulation.prepare(settings), simulation.parts)
        process.run_together(
            [command],
            what="sst",
            failure=lambda ended: failure_of(ended, "sst"),
            env=environment(installation, settings),
        )
        for path in simulation.parts.iterdir():
            shutil.copyfile(path, HERE / path.name)
        recorded = {"sst_version": installation.engine_version, "run": run, "sst": simulation.content["sst"]}
        (HERE / "run.json").write_text(json.dumps(recorded, indent=1) + "\n")


if __name__ == "__main__":
    main()
