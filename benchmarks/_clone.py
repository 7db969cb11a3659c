"""A fresh clone of the committed state, and ``make`` in it, for measurements of what a new user sees."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from _figure import Skipped, program
from _mini_app import ROOT

# Variables of this checkout mean nothing in the clone.
ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith(("MANYNODE_", "MAKE"))}


@contextmanager
def fresh_clone() -> Iterator[Path]:
    """Yield the folder of a clone that lasts as long as the context; skip the measurement outside a checkout."""
    program("git", "install git")
    program("make", "install make")
    if not (ROOT / ".git").exists():
        raise Skipped(f"{ROOT} is no git checkout: this measures a fresh clone")
    with tempfile.TemporaryDirectory() as folder:
        clone = Path(folder) / "clone"
        subprocess.run(["git", "clone", "--quiet", str(ROOT), str(clone)], check=True)
        yield clone


def make(clone: Path, *targets: str) -> None:
    subprocess.run(["make", *targets], cwd=clone, env=ENVIRONMENT, check=True, capture_output=True)
