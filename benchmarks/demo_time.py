"""Measure the time of a new user's first run: set-up in a fresh clone, then the demo's pipeline.

The set-up is that of ``make demo`` (virtual environment, packages, native build) with the system packages in place. On
a machine that lacks them, apt adds its time.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

from _figure import Skipped, program
from _mini_app import ROOT, at_most

SETUP_TARGET_S = 300.0
PIPELINE_TARGET_S = 180.0


def figures() -> list[dict[str, Any]]:
    """Clone the committed state, set it up, run the demo, and return both times."""
    program("git", "install git")
    program("make", "install make")
    if not (ROOT / ".git").exists():
        raise Skipped(f"{ROOT} is no git checkout: this measures a fresh clone")
    with tempfile.TemporaryDirectory() as folder:
        clone = Path(folder) / "clone"
        subprocess.run(["git", "clone", "--quiet", str(ROOT), str(clone)], check=True)
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("MANYNODE_", "MAKE"))}
        times = []
        for target in (["setup-run", "build"], ["demo"]):
            start = time.monotonic()
            subprocess.run(["make", *target], cwd=clone, env=environment, check=True, capture_output=True)
            times.append(time.monotonic() - start)
    return [
        at_most("demo: set-up in a fresh clone", times[0], "s", SETUP_TARGET_S),
        at_most("demo: pipeline after set-up", times[1], "s", PIPELINE_TARGET_S),
    ]
