"""Results of the runs -> tables: a row per run, quartiles per setting, sensitivity, correlations, predictors, pressure.

All tables are tidy; times in seconds, shares and ratios as numbers. ``normalised`` times are those over the median of
setting I of the application (Zhang et al., figure 4). Sensitivities are medians over rotations of paired ratios: both
runs of a rotation have the same nodes and draws. Unknown quantities of a run are empty.
"""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import stats

from manynode.seeds import generator
from phase3_sst.point.point_result import PointResult
from phase3_sst.studies.congestion import canary
from phase3_sst.studies.congestion.contract import Machine
from phase3_sst.studies.congestion.impact.experiments import Pressure, pressures, runs
from phase3_sst.studies.congestion.impact.impact_settings import ImpactSection
from phase3_sst.studies.congestion.impact.pressure import METRICS, RouterCounters

RUNS = "congestion-impact-runs/1"
TIMES = "congestion-impact-times/1"
SENSITIVITY = "congestion-impact-sensitivity/1"
CORRELATIONS = "congestion-impact-correlations/1"
PREDICTORS = "congestion-impact-predictors/1"
PRESSURE = "congestion-impact-pressure/1"

COMPUTE = "compute"
COLLECTIVES = (
    "Barrier", "Bcast", "Reduce", "Allreduce", "Gather", "Allgather", "Scatter", "Alltoall",
    "Scan", "Exscan", "Neighbor",
)  # fmt: skip
# The compared ratios: name -> setting over setting.
RATIOS = {
    "endpoint": ("IV", "II"),
    "intermediate": ("III", "I"),
    "spacing": ("II", "I"),
    "spacing_congested": ("IV", "III"),
}
_RESAMPLES = 9999
# Minimum number of runs for a correlation.
_LEAST = 3
# Up to this many values, all their orders (40,320) are evaluated.
_EXACT = 8


def run_table(machine: Machine, settings: ImpactSection) -> pd.DataFrame:
    """Return application, setting, rotation, time_s, normalised, the router metrics and MPI shares of every run."""
    rows, counted = [], RouterCounters(machine.network_content["topology"])
    for run in runs(machine, settings):
        if machine.failed(run.situation) is not None:
            continue
        result = machine.result(run.situation)
        main, *others = run.situation.members
        counted.add(result, main.hosts)
        routers = counted.routers(main.hosts)
        beside = counted.routers([host for member in others for host in member.hosts])
        rows.append(
            {
                "application": run.application,
                "setting": run.setting,
                "rotation": run.rotation,
                "time_s": result.makespans_s[0],
                **_shares(result),
                "routers": len(routers),
                "shared_routers": len(routers & beside),
            }
        )
    columns = ["application", "setting", "rotation", "time_s", "mpi_share", "collective_share", "allreduce_share"]
    frame = pd.DataFrame(rows, columns=[*columns, "routers", "shared_routers"]).join(counted.metrics())
    base = frame[frame["setting"] == "I"].groupby("application")["time_s"].median()
    frame.insert(4, "normalised", frame["time_s"] / frame["application"].map(base))
    return frame


def times(frame: pd.DataFrame) -> pd.DataFrame:
    """Return per application and setting the runs and the least, quartiles and largest of their normalised times."""
    grouped = frame.groupby(["application", "setting"], sort=False)
    found = grouped["normalised"].quantile([0.0, 0.25, 0.5, 0.75, 1.0]).unstack()
    found.columns = pd.Index(["least", "first_quartile", "median", "third_quartile", "largest"])
    count, median = grouped.size().rename("runs"), grouped["time_s"].median().rename("median_s")
    return pd.concat([count, median, found], axis=1).reset_index()


def sensitivity(frame: pd.DataFrame, confidence: float, seed: int) -> pd.DataFrame:
    """Return per application the ratios of :data:`RATIOS` with bootstrap intervals, and its MPI shares in setting I.

    The intervals are percentiles of medians over resampled rotations.
    """
    rows = []
    for application, own in frame.groupby("application", sort=False):
        by_rotation = own.pivot(index="rotation", columns="setting", values="time_s")
        row: dict[str, object] = {"application": application}
        for name, (slow, fast) in RATIOS.items():
            known = {slow, fast} <= set(by_rotation.columns)
            ratios = (by_rotation[slow] / by_rotation[fast]).dropna().to_numpy() if known else np.empty(0)
            rng = generator(seed, "impact", "sensitivity", application, name)
            row |= dict(zip((name, f"{name}_low", f"{name}_high"), _median(ratios, confidence, rng), strict=True))
        alone = own[own["setting"] == "I"]
        row |= {name: alone[name].median() for name in ("mpi_share", "collective_share", "allreduce_share")}
        rows.append(row)
    return pd.DataFrame(rows)


def correlations(frame: pd.DataFrame) -> pd.DataFrame:
    """Return per application and metric Pearson's r of the run time with it over all runs, its p and n (figure 5)."""
    rows = []
    for application, own in frame.groupby("application", sort=False):
        for metric in METRICS:
            rows.append({"application": application, "metric": metric, **_pearson(own[metric], own["time_s"])})
    return pd.DataFrame(rows, columns=["application", "metric", "r", "p", "n"])


