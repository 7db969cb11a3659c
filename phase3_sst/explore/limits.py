"""What one server may take: questions that wait, ranks and replicas of a point, cores and memory.

A question over a limit is refused with words before anything runs.
"""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, field

from manynode.config.resolved import Resolved
from manynode.errors import ManynodeError, UsageError
from phase3_sst.analysis.estimates.step_resources import MORE_MEMORY, native_bytes
from phase3_sst.analysis.estimates.trial import bare_run
from phase3_sst.point.contract import engine_of
from phase3_sst.point.point_experiment import PointExperiment

# Half of the memory is left to everything else.
_SHARE_OF_MEMORY = 0.5


def _memory_bytes() -> float:
    return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")) * _SHARE_OF_MEMORY


@dataclass(frozen=True)
class Limits:
    """``waiting`` questions at most wait or run; a point has at most ``rank_replicas`` (ranks times replicas).

    ``memory_bytes`` is for all processes of a server together.
    """

    waiting: int = 200
    rank_replicas: int = 3_000_000
    memory_bytes: float = field(default_factory=_memory_bytes)

    def check_waiting(self, waiting: int) -> None:
        """Refuse another question when too many wait."""
        if waiting >= self.waiting:
            raise UsageError(
                "too many questions wait",
                found=f"{waiting} questions",
                allowed=f"at most {self.waiting}",
                remedy="wait until some are answered, or cancel them",
            )

    def check_point(self, resolved: Resolved, cores: int) -> None:
        """Refuse a point that takes too long, too many cores or too much memory."""
        nodes = max(resolved.nodes)
        ranks = nodes * resolved.ranks_per_node + sum(j.nodes * j.ranks_per_node for j in resolved.simulate.jobs)
        replicas = resolved.simulate.replicas + resolved.simulate.profile_bootstrap
        if ranks * replicas > self.rank_replicas:
            raise UsageError(
                "the point is too large to wait for in a browser",
                where=f"{nodes} nodes",
                found=f"{ranks:,} ranks x {replicas:,} replicas = {ranks * replicas:,}",
                allowed=f"at most {self.rank_replicas:,}",
                remedy="ask for fewer replicas or nodes, or export the experiment and run it: manynode run",
            )
        each = resolved.simulate.cores_of_replica()
        if each > cores:
            raise UsageError(
                "a replica needs more cores than the explorer has",
                where=f"simulate: {resolved.simulate.engine}",
                found=f"{each} cores",
                allowed=f"at most {cores}",
                remedy="choose the engine fast, or start manynode explore with more --cores",
            )
        needed = self.bytes_of_replica(resolved)
        if needed > self.memory_bytes:
            raise UsageError(
                "the point needs too much memory",
                where=f"{nodes} nodes",
                found=f"about {needed / 1e9:.1f} GB",
                allowed=f"{self.memory_bytes / 1e9:.1f} GB",
                remedy="ask for fewer nodes, or export the experiment and run it on a larger host: manynode run",
            )

    def cores_of_replica(self, resolved: Resolved, cores: int) -> int:
        """Return how many of ``cores`` a replica takes: its own, or more if it takes more than its share of memory."""
        share = self.memory_bytes / cores
        return max(resolved.simulate.cores_of_replica(), math.ceil(self.bytes_of_replica(resolved) / share))

    def bytes_of_replica(self, resolved: Resolved) -> float:
        """Return an estimate of the memory of one replica at the largest node count."""
        nodes = max(resolved.nodes)
        try:
            engine = engine_of(resolved.simulate)
            if not engine.capabilities.is_timed_here:
                cost = engine.expected_cost(bare_run(PointExperiment.of(resolved), nodes))
                if cost is not None:
                    return MORE_MEMORY * cost.memory_bytes
        except ManynodeError:
            pass  # the point's own check says what is missing
        return native_bytes(nodes * resolved.ranks_per_node)
