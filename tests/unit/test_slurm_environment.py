"""Jobs of a cluster: the launcher's environment, the resources of rules, profiles by name."""

from __future__ import annotations

import asyncio
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from manynode import cluster, slurm, slurm_snakemake
from manynode.errors import EngineMissingError, UsageError
from manynode.snakemake_profile import read_profile
from manynode.workflow import Plan
from phase3_sst.analysis.estimates import step_resources

# scontrol show job --oneliner of Slurm 22.05, shortened.
SHOWN = (
    "JobId=2 JobName=wrap UserId=root(0) JobState=RUNNING Reason=None ReqNodeList=(null) ExcNodeList=(null) "
    "NodeList=n[1-2] BatchHost=n1 NumNodes=2 NumCPUs=4 NumTasks=4 CPUs/Task=1 ReqB:S:C:T=0:0:*:*"
)


def test_the_nodes_of_a_job_are_what_launchers_look_for() -> None:
    assert slurm.nodes_of(SHOWN) == {
        "SLURM_NODELIST": "n[1-2]",
        "SLURM_JOB_NODELIST": "n[1-2]",
        "SLURM_NNODES": "2",
        "SLURM_JOB_NUM_NODES": "2",
        "SLURM_TASKS_PER_NODE": "2(x2)",
    }
    assert slurm.nodes_of(SHOWN.replace("NumNodes=2", "NumNodes=2-2"))["SLURM_NNODES"] == "2"


@pytest.mark.parametrize("text", ["", "slurm_load_jobs error", SHOWN.replace("NumNodes=2", "NumNodes=1")])
def test_without_several_nodes_nothing_is_said(text: str) -> None:
    assert slurm.nodes_of(text) == {}


def test_outside_a_job_and_with_a_list_slurm_is_not_asked() -> None:
    assert slurm.launcher_environment({}) == {}
    assert slurm.launcher_environment({"SLURM_JOB_ID": "1", "SLURM_NODELIST": "n1"}) == {}


def plan(demo: dict[str, Any], **changes: Any) -> Plan:
    return Plan({**demo, **changes}, [])


def values(found: Any, *arguments: Any) -> dict[str, Any]:
    return {name: value(*arguments) if callable(value) else value for name, value in found.items()}


def test_a_profiling_run_has_a_task_per_rank_on_the_jobs_nodes(demo: dict[str, Any]) -> None:
    demo["application"]["threads"] = 3
    demo["application"]["timeout_s"] = 600
    at_four = SimpleNamespace(nodes="4")
    found = values(cluster.of_profiling(plan(demo)), at_four)
    assert (found["tasks"], found["nodes"], found["cpus_per_task"], found["mpi"]) == (8, 4, 3, "mpiexec")
    assert found["runtime"] == 25
    demo["profile"]["source"] = "callgrind"
    packed = values(cluster.of_profiling(plan(demo)), at_four)
    assert (packed["tasks"], packed["nodes"]) == (8, 1) and packed["mem_mb"] > found["mem_mb"]
    # A job of one rank is an MPI job too, and the plugin refuses one task.
    alone = values(cluster.of_profiling(plan(demo, ranks_per_node=1)), SimpleNamespace(nodes="1"))
    assert (alone["tasks"], alone["nodes"]) == (2, 1)


def test_only_the_native_engine_needs_nodes_of_its_own(demo: dict[str, Any]) -> None:
    ext, alone = (SimpleNamespace(mode=mode, node="0") for mode in ("ext", "no-ext"))
    assert values(cluster.of_node_simulation(plan(demo)), ext)["nodes"] == 1
    demo["nodesim"]["engine"] = "native"
    found = cluster.of_node_simulation(plan(demo))
    assert (values(found, ext)["nodes"], values(found, ext)["tasks"]) == (4, 8)
    assert (values(found, alone)["nodes"], values(found, alone)["tasks"]) == (1, 2)


