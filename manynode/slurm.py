"""MPI jobs within a job of Slurm: what the launcher must find in its environment to place ranks on the job's nodes.

Snakemake's executor plugin removes Slurm's variables but the job's id from the environment of a job. Launchers that
find no list of nodes start all ranks on the node that they are on; the list is asked for again here.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Mapping

from manynode import process

_FIELDS = re.compile(r"\b(NodeList|NumNodes|NumTasks)=(\S+)")


def launcher_environment(environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return Slurm's variables that ``environment`` lacks; none outside a job of Slurm, or where they are there."""
    job = environment.get("SLURM_JOB_ID")
    if job is None or "SLURM_NODELIST" in environment or shutil.which("scontrol") is None:
        return {}
    words = ["scontrol", "show", "job", "--oneliner", job]
    return nodes_of(process.run(words, what="asking Slurm for the nodes of this job").output)


def nodes_of(shown: str) -> dict[str, str]:
    """Return the variables that a line of ``scontrol show job`` tells; none for a job on one node.

    Tasks are spread evenly, as rules ask for them: so many on each node as there are ranks on a node.
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
