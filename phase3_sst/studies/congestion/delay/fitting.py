"""The work of ``manynode delay``: fits a model to tables, and computes estimates from a model and tables."""

from __future__ import annotations

import numpy as np
import pandas as pd

from manynode.config.network import Network
from manynode.errors import InputError
from phase3_sst.studies.congestion.delay.delay_model_file import DelayModel, Trained, lines
from phase3_sst.studies.congestion.delay.latency import LatencyModel, Snapshots, estimated_round_trips
from phase3_sst.studies.congestion.delay.latency import fit as fit_latency
from phase3_sst.studies.congestion.delay.run_time_model import Sensitivity, correlation, delivery_s, fit_sensitivity
from phase3_sst.studies.congestion.delay.stalls import MOST_SHARE

ROUND_TRIP_ESTIMATES_SCHEMA = "round-trip-estimates/1"
RUN_ESTIMATES_SCHEMA = "run-time-estimates/1"


def fit_tables(
    network: Network,
    stalls: pd.DataFrame,
    round_trips: pd.DataFrame,
    runs: pd.DataFrame | None,
    seed: int,
    confidence: float,
) -> DelayModel:
    """Return the model of ``round_trips``, and of the applications of ``runs``."""
    snapshots = Snapshots.of(network, stalls)
    rows = snapshots.of_round_trips(round_trips)
    times = round_trips["round_trip_s"].to_numpy(dtype=float)
    latency = fit_latency(rows, times.tolist(), network.name)
    estimated = estimated_round_trips(latency, rows)
    applications: dict[str, Sensitivity] = {}
    if runs is not None:
        delays = delivery_s(latency, snapshots, runs)
        durations = (runs["end_s"] - runs["start_s"]).to_numpy(dtype=float)
        for name in sorted(runs["application"].astype(str).unique()):
            own = (runs["application"].astype(str) == name).to_numpy()
            try:
                applications[name] = fit_sensitivity(delays[own], durations[own], seed, confidence)
            except InputError as error:
                raise error.named(name) from None
    unit = ping_pong(estimated, times, seed, confidence) if applications else None
    return DelayModel.model_validate(
        {
            "network": network.name,
            "most_stalled_share": MOST_SHARE,
            "coefficients_s": dict(latency.coefficients),
            "trained": Trained(
                round_trips=len(times),
                correlation=correlation(estimated, times),
                error_p75=float(np.quantile(np.abs(estimated / times - 1), 0.75)),
            ),
            "sensitivities": {} if unit is None else lines(applications, unit),
        }
    )


def ping_pong(estimated_s: np.ndarray, round_trips_s: np.ndarray, seed: int, confidence: float) -> Sensitivity:
    """Return the sensitivity of a ping-pong of one round trip to message delay, which sets the scale."""
    return fit_sensitivity(estimated_s / 2, round_trips_s, seed, confidence)


def estimate_round_trips(
    model: DelayModel, network: Network, stalls: pd.DataFrame, wanted: pd.DataFrame
) -> pd.DataFrame:
    """Return the rows with estimated_s."""
    _same_network(model.latency, network)
    rows = Snapshots.of(network, stalls).of_round_trips(wanted)
    return wanted.assign(estimated_s=estimated_round_trips(model.latency, rows))


def estimate_runs(model: DelayModel, network: Network, stalls: pd.DataFrame, wanted: pd.DataFrame) -> pd.DataFrame:
    """Return the rows with delivery_s (expected delay of their messages) and estimated_s (run time)."""
    _same_network(model.latency, network)
    unknown = sorted(set(wanted["application"].astype(str)) - set(model.sensitivities))
    if unknown:
        raise InputError(
            "the model was not trained on this application",
            found=unknown[0],
            allowed=", ".join(model.sensitivities) or "none: it was fitted without runs",
            remedy="fit it with runs of that application: manynode delay fit --runs",
        )
    delays = delivery_s(model.latency, Snapshots.of(network, stalls), wanted)
    known = [model.sensitivities[str(name)] for name in wanted["application"]]
    times = [line.gradient * delay + line.offset_s for line, delay in zip(known, delays, strict=True)]
    nodes = [" ".join(map(str, row)) for row in wanted["nodes"]]
    return wanted.assign(nodes=nodes, delivery_s=delays, estimated_s=times)


def _same_network(model: LatencyModel, network: Network) -> None:
    if model.network != network.name:
        raise InputError(
            "the model was fitted on another network",
            found=network.name,
            allowed=model.network,
            remedy="latencies belong to a network: fit the model again on this one",
        )
