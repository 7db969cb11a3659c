"""Measure the board that gem5 simulates, and the cost of the bridge there. Skipped by name without gem5.

Figures: load-to-use latencies by chains of dependent loads against the machine file; the time between two adjacent MPI
calls; the host's processor time of a run through the bridge (a barrier about every 0.4 million instructions) over that
of the same program and board without it; gem5's rate.
"""

from __future__ import annotations

import json
import resource
import statistics
import tempfile
from pathlib import Path
from typing import Any

from _figure import figure
from _node_run import shipped_machine

from manynode import process
from manynode.config.experiment import Gem5Section, NodesimSection
from manynode.markers import read_marker_directory
from manynode.paths import ROOT, build_dir
from phase2_nodesim.engines._interface import ENGINES, NodeJob, NodeRun
from phase2_nodesim.engines.gem5 import board_command
from phase2_nodesim.gem5.board_file import BoardFiles, GuestProcess, board_file
from phase2_nodesim.gem5.installation import find_gem5

# Lines of the last level that hold the chain: more than the second level has.
MACHINES = {"broadwell": 32768, "wide-core": 524288}
LOADS = 4096
CALLS, PASSES, ROUNDS = 8, 40, 3
LATENCY_TARGET, ADJACENT_TARGET_S, BRIDGE_TARGET = 0.10, 100e-9, 1.10
GUEST = ["-static", "-no-pie", "-fno-pie", "-march=x86-64", "-isystem", str(ROOT / "phase2_nodesim/bridge/include")]


def compiled(source: Path, folder: Path) -> tuple[Path, Path]:
    """Return a program as a native MPI program and as a guest."""
    native, guest = folder / f"{source.stem}-native", folder / f"{source.stem}-guest"
    process.run(["mpicc.mpich", "-O1", source, "-o", native], what="mpicc")
    process.run(["gcc", *GUEST, "-O1", source, build_dir() / "lib/libmanynode_bridge.a", "-o", guest], what="gcc")
    return native, guest


def job(programs: tuple[Path, Path], *words: object) -> NodeJob:
    """Return the job of one simulated rank beside a native one."""
    arguments = [str(word) for word in words]
    settings = NodesimSection(engine="gem5", gem5=Gem5Section.model_validate({"inject": "none", "progress": "5 s"}))
    native, guest = ([str(program), *arguments] for program in programs)
    return NodeJob(native, "mpich", 0, 2, 1, guest=guest, settings=settings, timeout_s=3600)


def latencies(name: str, programs: tuple[Path, Path], folder: Path) -> list[dict[str, Any]]:
    """Return the ratio of measured to wanted load-to-use latencies, and the time between adjacent calls."""
    node, engine = shipped_machine(name), ENGINES.get("gem5")
    folder.mkdir()
    run = NodeRun(node, 1, folder)
    engine.run(run, job(programs, LOADS, 512, MACHINES[name]))
    files = [file for file in read_marker_directory(folder) if file.metadata["rank"] == 0]
    seconds = engine.segments(run, files).groupby("phase")["compute_s"].sum()
    wanted = {
        "load l1": node.caches.l1d.latency,
        "load l2": node.caches.l2.latency if node.caches.l2 else None,
        "load last level": node.caches.last_level.latency,
        "load memory": node.memory_cycles(),
    }
    found = []
    for phase, cycles in wanted.items():
        if cycles is None:
            continue
        measured = float(seconds[phase]) * node.frequency / LOADS
        off = abs(measured / cycles - 1)
        # gem5 needs whole cycles, and the loop around the loads takes a part of one.
        target = max(LATENCY_TARGET, 0.6 / cycles)
        found.append(
            figure(f"gem5 {name}: {phase}, {measured:.1f} cycles for {cycles:.1f}: off by", off, "", target, "<=")
        )
    rate = 512 * 1024 / float(seconds["stream"]) / 1e9
    found.append(figure(f"gem5 {name}: one core reads from memory", rate, "GB/s", None, None))
    found.append(
        figure(
            f"gem5 {name}: between adjacent calls", float(seconds["nothing"]) * 1e9, "ns", ADJACENT_TARGET_S * 1e9, "<="
        )
    )
    return found


def processor_seconds(do: Any) -> float:
    """Return the resources that the child processes of ``do`` used."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    do()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def last_progress(log: Path) -> dict[str, float]:
    """Return the facts of the last line of progress in gem5's output."""
    lines = [line for line in log.read_text().splitlines() if "manynode progress" in line]
    facts: dict[str, float] = json.loads(lines[-1].partition(": ")[2])
    return facts


def bridge_cost(programs: tuple[Path, Path], folder: Path) -> list[dict[str, Any]]:
    """Return processor time through the bridge over that of the same work alone, and gem5's rate.

    The time is that of gem5, and that of all processes: the MPI job with its start, proxies and native ranks.
    """
    node, ratios, whole, rates = shipped_machine("broadwell"), [], [], []
    for number in range(ROUNDS):
        place = folder / f"round-{number}"
        place.mkdir()

        def through_the_bridge(place: Path = place) -> None:
            ENGINES.get("gem5").run(NodeRun(node, 1, place), job(programs, CALLS, PASSES))

        def alone(place: Path = place) -> None:
            guest = GuestProcess(0, [str(programs[1]), str(CALLS), str(PASSES), "alone"], [], place)
            board = {**board_file(node, [guest], BoardFiles(None, None)), "schema": "gem5-board/1"}
            (place / "alone.json").write_text(json.dumps(board))
            command = board_command(find_gem5(), place / "alone.json", place / "alone")
            (place / "alone.log").write_text(process.run(command, what="gem5", timeout_s=3600).output)

        with_bridge, without = processor_seconds(through_the_bridge), processor_seconds(alone)
        whole.append(with_bridge / without)
        last = last_progress(place / "guests-0.log")
        ratios.append(last["processor_s"] / last_progress(place / "alone.log")["processor_s"])
        rates.append(last["instructions"] / (last["host_s"] - last["slept_s"]) / 1e6)
    return [
        figure(
            "gem5: its processor time through the bridge over alone", statistics.median(ratios), "", BRIDGE_TARGET, "<="
        ),
        figure("gem5: processor time of the whole job over alone", statistics.median(whole), "", None, None),
        figure("gem5: rate", statistics.median(rates), "million/s", None, None),
    ]


def figures() -> list[dict[str, Any]]:
    """Return all figures."""
    find_gem5()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        loads = compiled(ROOT / "tests/data/mpi/node_loads.c", folder)
        compute = compiled(ROOT / "benchmarks/bridge_compute.c", folder)
        found = [entry for node in MACHINES for entry in latencies(node, loads, folder / node)]
        return found + bridge_cost(compute, folder)
