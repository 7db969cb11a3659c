"""The smallest machine for tests of the element library: all nodes on one router of merlin, NICs of firefly.

Run inside SST: ``sst one_router.py -- RUN.network.json OUT [expanded|sst [MOTIFS.json]]``. MOTIFS.json replaces the
motifs of job 0 by others (a list of ``{"name": ..., "arg...": ...}``), for measurements against ember's own. The
environment variable FIREFLY has further parameters of NICs and message queues, as JSON.
"""

import json
import os
import sys

import sst

run_file, output = sys.argv[1:3]
collectives = sys.argv[3] if len(sys.argv) > 3 else "expanded"
with open(run_file, encoding="utf-8") as file:
    run = json.load(file)
motifs = None
if len(sys.argv) > 4:
    with open(sys.argv[4], encoding="utf-8") as file:
        motifs = json.load(file)

bandwidth = f"{run['network']['link']['bandwidth_Bps'] * 8 / 1e9:g}Gb/s"
buffers = "64KiB"

LINK_CONTROL = {"link_bw": bandwidth, "input_buf_size": buffers, "output_buf_size": buffers}
NIC = {
    "packetSize": "2048B",
    "packetOverhead": 0,
    "rxMatchDelay_ns": 0,
    "txDelay_ns": 0,
    "hostReadDelay_ns": 0,
    "nic2host_lat": "1ns",
    "maxRecvMachineQsize": 100,
    "maxSendMachineQsize": 100,
    # Few streams or unexpected messages let traffic from many to one stand still.
    "maxActiveRecvStreams": 1 << 20,
    "maxPendingRecvPkts": 1 << 20,
}
FUNCTIONS = {"functionSM.defaultEnterLatency": 0, "functionSM.defaultReturnLatency": 0}
CTRL = {
    "matchDelay_ns": 0,
    "shortMsgLength": run["network"]["host"]["eager_limit_bytes"],
    "txSetupMod": "firefly.LatencyMod",
    "txSetupModParams.base": "300ns",
    "rxSetupMod": "firefly.LatencyMod",
    "rxSetupModParams.base": "300ns",
    "txMemcpyMod": "firefly.LatencyMod",
    "rxMemcpyMod": "firefly.LatencyMod",
    "pqs.maxUnexpectedMsg": 1 << 20,
    "nicsPerNode": 1,
}
for name, value in json.loads(os.environ.get("FIREFLY", "{}")).items():
    (NIC if name in NIC else CTRL)[name] = value


def motif_parameters(job: int) -> dict[str, object]:
    """Return the commands for a job's EmberEngine."""
    if motifs is not None and job == 0:
        given = {f"motif{i}.{key}": value for i, motif in enumerate(motifs) for key, value in motif.items()}
        return {"motif_count": len(motifs), **given}
    return {
        "motif_count": 1,
        "motif0.name": "manynode.SkeletonMotif",
        "motif0.arg.run": run_file,
        "motif0.arg.job": job,
        "motif0.arg.output": output,
        "motif0.arg.collectives": collectives,
    }


def endpoint(job: int, logical: int, host: int, core: int, nic: sst.Component, loopback: sst.Component) -> None:
    """Make one rank and connect it to its node's NIC and loopback."""
    nodes = run["jobs"][job]["nodes"]
    engine = sst.Component(f"rank_{job}_{logical}_{core}", "ember.EmberEngine")
    engine.addParams({"jobId": job, "verbose": 0, "api.0.module": "firefly.hadesMP", **motif_parameters(job)})
    system = engine.setSubComponent("OS", "firefly.hades")
    system.addParams({"numNodes": nodes, "netMapName": f"job{job}", "netMapSize": nodes, **FUNCTIONS})
    system.addParams({"netId": host, "netMapId": logical, "coreId": core})
    virtual_nic = system.setSubComponent("virtNic", "firefly.VirtNic")
    protocol = system.setSubComponent("proto", "firefly.CtrlMsgProto")
    process = protocol.setSubComponent("process", "firefly.ctrlMsg")
    protocol.addParams(CTRL)
    process.addParams(CTRL)
    nic_link = sst.Link(f"nic_{host}_{core}")
    nic_link.connect((nic, f"core{core}", "1ns"), (virtual_nic, "nic", "1ns"))
    nic_link.setNoCut()
    loop_link = sst.Link(f"loop_{host}_{core}")
    loop_link.connect((loopback, f"nic0core{core}", "1ns"), (process, "loop", "1ns"))
    loop_link.setNoCut()


def node(job: int, logical: int, host: int, router: sst.Component) -> None:
    """Make one node of a job on a port of the router."""
    nodes, cores = (run["jobs"][job][key] for key in ("nodes", "ranks_per_node"))
    nic = sst.Component(f"nic_{host}", "firefly.nic")
    nic.addParams({"nid": host, "num_vNics": cores, **NIC})
    control = nic.setSubComponent("rtrLink", "merlin.linkcontrol")
    control.addParams({"job_id": job, "job_size": nodes, "logical_nid": logical, "use_nid_remap": False})
    control.addParams(LINK_CONTROL)
    link = sst.Link(f"host_{host}")
    link.connect((router, f"port{host}", "100ns"), (control, "rtr_port", "100ns"))
    loopback = sst.Component(f"loopback_{host}", "firefly.loopBack")
    loopback.addParams({"numCores": cores, "nicsPerNode": 1})
    for core in range(cores):
        endpoint(job, logical, host, core, nic, loopback)


def machine() -> None:
    """Make the router and the nodes of all jobs."""
    places = [
        (job, logical, host)
        for job, of in enumerate(run["jobs"])
        for logical, host in enumerate(of.get("hosts") or range(of["nodes"]))
    ]
    router = sst.Component("router", "merlin.hr_router")
    router.addParams(
        {
            "id": 0,
            "num_ports": max(host for _, _, host in places) + 2,
            "num_vns": 1,
            "flit_size": "8B",
            "link_bw": bandwidth,
            "xbar_bw": bandwidth,
            "input_buf_size": buffers,
            "output_buf_size": buffers,
        }
    )
    router.setSubComponent("topology", "merlin.singlerouter", 0)
    for job, logical, host in places:
        node(job, logical, host, router)


machine()
