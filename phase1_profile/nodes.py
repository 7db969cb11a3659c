"""Representative nodes: the nodes to simulate in order to cover every class of ranks, or a given share of the ranks.

Where the phases that each rank executes are known beforehand, every phase of every class is on one of them, too.

Nodes, not ranks, are chosen, because a node is simulated whole (Eyerman et al., section 3.4). With few classes the
result is exact: the fewest nodes; ties go to the lowest node numbers. With much to cover it is the greedy set cover.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from manynode.errors import InputError

EXACT = 12


@dataclass(frozen=True)
class Cover:
    """The chosen nodes, ascending; the share of ranks whose class is on one of them; the classes left out."""

    nodes: tuple[int, ...]
    coverage: float
    missing: tuple[str, ...]


def representative_nodes(
    class_of_rank: Mapping[int, str],
    node_of_rank: Mapping[int, int],
    coverage: float = 1.0,
    phases_of_rank: Mapping[int, Collection[str]] | None = None,
) -> Cover:
    """Return the fewest nodes whose classes hold at least ``coverage`` (0..1) of all ranks.

    With ``phases_of_rank``, ranks of each class execute all of its phases on these nodes.
    """
    if not class_of_rank or set(class_of_rank) != set(node_of_rank):
        raise InputError(
            "representative nodes cannot be chosen",
            found=f"{len(class_of_rank)} ranks with a class, {len(node_of_rank)} ranks with a node",
            allowed="a class and a node for every rank",
            remedy="profile the application again",
        )
    sizes = Counter(class_of_rank.values())
    names = sorted(sizes)
    bit = {name: 1 << i for i, name in enumerate(names)}
    masks: dict[int, int] = {}
    for rank, node in node_of_rank.items():
        masks[node] = masks.get(node, 0) | bit[class_of_rank[rank]]
    holders = _holders(class_of_rank, node_of_rank, phases_of_rank or {})
    required = 0
    for number, nodes_with_it in enumerate(holders, start=len(names)):
        required |= 1 << number
        for node in nodes_with_it:
            masks[node] |= 1 << number
    # Of nodes with the same classes, only the lowest can be in the answer.
    lowest: dict[int, int] = {}
    for node in sorted(masks):
        lowest.setdefault(masks[node], node)
    candidates = sorted((node, mask) for mask, node in lowest.items())
    ranks = len(class_of_rank)

    def covered(mask: int) -> int:
        return sum(sizes[name] for name in names if mask & bit[name])

    def lacking(mask: int) -> int:
        return max(0, needed - covered(mask)) + (required & ~mask).bit_count()

    # Whole ranks: 0.98 of 50 ranks is 49 although 0.98 * 50 is 49.00000000000001 in floating point.
    needed = min(ranks, -int(-(coverage * ranks - 1e-9) // 1))
    if len(names) + len(holders) <= EXACT:
        nodes, mask = _exact(candidates, lambda m: not lacking(m))
    else:
        nodes, mask = _greedy(candidates, lacking)
    missing = tuple(name for name in names if not mask & bit[name])
    return Cover(nodes, covered(mask) / ranks, missing)


def _holders(
    class_of_rank: Mapping[int, str], node_of_rank: Mapping[int, int], phases_of_rank: Mapping[int, Collection[str]]
) -> list[frozenset[int]]:
    """Return the sets of nodes of which each needs a representative: those with a phase of a class.

    A set that contains another one needs none of its own.
    """
    having: dict[tuple[str, str], set[int]] = {}
    for rank, phases in phases_of_rank.items():
        for phase in phases:
            having.setdefault((class_of_rank[rank], phase), set()).add(node_of_rank[rank])
    found: list[frozenset[int]] = []
    for nodes in sorted(set(map(frozenset, having.values())), key=lambda nodes: (len(nodes), sorted(nodes))):
        if not any(smaller <= nodes for smaller in found):
            found.append(nodes)
    return found


def _exact(candidates: list[tuple[int, int]], enough: Callable[[int], bool]) -> tuple[tuple[int, ...], int]:
    """Breadth first over sets of classes: after step k, each reachable set with its lowest k nodes."""
    level: dict[int, tuple[int, ...]] = {0: ()}
    seen = {0}
    while True:
        done = [(nodes, mask) for mask, nodes in level.items() if enough(mask)]
        if done:
            return min(done)
        following: dict[int, tuple[int, ...]] = {}
        for mask, nodes in level.items():
            for node, more in candidates:
                union = mask | more
                if union in seen:
                    continue
                chosen = tuple(sorted((*nodes, node)))
                if union not in following or chosen < following[union]:
                    following[union] = chosen
        seen.update(following)
        level = following


def _greedy(candidates: list[tuple[int, int]], lacking: Callable[[int], int]) -> tuple[tuple[int, ...], int]:
    """Take the node after which least is lacking, until nothing is (Chvatal, Math. Oper. Res. 4(3), 1979)."""
    mask = 0
    nodes: list[int] = []
    while lacking(mask):
        node, more = min(candidates, key=lambda entry: (lacking(mask | entry[1]), entry[0]))
        mask |= more
        nodes.append(node)
    return tuple(sorted(nodes)), mask
