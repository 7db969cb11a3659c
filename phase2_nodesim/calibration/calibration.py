"""A calibration of this host: what is asked for is checked, measured, and turned into figures, notes and remarks."""

from __future__ import annotations

import re
import shlex
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from manynode import tables
from manynode.errors import UsageError
from phase2_nodesim.calibration.core_figures import core_figures, measured_window
from phase2_nodesim.calibration.figures import Cycles, Figure, percent, plural
from phase2_nodesim.calibration.host import Host, read_host
from phase2_nodesim.calibration.measurements import Series, join, last_level_inclusive, measure_groups
from phase2_nodesim.calibration.memory_figures import memory_figures
from phase2_nodesim.calibration.node_figures import inclusion_figure, node_figures, within_node
from phase2_nodesim.calibration.plan import WINDOWS, Plan, plan_for
from phase2_nodesim.calibration.prefetcher_figures import prefetcher_figures

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}")
_WINDOW_ATTEMPTS = 3
"""The step of the reorder buffer is one point wide, and noise can hide it."""
_FINER = (16, 4)
"""Steps of the instructions between two misses around the step that was found."""
_SHORT_ROUNDS = 3
"""Short measurements have that many times the rounds, which costs little and finds a quiet moment of the host."""


@dataclass(frozen=True)
class Calibration:
    """Figures by key, what the user should know, and the circumstances."""

    host: Host
    cores: int
    rounds: int
    quick: bool
    seconds: float
    cycles: Cycles
    figures: Mapping[str, Figure]
    notes: list[str]

    def description(self) -> str:
        """Return the file's description."""
        how = "quick trial of" if self.quick else "measured on"
        return f"{how} {self.host.processor}, {plural(self.cores)}"

    def base_for(self, content: Mapping[str, Any]) -> dict[str, Any]:
        """Return the base without what this host does not have."""
        base = {key: dict(value) if isinstance(value, Mapping) else value for key, value in content.items()}
        if self.host.caches and "l2" not in self.host.caches:
            base["caches"].pop("l2", None)
        return base

    def remarks(self, command: str) -> list[str]:
        """Return the first lines of the file: the command that wrote it, when, where, how, and how sure."""
        when = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime())
        remarks = [
            f"Written by: {command}",
            f"Measured {when} in {self.seconds:.0f} s on {self.host.processor}, {plural(self.cores)}. The fastest of "
            f"{self.rounds} rounds counts, in the core and for streams of {_SHORT_ROUNDS * self.rounds}. Rounds are as "
            f"far apart as the median one took longer than the fastest. Noise of the clock: "
            f"{percent(self.cycles.clock.spread)}; of the figures: median {percent(self._noise(0.5))}, largest "
            f"{percent(self._noise(1.0))}.",
        ]
        if self.quick:
            remarks.append("A quick trial: its figures are imprecise, and no base for a projection.")
        return [*remarks, *[f"Note: {note}." for note in self.notes]]

    def table(self) -> str:
        """Return figures and their sources as text."""
        width = max(len(key) for key in self.figures)
        return "\n".join(
            f"{key:<{width}}  {figure.value!s:>12}  {figure.source}" for key, figure in sorted(self.figures.items())
        )

    def _noise(self, share: float) -> float:
        spreads = sorted(figure.spread for figure in self.figures.values() if figure.spread is not None)
        return spreads[min(len(spreads) - 1, int(share * len(spreads)))] if spreads else 0.0


def command_line(output: Path, *, base: str, rounds: int, name: str | None, cores: int | None, quick: bool) -> str:
    """Return the command that makes such a file again."""
    words = ["manynode", "calibrate-node", str(output), "--base", base, "--rounds", str(rounds)]
    words += ["--cores", str(cores)] if cores is not None else []
    words += ["--name", name] if name is not None else []
    words += ["--quick"] if quick else []
    return shlex.join(words)