def predictors(table: pd.DataFrame) -> pd.DataFrame:
    """Return Spearman's rho of each MPI share with each sensitivity over the applications, its p and n (table II)."""
    rows = []
    for predictor in ("mpi_share", "collective_share", "allreduce_share"):
        for kind in ("endpoint", "intermediate"):
            both = table[[predictor, kind]].dropna()
            row: dict[str, object] = {"predictor": predictor, "sensitivity": kind, "rho": np.nan, "p": np.nan}
            if len(both) >= _LEAST and (both.nunique() > 1).all():
                row |= dict(zip(("rho", "p"), rank_correlation(both[predictor], both[kind]), strict=True))
            rows.append({**row, "n": len(both)})
    return pd.DataFrame(rows)


def rank_correlation(x: ArrayLike, y: ArrayLike) -> tuple[float, float]:
    """Return Spearman's rho and its two-sided p: exact, over all orders, for few values."""
    ranks_x, ranks_y = stats.rankdata(x), stats.rankdata(y)
    found = stats.spearmanr(ranks_x, ranks_y)
    rho = float(found.statistic)
    if len(ranks_x) > _EXACT:
        return rho, float(found.pvalue)
    orders = np.array(list(itertools.permutations(ranks_x))) - ranks_x.mean()
    centred = ranks_y - ranks_y.mean()
    every = orders @ centred / np.sqrt((orders[0] ** 2).sum() * (centred**2).sum())
    return rho, float(np.mean(np.abs(every) >= abs(rho) - 1e-9))


def pressure_table(machine: Machine, settings: ImpactSection) -> pd.DataFrame:
    """Return of every run of congestor and canary the impact factor and the stall/flit ratio (Zhang et al., figure 7).

    Times are those of the canary's iteration, the factor how many times longer it takes than alone: GPCNeT's ratio of
    bandwidths, on average and at the 99th percentile (:mod:`phase3_sst.studies.congestion.canary`).
    """
    done = [one for one in pressures(machine, settings) if not _failed(machine, one)]
    rows, counted = [], RouterCounters(machine.network_content["topology"])
    for one in done:
        congested, isolated = machine.result(one.congested), machine.result(one.isolated)
        beside, alone = canary.summary(canary.read_canary(congested)), canary.summary(canary.read_canary(isolated))
        factors = canary.impact(beside, alone)
        counted.add(congested, [host for member in one.congested.members for host in member.hosts])
        rows.append(
            {
                "nodes": one.nodes,
                "level": one.level,
                "repetition": one.repetition,
                "isolated_s": alone.average_s,
                "congested_s": beside.average_s,
                "impact": factors.average,
                "impact_p99": factors.percentile_99,
            }
        )
    columns = ["nodes", "level", "repetition", "isolated_s", "congested_s", "impact", "impact_p99"]
    return pd.DataFrame(rows, columns=columns).join(counted.metrics())


def _failed(machine: Machine, one: Pressure) -> bool:
    return any(machine.failed(situation) is not None for situation in (one.congested, one.isolated))


def _shares(result: PointResult) -> dict[str, float]:
    """Return the shares of the ranks' time in MPI, in collectives and in MPI_Allreduce, waiting included."""
    ranks = result.ranks()
    seconds = ranks[ranks["job"] == 0].groupby("operation")["seconds"].sum()
    whole = float(seconds.sum())
    collective = [name for name in seconds.index if name.removeprefix("MPI_").startswith(COLLECTIVES)]
    mpi = {"mpi_share": [name for name in seconds.index if name != COMPUTE], "collective_share": collective}
    mpi["allreduce_share"] = [name for name in collective if name == "MPI_Allreduce"]
    return {key: float(seconds[names].sum()) / whole if whole else np.nan for key, names in mpi.items()}


def _median(values: np.ndarray, confidence: float, rng: np.random.Generator) -> tuple[float, float, float]:
    """Return the median of ``values`` and its bootstrap interval; without values, nothing is known."""
    if not len(values):
        return (np.nan, np.nan, np.nan)
    drawn = np.median(rng.choice(values, (_RESAMPLES, len(values))), axis=1)
    low, high = np.quantile(drawn, [(1 - confidence) / 2, (1 + confidence) / 2])
    return float(np.median(values)), float(low), float(high)


def _pearson(x: pd.Series[float], y: pd.Series[float]) -> dict[str, float | int]:
    both = pd.concat([x, y], axis=1).dropna().to_numpy(dtype=float)
    if len(both) < _LEAST or (np.ptp(both, axis=0) == 0).any():
        return {"r": np.nan, "p": np.nan, "n": len(both)}
    found = stats.pearsonr(both[:, 0], both[:, 1])
    return {"r": float(found.statistic), "p": float(found.pvalue), "n": len(both)}
