"""The shipped sets of experiments: the paper's five applications, and which measured runs they share."""

from __future__ import annotations

from pathlib import Path

import pytest

from manynode.config.loader import load_experiment
from manynode.config.variants import variants
from manynode.measurements import MEASURED_SECTIONS

STUDIES = Path(__file__).resolve().parent.parent.parent / "configs/studies"
APPLICATIONS = ["caffe", "fft2d", "hpcg", "milc", "snap"]


@pytest.mark.parametrize("folder", ["scaling", "bandwidth-latency"])
def test_a_set_has_the_five_applications(folder: str) -> None:
    found = {path.stem: load_experiment(path) for path in sorted((STUDIES / folder).glob("*.yaml"))}
    assert list(found) == [model.application.name for model in found.values()] == APPLICATIONS
    assert len({model.name for model in found.values()}) == 5


@pytest.mark.parametrize("name", APPLICATIONS)
def test_the_grid_takes_over_the_measured_runs_of_the_scaling_study(name: str) -> None:
    scaling = load_experiment(STUDIES / f"scaling/{name}.yaml")
    grid = load_experiment(STUDIES / f"bandwidth-latency/{name}.yaml")
    for section in MEASURED_SECTIONS:
        assert grid.content[section] == scaling.content[section]
    assert len(scaling.techniques) == 4
    assert max(scaling.nodes) == (64 if name == "fft2d" else 4096)
    assert grid.nodes == [16 if name == "fft2d" else 64] and len(variants(grid)) == 36
