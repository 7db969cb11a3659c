"""Measure the time of a new user's first run: set-up in a fresh clone, then the demo's pipeline.

The set-up is that of ``make demo`` (virtual environment, packages, native build) with the system packages in place. On
a machine that lacks them, apt adds its time.
"""

from __future__ import annotations

import time
from typing import Any

from _clone import fresh_clone, make
from _mini_app import at_most

SETUP_TARGET_S = 300.0
PIPELINE_TARGET_S = 180.0


def figures() -> list[dict[str, Any]]:
    """Clone the committed state, set it up, run the demo, and return both times."""
    with fresh_clone() as clone:
        times = []
        for targets in (["setup-run", "build"], ["demo"]):
            start = time.monotonic()
            make(clone, *targets)
            times.append(time.monotonic() - start)
    return [
        at_most("demo: set-up in a fresh clone", times[0], "s", SETUP_TARGET_S),
        at_most("demo: pipeline after set-up", times[1], "s", PIPELINE_TARGET_S),
    ]
