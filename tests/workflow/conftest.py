"""Whole runs of the tiny experiment and of the demo, shared by the tests that look at their results."""

from __future__ import annotations

from pathlib import Path

import pipeline
import pytest


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The results folder of the tiny experiment, run to its end."""
    folder = tmp_path_factory.mktemp("tiny")
    done = pipeline.run(pipeline.write(folder, pipeline.tiny()), folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "results" / "tiny"


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The results folder of the demo experiment, as `make demo` runs it."""
    folder = tmp_path_factory.mktemp("demo")
    done = pipeline.run(pipeline.ROOT / "configs" / "demo.yaml", folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "results" / "demo"
