"""An independent engine: SMPI, SimGrid's flow model, on the same run file; see ``README.md`` beside this file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from manynode.errors import EngineMissingError
from manynode.paths import native_program
from manynode.probe import Probe
from phase3_sst.engines.fast.engine import FastEngine
from phase3_sst.engines.native_engine import NativeEngine
from phase3_sst.point.contract import Capabilities, Point, engines
from phase3_sst.point.run_file import refuse_injection, run_description

REMEDY = "optional; apt-get install libsimgrid-dev, then 'make build'"


@engines.register("simgrid")
class SimgridEngine(NativeEngine):
    """``manynode-simgrid``, part of the native build if SimGrid's headers and library are installed."""

    name = "simgrid"
    capabilities = Capabilities()
    program = "manynode-simgrid"
    what = "the engine simgrid"
    purpose = "phase 3: an independent network simulator (SMPI), good to about a thousand ranks"

    def probe(self) -> Probe:
        """Look for the program in the native build and ask its version."""
        found = super().probe()
        return found if found.available else replace(found, remedy=REMEDY)

    def check(self, runs: Mapping[str, Mapping[str, Any]]) -> None:
        """Check with the program; without it, with the run file reader that all engines share."""
        for run in runs.values():
            refuse_injection(run, self.name)
        try:
            native_program(self.program)
        except EngineMissingError as error:
            FastEngine().check(runs)
            raise EngineMissingError("the engine simgrid is not part of this build", remedy=REMEDY) from error
        super().check(runs)

    def simulate(self, point: Point, directory: Path) -> None:
        """Simulate all replicas of ``point``; an error names the package when the build has no such program."""
        refuse_injection(run_description(point), self.name)
        try:
            native_program(self.program)
        except EngineMissingError as error:
            raise EngineMissingError("the engine simgrid is not part of this build", remedy=REMEDY) from error
        super().simulate(point, directory)
