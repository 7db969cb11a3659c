"""The average number of passages over each link by messages between nodes, to turn link waiting into message delay."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import permutations

from manynode.config.network import Network
from phase3_sst.studies.congestion.routes import Pair, ends_of, possible_paths

# Pairs whose paths are asked for at once; with adaptive routing, a pair may have tens of thousands.
_AT_ONCE = 250


@dataclass(frozen=True)
class Passages:
    """Mean over pairs of nodes: links passed by class, and passages over each link, on direct paths and on detours.

    A pair's paths are equally likely within each of the two groups.
    """

    links: Mapping[str, float]
    direct: Mapping[str, float]
    detour: Mapping[str, float]


@dataclass
class Routes:
    """The paths between nodes of a network, cached."""

    network: Network
    _kept: dict[Pair, Passages] = field(default_factory=dict)

    @cached_property
    def kinds(self) -> Mapping[str, str]:
        """Link -> its class in the model; both directions of a ring are one class."""
        classes = possible_paths(self.network, []).classes
        return {link: name.removesuffix("-plus").removesuffix("-minus") for link, name in classes.items()}

    def ends(self) -> set[str]:
        """Return the names of all nodes and switches."""
        return {end for link in self.kinds for end in ends_of(link)}

    def learn(self, pairs: Iterable[Pair]) -> None:
        """Find the passages of ``pairs`` of nodes. Asking for many at once is faster."""
        unknown = sorted(set(pairs) - self._kept.keys())
        for first in range(0, len(unknown), _AT_ONCE):
            found = possible_paths(self.network, unknown[first : first + _AT_ONCE])
            self._kept.update({pair: self._of(ways) for pair, ways in found.of.items()})

    def between(self, pairs: Iterable[Pair]) -> Passages:
        """Return the passages of messages between ``pairs`` of nodes (source, target), all equally likely."""
        chosen = list(pairs)
        self.learn(chosen)
        links: defaultdict[str, float] = defaultdict(float)
        direct: defaultdict[str, float] = defaultdict(float)
        detour: defaultdict[str, float] = defaultdict(float)
        for pair in chosen:
            one = self._kept[pair]
            for whole, part in ((links, one.links), (direct, one.direct), (detour, one.detour)):
                for name, number in part.items():
                    whole[name] += number / len(chosen)
        return Passages(links, direct, detour)

    def among(self, nodes: Sequence[int]) -> Passages:
        """Return the passages of messages between any two of ``nodes``."""
        return self.between(permutations(nodes, 2))

    def _of(self, ways: Sequence[Sequence[str]]) -> Passages:
        counts = [Counter(self.kinds[link] for link in way) for way in ways]
        # A detour passes more links between groups than necessary or, within a group, more links.
        lengths = [(count["global"], len(way)) for count, way in zip(counts, ways, strict=True)]
        fewest = min(lengths)
        kept = [length[0] == fewest[0] and (fewest[0] > 0 or length == fewest) for length in lengths]
        direct = [way for way, is_direct in zip(ways, kept, strict=True) if is_direct]
        detour = [way for way, is_direct in zip(ways, kept, strict=True) if not is_direct]
        links = Counter(self.kinds[link] for way in direct for link in way)
        return Passages({kind: n / len(direct) for kind, n in links.items()}, _shares(direct), _shares(detour))


def _shares(ways: Sequence[Sequence[str]]) -> dict[str, float]:
    return {link: n / len(ways) for link, n in Counter(link for way in ways for link in way).items()}
