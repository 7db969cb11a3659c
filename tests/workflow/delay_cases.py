"""Small known truths for the tests of delays: a ring of switches, given stalls, and round trips made from them."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd

from manynode.config.network import Network
from manynode.seeds import generator
from phase3_sst.studies.congestion.delay.passages import Routes
from phase3_sst.studies.congestion.routes import ends_of, possible_paths

RING = Network.model_validate(
    {"name": "ring", "topology": {"kind": "torus", "shape": [6], "hosts_per_switch": 2, "links_per_direction": 1}}
)
# base, a link between switches, and a unit of waiting at a link: up to the hosts, down to them, between switches [s].
TRUTH = {
    "base": 1.5e-6,
    "idle:dim0": 0.2e-6,
    "wait:host-up": 0.0,
    "wait:host-down": 0.5e-6,
    "wait:dim0": 2e-6,
}


def links(network: Network = RING) -> list[str]:
    """Return the names of all links that some message takes."""
    found = possible_paths(network, itertools.permutations(range(network.room()), 2))
    return sorted({link for ways in found.of.values() for way in ways for link in way})


def stalls(runs: int, seed: int = 1, intervals: int = 4) -> pd.DataFrame:
    """Return ``stalled-links/1``: each run is as congested as its draw says; an interval lasts a millisecond."""
    rows, names = [], links()
    for run in range(runs):
        rng = generator(seed, "stalls", run)
        level = float(rng.uniform(0, 0.85)) if run else 0.0
        for step, link in itertools.product(range(intervals), names):
            source, target = ends_of(link)
            share = level * float(rng.uniform())
            rows.append((f"run-{run}", step * 1e-3, (step + 1) * 1e-3, source, target, share))
    return pd.DataFrame(rows, columns=["run", "start_s", "end_s", "source", "target", "stalled_share"])


def round_trips(table: pd.DataFrame, noise: float = 0.0, seed: int = 1, pairs: int = 3) -> pd.DataFrame:
    """Return ``round-trips/1`` as TRUTH makes them, written out link by link."""
    rng = generator(seed, "round-trips")
    rows, routes = [], Routes(RING)
    paths = possible_paths(RING, itertools.permutations(range(RING.room()), 2)).of
    for run, own in table.groupby("run", sort=True):
        odds = own.assign(q=own["stalled_share"] / (1 - own["stalled_share"])).groupby(["source", "target"])["q"].mean()
        for _ in range(pairs):
            a, b = (int(node) for node in rng.permutation(RING.room())[:2])
            time = 2 * TRUTH["base"]
            for link in [*paths[a, b][0], *paths[b, a][0]]:
                kind = routes.kinds[link]
                time += TRUTH.get(f"idle:{kind}", 0.0) + TRUTH[f"wait:{kind}"] * odds[ends_of(link)]
            time *= float(np.exp(noise * rng.standard_normal()))
            rows.append((run, a, b, 0.0, float(own["end_s"].max()), time))
    return pd.DataFrame(rows, columns=["run", "source_node", "target_node", "start_s", "end_s", "round_trip_s"])
