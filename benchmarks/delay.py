"""Check the targets for Netscope's models and control (Patke et al., ICS 2021) on simulated machines of 64 nodes.

The machines are a dragonfly with minimal routing, the same with UGAL, and a torus. Round trips and two applications run
under drawn congestion. Figures: the correlation of estimated and simulated round trips that the fit has not seen, and
of run times estimated by delay sensitivity and simulated ones. Then the halo exchange, which also fills its own NICs,
runs beside a congestor under static, DCQCN-like and sensitivity-aware control of injection.

Usage on its own: ``python benchmarks/delay.py [--verbose]``.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from _agreement import need
from _figure import figure

from manynode.config.network import Network
from manynode.config.simulate import SimulateSection
from phase3_sst.studies.congestion.contract import Findings, Workload, parts
from phase3_sst.studies.congestion.delay.background import resolved
from phase3_sst.studies.congestion.delay.delay_settings import PING_PONG, DelaySection
from phase3_sst.studies.congestion.situation_runs import Runs
from phase3_sst.studies.congestion.throttling.throttling_settings import ThrottlingSection
from phase3_sst.studies.congestion.throttling.throttling_tables import over_static

FLYER = {"kind": "dragonfly", "groups": 4, "routers_per_group": 4, "hosts_per_router": 4, "global_links": 2}
MACHINES: Mapping[str, Mapping[str, Any]] = {
    "dragonfly": FLYER,
    "dragonfly-ugal": {**FLYER, "routing": "ugal"},
    "torus": {"kind": "torus", "shape": [4, 4, 2], "hosts_per_switch": 2},
}
# Switches have buffers of this size: counters of stalls then see the waiting messages.
BUFFERS = {"flow_control": "credits", "input_buffer": "32 KiB", "output_buffer": "4 KiB"}
APPLICATIONS: Mapping[str, Mapping[str, Any]] = {
    "halo": {"pattern": "halo3d", "bytes": 16384, "iterations": 60, "allreduce_bytes": 8},
    "allreduce": {"pattern": "collective", "collective": "allreduce", "bytes": 8, "iterations": 100},
}
DELAY = {"round_trips": {"situations": 60}, "runs": 24}
CORRELATION = 0.8
THROTTLED = {"applications": ["halo"], "runs": 21, "nodes": 24, "errors": []}


def machine(name: str, output: Path) -> Runs:
    """Return a machine with its workloads; results go below ``output``."""
    network = Network.model_validate({"name": name, "topology": MACHINES[name], **BUFFERS})
    simulate = SimulateSection(engine="fast", replicas=1).model_dump(mode="json")
    workloads = {
        key: Workload(key, "patterns", resolved("patterns", tuple(sorted(given.items()))), 1, None)
        for key, given in APPLICATIONS.items()
    }
    return Runs(network, network.model_dump(mode="json"), simulate, 1, 0.95, workloads, output / name)


def concluded(runs: Runs, name: str, settings: Any) -> Findings:
    """Simulate all rounds of a part and return its findings."""
    part = parts.get(name)
    part.check(runs, settings)
    number = 0
    while situations := part.situations(runs, settings, number):
        for situation in runs.missing(situations):
            runs.run(situation)
        number += 1
    return part.conclude(runs, settings)


def figures(verbose: bool = False) -> list[dict[str, Any]]:
    """Return the correlations on each machine, and aware over static control."""
    need("fast")
    found = []
    with tempfile.TemporaryDirectory(prefix="manynode-delay.") as folder:
        for name in MACHINES:
            runs = machine(name, Path(folder))
            findings = concluded(runs, "delay", DelaySection.model_validate(DELAY))
            if verbose:
                print(f"{name}:", *findings.sentences, sep="\n  ", flush=True)
            errors = findings.tables["delay-errors"][1].set_index("held_out")
            trips = f"{name}: round trips not seen by the fit,"
            found.append(figure(f"{trips} correlation", errors.loc[True, "correlation"], "", CORRELATION, ">="))
            found.append(figure(f"{trips} error met by 3/4", 100 * errors.loc[True, "error_p75"], "%", None, None))
            lines = findings.tables["delay-sensitivities"][1].set_index("application").drop(PING_PONG)
            for application, line in lines[lines["varies"]].iterrows():
                words = f"{name}: {application}, run time by delay"
                found.append(figure(words, line["correlation"], "", CORRELATION, ">="))
        found += throttled(machine("dragonfly", Path(folder)), verbose)
    return found


def throttled(runs: Runs, verbose: bool) -> list[dict[str, Any]]:
    """Return the aware controller's tail and node-seconds over static control's."""
    settings = ThrottlingSection.model_validate({**THROTTLED, "delay": DELAY})
    findings = concluded(runs, "throttling", settings)
    if verbose:
        print("throttling:", *findings.sentences, sep="\n  ", flush=True)
    told = findings.tables["throttling-sensitivities"][1]
    worst = told.loc[told["sensitivity"].idxmax(), "application"]
    ratio = over_static(findings.tables["throttling-summary"][1], worst)
    return [
        figure(f"{worst}: tail of the increase, aware / static", ratio["increase_tail"], "", 0.5, "<="),
        figure(f"{worst}: node-seconds, aware / static", ratio["node_seconds"], "", 1.05, "<="),
    ]


if __name__ == "__main__":
    for one in figures("--verbose" in sys.argv[1:]):
        print(f"{one['name']:<60} {one['value']:>8.3f} {one['unit']}", "" if one["holds"] else "DOES NOT HOLD")
