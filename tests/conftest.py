"""Shared by all tests: the places of the checkout and the native build, and experiments that are ready to change."""

from __future__ import annotations

import copy
import gc
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from manynode.config.resolved import read_yaml
from manynode.fork_server import owner

ROOT = Path(__file__).resolve().parent.parent

# How long an example takes depends on what else the host does.
settings.register_profile("manynode", deadline=None)
settings.load_profile("manynode")

# A suite that a script starts in the background inherits an ignored SIGINT, and so would the programs that the tests
# interrupt; a handler of Python's own makes exec set the default again.
signal.signal(signal.SIGINT, signal.default_int_handler)

# Thousands of tests and what they import stay: looking through them for garbage takes a twentieth of the time.
gc.set_threshold(100_000, 20, 20)

# One server for all commands that the tests run, in whichever process: it has imported what they import.
os.environ.update(owner.environment())


@pytest.fixture(scope="session")
def build_dir() -> Path:
    """The native build; tests that need it are run after it (make test)."""
    return Path(os.environ.get("MANYNODE_BUILD_DIR", ROOT / "build"))


@pytest.fixture
def demo() -> dict[str, Any]:
    """The demo experiment with few ranks, whose numbers tests give by hand, as a copy that a test may change."""
    content = copy.deepcopy(read_yaml(ROOT / "configs" / "demo.yaml", "the demo"))
    content["application"]["parameters"]["iterations"] = 15
    return {**content, "ranks_per_node": 2}


@pytest.fixture
def watchdog() -> Iterator[None]:
    """Fail a test that hangs; generous, since it says nothing about speed."""

    def bark(_signal: int, _frame: object) -> None:
        raise TimeoutError("the test hangs")

    before = signal.signal(signal.SIGALRM, bark)
    signal.alarm(120)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
