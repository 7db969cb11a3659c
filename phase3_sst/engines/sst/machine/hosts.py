"""The nodes with ranks: NICs, ranks and the path between the ranks of a node.

A node of the machine is ``rails`` consecutive hosts of the topology. A job's ranks are distributed over them in blocks,
since ember numbers ranks by node, NIC and core. Hosts without ranks get no component; their switch ports stay free.
"""

from __future__ import annotations

from typing import Any

from phase3_sst.engines.sst.machine.description import End, Engine, LoopBack, Nic, SstLink
from phase3_sst.engines.sst.machine.host_model import HostModel
from phase3_sst.engines.sst.machine.sst_run_file import Job, Run
from phase3_sst.engines.sst.machine.wiring import component_name, host_name

LEAST_ALTERNATING, _MOST_ALTERNATING = 64, 1024
# Of all NICs together, for their memory.
_ALTERNATING_TOGETHER = 1 << 18


class Hosts:
    """All nodes of all jobs."""

    def __init__(self, run: Run, model: HostModel, link_controls: list[str], link_parameters: dict[str, Any]) -> None:
        self.nics: list[Nic] = []
        self.loop_backs: list[LoopBack] = []
        self.engines: list[Engine] = []
        self.links: list[SstLink] = []
        self._run = run
        self._model = model
        self._link_controls = link_controls
        self._link_parameters = link_parameters
        self._count = sum(len(job.hosts) * min(run.rails, job.ranks_per_node) for job in run.jobs)
        for job in run.jobs:
            for logical, node in enumerate(job.hosts):
                self._add_node(job, logical, node)

    def _add_node(self, job: Job, logical: int, node: int) -> None:
        used = min(self._run.rails, job.ranks_per_node)
        cores = job.ranks_per_node // used
        alternating = alternating_messages(len(job.hosts), job.ranks_per_node, used, self._count)
        loop_back = f"node_{node}_loop"
        self.loop_backs.append(LoopBack(loop_back, {"numCores": job.ranks_per_node, "nicsPerNode": used}))
        for rail in range(used):
            host = self._run.host_of(node, rail)
            nic = component_name(host_name(host))
            self.nics.append(
                Nic(
                    name=nic,
                    parameters={
                        "numSendMachines": alternating,
                        **self._model.nic,
                        "nid": host,
                        "num_vNics": cores,
                    },
                    link_controls=self._link_controls,
                    link_parameters=self._link_parameters,
                )
            )
            for core in range(cores):
                self._add_rank(job, logical * used + rail, host, core, nic, loop_back, rail, used)

    def _add_rank(
        self, job: Job, logical_nic: int, host: int, core: int, nic: str, loop_back: str, rail: int, used: int
    ) -> None:
        name = f"{nic}_rank_{core}"
        self.engines.append(
            Engine(
                name=name,
                parameters=engine_parameters(self._run, job),
                os_parameters={
                    **self._model.functions,
                    "numNodes": len(job.hosts) * used,
                    "netMapName": f"job_{job.number}",
                    "netMapSize": len(job.hosts) * used,
                    "netMapId": logical_nic,
                    "netId": host,
                    "coreId": core,
                },
                job=job.number,
                logical_nic=logical_nic,
                core=core,
            )
        )
        self.links.append(
            SstLink(
                f"{name}_nic", End(f"{name}:virtNic", "nic"), End(nic, f"core{core}"), self._model.bus_ps, no_cut=True
            )
        )
        self.links.append(
            SstLink(
                f"{name}_loop",
                End(f"{name}:process", "loop"),
                End(loop_back, f"nic{rail}core{core}"),
                self._model.loop_ps,
                no_cut=True,
            )
        )


def alternating_messages(nodes: int, ranks_per_node: int, rails: int, nics: int) -> int:
    """Return how many messages alternate packet by packet on a NIC (firefly's send machines); ``nics``: of all jobs.

    As in a NIC with a queue pair per peer: one from each of its ranks to each rank of other nodes. With fewer, the next
    message waits for the whole of another one, which makes convoys. Messages between two ranks are put in order on
    arrival (phase3_sst/engines/sst/link_control/message_order.hpp).
    """
    pairs = ranks_per_node // rails * (nodes - 1) * ranks_per_node
    return max(LEAST_ALTERNATING, min(pairs, _MOST_ALTERNATING, _ALTERNATING_TOGETHER // nics))


def engine_parameters(run: Run, job: Job) -> dict[str, Any]:
    """Return the parameters of a job's ranks: the motif and its inputs."""
    return {
        "jobId": job.number,
        "verbose": 0,
        "api.0.module": "firefly.hadesMP",
        "motif_count": 1,
        "motif0.name": "manynode.SkeletonMotif",
        "motif0.arg.run": run.network_path,
        "motif0.arg.job": job.number,
        "motif0.arg.output": run.parts,
        "motif0.arg.collectives": run.options.collectives,
        **run.options.extra_parameters.get("ember.engine", {}),
    }