def test_the_memory_of_a_point_follows_its_ranks(demo: dict[str, Any]) -> None:
    found = step_resources.of_points(plan(demo, ranks_per_node=16))
    small, large = (int(found["mem_mb"](SimpleNamespace(nodes=n), 1)) for n in ("64", "1024"))
    assert 1000 < small < large < 2000
    assert found["mem_mb"](SimpleNamespace(nodes="1024"), 4) > large


def test_a_profile_is_found_by_name_or_path(tmp_path: Path) -> None:
    assert (read_profile("default")[0] / "config.yaml").is_file()
    (tmp_path / "config.yaml").write_text("jobs: 2\n")
    assert read_profile(str(tmp_path))[0] == tmp_path
    with pytest.raises(UsageError, match="default, slurm"):
        read_profile("slrum")
    (tmp_path / "config.yaml").write_text("executor: no-such-thing\n")
    with pytest.raises(EngineMissingError, match="pip install snakemake-executor-plugin-no-such-thing"):
        read_profile(str(tmp_path))


# scontrol show config of Slurm 22.05, shortened.
CONFIGURATION = """\
Configuration data as of 2026-11-28T11:30:24
AccountingStorageEnforce = none
AccountingStorageType   = accounting_storage/{storage}
MinJobAge               = {kept} sec
"""


@pytest.mark.parametrize(
    ("storage", "kept", "command", "seconds"),
    [("none", 300, "squeue", "20"), ("none", 30, "squeue", "7"), ("slurmdbd", 2, "sacct", "20")],
)
def test_jobs_are_asked_for_where_the_site_keeps_them(storage: str, kept: int, command: str, seconds: str) -> None:
    assert slurm_snakemake.options_of(CONFIGURATION.format(storage=storage, kept=kept)) == {
        "slurm-status-command": command,
        "slurm-init-seconds-before-status-checks": seconds,
    }


def test_commands_keep_the_configuration_that_the_executor_removes(tmp_path: Path) -> None:
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "srun").write_text('#!/bin/sh\necho "$SLURM_CONF" "$@"\n')
    (programs / "srun").chmod(0o755)
    given = {"SLURM_CONF": "/etc/a site/slurm.conf", "PATH": f"{programs}:/usr/bin:/bin"}
    found = slurm_snakemake.with_configuration(given, tmp_path / "commands")
    del found["SLURM_CONF"]
    done = subprocess.run(["srun", "-n", "1"], env=found, capture_output=True, text=True, check=True)
    assert done.stdout == "/etc/a site/slurm.conf -n 1\n"
    assert slurm_snakemake.with_configuration({"PATH": "/bin"}, tmp_path / "none") == {"PATH": "/bin"}


class Asked:
    """What the executor plugin does with jobs: a failed query (None) is silence, a job without an answer goes on."""

    answers: dict[str, str] | None = None
    next_seconds_between_status_checks = 170

    def __init__(self) -> None:
        self.workflow = SimpleNamespace(executor_settings=SimpleNamespace(init_seconds_before_status_checks=20))
        self.reported: list[Any] = []

    async def check_active_jobs(self, active_jobs: list[Any]) -> AsyncIterator[Any]:
        for job in active_jobs if self.answers is not None else []:
            if self.answers.get(job) == "FAILED":
                self.report_job_error(job, msg="failed")
            elif self.answers.get(job) == "COMPLETED":
                self.report_job_success(job)
            else:
                yield job

    def report_job_success(self, job: Any) -> None:
        self.reported.append((job, True))

    def report_job_error(self, job: Any, msg: str) -> None:
        self.reported.append((job, False))


def test_a_failed_query_loses_no_job_and_checks_stay_frequent() -> None:
    found = slurm_snakemake.executor(Asked)()

    async def check() -> list[Any]:
        return [job async for job in found.check_active_jobs(["a", "b", "c"])]

    assert asyncio.run(check()) == ["a", "b", "c"] and found.reported == []
    assert found.next_seconds_between_status_checks == 40
    found.answers = {"a": "FAILED", "b": "COMPLETED"}
    assert asyncio.run(check()) == ["c"] and found.reported == [("a", False), ("b", True)]
