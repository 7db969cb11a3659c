"""Compare streams on this host with the engine qemu: read, copy and triad from each level, on one and on two cores.

The machine file comes from ``manynode calibrate-node`` (``python benchmarks/node_streams.py MACHINE`` takes another
one). It takes the misses in flight from a stream of one core through memory, ``line_fill`` from reading the second
level, and the bandwidth from the triad on all cores; the other streams were not fitted. Of the host the fastest of
several rounds counts. Times of caches are in cycles, because the clock of one core can be higher than that of all.
Takes two minutes with a machine file, and needs two idle cores.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import Any, Final

import pandas as pd
import yaml
from _figure import figure
from _node_run import need
from node_host import calibrated

from manynode.config.experiment import NodesimSection
from manynode.config.machine import Machine
from manynode.markers import read_marker_directory
from manynode.paths import native_program
from phase2_nodesim.calibration.in_engine import PROGRAM, series_of_segments, words
from phase2_nodesim.calibration.measurements import Series, measure
from phase2_nodesim.calibration.plan import Task, task
from phase2_nodesim.engines._interface import ENGINES, NodeJob, NodeRun

ROUNDS: Final = 15
CORES: Final = (1, 2)
ARRAYS: Final = {"read": 1, "copy": 2, "triad": 3}
LEAST_OPERATIONS: Final = 400_000


def streams(machine: Machine) -> dict[tuple[str, str], Task]:
    """Return a stream for each level and kernel: a half of a cache, or four times the last one and more."""
    caches = machine.caches
    sizes = {"l1d": caches.l1d.size / 2, "memory": 4 * caches.last_level.size}
    if caches.l2 is not None:
        sizes |= {"l2": caches.l2.size / 2, "last_level": 2 * caches.l2.size}
    found = {}
    for level in [name for name in ("l1d", "l2", "last_level", "memory") if name in sizes]:
        for kernel, arrays in ARRAYS.items():
            elements = int(sizes[level]) // 8 // arrays
            count = elements // 2 if level == "memory" else max(32 * elements, LEAST_OPERATIONS)
            found[level, kernel] = task("stream", count, kernel=kernel, bytes=int(sizes[level]), pages="large")
    return found


def simulated(machine: Machine, tasks: list[Task], cores: int) -> dict[str, Series]:
    """Return the series of the tasks under the engine by label."""
    settings, engine = NodesimSection(engine="qemu"), ENGINES.get("qemu")
    with tempfile.TemporaryDirectory() as name:
        run = NodeRun(machine, cores, Path(name), crowded=True, settings=settings)
        job = NodeJob(
            [str(native_program(PROGRAM)), *words(tasks)], "mpich", 0, 1, cores, settings=settings, timeout_s=3600
        )
        engine.run(run, job)
        segments = engine.segments(run, read_marker_directory(run.directory))
        return series_of_segments(segments, (run.directory / "job.log").read_text())


def compared(machine: Machine) -> pd.DataFrame:
    """Return a row for each level, kernel and number of cores: native and simulated time, and the error."""
    rows, tasks = [], streams(machine)
    for cores in CORES:
        native = {
            key: Task(one.name, (*one.values, ("workers", str(cores))), one.operations) for key, one in tasks.items()
        }
        # A process for each, as the calibration does: one that needs much memory does not disturb the next one.
        truth = {key: measure([one], ROUNDS)[one.label()] for key, one in native.items()}
        model = simulated(machine, list(tasks.values()), cores)
        for (level, kernel), one in tasks.items():
            found, wanted = model[one.label()], truth[level, kernel]
            unit = 1e9 if level == "memory" else None
            times = [each.best * (unit or 1 / each.clock_s) for each in (wanted, found)]
            rows.append(
                {
                    **{"level": level, "kernel": kernel, "cores": cores, "unit": "ns" if unit else "cycles"},
                    **{"native": times[0], "qemu": times[1], "error": times[1] / times[0] - 1},
                }
            )
    return pd.DataFrame(rows)


def figures(machine: Machine | None = None) -> list[dict[str, Any]]:
    """Print the table; return the median and the worst error of all streams."""
    need("qemu")
    if machine is None:
        with tempfile.TemporaryDirectory() as folder:
            machine = calibrated(Path(folder))
    table = compared(machine)
    print(table.to_string(index=False, float_format="{:.3f}".format))
    errors = table["error"].abs()
    return [
        figure("engine qemu against this host: streams, median error", errors.median(), "", None, None),
        figure("engine qemu against this host: streams, worst error", errors.max(), "", None, None),
    ]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("machine", nargs="?", type=Path, help="machine file; default: that of calibrate-node")
    arguments = parser.parse_args()
    given = Machine.model_validate(yaml.safe_load(arguments.machine.read_text())) if arguments.machine else None
    for entry in figures(given):
        print(f"{entry['name']}: {entry['value']:.4g}")
