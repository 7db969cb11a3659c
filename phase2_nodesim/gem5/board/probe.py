"""Describes a gem5 for ``installation.py``: ``gem5.opt probe.py`` prints one line of JSON.

``gem5 --build-info`` gives the same facts, but fails in release 24.0.
"""

from __future__ import annotations

import json

import _m5.core
from m5 import objects

MARK = "manynode probe: "

facts = {
    "version": str(_m5.core.gem5Version),
    "missing": [name for name in ("X86O3CPU", "X86TimingSimpleCPU", "CoherentXBar") if not hasattr(objects, name)],
}
print(MARK + json.dumps(facts), flush=True)
