"""The cables between the groups of a dragonfly, as ``phase3_sst/machine/topologies/global_cables.hpp`` assigns them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class GroupCables:
    """``groups`` groups with ``ports`` ports each for cables to the other groups."""

    groups: int
    ports: int

    def in_use(self) -> int:
        """Return the ports of a group that have a cable: all, or one less if the groups do not pair up."""
        if self.groups == 1:
            return 0
        return self.ports - (self.ports % (self.groups - 1)) % 2 * (self.groups % 2)

    def peers(self) -> Sequence[int]:
        """Return the distance in groups that each port of a group spans.

        The ports go round the other groups. Remaining ports lead to the nearest groups on both sides and to the
        opposite group.
        """
        if self.groups == 1:
            return []
        rounds, further = divmod(self.in_use(), self.groups - 1)
        near = further // 2
        opposite = [self.groups // 2] if further % 2 else []
        rest = [*range(1, near + 1), *opposite, *range(self.groups - near, self.groups)]
        return [*range(1, self.groups)] * rounds + rest

    def between(self) -> int:
        """Return the cables between the low and the high half of the groups, without a group in the middle."""
        middle = self.groups // 2
        cables = [0] * self.groups
        for distance in self.peers():
            cables[distance] += 1
        return sum(cables[high - low] for low in range(middle) for high in range(self.groups - middle, self.groups))

    def of_middle(self, switches: int, ports: int) -> tuple[list[int], list[int]]:
        """Return the cables of each switch of the middle group to the groups above and below it.

        ``switches`` have ``ports`` ports each. Above means nearer than the wrap.
        """
        above, below = [0] * switches, [0] * switches
        for port, distance in enumerate(self.peers()):
            (above if distance <= self.groups // 2 else below)[port // ports] += 1
        return above, below

    def refusal(self, switches: int, key: str) -> str | None:
        """Return why the groups cannot all be joined, None if they can; ``key`` gives the ports of a switch."""
        if self.groups - 1 <= self.ports:
            return None
        least = -(-(self.groups - 1) // switches)
        return (
            f"{key}: {switches} switches with {self.ports // switches} each cannot connect a group to the "
            f"{self.groups - 1} others; raise {key} to at least {least} or lower groups"
        )
