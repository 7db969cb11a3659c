"""``manynode doctor``: path, version and purpose of every tool and engine, and how to get a missing one.

The phases add their engines through the entry points ``manynode.doctor``; nothing here imports a phase.
"""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import entry_points, version
from pathlib import Path

from manynode import __version__, process
from manynode.errors import ManynodeError
from manynode.paths import ROOT

_VERSION = re.compile(r"\d+(?:\.\d+)+[\w.+-]*")


@dataclass(frozen=True)
class Tool:
    """A program on PATH: candidate names, the arguments that print its version, its purpose, how to get it."""

    names: Sequence[str]
    arguments: Sequence[str]
    purpose: str
    remedy: str
    needed: bool = False


TOOLS: dict[str, Tool] = {
    "MPICH": Tool(
        ["mpiexec.mpich", "mpiexec.hydra"], ["--version"], "runs MPI jobs (default)", "apt-get install mpich"
    ),
    "Open MPI": Tool(
        ["mpiexec.openmpi", "orterun"],
        ["--version"],
        "runs programs built with Open MPI",
        "apt-get install openmpi-bin",
    ),
    "perf": Tool(
        ["perf"], ["--version"], "phase 1: counters around each rank (source perf_stat)", "apt-get install linux-perf"
    ),
    "valgrind": Tool(
        ["valgrind"], ["--version"], "phase 1: exact counts; phase 2: engine valgrind", "apt-get install valgrind", True
    ),
    "addr2line": Tool(
        ["addr2line"], ["--version"], "names call sites by function and line", "apt-get install binutils"
    ),
    "cmake": Tool(["cmake"], ["--version"], "builds the native part", "apt-get install cmake", True),
    "c++": Tool(
        ["c++", "g++", "clang++"], ["--version"], "builds the native part", "apt-get install build-essential", True
    ),
    "sst": Tool(
        ["sst"],
        ["--version"],
        "the simulator of the engine sst (see 'simulate: sst' for whether it can be used)",
        "optional; build sst-core and sst-elements with the installation guide on sst-simulator.org",
    ),
    "chromium": Tool(
        ["chromium", "chromium-browser"], ["--version"], "tests of the report", "apt-get install chromium"
    ),
}


@dataclass(frozen=True)
class Finding:
    """One line of the report."""

    name: str
    available: bool
    where: str
    version: str
    purpose: str
    remedy: str


def probe_tool(name: str, tool: Tool) -> Finding:
    """Look for a tool on PATH and ask for its version."""
    for candidate in tool.names:
        if path := shutil.which(candidate):
            try:
                output = process.run([path, *tool.arguments], what=candidate, check=False, timeout_s=20).output
            except ManynodeError:
                output = ""
            match = _VERSION.search(output)
            return Finding(name, True, path, match[0] if match else "unknown", tool.purpose, "")
    return Finding(name, False, "", "", tool.purpose, tool.remedy)


def counters_finding() -> Finding:
    """Return whether this host has hardware counters, and if not, why."""
    purpose = "phase 1: counters without slowing the application (source perf_event)"
    perf = shutil.which("perf")
    setting = Path("/proc/sys/kernel/perf_event_paranoid")
    paranoid = setting.read_text().strip() if setting.is_file() else "absent"
    if perf:
        output = process.run(
            [perf, "stat", "-e", "instructions:u", "true"], what="perf", check=False, timeout_s=20
        ).output
        if re.search(r"^\s+[\d,.]+\s+instructions", output, re.MULTILINE):
            return Finding("hardware counters", True, f"perf_event_paranoid={paranoid}", "", purpose, "")
        reason = "not supported here (a virtual machine without a PMU)" if "not supported" in output else "refused"
    else:
        reason = "cannot tell without perf"
    remedy = f"{reason}; perf_event_paranoid={paranoid} (2 or less is needed). The source callgrind works everywhere"
    return Finding("hardware counters", False, "", "", purpose, remedy)


def findings() -> list[Finding]:
    """Return all findings: manynode itself, Python, tools, hardware counters, the phases' engines."""
    found = [
        Finding("manynode", True, str(ROOT), __version__, "the folder of configs/, docs/, profiles/, skeletons/", ""),
        Finding("python", True, sys.executable, sys.version.split()[0], "runs manynode", ""),
        Finding("snakemake", True, "", version("snakemake"), "runs the workflow", ""),
        *(probe_tool(name, tool) for name, tool in TOOLS.items()),
        counters_finding(),
    ]
    for entry in sorted(entry_points(group="manynode.doctor"), key=lambda item: item.name):
        for name, probe in entry.load()().items():
            found.append(
                Finding(
                    f"{entry.name}: {name}", probe.available, probe.found, probe.version, probe.purpose, probe.remedy
                )
            )
    return found


def print_report(found: Sequence[Finding]) -> None:
    """Print two lines for each finding; paths and commands stay whole at any width and can be copied."""
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False)
    width = max(len(finding.name) for finding in found)
    for finding in found:
        mark = ("ok", "green") if finding.available else ("--", "yellow")
        facts = [finding.version, finding.where] if finding.available else [finding.remedy]
        lines = [Text.assemble(mark, f"  {finding.name:<{width}}  {finding.purpose}")]
        lines += [Text(f"    {line}") for line in ", ".join(fact for fact in facts if fact).splitlines()]
        for line in lines:
            # No wrapping by rich, which breaks long words; a narrow terminal wraps without a line end.
            console.print(line, soft_wrap=True)
