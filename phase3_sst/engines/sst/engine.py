"""The reference engine: merlin's routers and firefly's NICs in an unmodified SST.

Each replica is a separate simulation, with one or more processes and threads (``simulate: sst``). As many replicas run
in parallel as the cores allow. ``phase3_sst/engines/sst/machine/README.md`` describes the model.
"""

from __future__ import annotations

import json
import os
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from manynode import process_tree
from manynode.config.simulate import SimulateSection
from manynode.config.sst import SstSection
from manynode.errors import EngineFailedError, ManynodeError
from manynode.probe import Probe
from manynode.units import render
from phase3_sst.engines.fast.engine import FastEngine
from phase3_sst.engines.sst.machine.rates import rates_of
from phase3_sst.engines.sst.machine.sst_run_file import run_of
from phase3_sst.engines.sst.machine.wiring import wiring_of
from phase3_sst.engines.sst.run.progress_lines import Progress, Teller
from phase3_sst.engines.sst.run.run_files import sst_run
from phase3_sst.engines.sst.run.simulation import Simulation, simulate_together
from phase3_sst.engines.sst.run.sst_estimate import Estimate, estimate_of
from phase3_sst.engines.sst.run.sst_installation import GUIDE, ember_sources, find_sst
from phase3_sst.point.contract import Capabilities, Measurement, Point, engines
from phase3_sst.point.result_files import collect_parts, read_measurement
from phase3_sst.point.run_file import refuse_injection, run_description

WHAT = "the engine sst"
PURPOSE = "phase 3: the reference network simulator (flit-level routers)"


@engines.register("sst")
class SstEngine:
    """``sst`` with the element library and the machine description of this project."""

    name: ClassVar[str] = "sst"
    capabilities: ClassVar[Capabilities] = Capabilities(counts_stalls=True, always_has_buffers=True)

    def __init__(self, settings: SstSection | None = None) -> None:
        self.settings = SstSection() if settings is None else settings

    @classmethod
    def with_settings(cls, simulate: SimulateSection) -> SstEngine:
        """Return the engine with its settings in the section ``simulate``."""
        return cls(simulate.sst)

    def probe_bytes(self, _network: Mapping[str, Any]) -> float:
        """Return the bytes that take about 15 s: every packet is an event at every port on its path."""
        return 640e6

    def cores_of_replica(self) -> int:
        """Return SST's threads times its processes."""
        return self.settings.cores()

    def probe(self) -> Probe:
        """Look for SST, ember's sources and the element library, and check that they fit together."""
        try:
            found = find_sst(self.settings)
        except ManynodeError as error:
            reason = error.what if error.found is None else f"{error.what} (found: {error.found})"
            return Probe(False, "", "", PURPOSE, f"optional; {reason}; {error.remedy or GUIDE}")
        sources = ember_sources(found.config_program)
        words = f"{found.sst}; element library {found.library}; ember's sources {sources or 'gone'}"
        return Probe(True, words, found.version, PURPOSE, "")

    def expected_cost(self, run: Mapping[str, Any]) -> Estimate:
        """Return the estimate from measured costs of ranks, ports and packets."""
        return estimate_of(run, self.settings.processes)

    def check(self, runs: Mapping[str, Mapping[str, Any]]) -> None:
        """Check with the machine description, then with the run file reader that motif and engine fast share."""
        networks: set[str] = set()
        for name, run in runs.items():
            refuse_injection(run, self.name)
            described = run_of(sst_run(run, self.settings, Path()))
            network = json.dumps(run["network"], sort_keys=True)
            if network in networks:
                continue
            networks.add(network)
            try:
                rates_of(described.network, wiring_of(described.network["topology"]))
            except ManynodeError as error:
                raise error.named(f"{WHAT} ({name})") from None
        FastEngine().check(runs)
        find_sst(self.settings)

    def simulate(self, point: Point, directory: Path) -> None:
        """Simulate all replicas of ``point``, in parallel on ``point.processes`` cores."""
        refuse_injection(run_description(point), self.name)
        settings = point.experiment.simulate.sst
        installation = find_sst(settings)
        replicas = point.chosen_replicas
        beside = side_by_side(point.processes, settings)
        what = f"{WHAT} ({point.name})"
        directory.mkdir(parents=True, exist_ok=True)
        expected = estimate_of(run_description(point, [0]), settings.processes)
        check_memory(expected, beside, settings, what)
        if point.progress is not None:
            point.progress(f"estimate: {expected.words()}")
        teller = None if point.progress is None else Teller(len(replicas), point.progress)
        limit = point.experiment.simulate.time_limit
        start = time.monotonic()
        with tempfile.TemporaryDirectory(prefix=".sst.", dir=directory) as name:
            outs = []
            for first in range(0, len(replicas), beside):
                simulations = [
                    Simulation(
                        run_description(point, [replica]),
                        Path(name) / f"replica-{replica}",
                        directory / f"sst-replica-{replica}.log",
                    )
                    for replica in replicas[first : first + beside]
                ]

                def tell(replica: int, progress: Progress, done: int = first, beside: int = len(simulations)) -> None:
                    if teller is not None:
                        teller.tell(replica, done, beside, progress)

                left = None if limit is None else max(0.0, limit - (time.monotonic() - start))
                outs += simulate_together(
                    simulations, installation, settings, what=what, timeout_s=left, tell=tell if teller else None
                )
            collect_parts(outs, directory)

    def measure(self, run: Mapping[str, Any], timeout_s: float | None = None) -> Measurement:
        """Simulate the first replica of the run file ``run``; keep SST's output after a failure."""
        installation = find_sst(self.settings)
        one = {**run, "replicas": list(run["replicas"][:1])}
        handle, log = tempfile.mkstemp(prefix="manynode-sst.", suffix=".log")
        os.close(handle)
        with tempfile.TemporaryDirectory(prefix="manynode-sst.") as name:
            simulation = Simulation(one, Path(name) / "probe", Path(log))
            (out,) = simulate_together([simulation], installation, self.settings, what=WHAT, timeout_s=timeout_s)
            return read_measurement(out)

    def measure_all(
        self, runs: Sequence[Mapping[str, Any]], timeout_s: float | None = None, processes: int = 1
    ) -> list[Measurement]:
        """Do :meth:`measure` for each of ``runs``, one after another: SST has processes and threads of its own."""
        return [self.measure(run, timeout_s) for run in runs]


def check_memory(expected: Estimate, beside: int, settings: SstSection, what: str) -> None:
    """Refuse simulations that do not fit this host's memory; a limit set by the user is trusted and enforced."""
    here = process_tree.host_memory_bytes()
    if settings.memory is not None or settings.launcher is not None or beside * expected.memory_bytes <= here:
        return
    raise EngineFailedError(
        f"{what}: SST will take more memory than this host has",
        where=f"{beside} replica{'s' if beside > 1 else ''} at a time",
        found=f"{expected.words()}",
        allowed=f"{render(here, 'size')} in all",
        remedy="use fewer cores (--cores) for fewer replicas at a time, fewer nodes or ranks, or processes on several "
        "hosts ('simulate: sst: processes, launcher'); 'simulate: sst: memory' sets another limit",
    )


def side_by_side(cores: int, settings: SstSection) -> int:
    """Return the number of simulations that run in parallel on ``cores`` cores: at least one."""
    return max(1, cores // settings.cores())
