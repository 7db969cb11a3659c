"""Make the shipped records of validations (``validation/*.parquet``) and print their errors.

- ``fugaku.parquet``: IMB collectives of ``fugaku_collectives.py`` with the network fugaku, and ping-pongs with tofu-d,
  measured by another program than the one to which it was fitted;
- ``pico.parquet``: collectives with named algorithms of ``pico_collectives.py``, only those that the fit of the shipped
  networks did not see;
- ``dahu.parquet``: ping-pongs of every second size, predicted by a network fitted to the other sizes;
- ``node_host.parquet``, ``smpi_truth.parquet``: from the tables ``validation/*.csv``, which are those that
  ``node_host.py`` and ``smpi_truth.py`` printed on an idle host; they take minutes to an hour there.

``python benchmarks/validation_records.py [NAME...]`` makes the named tables (default: all; Fugaku takes minutes).
"""

from __future__ import annotations

import argparse
import math
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import yaml
from _agreement import need
from _figure import figure
from _mini_app import manynode
from fugaku_collectives import NODES, compared
from pico_collectives import CASES, without_fit

from manynode.config.network import Network
from manynode.config.resolved import read_yaml
from manynode.config.simulate import CollectivesSection
from manynode.known_errors.records import NETWORK, NODE, NOTHING, log_errors, write_records
from manynode.paths import ROOT
from phase3_sst.calibration.measurements import read_measurements
from phase3_sst.checks.probes import ping_pong
from phase3_sst.engines.fast.engine import FastEngine
from phase3_sst.point.run_file import run_of
from phase3_sst.studies.validation.records import of_collectives

DATA = ROOT / "tests" / "data" / "calibration"
FOLDER = ROOT / "validation"
COMMAND = "python benchmarks/validation_records.py"
# No message is measured that is shorter than what a clock shows, and IMB repeats no message above 16 MiB often.
_MOST_BYTES = 1 << 24
# The systems of pico, and what the host figures of their networks in the catalogue were fitted to.
MACHINES = {"fugaku": "Fugaku", "mare_nostrum": "MareNostrum 5", "lumi": "LUMI"}
FITTED_NODES = 8
FITTED = {
    "fugaku": f"collectives with named algorithms on {FITTED_NODES} nodes (pico, 2 x 2 x 2)",
    "mare_nostrum": "every second size of the same collectives (pico)",
    "lumi": "every second size of the same collectives (pico)",
}


def half_round_trips(network: Network, measured: pd.DataFrame, machine: str) -> pd.DataFrame:
    """Return a record per measured size of a ping-pong between nodes 0 and 1 on ``network``, by the engine fast."""
    engine, rows = FastEngine(), []
    for row in measured.itertuples():
        size = int(row.size_bytes)
        run = run_of(network, CollectivesSection(), [ping_pong([0, 1], size)], seed=1, replicas=[0])
        rows.append(
            {
                **{"machine": machine, "application": "ping-pong", "case": f"2 nodes, bytes {size}"},
                **{"component": NETWORK, "engine": "fast", "communication_share": 1.0, "doublings": 0.0},
                "predicted_s": engine.measure(run).makespan_s / 2,
                "measured_s": float(row.time_s),
            }
        )
    return pd.DataFrame(rows)


def measured_ping_pongs(path: Path, cluster: str | None = None) -> pd.DataFrame:
    """Return size_bytes and time_s of the measured half round trips, medians by size."""
    table = read_measurements([path], cluster=cluster)
    own = table[(table["measure"] == "pingpong") & (table["size_bytes"] > 0) & (table["size_bytes"] <= _MOST_BYTES)]
    return own.groupby("size_bytes", as_index=False)["time_s"].median()


def fugaku() -> pd.DataFrame:
    """Return the records of Fugaku: collectives on 384 nodes, and ping-pongs measured in Julia."""
    beyond = math.log2(NODES / FITTED_NODES)
    both = pd.concat([compared(name) for name in ("allreduce", "reduce")], ignore_index=True)
    collectives = of_collectives(both, machine="Fugaku", engine="fast", doublings=beyond)
    collectives["fitted_to"] = FITTED["fugaku"]
    network = Network.model_validate(read_yaml(ROOT / "configs/networks/tofu-d.yaml", "the network"))
    pairs = half_round_trips(network, measured_ping_pongs(DATA / "fugaku/julia_osu_latency.csv"), "Fugaku")
    pairs["fitted_to"] = "IMB PingPong of two neighbours"
    return pd.concat([collectives, pairs], ignore_index=True)


