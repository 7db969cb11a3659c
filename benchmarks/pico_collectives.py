"""Predict collectives with named algorithms on three machines (pico's medians): Fugaku, MareNostrum 5, LUMI.

Fugaku is calibrated on 2 x 2 x 2 nodes alone and predicted on 4 x 4 x 4. The other two have one size of job each: they
are calibrated on every second message size, and the others are predicted. Base networks are those of the catalogue,
with the jobs' hosts where they were published. ``--write FOLDER`` keeps the calibrated networks. :func:`without_fit`
predicts what was held out with the networks as they are shipped, or as they were before their fit.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import pandas as pd
import yaml
from _agreement import need
from _figure import figure
from _mini_app import manynode
from validation_campaign import PICO, ROOT, algorithm_names

from manynode.config.loader import load_experiment
from manynode.cores import available_cores
from phase3_sst.calibration.collective_fit.held_out import held_out
from phase3_sst.engines.fast.engine import FastEngine
from phase3_sst.studies.validation.collectives import compare

PLACEMENT = PICO.with_name("placement.csv")
MOST_MEDIAN, WITHIN, LEAST_WITHIN = 0.12, 0.35, 0.90
# pico measures executions in a row with a barrier between any two. The last rank to come to a barrier made of messages
# finds them all there and leaves first: a collective with a root leaves a skew to the next execution. The first one
# begins from a common start; the others are alike.
ITERATIONS = 3


@dataclass(frozen=True)
class Case:
    """A machine: its network in the catalogue, the one whose host figures the fit starts from (not fitted to these
    measurements), what the fit may not see, whose library it has, and what differs from its network.
    """

    network: str
    host: str
    hold_out: Literal["sizes", "nodes"]
    rules: str
    places: str | None = None  # column of the placements' table that has the network's names
    changes: dict[str, Any] = field(default_factory=dict)
    names: dict[str, dict[str, str]] = field(default_factory=dict)
    iterations: int = ITERATIONS


CASES = {
    # Fujitsu's MPI is made from Open MPI. Its binomial broadcast is not Open MPI's: with three children, it takes the
    # time of three messages one after the other. Its barrier is the network's own (Tofu's barrier interface), which all
    # ranks leave together: one execution from a common start is like all.
    "fugaku": Case("fugaku", "tofu-d", "nodes", "openmpi", iterations=1),
    "mare_nostrum": Case(
        "marenostrum5",
        "leonardo",
        "sizes",
        "openmpi",
        "host",
        # NDR200 in place of HDR100. UCX's formula of the eager limit (ucp_ep_config_calc_rndv_thresh, v1.15.0) gives 20
        # to 24 KB for it, which lies between the same two powers of two as what UCX prints.
        changes={"host": {"nic_bandwidth": "196 Gbit/s"}},
        names={"bcast": {"binomial": "binomial_nearest"}, "reduce": {"binomial": "in_order_binomial"}},
    ),
    # The cabinets of the three jobs.
    "lumi": Case(
        "lumi",
        "frontier",
        "sizes",
        "mpich",
        "location",
        changes={
            "topology": {"groups": 6, "global_links": 4},
            "node_names": [
                "x1105c[0-7]s[0-7]b[0-1]n0",
                "x1202c[0-7]s[0-7]b[0-1]n0",
                "x[1302-1305]c[0-7]s[0-7]b[0-1]n0",
            ],
        },
    ),
}


def experiment(folder: Path, system: str, *, shipped: bool = False) -> Path:
    """Write the experiment of a machine with its table of measurements into ``folder``; return its path.

    The network's host figures are those that a fit starts from; with ``shipped`` those of the catalogue.
    """
    case = CASES[system]
    network, start = (
        yaml.safe_load((ROOT / "configs" / "networks" / f"{name}.yaml").read_text())
        for name in (case.network, case.host)
    )
    changes = case.changes
    if shipped:
        changes = {key: value for key, value in changes.items() if key != "host"}
    else:
        network["host"] = start["host"]
    for key, value in changes.items():
        network[key] = {**network[key], **value} if isinstance(value, dict) else value
    table = folder / f"{system}.csv"
    manynode("measured", PICO, "--system", system, "--output", table)
    placements = {}
    if case.places is not None:
        hosts = pd.read_csv(PLACEMENT)
        hosts = hosts[hosts["system"] == system].sort_values("rank")
        placements = {
            name: {"nodes": "listed", "hosts": list(rows[case.places])} for name, rows in hosts.groupby("campaign")
        }
        rows = pd.read_csv(table, comment="#", dtype=str).fillna("")
        rows.assign(placement=[name if name in placements else "" for name in rows["campaign"]]).to_csv(
            table, index=False
        )
    names = algorithm_names()
    for collective, own in case.names.items():
        names[collective] = {**names.get(collective, {}), **own}
    content = {
        "name": system.replace("_", "-"),
        "application": {"name": "hpcg"},
        "nodes": [8],
        "ranks_per_node": 1,
        "machine": "generic",
        "network": network,
        "simulate": {"collectives": {"rules": case.rules}},
        "validation": {
            "collectives": table.name,
            "start": "barrier",
            "iterations": case.iterations,
            "algorithm_names": names,
            **({"placements": placements} if placements else {}),
        },
    }
    path = folder / f"{system}.yaml"
    path.write_text(yaml.safe_dump(content, sort_keys=False), encoding="utf-8")
    return path


def predicted(system: str, keep: Path | None = None) -> pd.DataFrame:
    """Return measured and simulated times of a machine, with the column ``held_out``; print the fit's own tables."""
    case = CASES[system]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        output, table = folder / "calibrated" / f"{case.network}.yaml", folder / "errors.csv"
        output.parent.mkdir()
        command = [sys.executable, "-m", "manynode", "calibrate-collectives", str(experiment(folder, system))]
        options = {"--hold-out": case.hold_out, "--name": case.network, "--output": output, "--table": table}
        command += [str(word) for pair in options.items() for word in pair]
        said = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
        print(said)
        if keep is not None:
            (keep / output.name).write_text(output.read_text())
        return pd.read_csv(table)


