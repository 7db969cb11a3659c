"""A cluster of Slurm of one host in a temporary folder: munged, slurmctld, and a slurmd for each of two nodes.

Nothing of an installed configuration is read or changed; nodes claim more processors than the host has.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

NODES = ("n1", "n2")
PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "srun", "scontrol", "squeue")
PLUGIN = "snakemake_executor_plugin_slurm"
# What looks for its configuration when Snakemake's plugin has removed Slurm's variables.
_CLIENTS = ("srun", "scontrol", "squeue", "sacct", "sbatch", "scancel", "sinfo", "sacctmgr")
_PATH = f"{os.environ['PATH']}:/usr/sbin:/sbin"
_CONFIGURATION = """\
ClusterName=trial
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool.%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.%n.log
SlurmdParameters=config_overrides
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
ReturnToService=2
MinJobAge=3600
{nodes}
PartitionName=trial Nodes={names} Default=YES MaxTime=INFINITE State=UP
"""


def lacking() -> str:
    """Return what a cluster lacks here; empty if nothing."""
    missing = [name for name in PROGRAMS if shutil.which(name, path=_PATH) is None]
    if missing:
        return f"Slurm is not installed: no {', '.join(missing)} (apt: slurmctld slurmd slurm-client munge)"
    return "Slurm's test cluster is started as root" if os.geteuid() != 0 else ""


def plugin_lacks() -> str:
    """Return why the executor plugin cannot be used, an empty text when it can."""
    return "" if importlib.util.find_spec(PLUGIN) else "snakemake-executor-plugin-slurm is not installed"


@contextlib.contextmanager
def cluster(folder: Path) -> Iterator[dict[str, str]]:
    """Start the cluster, yield the environment in which its commands find it, end it."""
    environment = _configure(folder)
    processes: list[subprocess.Popen[bytes]] = []

    def start(*words: object) -> None:
        sink = open(folder / "daemons.log", "ab")
        child = subprocess.Popen(
            [str(word) for word in words], env=environment, stdin=subprocess.DEVNULL, stdout=sink, stderr=sink
        )
        sink.close()
        processes.append(child)

    try:
        start(
            *("munged", "--foreground", "--force", f"--key-file={folder}/munge.key"),
            *(f"--socket={folder}/munge.socket", f"--pid-file={folder}/munged.pid"),
            *(f"--log-file={folder}/munged.log", f"--seed-file={folder}/munged.seed"),
        )
        _until(lambda: (folder / "munge.socket").exists(), "munged", folder)
        start("slurmctld", "-D", "-f", folder / "slurm.conf")
        for name in NODES:
            start("slurmd", "-D", "-f", folder / "slurm.conf", "-N", name)

        def idle() -> bool:
            words = ["sinfo", "--noheader", "--format=%D %t"]
            done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
            return done.stdout.split() == [str(len(NODES)), "idle"]

        _until(idle, "the nodes", folder)
        yield environment
    finally:
        # Jobs outlive the daemons.
        cancel = ["scancel", "--partition=trial", "--signal=KILL", "--full"]
        subprocess.run(cancel, env=environment, capture_output=True, check=False)
        for child in reversed(processes):
            child.terminate()
        for child in reversed(processes):
            try:
                child.wait(20)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()


def _configure(folder: Path) -> dict[str, str]:
    (folder / "state").mkdir()
    clients = folder / "bin"
    clients.mkdir()
    for name in NODES:
        (folder / f"spool.{name}").mkdir()
    key = folder / "munge.key"
    key.write_bytes(os.urandom(128))
    key.chmod(0o600)
    controller, *ports = _free_ports(1 + len(NODES))
    host = socket.gethostname().split(".")[0]
    nodes = "\n".join(
        f"NodeName={name} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs=8 RealMemory=16000"
        for name, port in zip(NODES, ports, strict=True)
    )
    text = _CONFIGURATION.format(
        host=host, controller=controller, user="root", folder=folder, nodes=nodes, names=",".join(NODES)
    )
    (folder / "slurm.conf").write_text(text)
    for name in _CLIENTS:
        if path := shutil.which(name, path=_PATH):
            wrapper = clients / name
            wrapper.write_text(f'#!/bin/sh\nSLURM_CONF={folder}/slurm.conf exec {path} "$@"\n')
            wrapper.chmod(0o755)
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("SLURM_", "SBATCH_"))}
    return {**kept, "PATH": f"{clients}:{_PATH}"}


def _free_ports(count: int) -> list[int]:
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]


def _until(happened: Callable[[], bool], what: str, folder: Path, seconds: float = 60) -> None:
    until = time.monotonic() + seconds
    while not happened():
        if time.monotonic() > until:
            said = "".join(path.read_text(errors="replace")[-2000:] for path in sorted(folder.glob("*.log")))
            raise AssertionError(f"{what} of the test cluster did not start:\n{said}")
        time.sleep(0.2)
