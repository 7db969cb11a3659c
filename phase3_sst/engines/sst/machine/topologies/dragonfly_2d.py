"""The two-dimensional dragonfly, which merlin does not have: refused by name.

Its dragonfly knows only groups of fully connected routers. Its ``anytopo``, for any wiring, needs the tables of a
routing plugin in the interface of every NIC.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from manynode.errors import UsageError
from phase3_sst.engines.sst.machine.wiring import Wiring, topology


@topology("dragonfly-2d")
def dragonfly_2d(description: Mapping[str, Any]) -> Wiring:
    """Refuse the machine."""
    raise UsageError(
        "the sst engine has no dragonfly with groups of rows and columns",
        where="network.topology.kind",
        found=description["kind"],
        allowed="dragonfly, fat-tree, hyperx, torus",
        remedy="use the engine fast or simgrid",
    )
