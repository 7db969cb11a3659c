"""The shipped congestion studies: read whole, with the situations that their documentation counts on."""

from __future__ import annotations

from pathlib import Path

import pytest

from phase3_sst.studies.congestion import rounds
from phase3_sst.studies.congestion.situation_runs import Runs
from phase3_sst.studies.congestion.study_file import as_content, read_study
from phase3_sst.studies.congestion.workloads import plan_workloads

FOLDER = Path(__file__).resolve().parents[3] / "configs/congestion"


# Applications x settings x rotations, and sizes x repetitions x (levels and the canary alone).
@pytest.mark.parametrize(
    ("name", "workloads", "own_machines", "impact"),
    [
        ("demo", {"lammps", "hacc", "milc", "hpcg"}, {"throttling", "mapping"}, 4 * 4 * 3 + 3 * 2 * (2 + 1)),
        (
            *("impact", {"hpcg", "lammps", "milc", "hacc", "fft2d", "spmv", "caffe", "snap"}, set()),
            8 * 4 * 10 + 6 * 3 * (3 + 1),
        ),
    ],
)
def test_a_shipped_study_is_read_and_asks_for_its_situations(
    tmp_path: Path, name: str, workloads: set[str], own_machines: set[str], impact: int
) -> None:
    described = read_study(FOLDER / f"{name}.yaml")
    planned = plan_workloads(described, tmp_path)
    measured = {key: plan for key, plan in planned.items() if plan.experiment is not None}
    assert set(measured) == workloads and not any(plan.measured for plan in measured.values())
    assert set(described.networks) == own_machines and set(described.settings) >= own_machines
    network, simulate = as_content(described.study)
    assert described.study.network.flow_control == "credits", "without it there is no back-pressure"
    computing = {key: plan.without_missing_times() for key, plan in planned.items()}
    runs = Runs(described.study.network, network, simulate, described.study.seed, 0.95, computing, tmp_path)
    settings = {"impact": rounds.chosen_parts(described, ["impact"])["impact"]}
    assert len(rounds.needed(runs, settings, 0)["impact"]) == impact


def test_the_demonstrations_ranks_in_a_grid_are_on_the_nodes_that_hold_it(tmp_path: Path) -> None:
    described = read_study(FOLDER / "demo.yaml")
    workloads = {key: plan.without_missing_times() for key, plan in plan_workloads(described, tmp_path).items()}
    network, simulate = as_content(described.study)
    runs = Runs(
        *(described.study.network, network, simulate, described.study.seed, 0.95, workloads, tmp_path),
        networks=described.networks,
    )
    settings = rounds.chosen_parts(described, [])
    rounds.check_parts(runs, settings)
    members = [
        member
        for situations in rounds.needed(runs, settings, 0).values()
        for situation in situations
        for member in situation.members
        if member.parameters.get("grid") == "4x4x4"
    ]
    assert members and all(len(member.hosts) * member.ranks_per_node == 4 * 4 * 4 for member in members)
