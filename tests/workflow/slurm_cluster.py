"""A cluster of Slurm of one host in a temporary folder: munged, slurmctld, and a slurmd for each of two nodes.

With accounting, slurmdbd and a MariaDB of its own are there as well.

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
ACCOUNTING = ("slurmdbd", "mariadbd", "mariadb-install-db")
PLUGIN = "snakemake_executor_plugin_slurm"
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
SchedulerParameters=batch_sched_delay=0
JobAcctGatherType=jobacct_gather/none
{accounting}
MpiDefault=none
ReturnToService=2
MinJobAge=3600
{nodes}
PartitionName=trial Nodes={names} Default=YES MaxTime=INFINITE State=UP
"""


_DATABASE = """\
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
DbdHost=localhost
DbdAddr=127.0.0.1
DbdPort={daemon}
SlurmUser=root
StorageType=accounting_storage/mysql
StorageHost=127.0.0.1
StoragePort={database}
StorageUser=root
StorageLoc=trial
LogFile={folder}/slurmdbd.log
PidFile={folder}/slurmdbd.pid
"""


def lacking(accounting: bool = False) -> str:
    """Return what a cluster lacks here; empty if nothing."""
    missing = [name for name in PROGRAMS + ACCOUNTING * accounting if shutil.which(name, path=_PATH) is None]
    if missing:
        packages = "slurmctld slurmd slurm-client munge" + " slurmdbd mariadb-server" * accounting
        return f"Slurm is not installed: no {', '.join(missing)} (apt: {packages})"
    return "Slurm's test cluster is started as root" if os.geteuid() != 0 else ""


def plugin_lacks() -> str:
    """Return why the executor plugin cannot be used, an empty text when it can."""
    return "" if importlib.util.find_spec(PLUGIN) else "snakemake-executor-plugin-slurm is not installed"


@contextlib.contextmanager
def cluster(folder: Path, accounting: bool = False) -> Iterator[dict[str, str]]:
    """Start the cluster, yield the environment in which its commands find it, end it."""
    environment, database = _configure(folder, accounting)
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
        if accounting:
            _install_database(folder, environment)
            start(
                *("mariadbd", "--no-defaults", "--user=root", f"--datadir={folder}/database", f"--port={database}"),
                *("--bind-address=127.0.0.1", "--skip-grant-tables", "--skip-name-resolve"),
                *(f"--socket={folder}/mysql.socket", f"--log-error={folder}/mariadb.log"),
            )
            _until((folder / "mysql.socket").exists, "mariadbd", folder)
            start("slurmdbd", "-D")
            add = ["sacctmgr", "--immediate", "add", "cluster", "trial"]
            _until(lambda: not subprocess.run(add, env=environment, capture_output=True).returncode, "slurmdbd", folder)
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


def _install_database(folder: Path, environment: dict[str, str]) -> None:
    words = ["mariadb-install-db", "--no-defaults", "--user=root", f"--datadir={folder}/database", "--skip-test-db"]
    subprocess.run(words, env=environment, capture_output=True, check=True)


def _configure(folder: Path, accounting: bool) -> tuple[dict[str, str], int]:
    """Write the configuration; return the environment of Slurm's commands and the port of the database."""
    (folder / "state").mkdir()
    for name in NODES:
        (folder / f"spool.{name}").mkdir()
    key = folder / "munge.key"
    key.write_bytes(os.urandom(128))
    key.chmod(0o600)
    controller, daemon, database, *ports = _free_ports(3 + len(NODES))
    storage = "AccountingStorageType=accounting_storage/none"
    if accounting:
        storage = (
            "AccountingStorageType=accounting_storage/slurmdbd\n"
            f"AccountingStorageHost=127.0.0.1\nAccountingStoragePort={daemon}\n"
            # The socket of munge, for clients of slurmdbd.
            f"AccountingStoragePass={folder}/munge.socket"
        )
        file = folder / "slurmdbd.conf"
        file.write_text(_DATABASE.format(folder=folder, daemon=daemon, database=database))
        file.chmod(0o600)
    host = socket.gethostname().split(".")[0]
    nodes = "\n".join(
        f"NodeName={name} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs=8 RealMemory=16000"
        for name, port in zip(NODES, ports, strict=True)
    )
    text = _CONFIGURATION.format(
        **{"host": host, "controller": controller, "user": "root", "folder": folder, "nodes": nodes},
        **{"names": ",".join(NODES), "accounting": storage},
    )
    (folder / "slurm.conf").write_text(text)
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("SLURM_", "SBATCH_"))}
    return {**kept, "PATH": _PATH, "SLURM_CONF": f"{folder}/slurm.conf"}, database


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
