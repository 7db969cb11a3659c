"""The time that ranks waited for a core: from counters to the statement about the times."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from phase2_cases import machine, marker_file, records

from manynode.config.experiment import NodesimSection
from manynode.waiting import LIMIT, Waiting
from phase2_nodesim.engines._interface import ENGINES, NodeRun
from phase2_nodesim.parameters import FitParameters
from phase2_nodesim.phases import fit_phase
from phase2_nodesim.waits import COLUMN, waited_seconds, waiting_of, waiting_warning

CALLS = [
    ("MPI_Init", "main", 0.0, "", False),
    ("MPI_Allreduce", "dot", 1e-3, "", False),
    ("MPI_Finalize", "main", 3e-3, "end", False),
]


def measured(waited_ns: list[float] | None, **settings: Any) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Return the segments of a rank under the engine native, and the engine's statement about them."""
    frame = records(0, CALLS)
    if waited_ns is not None:
        frame["waited_ns"] = waited_ns
    if settings.get("clock") == "processor":
        frame["cpu_ns"] = [0.0, 0.5e6, 1.5e6]
    run = NodeRun(machine(), 1, Path("."), settings=NodesimSection(engine="native", **settings))
    engine = ENGINES.get("native")
    segments = engine.segments(run, [marker_file(frame)])
    return segments, dict(engine.describe(run, segments))


def test_each_phase_has_the_time_that_its_rank_waited_and_no_more_than_it_took() -> None:
    # The thread that runs again after a wait that began inside the call before brings that along.
    segments, _ = measured([7.0, 5e6, 0.6e6])
    assert segments[COLUMN].tolist() == pytest.approx([1e-3, 0.6e-3])


def test_a_rank_that_hardly_waited_has_the_hosts_own_times() -> None:
    _, said = measured([0.0, 0.0, 0.1e6])
    assert said["waiting"] == {"share": pytest.approx(0.025), "counted": True}
    assert said["times"] == "this host's own" and said["clock"] == "wall"


def test_times_of_a_host_with_too_few_cores_are_not_called_its_own() -> None:
    _, said = measured([0.0, 0.5e6, 1.5e6])
    assert said["waiting"]["share"] == pytest.approx(0.5)
    assert "oversubscribed" in said["times"] and "own" not in said["times"]


def test_processor_time_contains_no_waiting() -> None:
    segments, said = measured([0.0, 0.5e6, 1.5e6], clock="processor")
    assert segments[COLUMN].tolist() == pytest.approx([0.5e-3, 1.5e-3])
    assert said["waiting"] == {"share": pytest.approx(0.5), "counted": False}
    assert said["times"] == "processor time on this host"
    assert not Waiting.model_validate(said["waiting"]).oversubscribed


def test_where_the_kernel_does_not_say_nothing_is_known_and_that_is_not_zero() -> None:
    segments, said = measured(None)
    assert segments[COLUMN].isna().all()
    assert said["waiting"]["share"] is None and "not known" in said["times"]
    assert waited_seconds(records(0, CALLS)).isna().all()
    assert fit_phase("end", segments[segments["phase"] == "end"], FitParameters()).waited_s is None


def test_one_rank_that_is_not_known_makes_the_share_unknown() -> None:
    segments, _ = measured([0.0, 0.5e6, 1.5e6])
    segments.loc[0, COLUMN] = np.nan
    waiting = waiting_of(segments, counted=True)
    assert waiting is not None and waiting.share is None and not waiting.oversubscribed


def test_an_engine_that_does_not_measure_says_nothing_of_waiting() -> None:
    segments, _ = measured([0.0, 0.5e6, 1.5e6])
    assert waiting_of(segments.drop(columns=COLUMN), counted=True) is None


def test_the_timing_profile_has_the_mean_time_waited_of_each_phase() -> None:
    segments, _ = measured([0.0, 0.5e6, 1.5e6])
    assert fit_phase("end", segments[segments["phase"] == "end"], FitParameters()).waited_s == pytest.approx(1.5e-3)


@pytest.mark.parametrize(
    ("share", "counted", "warned"),
    [(0.43, True, True), (LIMIT, True, False), (0.43, False, False), (None, True, False)],
)
def test_the_run_warns_above_the_limit(share: float | None, counted: bool, warned: bool) -> None:
    text = waiting_warning(Waiting(share=share, counted=counted), "phase 2, ext, node 0")
    assert (text is not None) == warned
    if text is not None:
        assert text.startswith("phase 2, ext, node 0: ranks were runnable and did not run for 43 %")
    assert waiting_warning(None, "x") is None


def test_the_native_engine_asks_its_simulated_ranks_for_the_time_waited(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from phase2_nodesim.engines import _host
    from phase2_nodesim.engines._interface import NodeJob

    blocks: list[Any] = []
    monkeypatch.setattr(_host, "run_job", lambda flavour, given, **options: blocks.extend(given))
    monkeypatch.setattr(_host, "native_library", lambda name: tmp_path / name)
    run = dataclasses.replace(NodeRun(machine(), 2, tmp_path))
    ENGINES.get("native").run(run, NodeJob(["app"], "mpich", 1, 3, 2))
    # External ranks are not measured.
    assert [block.env.get("MANYNODE_MARKERS_WAITING") for block in blocks] == [None, "1", None]
