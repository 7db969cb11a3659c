"""Records of an experiment's validation: the component that the run spent its time in, collectives case by case."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from phase3_cases import ROOT

from manynode.config.loader import resolve
from manynode.config.resolved import Resolved, read_yaml
from manynode.errors import UsageError
from manynode.known_errors.records import NOTHING, check_records, log_errors, read_records
from manynode.tables import write_table
from manynode.timing_profile import write_timing_profile
from phase2_nodesim.own_times import timing_profile
from phase3_sst.measured.campaigns.interface import Wanted
from phase3_sst.measured.campaigns.pico import PicoReader
from phase3_sst.studies.validation.records import of_collectives, records

RUNS = [{"nodes": 8, "replica": 0, "seconds": 1.1}, {"nodes": 64, "replica": 0, "seconds": 2.4}]


def validated(**validation: Any) -> Resolved:
    content = {**read_yaml(ROOT / "configs" / "own-times.yaml", "the experiment"), "validation": validation}
    content["own_times"]["nodes"] = 1
    return resolve(content, where="test", base=ROOT / "configs")


def results(folder: Path, experiment: Resolved, computing: float) -> Path:
    """The tables that a validation of 8 and 64 nodes leaves, with a share of computing at 64 nodes."""
    points = [("ext-const", 8, 0.9, 1.1), ("ext-var", 8, 1.0, 1.1), ("ext-var", 64, 2.0, 2.4)]
    frame = pd.DataFrame(points, columns=["technique", "nodes", "time_s", "measured_s"])
    write_table(folder / "validation.parquet", "validation/1", frame)
    parts = [
        ("ext-var", nodes, name, seconds)
        for nodes, share in ((8, 0.9), (64, computing))
        for name, seconds in (("compute", share), ("MPI_Allreduce", 1 - share))
    ]
    breakdown = pd.DataFrame(parts, columns=["technique", "nodes", "operation", "seconds"])
    write_table(folder / "breakdown.parquet", "breakdown/1", breakdown)
    (folder / "nodesim").mkdir()
    write_timing_profile(
        folder / "nodesim/timing-profile-ext.json", timing_profile(experiment, external=True, provenance={})
    )
    return folder


def test_runs_are_recorded_for_the_component_with_more_of_the_time(tmp_path: Path) -> None:
    experiment = validated(measured=RUNS, machine="our cluster")
    found = records(experiment, results(tmp_path, experiment, 0.25), fitted_to="ping-pongs", source="a command")
    check_records(found, "test")
    assert list(found["component"]) == ["node", "network"] and list(found["engine"]) == ["own", "fast"]
    assert list(found["doublings"]) == [3.0, 6.0] and set(found["machine"]) == {"our cluster"}
    # Own times of a job that is not known say nothing of the scale.
    own = experiment.own_times.model_copy(update={"nodes": None})  # type: ignore[union-attr]
    unknown = records(experiment.model_copy(update={"own_times": own}), tmp_path, fitted_to="x", source="y")
    assert list(unknown["doublings"]) == [0.0, 0.0]
    assert log_errors(found).iloc[1] == pytest.approx(0.18232155679 / 0.75)
    assert "64 nodes, ext-var" in found["case"].iloc[1]


def test_collectives_keep_what_distinguishes_them() -> None:
    frame = pd.DataFrame(
        {
            **{"collective": ["bcast", "bcast"], "bytes": [8, 8], "nodes": [2, 2], "ranks_per_node": [1, 1]},
            **{"algorithm": ["ring", "binomial"], "measured_s": [1e-6, 2e-6], "simulated_s": [1e-6, 1e-6]},
            "error": [0.0, -0.5],
        }
    )
    found = of_collectives(frame, machine="m", engine="fast").assign(fitted_to="f", source="s")
    check_records(found, "test")
    assert found["case"].is_unique and "algorithm ring" in found["case"].iloc[0]
    assert set(found["communication_share"]) == {1.0}


def test_results_without_a_validation_are_refused(tmp_path: Path) -> None:
    experiment = validated(measured=RUNS)
    with pytest.raises(UsageError, match="no comparison with measurements"):
        records(experiment, tmp_path, fitted_to="f", source="s")
    assert json.loads(experiment.model_dump_json())["known_errors"] == []


def test_the_shipped_records_of_pico_are_those_that_no_fit_saw() -> None:
    text = (ROOT / "tests/data/calibration/pico/collectives.csv").read_text()
    own = read_records([ROOT / "validation" / "pico.parquet"])
    machines = {"Fugaku": "fugaku", "MareNostrum 5": "mare_nostrum", "LUMI": "lumi"}
    assert set(own["machine"]) == set(machines) and set(own["engine"]) == {"fast"}
    for machine, system in machines.items():
        rows = pd.DataFrame(PicoReader().read(text, "pico", Wanted(system=system))[0])
        if system == "fugaku":
            unseen = rows[rows["nodes"] > rows["nodes"].min()]
        else:
            series = rows.groupby(["collective", "algorithm", "nodes", "ranks_per_node"])["bytes"]
            unseen = rows[series.rank(method="dense") % 2 == 0]
        of_machine = own[own["machine"] == machine]
        found, before = (of_machine[(of_machine["fitted_to"] == NOTHING) == nothing] for nothing in (False, True))
        assert sorted(before["case"]) == sorted(found["case"]) and (before["doublings"] == 0).all()
        assert sorted(found["measured_s"]) == pytest.approx(sorted(unseen["seconds"]), rel=1e-9), machine
        assert set(found["doublings"]) == ({3.0} if system == "fugaku" else {0.0})
        assert not found["fitted_to"].isin(["nothing"]).any()