def pico() -> pd.DataFrame:
    """Return the records of pico's campaigns: what was held out from the fits of the shipped networks.

    The same points are predicted by the networks before their fit, too: with the host figures of another machine.
    """
    found = []
    for system, machine in MACHINES.items():
        for fitted_to in (FITTED[system], NOTHING):
            frame = without_fit(system, shipped=fitted_to != NOTHING)
            fitted_nodes = (
                FITTED_NODES if CASES[system].hold_out == "nodes" and fitted_to != NOTHING else frame["nodes"]
            )
            own = of_collectives(frame, machine=machine, engine="fast")
            found.append(own.assign(doublings=np.log2(frame["nodes"] / fitted_nodes), fitted_to=fitted_to))
    return pd.concat(found, ignore_index=True)


def dahu() -> pd.DataFrame:
    """Return the records of dahu: every second size of its ping-pong, fitted to the others."""
    source = DATA / "dahu_opa100/pingpong_calls.csv"
    whole = pd.read_csv(source)
    own = whole[(whole["cluster"] == "dahu")]
    sizes = sorted(own["msg_size"].unique())
    with tempfile.TemporaryDirectory() as name:
        kept, out = Path(name) / "kept.csv", Path(name) / "network.yaml"
        own[own["msg_size"].isin(sizes[::2])].to_csv(kept, index=False)
        manynode("calibrate", kept, "--base", "opa100-fat-tree", "--name", "held-out", "--output", out)
        network = Network.model_validate(yaml.safe_load(out.read_text()))
    measured = measured_ping_pongs(source, "dahu")
    held_out = measured[measured["size_bytes"].isin(sizes[1::2])]
    return half_round_trips(network, held_out, "dahu").assign(fitted_to="every second size of the same ping-pong")


def node_host() -> pd.DataFrame:
    """Return the records of the engine qemu against two hosts, with one rank and with two."""
    rows = []
    for row in pd.read_csv(FOLDER / "node_host.csv", comment="#").itertuples():
        for ranks, error, slower in ((1, row.error_1, 0), (2, row.error_2, row.slow_down)):
            native = row.native * 1e-6 * (1 + slower / 100)
            rows.append(
                {
                    **{"machine": row.machine, "application": row.application, "component": NODE},
                    **{"case": f"{row.phase}, {ranks} rank{'s' if ranks > 1 else ''}", "engine": "qemu"},
                    **{"predicted_s": native * (1 + error / 100), "measured_s": native},
                    **{"communication_share": 0.0, "doublings": 0.0},
                }
            )
    return pd.DataFrame(rows).assign(
        fitted_to="microbenchmarks of calibrate-node; the model was extended where these applications disagreed",
        source="python benchmarks/node_host.py MACHINE --rounds 60",
    )


def smpi_truth() -> pd.DataFrame:
    """Return the records of projections from few native ranks against whole runs under SMPI, ext-var."""
    rows = [
        {
            **{"machine": "AMD EPYC, runs under SMPI", "application": row.application, "component": NODE},
            **{"case": f"{row.ranks} ranks", "engine": "native"},
            **{"predicted_s": row.measured * 1e-3 * (1 + row.error / 100), "measured_s": row.measured * 1e-3},
            # The simulated network is the same on both sides: all of the difference is that of the compute times.
            **{
                "communication_share": 0.0,
                "doublings": math.log2(row.ranks / (8 if row.application == "fft2d" else 4)),
            },
        }
        for row in pd.read_csv(FOLDER / "smpi_truth.csv", comment="#").itertuples()
    ]
    return pd.DataFrame(rows).assign(fitted_to=NOTHING, source="python benchmarks/smpi_truth.py --folder F")


TABLES: Mapping[str, Callable[[], pd.DataFrame]] = {
    "dahu": dahu,
    "fugaku": fugaku,
    "node_host": node_host,
    "pico": pico,
    "smpi_truth": smpi_truth,
}


def make(names: list[str], folder: Path = FOLDER) -> list[dict[str, Any]]:
    """Write the named tables into ``folder``; return the median absolute error of each."""
    need("fast")
    found = []
    for name in names:
        frame = TABLES[name]()
        if "source" not in frame:
            frame["source"] = f"{COMMAND} {name}"
        write_records(folder / f"{name}.parquet", frame)
        median = 100 * math.expm1(float(log_errors(frame).abs().median()))
        found.append(figure(f"{name}: {len(frame)} records, median error", median, "%", None, None))
    return found


def figures() -> list[dict[str, Any]]:
    """Make all tables anew, beside the shipped ones."""
    with tempfile.TemporaryDirectory() as folder:
        return make(list(TABLES), Path(folder))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", choices=[*TABLES, []], default=[])
    for row in make(parser.parse_args().names or list(TABLES)):
        print(f"{row['name']}: {row['value']:.3g} {row['unit']}")
