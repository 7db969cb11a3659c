"""Simulates a point with resampled timing profiles: one replica each, reusing the draws of the point's replicas in
turn.

In: a :class:`Point`, the resamples of its timing profile. Out: ``profile-resamples/1``: resample, replica, makespan_s,
groups (ranks or nodes that were resampled).
"""

from __future__ import annotations

import dataclasses
import tempfile
from pathlib import Path

import pandas as pd

from manynode import tables
from manynode.profile_resamples import ProfileResamples
from manynode.timing_profile import read_timing_profile, write_timing_profile
from phase3_sst.point.contract import RESULT_SCHEMA, Point, engine_of
from phase3_sst.point.slow_node import slowed


def simulate_resamples(point: Point, resamples: ProfileResamples) -> pd.DataFrame:
    """Return the table of the point's resamples, simulated one after the other."""
    assert point.timing_profile is not None  # the resamples were made from it
    profile = read_timing_profile(point.timing_profile)
    replicas = point.experiment.simulate.replicas
    rows = []
    for number, classes in enumerate(resamples.profiles):
        with tempfile.TemporaryDirectory(prefix="manynode-resample.") as name:
            path, out = Path(name) / "timing-profile.json", Path(name) / "out"
            write_timing_profile(path, profile.model_copy(update={"classes": classes}))
            replica = number % replicas
            own = dataclasses.replace(point, timing_profile=path, replicas=[replica], progress=None)
            with slowed(own, Path(name)) as chosen:
                engine_of(point.experiment.simulate).simulate(chosen, out)
            (entry,) = tables.read_json(out / "result.json", RESULT_SCHEMA)["replicas"]
        makespan = float(entry["jobs"][0]["makespan_s"])
        rows.append({"resample": number, "replica": replica, "makespan_s": makespan, "groups": resamples.groups})
        if point.progress is not None:
            point.progress(f"resample {number + 1} of {len(resamples.profiles)}")
    return pd.DataFrame(rows)
