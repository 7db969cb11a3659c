"""The shipped congestion studies: read whole, with the situations that their documentation counts on."""

from __future__ import annotations

from pathlib import Path

import pytest

from phase3_sst.congestion import rounds
from phase3_sst.congestion.runs import Runs
from phase3_sst.congestion.study import as_content, read_study
from phase3_sst.congestion.workloads import plan_workloads

FOLDER = Path(__file__).resolve().parents[3] / "configs/congestion"


# Applications x settings x rotations, and sizes x repetitions x (levels and the canary alone).
@pytest.mark.parametrize(
    ("name", "impact"),
    [("demo", 4 * 4 * 3 + 3 * 2 * (2 + 1)), ("impact", 8 * 4 * 10 + 6 * 3 * (3 + 1))],
)
def test_a_shipped_study_is_read_and_asks_for_its_situations(tmp_path: Path, name: str, impact: int) -> None:
    described = read_study(FOLDER / f"{name}.yaml")
    planned = plan_workloads(described, tmp_path)
    assert all(plan.resolved is not None and not plan.measured for plan in planned.values())
    network, simulate = as_content(described.study)
    assert described.study.network.flow_control == "credits", "without it there is no back-pressure"
    workloads = {key: plan.without_missing_times() for key, plan in planned.items()}
    runs = Runs(described.study.network, network, simulate, described.study.seed, 0.95, workloads, tmp_path)
    settings = {"impact": rounds.chosen_parts(described, ["impact"])["impact"]}
    assert len(rounds.needed(runs, settings, 0)["impact"]) == impact
