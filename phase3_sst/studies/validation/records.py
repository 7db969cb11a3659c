"""Records of an experiment's validation (``validation-record/1``), which other experiments' bands can use.

In: a results folder with ``validation.parquet``, ``validation_collectives.parquet`` or both. Out: a record per node
count that was measured and projected (of the most complete technique), and per measured collective.
"""

from __future__ import annotations

import math
from pathlib import Path

import pandas as pd

from manynode import tables
from manynode.config.experiment import mode_of, most_complete
from manynode.config.measured_collective import KEYS
from manynode.config.own_times import machine_of
from manynode.config.resolved import Resolved
from manynode.config.validation import COMPUTE
from manynode.errors import UsageError
from manynode.known_errors.records import COLUMNS, NETWORK, NODE
from manynode.timing_profile import read_timing_profile
from phase3_sst.analysis.projection_tables import BREAKDOWN_SCHEMA


def records(experiment: Resolved, results: Path, *, fitted_to: str, source: str) -> pd.DataFrame:
    """Return the records of the validation in ``results``; without one it is a :class:`UsageError`.

    ``fitted_to`` says what the network's and the machine's parameters were fitted to.
    """
    runs, collectives = results / "validation.parquet", results / "validation_collectives.parquet"
    found = []
    if experiment.validation is not None and runs.is_file():
        found.append(of_runs(experiment, results, tables.read_table(runs, "validation/1")))
    if experiment.validation is not None and collectives.is_file():
        frame = tables.read_table(collectives, "validation-collectives/2")
        found.append(of_collectives(frame, machine=_network(experiment), engine=experiment.simulate.engine))
    if not found:
        raise UsageError(
            "the results have no comparison with measurements",
            where=str(results),
            allowed="validation.parquet or validation_collectives.parquet",
            remedy="give the experiment a section 'validation' (docs/how-to/validate.md) and run it",
        )
    return pd.concat(found, ignore_index=True).assign(fitted_to=fitted_to, source=source)[COLUMNS]


def of_runs(experiment: Resolved, results: Path, points: pd.DataFrame) -> pd.DataFrame:
    """Return a record per validated node count, of the component in which the ranks spend more of their time."""
    technique = most_complete(list(points["technique"]))
    breakdown = tables.read_table(results / "breakdown.parquet", BREAKDOWN_SCHEMA)
    profile = read_timing_profile(results / f"nodesim/timing-profile-{mode_of(technique)}.json")
    # Of the user's own times it may not be known where they were measured.
    measured = profile.nodes if experiment.own_times is None else experiment.own_times.nodes
    machine = experiment.validation.machine if experiment.validation is not None else None
    rows = []
    for point in points[points["technique"] == technique].itertuples():
        own = breakdown[(breakdown["technique"] == technique) & (breakdown["nodes"] == point.nodes)]
        total = float(own["seconds"].sum())
        share = 1 - float(own.loc[own["operation"] == COMPUTE, "seconds"].sum()) / total if total > 0 else 0.0
        component = NETWORK if share > 0.5 else NODE
        rows.append(
            {
                "machine": machine or machine_of(experiment.content),
                "application": experiment.application.name,
                "case": f"{experiment.name}, {point.nodes} nodes, {technique}",
                "component": component,
                "engine": experiment.simulate.engine if component == NETWORK else profile.engine,
                "predicted_s": float(point.time_s),
                "measured_s": float(point.measured_s),
                "communication_share": share,
                "doublings": max(0.0, math.log2(point.nodes / (measured or point.nodes))),
            }
        )
    return pd.DataFrame(rows)


def of_collectives(frame: pd.DataFrame, *, machine: str, engine: str, doublings: float = 0.0) -> pd.DataFrame:
    """Return a record per row of ``validation-collectives/2``; all of its time is communication.

    ``doublings`` is the scale beyond what the network was fitted to. What identifies a measurement (algorithm,
    placement and more) distinguishes cases.
    """
    telling = [name for name in ("bytes", *KEYS) if name in frame.columns and name not in ("collective", "nodes")]
    cases = [
        f"{row['nodes']} nodes, "
        + ", ".join(f"{name} {row[name]}" for name in dict.fromkeys(telling) if row[name] != "")
        for row in frame.to_dict("records")
    ]
    return pd.DataFrame(
        {
            "machine": machine,
            "application": frame["collective"],
            "case": cases,
            "component": NETWORK,
            "engine": engine,
            "predicted_s": frame["simulated_s"],
            "measured_s": frame["measured_s"],
            "communication_share": 1.0,
            "doublings": doublings,
        }
    )


def _network(experiment: Resolved) -> str:
    study = experiment.validation
    assert study is not None
    return study.machine or study.network or experiment.network.name
