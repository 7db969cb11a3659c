"""The built-in engine: event-driven LogGPS hosts on a chunk-level network; see ``phase3_sst/fast/README.md``."""

from __future__ import annotations

from phase3_sst.engines.interface import engines
from phase3_sst.engines.native_engine import NativeEngine


@engines.register("fast")
class FastEngine(NativeEngine):
    """``manynode-fast``, always part of the native build."""

    program = "manynode-fast"
    what = "the fast engine"
    purpose = "phase 3: the built-in network simulator"
