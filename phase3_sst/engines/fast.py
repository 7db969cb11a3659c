"""The built-in engine: event-driven LogGPS hosts on a chunk-level network; see ``phase3_sst/fast/README.md``."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Self

from phase3_sst.engines.interface import engines
from phase3_sst.engines.native_engine import NativeEngine


@engines.register("fast")
class FastEngine(NativeEngine):
    """``manynode-fast``, always part of the native build."""

    program = "manynode-fast"
    what = "the fast engine"
    purpose = "phase 3: the built-in network simulator"
    # With credits every chunk is an event on every link of its way: so much takes some ten seconds.
    credits_probe_bytes = 6e9

    def __init__(self, probe_bytes: float = math.inf) -> None:
        self.probe_bytes = probe_bytes

    @classmethod
    def for_experiment(cls, experiment: Mapping[str, Any]) -> Self:
        """Return the engine: the run file has all that it needs."""
        return cls(cls.credits_probe_bytes if experiment["network"]["flow_control"] == "credits" else math.inf)
