"""Compare the fast engine with LogGOPSim on the same operation streams, without contention: speed and makespan.

LogGOPSim (github.com/spcl/LogGOPSim) is no part of this toolkit. Its programs ``LogGOPSim`` and ``txt2bin`` are found
on PATH or by the environment variables LOGGOPSIM and TXT2BIN. Without them the measurement is skipped by name.

The stream is a skeleton's, with collectives expanded into the same messages: the fast engine runs the skeleton,
LogGOPSim reads it from the goal sink. Both have the same LogGPS parameters, one rank per node, a network with latency
only (a switch with links as fast as the NICs) and no compute times. All messages are eager, because LogGOPSim's
rendezvous takes no round trip.

Speed is messages per second of processor time of one process, from its start to its end. The fast engine's time
includes running the skeleton. LogGOPSim's includes mapping its binary schedule, but neither writing nor converting it.

LogGOPSim keeps the receiving *processor* busy for its overhead and for G of each byte when a message arrives, whether
or not the rank waits. The comparison uses the host option ``receive: on-arrival``, which does the same. By default NICs
receive by themselves and the processor pays in the call that waits; the difference of this default is reported without
a target. LogGOPSim charges G for all bytes but the first: its messages are a byte longer here.
"""

from __future__ import annotations

import json
import os
import re
import resource
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

from _figure import Skipped, figure

from manynode.paths import native_program

SPEED_TARGET, DIFFERENCE_TARGET = 1.0, 0.01
NEVER_RENDEZVOUS = 1 << 30
FREE = 1e18  # bytes per second, where transfer takes no time


class LogGP(NamedTuple):
    """LogGP parameters in whole nanoseconds, as LogGOPSim takes them; its O, per byte of overhead, is 0."""

    latency: int
    overhead: int
    gap: int
    gap_per_byte: int


class Stream(NamedTuple):
    """An application and its number of ranks."""

    label: str
    application: str
    parameters: dict[str, Any]
    ranks: int


WITHOUT_BYTES = LogGP(latency=2500, overhead=200, gap=200, gap_per_byte=0)
WITH_BYTES = LogGP(latency=1000, overhead=300, gap=50, gap_per_byte=1)
STREAMS = (
    Stream("HPCG, 64 ranks", "hpcg", {"iterations": 5}, 64),
    Stream("HPCG, 1,024 ranks", "hpcg", {"iterations": 2}, 1024),
    Stream(
        "halo and allreduce, 1,000 ranks",
        "patterns",
        {"pattern": "halo3d", "bytes": 2048, "allreduce_bytes": 8, "iterations": 20},
        1000,
    ),
)


def run_file(stream: Stream, model: LogGP, receive: str) -> dict[str, Any]:
    """Return the run of the fast engine: half of the latency in each NIC, none in the network."""
    bandwidth = 1e9 / model.gap_per_byte if model.gap_per_byte else FREE
    overhead = [{"from_bytes": 0, "seconds": model.overhead * 1e-9, "seconds_per_byte": 0}]
    return {
        "schema": "network-run/2",
        "jobs": [
            {
                "name": "main",
                "application": {"name": stream.application, "parameters": stream.parameters},
                "nodes": stream.ranks,
                "ranks_per_node": 1,
            }
        ],
        "network": {
            "topology": {"kind": "fat-tree", "children": [stream.ranks], "parents": [1], "parallel_links": [1]},
            "link": {"bandwidth_Bps": bandwidth, "latency_s": 0},
            "switch_latency_s": 0,
            "chunk_bytes": NEVER_RENDEZVOUS,
            "contention": False,
            "host": {
                "overhead_send": overhead,
                "overhead_recv": overhead,
                "gap_s": model.gap * 1e-9,
                "eager_limit_bytes": NEVER_RENDEZVOUS,
                "nic_bandwidth_Bps": bandwidth,
                "nic_latency_s": model.latency / 2 * 1e-9,
                "reduce_bandwidth_Bps": FREE,
                "receive": receive,
            },
            "intranode": {"latency_s": 0, "bandwidth_Bps": FREE},
        },
    }


