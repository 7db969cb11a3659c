"""One whole run of the tiny experiment, shared by the tests that look at its results."""

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
