"""The built-in engine: event-driven LogGPS hosts on a chunk-level network; see ``README.md`` beside this file."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from phase3_sst.engines.native_engine import NativeEngine
from phase3_sst.point.contract import Capabilities, engines

CREDITS_PROBE_BYTES = 6e9


@engines.register("fast")
class FastEngine(NativeEngine):
    """``manynode-fast``, always part of the native build."""

    name = "fast"
    capabilities = Capabilities(
        controls_injection=True,
        counts_stalls=True,
        chooses_flow_control=True,
        switches_contention_off=True,
        is_timed_here=True,
    )
    program = "manynode-fast"
    what = "the fast engine"
    purpose = "phase 3: the built-in network simulator"

    def probe_bytes(self, network: Mapping[str, Any]) -> float:
        """Return the bytes that take some ten seconds with credits: each chunk is an event on each link of its path."""
        return CREDITS_PROBE_BYTES if network.get("flow_control", "none") == "credits" else math.inf
