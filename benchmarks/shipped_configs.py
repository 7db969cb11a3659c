"""Run every shipped experiment and study to its end, in a fresh clone: ``make bench NAME=shipped_configs``.

Each prints its time. All together take hours, nearly all of them in ``configs/studies``: the variable ``CONFIGS``
chooses, such as ``CONFIGS='configs/*.yaml'`` (21 minutes). What needs an engine that is not installed is skipped by
name.
"""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path
from typing import Any

import yaml
from _clone import ENVIRONMENT, fresh_clone, make
from _figure import figure
from _mini_app import at_most

from manynode.errors import EXIT_ENGINE_MISSING
from phase3_sst.studies.congestion.contract import parts

# Each study reuses the measurements of those before it, as docs/how-to/run-experiments.md says.
FOLDERS = ("configs", "configs/congestion", "configs/studies/scaling", "configs/studies/bandwidth-latency")


def files(root: Path) -> list[Path]:
    """Return the shipped experiments and studies, those first whose measurements others reuse."""
    first = [path for folder in FOLDERS for path in sorted((root / folder).glob("*.yaml"))]
    return first + [path for path in sorted((root / "configs" / "studies").rglob("*.yaml")) if path not in first]


def command(path: Path) -> list[str]:
    """Return the words of the command that runs the file to its end."""
    keys = set(yaml.safe_load(path.read_text(encoding="utf-8")))
    if keys & set(parts.names()):
        return ["congestion"]
    if "alternatives" in keys:
        return ["what-if"]
    if "held_out" in keys:
        return ["strong"]
    reused = path.parent.name == "bandwidth-latency"
    return ["run", *(["--measurements-from", "results"] if reused else [])]


def figures() -> list[dict[str, Any]]:
    """Return the time of each file, and how many failed."""
    found, failed = [], 0
    with fresh_clone() as clone:
        make(clone, "setup", "build")
        for path in files(clone):
            name = str(path.relative_to(clone))
            if not Path(name).match(os.environ.get("CONFIGS", "*")):
                continue
            start = time.monotonic()
            words = [clone / ".venv" / "bin" / "manynode", *command(path), name]
            done = subprocess.run(words, cwd=clone, env=ENVIRONMENT, capture_output=True, text=True, check=False)
            seconds = time.monotonic() - start
            if done.returncode == EXIT_ENGINE_MISSING:
                print(f"{name}: skipped, {done.stderr.strip().splitlines()[0]}", flush=True)
                continue
            print(f"{name}: {seconds:.0f} s, exit code {done.returncode}", flush=True)
            found.append(figure(f"shipped: {name}", seconds, "s", None, None))
            if done.returncode != 0:
                failed += 1
                print(done.stderr[-3000:], flush=True)
    return [*found, at_most("shipped: experiments and studies that fail", failed, "", 0)]
