"""The shipped demonstration agrees with the papers: control of injection and mapping, on machines of their own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from phase3_sst.studies.congestion import rounds
from phase3_sst.studies.congestion.delay.delay_settings import DelaySection
from phase3_sst.studies.congestion.mapping import scotch
from phase3_sst.studies.congestion.situation import Situation
from phase3_sst.studies.congestion.situation_runs import Runs
from phase3_sst.studies.congestion.study_file import as_content, read_study
from phase3_sst.studies.congestion.throttling.throttling_tables import over_static
from phase3_sst.studies.congestion.workloads import plan_workloads

pytestmark = pytest.mark.long

DEMO = Path(__file__).resolve().parents[2] / "configs/congestion/demo.yaml"


def concluded(folder: Path, part: str, changes: Mapping[str, Any]) -> dict[str, pd.DataFrame]:
    """Simulate a part of the demonstration, computing in no time: what this host measures is left out."""
    described = read_study(DEMO)
    settings = {part: rounds.chosen_parts(described, [part])[part].model_copy(update=dict(changes))}
    network, simulate = as_content(described.study)
    planned = plan_workloads(described, folder)
    workloads = {name: replace(plan.workload, timing_profile=None) for name, plan in planned.items()}
    study = described.study
    runs = Runs(study.network, network, simulate, study.seed, 0.95, workloads, folder, described.networks)

    def simulated(_: int, wanted: Mapping[str, Sequence[Situation]]) -> None:
        for situation in runs.missing(one for group in wanted.values() for one in group):
            runs.run(situation)
            assert runs.failed(situation) is None, runs.failed(situation)

    rounds.check_parts(runs, settings)
    rounds.run_rounds(runs, settings, simulated)
    [found] = rounds.conclude(runs, settings)
    assert not found.failure, found.failure
    assert "This part has its own machine" in found.findings.sentences[0]
    return {name: frame for name, (_, frame) in found.findings.tables.items()}


def test_aware_control_shortens_the_tail_beside_an_incast(tmp_path: Path) -> None:
    # Three runs are one beside each congestor. The sensitivity is given: the latency model's situations are left out.
    delay = DelaySection.model_validate({"round_trips": {"situations": 9, "pairs": 3}})
    changes = {"runs": 3, "errors": [], "sensitivities": {"lattice": 1.0}, "delay": delay}
    found = concluded(tmp_path, "throttling", changes)
    ratio = over_static(found["throttling-summary"], "lattice")
    assert ratio["increase_tail"] < 0.7, "aware control leaves less than seven tenths of static control's tail"
    runs = found["throttling-runs"].pivot(index="congestor", columns="controller", values="increase")
    assert runs.loc["incast", "static"] > 1, "the incast more than doubles the time where nothing holds it back"
    assert runs.loc["incast", "aware"] < 0.7 * runs.loc["incast", "static"]


@pytest.mark.skipif(not scotch.available(), reason="the native build has no Scotch")
def test_mapping_by_the_counters_recovers_time_in_the_papers_case(tmp_path: Path) -> None:
    changes = {"random_cases": 0, "methods": ["hops", "bw", "stalls"]}
    found = concluded(tmp_path / "once", "mapping", changes)
    table = found["mapping-runs"].set_index("method")
    assert (table["loss"] > 0.05).all(), "the traffic costs the job time"
    # The paper: 14 % by hops, 43 % by bw, 49 % by stalls.
    assert table.loc["stalls", "recovered"] > 0.4 and table.loc["bw", "recovered"] > 0.4
    assert table.loc[["stalls", "bw"], "recovered"].min() > table.loc["hops", "recovered"]
    again = concluded(tmp_path / "again", "mapping", changes)["mapping-runs"].set_index("method")
    pd.testing.assert_frame_equal(again.drop(columns="seconds"), table.drop(columns="seconds"))
