"""Turns the hosts of ranks, as a job's host list has them, into a placement.

In: rank -> number or name of the node. Out: the keys of ``simulate: placement``: the nodes in the order of their
first rank, and the slot of each rank. A slot says on which of the job's nodes a rank is, and which of the node's ranks
it is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from manynode.errors import InputError


def placement_of(hosts: Mapping[int, int | str], where: str) -> dict[str, Any]:
    """Return the placement of rank -> host; ranks without gaps, and as many of them on each host."""
    missing = sorted(set(range(len(hosts))) - set(hosts))
    if missing:
        raise InputError(
            "a rank has no host",
            where=where,
            found=f"{len(hosts)} ranks up to {max(hosts)}, without {missing[0]}",
            allowed="each rank from 0 on once",
        )
    by_rank = [hosts[rank] for rank in range(len(hosts))]
    counts = Counter(by_rank)
    each = max(counts.values())
    fewer = next((host for host, count in counts.items() if count != each), None)
    if fewer is not None:
        raise InputError(
            "the hosts have different numbers of ranks",
            where=where,
            found=f"{counts[fewer]} ranks on host {fewer}, {each} on others",
            allowed="as many ranks on each host",
        )
    order = {host: index for index, host in enumerate(counts)}
    taken: Counter[int | str] = Counter()
    slots = []
    for host in by_rank:
        slots.append(order[host] * each + taken[host])
        taken[host] += 1
    return {"nodes": "listed", "hosts": list(order), "rank_order": "listed", "slots": slots}
