"""MPI jobs within a Slurm job: the environment that a launcher needs to place ranks on the job's nodes.

Snakemake's executor plugin removes all Slurm variables but the job's id from the environment of a job. Without a node
list, launchers start all ranks on their own node; this module asks Slurm for the list again.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Mapping

from manynode import process

_FIELDS = re.compile(r"\b(NodeList|NumNodes|NumTasks)=(\S+)")


def launcher_environment(environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return the Slurm variables that ``environment`` lacks; none outside a Slurm job, or if they are set."""
    job = environment.get("SLURM_JOB_ID")
    if job is None or "SLURM_NODELIST" in environment or shutil.which("scontrol") is None:
        return {}
    words = ["scontrol", "show", "job", "--oneliner", job]
    return nodes_of(process.run(words, what="asking Slurm for the nodes of this job").output)


def nodes_of(shown: str) -> dict[str, str]:
    """Return the variables from a line of ``scontrol show job``; none for a job on one node.

    Tasks are spread evenly, as the rules request them: each node has as many tasks as ranks.
    """
    fields = dict(_FIELDS.findall(shown))
    if not {"NodeList", "NumNodes", "NumTasks"} <= fields.keys():
        return {}
    # A job may ask for a range of nodes: 2-4.
    nodes, tasks = int(fields["NumNodes"].split("-")[0]), int(fields["NumTasks"])
    if nodes < 2:
        return {}
    each = -(-tasks // nodes)
    return {
        "SLURM_NODELIST": fields["NodeList"],
        "SLURM_JOB_NODELIST": fields["NodeList"],
        "SLURM_NNODES": str(nodes),
        "SLURM_JOB_NUM_NODES": str(nodes),
        "SLURM_TASKS_PER_NODE": f"{each}(x{nodes})",
    }
