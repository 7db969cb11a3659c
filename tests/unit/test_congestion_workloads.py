"""The shipped workloads of congestion studies: small, measured on this host, one class of ranks."""

from __future__ import annotations

from pathlib import Path

import pytest

from manynode.config.application import read_application
from manynode.config.loader import load_experiment
from manynode.paths import application_dirs

FOLDER = Path(__file__).resolve().parents[2] / "configs" / "congestion"
WORKLOADS = ["caffe", "fft2d", "hacc", "hpcg", "lammps", "milc", "snap", "spmv"]


def test_every_shipped_workload_is_of_an_application_with_a_program() -> None:
    programs = {name for name in application_dirs() if read_application(name).executable is not None}
    assert {path.stem for path in FOLDER.glob("*.yaml")} & programs == set(WORKLOADS)


@pytest.mark.parametrize("name", WORKLOADS)
def test_a_workload_measures_one_class_of_its_application_on_this_host(name: str) -> None:
    model = load_experiment(FOLDER / f"{name}.yaml")
    assert model.application.name == name
    assert model.name == f"congestion-{name}"
    assert (model.nodesim.engine, model.profile.max_classes) == ("native", 1)
    assert [str(technique) for technique in model.techniques] == ["ext-var"]
    assert model.ranks_per_node in (1, 2)
    # Ranks of the measured job: more than this would wait for each other on a small machine.
    assert model.nodesim.nodes * model.ranks_per_node <= 8
