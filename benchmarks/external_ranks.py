"""Weigh the external ranks of a simulated node: processor time of the job with them over that of the node alone.

SNAP with 16 ranks a node under the engine ``qemu``, one node of four and a node that is the whole job. External ranks
run natively and wait for simulated ones nearly all the time; what they take beyond their own work is their looking for
messages (``phase2_nodesim/markers/polite.c``). The figure counts the processor time of all ranks.
"""

from __future__ import annotations

from typing import Any

from _figure import figure
from _node_run import need, node_segments, shipped_machine

from manynode.config.experiment import NodesimSection

PARAMETERS = {"nx": 400, "ny": 4, "nz": 4, "chunk": 50, "angles": 2, "groups": 2, "outers": 2, "inners": 1}
RANKS, NODES = 16, 4
MOST = 2.0


def figures() -> list[dict[str, Any]]:
    """Return how many times the processor time of the node alone the job with external ranks takes."""
    need("qemu")
    machine, settings = shipped_machine("broadwell"), NodesimSection(engine="qemu")
    alone, job = (
        node_segments("snap", PARAMETERS, machine, settings, ranks=RANKS, nodes=nodes)[1] for nodes in (1, NODES)
    )
    print(f"alone {alone:.0f} s, with {(NODES - 1) * RANKS} external ranks {job:.0f} s of processor time")
    return [figure(f"SNAP, {RANKS} of {NODES * RANKS} ranks simulated: time over alone", job / alone, "", MOST, "<=")]


if __name__ == "__main__":
    for entry in figures():
        print(f"{entry['name']}: {entry['value']:.2f}, {'holds' if entry['holds'] else 'does not hold'}")