def without_fit(system: str, *, shipped: bool) -> pd.DataFrame:
    """Return measured and simulated times of what was held out; ``shipped`` as in :func:`experiment`."""
    with tempfile.TemporaryDirectory() as name:
        resolved = load_experiment(experiment(Path(name), system, shipped=shipped))
    assert resolved.validation is not None
    rows = resolved.validation.collectives
    kept = [row for row, out in zip(rows, held_out(rows, CASES[system].hold_out), strict=True) if out]
    validation = resolved.validation.model_copy(update={"collectives": kept})
    return compare(resolved.model_copy(update={"validation": validation}), FastEngine(), available_cores())


def figures(systems: tuple[str, ...] = tuple(CASES), keep: Path | None = None) -> list[dict[str, Any]]:
    """Return the median error of what was held out, for each machine."""
    need("fast")
    found = []
    for system in systems:
        frame = predicted(system, keep)
        error = frame.loc[frame["held_out"], "error"].abs()
        found.append(figure(f"{system}: median error of {len(error)} held out", error.median(), "", MOST_MEDIAN, "<="))
        if system == "fugaku":
            share = (error <= WITHIN).mean()
            found.append(figure(f"{system}: share within {WITHIN:.0%}", share, "", LEAST_WITHIN, ">="))
    return found


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("systems", nargs="*", choices=[*CASES, []], default=[], metavar="SYSTEM")
    parser.add_argument("--write", type=Path, help="folder for the calibrated networks")
    arguments = parser.parse_args()
    for entry in figures(tuple(arguments.systems or CASES), arguments.write):
        print(f"{entry['name']}: {entry['value']:.3f}, {'holds' if entry['holds'] else 'does not hold'}")
