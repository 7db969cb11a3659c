"""Reads the file ``sst-run/1`` for the machine and refuses what this engine cannot simulate.

In: the input file of ``sst``, which contains a ``network-run/2`` file. Out: a :class:`Run`. The network run itself was
checked before SST started (``manynode/config`` and ``phase3_sst/machine/run_config.hpp``); only settings that merlin
and firefly cannot express are refused here, by name.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from manynode.errors import InputError, UsageError

SCHEMA = "sst-run/1"
# Keys of the run file's host and of the network file: work of a rank within its collectives.
_LOCAL_WORK = {
    "copy_bandwidth_Bps": "copy_bandwidth",
    "fresh_bandwidth_Bps": "fresh_bandwidth",
    "collective_call_s": "collective_call",
    "collective_step_s": "collective_step",
}


@dataclass(frozen=True)
class Job:
    """One job: its nodes on the machine and its ranks on each."""

    number: int
    name: str
    hosts: Sequence[int]  # node of the machine for each node of the job
    ranks_per_node: int
    background: bool


@dataclass(frozen=True)
class Options:
    """The settings of an experiment for this engine alone."""

    collectives: str = "expanded"
    flit_bytes: int = 8
    input_buffer_bytes: int | None = None
    output_buffer_bytes: int | None = None
    extra_parameters: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


@dataclass(frozen=True)
class Run:
    """One replica on one machine."""

    network: Mapping[str, Any]  # the member ``network`` of the run file
    jobs: Sequence[Job]
    counters: Mapping[str, Any] | None
    options: Options
    network_path: str  # the plain run file, which the motif reads
    parts: str  # the folder of the run's output

    @property
    def input_buffer_bytes(self) -> int | None:
        """Return the given size of routers' input buffers: this engine's, else the network's."""
        return self.options.input_buffer_bytes or self.network.get("input_buffer_bytes")

    @property
    def output_buffer_bytes(self) -> int | None:
        """Return the same for output buffers."""
        return self.options.output_buffer_bytes or self.network.get("output_buffer_bytes")

    @property
    def ranks_pay_for_receives(self) -> bool:
        """Return whether ranks run this project's motif, with its messages for collectives.

        ember's own motifs, and SST's own collectives, receive in calls that firefly does not charge in the wait.
        """
        stock = "motif0.name" in self.options.extra_parameters.get("ember.engine", {})
        return self.options.collectives == "expanded" and not stock

    @property
    def rails(self) -> int:
        """Return the number of NICs per node."""
        return int(self.network["host"].get("rails", 1))

    def host_of(self, node: int, rail: int) -> int:
        """Return the host of the topology that is a NIC of a node (``phase3_sst/machine/run_config.hpp``)."""
        stride = int(self.network["host"].get("rail_stride", 1))
        return (node // stride * self.rails + rail) * stride + node % stride


def read_run(path: str, parts: str | None = None) -> Run:
    """Return the run of a file; ``parts`` overrides its output folder."""
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError("the run file cannot be read", where=path, found=error, remedy="check the path") from error
    if content.get("schema") != SCHEMA:
        raise InputError(
            "this is not a run file of the sst engine", where=path, found=content.get("schema"), allowed=SCHEMA
        )
    network_path = Path(path).with_suffix(".network.json")
    return run_of(content, str(network_path.resolve()), parts)


def run_of(content: Mapping[str, Any], network_path: str = "", parts: str | None = None) -> Run:
    """Return the run of the parsed content of an ``sst-run/1`` file."""
    described = content["run"]
    network = described["network"]
    run = Run(
        network=network,
        jobs=tuple(_job(number, job) for number, job in enumerate(described["jobs"])),
        counters=described.get("counters"),
        options=Options(**content.get("sst", {})),
        network_path=network_path,
        parts=parts or content.get("parts", "."),
    )
    _refuse(run)
    return run


def _job(number: int, job: Mapping[str, Any]) -> Job:
    hosts = job.get("hosts")
    return Job(
        number=number,
        name=job.get("name", "main"),
        hosts=tuple(range(job["nodes"])) if hosts is None else tuple(hosts),
        ranks_per_node=job["ranks_per_node"],
        background=bool(job.get("background", False)),
    )


def _refuse(run: Run) -> None:
    if not run.network.get("contention", True):
        raise UsageError(
            "the sst engine cannot leave contention out",
            where="network.contention",
            found="false",
            allowed="true: merlin's links always make packets wait",
            remedy="use the engine fast for a network without contention",
        )
    if run.network.get("slow_links"):
        raise UsageError(
            "the sst engine cannot slow down single links",
            where="network.slow_links",
            found=f"{len(run.network['slow_links'])}",
            allowed="none: merlin's routers have one rate for all ports of a kind",
            remedy="use the engine fast or simgrid for a network with slow links",
        )
    host = run.network["host"]
    for key, given in _LOCAL_WORK.items():
        if run.options.collectives == "sst" and host.get(key):
            raise UsageError(
                "SST's own collectives have no local work",
                where=f"network.host.{given}",
                found=f"{host[key]}",
                allowed="copy_bandwidth: null, fresh_bandwidth: null, collective_call: 0 ns, collective_step: 0 ns",
                remedy="choose simulate: sst: collectives: expanded, or leave the key out",
            )
    if "message_latency" in host:
        raise UsageError(
            "the sst engine gives messages of all sizes one latency",
            where="network.host.message_latency",
            found="more than 0 ns",
            allowed="0 ns: the latency of firefly's NIC does not depend on the size",
            remedy="leave it out, or use the engine fast",
        )
    choice = host.get("rail_choice", "by-rank")
    if run.rails > 1 and choice != "by-rank":
        raise UsageError(
            "the sst engine cannot spread the messages of a rank over the rails of a node",
            where="network.host.rail_choice",
            found=choice,
            allowed="by-rank: a rank of firefly has one NIC, which sends whole messages",
            remedy="choose by-rank, or the engine fast",
        )
    for job in run.jobs:
        used = min(run.rails, job.ranks_per_node)
        if job.ranks_per_node % used:
            raise UsageError(
                "the sst engine cannot share ranks among the rails of a node",
                where=f"jobs[{job.number}].ranks_per_node",
                found=f"{job.ranks_per_node} ranks on {run.rails} rails",
                allowed="as many ranks on every rail",
                remedy=f"choose a multiple of {run.rails} ranks per node, or at most {run.rails}",
            )
    for key, size in (("input", run.input_buffer_bytes), ("output", run.output_buffer_bytes)):
        packet = run.network["chunk_bytes"] + HEADER_BYTES
        if size is not None and size < packet:
            raise UsageError(
                "a buffer has no room for a packet",
                where=f"network.{key}_buffer_bytes or simulate.sst.{key}_buffer",
                found=f"{size} bytes",
                allowed=f"at least {packet} bytes: a chunk and its header",
                remedy="enlarge the buffer",
            )
    chunk = run.network["chunk_bytes"]
    if not math.gcd(chunk, run.options.flit_bytes) == run.options.flit_bytes or chunk < LEAST_CHUNK:
        raise UsageError(
            "packets of this size cannot be made of whole flits",
            where="network.chunk_bytes",
            found=f"{chunk} bytes with flits of {run.options.flit_bytes} bytes",
            allowed=f"a multiple of the flit, at least {LEAST_CHUNK} bytes",
            remedy="choose another chunk, or simulate.sst.flit_bytes",
        )


# A firefly packet must hold its own headers.
LEAST_CHUNK = 128
# firefly's header is in a message's first packet and at most 45 bytes long. Without room for it, a message of one chunk
# would be two packets. The second would wait behind one packet of every other message of the NIC.
HEADER_BYTES = 48