def check_request(output: Path, *, name: str | None, cores: int | None, force: bool) -> Host:
    """Return the host; refuse what cannot be measured or written, before anything is measured."""
    chosen = name or output.stem
    if not _NAME.fullmatch(chosen):
        raise UsageError(
            "this is no name of a machine",
            where="--name" if name else "name of the file",
            found=chosen,
            allowed="up to 80 letters, digits, dots, dashes and underscores, the first one a letter or a digit",
            remedy="choose another name with --name",
        )
    if output.suffix not in (".yaml", ".yml"):
        raise UsageError(
            "a machine file is YAML",
            where="OUT.yaml",
            found=str(output),
            allowed="a file name that ends in .yaml or .yml",
        )
    if output.is_dir():
        raise UsageError(
            "the machine file cannot be written",
            where=str(output),
            found="a folder of that name",
            allowed="the name of a file",
            remedy="give another name",
        )
    if output.exists() and not force:
        raise UsageError(
            "the machine file exists already",
            where=str(output),
            found="a file of that name",
            allowed="a new name, or --force to replace the file",
            remedy="give another name, or add --force",
        )
    _check_writable(output)
    host = read_host()
    if cores is not None and cores > host.cores:
        raise UsageError(
            "the host has fewer cores",
            where="--cores",
            found=str(cores),
            allowed=f"1 to {host.cores}, the cores that this process may use",
            remedy="leave --cores out to measure all of them",
        )
    return host


def _check_writable(output: Path) -> None:
    """Try to make a file where ``output`` will be, or in the first folder above it that exists."""
    folder = next((folder for folder in output.absolute().parents if folder.exists()), Path("/"))
    try:
        with tempfile.NamedTemporaryFile(prefix=f".{output.name}.", dir=folder):
            pass
    except OSError as error:
        raise tables.write_error(output.absolute(), error) from None


def calibrate(host: Host, cores: int, *, rounds: int, quick: bool, tell: Callable[[str], None]) -> Calibration:
    """Measure ``cores`` cores of the host and return the figures."""
    plan = plan_for(host, cores, quick=quick)
    start = time.monotonic()
    groups = [
        ("core", plan.core(), _SHORT_ROUNDS * rounds),
        ("caches and memory", plan.chases(), rounds),
        ("address translation", plan.pages(), rounds),
        ("lines from caches", [*plan.lines().values(), *plan.written_lines()], _SHORT_ROUNDS * rounds),
        ("lines into the first level", list(plan.fills().values()), _SHORT_ROUNDS * rounds),
        ("capacity of the last level", plan.fast_lines(), rounds),
        ("prefetchers", [one for orders in plan.walks().values() for one in orders.values()], rounds),
        ("misses at the same time", plan.parallel(), rounds),
        ("streams", plan.streams(), _SHORT_ROUNDS * rounds),
    ]
    measurements = measure_groups(groups, tell)
    for key, kind in WINDOWS.items():
        _measure_window(plan, key, kind, measurements, min(rounds, 3), tell)
    cycles, notes = Cycles(measurements), list[str]()
    figures = {
        **node_figures(host, cores),
        **core_figures(cycles, plan, host, notes),
        **memory_figures(cycles, plan, host, notes),
        **prefetcher_figures(cycles, plan),
        **inclusion_figure(host, last_level_inclusive()),
    }
    return Calibration(host, cores, rounds, quick, time.monotonic() - start, cycles, within_node(figures, cores), notes)


def _measure_window(
    plan: Plan, key: str, kind: str, measurements: dict[str, Series], rounds: int, tell: Callable[[str], None]
) -> None:
    """Measure the reorder buffer, or a queue, until its step shows, then finer around the step."""
    name, tasks = key.replace("_", " "), plan.window(kind)
    for _ in range(_WINDOW_ATTEMPTS):
        join(measurements, measure_groups([(name, tasks, rounds)], tell))
        found = measured_window(Cycles(measurements), kind)
        if found is not None or plan.quick:
            break
    if plan.quick:
        return
    for step in _FINER:
        if found is None:
            return
        finer = plan.window(kind, range(found[0], found[1] + 1, step))
        join(measurements, measure_groups([(name, finer, 2 * rounds)], tell))
        found = measured_window(Cycles(measurements), kind)