def timed(command: list[str]) -> tuple[str, float]:
    """Run a program; return its standard output and its processor seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}: exit code {done.returncode}\n{done.stderr[-2000:]}")
    return done.stdout, after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def run_fast(stream: Stream, model: LogGP, receive: str, directory: Path) -> tuple[float, int, float]:
    """Return makespan [ns], messages and processor seconds of the fast engine."""
    (directory / "run.json").write_text(json.dumps(run_file(stream, model, receive)), encoding="utf-8")
    output = directory / "result"
    _, seconds = timed([str(native_program("manynode-fast")), str(directory / "run.json"), "--output", str(output)])
    replica = json.loads((output / "result.json").read_text(encoding="utf-8"))["replicas"][0]
    return replica["makespan_s"] * 1e9, replica["messages"], seconds


def write_schedule(stream: Stream, txt2bin: str, directory: Path) -> Path:
    """Return LogGOPSim's binary form of the stream."""
    text, binary = directory / "stream.goal", directory / "stream.bin"
    words = ["--app", stream.application, "--ranks", str(stream.ranks), "--parameters", json.dumps(stream.parameters)]
    timed([str(native_program("manynode-skeleton")), "stream", *words, "--sink", "goal", "--output", str(text)])
    goal = text.read_text(encoding="utf-8")
    text.write_text(re.sub(r"(\d+)b (to|from)", lambda size: f"{int(size[1]) + 1}b {size[2]}", goal), encoding="utf-8")
    timed([txt2bin, "-i", str(text), "-o", str(binary)])
    text.unlink()
    return binary


def run_loggopsim(program: str, schedule: Path, model: LogGP) -> tuple[float, float]:
    """Return makespan [ns] and processor seconds of LogGOPSim."""
    options = {"L": model.latency, "o": model.overhead, "g": model.gap, "G": model.gap_per_byte, "O": 0}
    words = [word for name, value in options.items() for word in (f"-{name}", str(value))]
    output, seconds = timed([program, "-f", str(schedule), "-b", *words, "-S", str(NEVER_RENDEZVOUS)])
    found = re.search(r"Maximum finishing time at host \d+: (\d+)", output)
    if found is None:
        raise RuntimeError(f"LogGOPSim did not finish the schedule:\n{output[-2000:]}")
    return float(found.group(1)), seconds


def compare(stream: Stream, loggopsim: str, txt2bin: str) -> list[dict[str, Any]]:
    """Return speed and difference for one stream."""
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        schedule = write_schedule(stream, txt2bin, directory)
        figures = []
        for model in (WITHOUT_BYTES, WITH_BYTES):
            theirs_ns, their_seconds = run_loggopsim(loggopsim, schedule, model)
            label = f"{stream.label}, G = {model.gap_per_byte} ns"
            ours_ns, messages, our_seconds = run_fast(stream, model, "on-arrival", directory)
            difference = abs(ours_ns / theirs_ns - 1)
            figures.append(figure(f"{label}: difference to LogGOPSim", difference, "", DIFFERENCE_TARGET, "<="))
            default_ns, _, default_seconds = run_fast(stream, model, "in-call", directory)
            off = abs(default_ns / theirs_ns - 1)
            figures.append(figure(f"{label}: difference with receive: in-call", off, "", None, None))
            if model is WITHOUT_BYTES:
                figures.append(figure(f"{label}: fast", messages / our_seconds, "messages/s", None, None))
                figures.append(figure(f"{label}: fast, in-call", messages / default_seconds, "messages/s", None, None))
                figures.append(figure(f"{label}: LogGOPSim", messages / their_seconds, "messages/s", None, None))
                ratio = their_seconds / our_seconds
                figures.append(figure(f"{label}: speed over LogGOPSim's", ratio, "", SPEED_TARGET, ">="))
        return figures


def figures() -> list[dict[str, Any]]:
    """Return all figures."""
    loggopsim = os.environ.get("LOGGOPSIM") or shutil.which("LogGOPSim")
    txt2bin = os.environ.get("TXT2BIN") or shutil.which("txt2bin")
    if not loggopsim or not txt2bin:
        missing = " and ".join(name for name, path in (("LogGOPSim", loggopsim), ("txt2bin", txt2bin)) if not path)
        raise Skipped(f"{missing} not found; put LogGOPSim's programs on PATH, or name them by LOGGOPSIM and TXT2BIN")
    return [one for stream in STREAMS for one in compare(stream, loggopsim, txt2bin)]
