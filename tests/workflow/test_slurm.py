"""Slurm: the resources of the jobs (a dry run), and the pipeline on a cluster of two nodes of this host."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pipeline
import pytest
import slurm_cluster
import yaml

from manynode import slurm_snakemake

needs_plugin = pytest.mark.skipif(bool(slurm_cluster.plugin_lacks()), reason=slurm_cluster.plugin_lacks())


def asked_for(output: str) -> dict[str, dict[str, str]]:
    """Return rule with its wildcards -> resources, of a dry run's output."""
    found = {}
    for block in re.split(r"\n(?=(?:local)?(?:rule|checkpoint) )", output):
        rule = re.match(r"(?:rule|checkpoint) (\w+):", block)
        resources = re.search(r"^ +resources: (.*)$", block, re.M)
        if rule and resources:
            wildcards = re.search(r"^ +wildcards: (.*)$", block, re.M)
            found[f"{rule[1]} {wildcards[1] if wildcards else ''}".strip()] = dict(
                part.split("=", 1) for part in resources[1].split(", ")
            )
    return found


@needs_plugin
def test_every_job_says_what_it_needs(tmp_path: Path) -> None:
    content = pipeline.tiny(ranks_per_node=2, nodes=[1, 4], profile={"source": "perf_event", "nodes": [2, 4]})
    done = pipeline.run(pipeline.write(tmp_path, content), tmp_path, ["--profile", "slurm", "--dry-run"])
    assert done.returncode == 0, done.stdout + done.stderr
    jobs = asked_for(done.stdout)
    assert all(int(found["mem_mb"]) > 0 and int(found["runtime"]) > 0 for found in jobs.values())
    profiled = jobs["phase1_profile_ranks nodes=4, repetition=0"]
    # One task per rank on all nodes of the job: the counters must be those of the nodes.
    assert (profiled["mpi"], profiled["tasks"], profiled["nodes"], profiled["cpus_per_task"]) == (
        *("mpiexec", "8", "4", "1"),
    )
    alone = jobs["phase2_simulate_node mode=no-ext, node=0"]
    assert (alone["tasks"], alone["nodes"]) == ("2", "1")
    assert "mpi" not in jobs["phase3_simulate_point technique=ext-var, nodes=4"]


@needs_plugin
def test_sst_points_ask_for_their_mpi_job(tmp_path: Path) -> None:
    settings = {"engine": "sst", "replicas": 2, "sst": {"processes": 4, "threads": 2, "launcher": ["srun"]}}
    file = pipeline.write(tmp_path, pipeline.tiny(simulate=settings))
    done = pipeline.run(file, tmp_path, ["--profile", "slurm", "--dry-run"])
    assert done.returncode == 0, done.stdout + done.stderr
    point = asked_for(done.stdout)["phase3_simulate_point technique=ext-var, nodes=4"]
    assert (point["mpi"], point["tasks"], point["cpus_per_task"]) == ("srun", "4", "2")


@pytest.mark.skipif(not slurm_cluster.plugin_lacks(), reason="snakemake-executor-plugin-slurm is installed")
def test_without_the_plugin_it_is_named(tmp_path: Path) -> None:
    file = pipeline.write(tmp_path, pipeline.tiny())
    done = pipeline.run(file, tmp_path, ["--profile", "slurm", "--dry-run"])
    assert done.returncode == 4 and "pip install snakemake-executor-plugin-slurm" in done.stderr


@pytest.fixture(scope="module", params=["without accounting", "with accounting"])
def slurm(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    accounting = request.param == "with accounting"
    for reason in (slurm_cluster.plugin_lacks(), slurm_cluster.lacking(accounting)):
        if reason:
            pytest.skip(reason)
    with slurm_cluster.cluster(tmp_path_factory.mktemp("slurm"), accounting) as environment:
        yield environment


once = pytest.mark.parametrize("slurm", ["without accounting"], indirect=True)


@pytest.fixture(scope="module")
def profile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The shipped profile, asking more often how the jobs are."""
    folder = tmp_path_factory.mktemp("profile")
    content: dict[str, Any] = yaml.safe_load((pipeline.ROOT / "profiles/slurm/config.yaml").read_text())
    content |= {
        "latency-wait": 5,
        "slurm-init-seconds-before-status-checks": 1,
        "seconds-between-status-checks": 1,
    }
    (folder / "config.yaml").write_text(yaml.safe_dump(content))
    return folder


def run_as_jobs(slurm: dict[str, str], profile: Path, experiment: Path, until: str) -> tuple[Path, str, list[str]]:
    """Run an experiment to a rule; return its results, Snakemake's log and the rules, each of which was a job."""
    words = ("--directory", experiment.parent, "--cores", 2, "--profile", profile, "--until", until)
    done = pipeline.manynode("run", experiment, *words, env=slurm)
    assert done.returncode == 0, done.stdout + done.stderr
    log = (experiment.parent / "results/tiny/logs/snakemake.log").read_text()
    rules = re.findall(r"^(?:rule|checkpoint) (\w+):", log, re.MULTILINE)
    assert len(re.findall(r"submitted with SLURM jobid", log)) == len(rules)
    return experiment.parent / "results/tiny", log, rules


@pytest.mark.long
@once
def test_measured_and_simulated_steps_run_as_jobs_of_slurm(
    slurm: dict[str, str], profile: Path, small: Path, tmp_path: Path
) -> None:
    """All that follows from classes that are there: the test with accounting has the job before them."""
    simulate = {"replicas": 3, "preflight": {"enabled": False}}
    experiment = pipeline.write(tmp_path, pipeline.tiny(nodes=[2], techniques=["ext-var"], simulate=simulate))
    shutil.copytree(small / "profile", tmp_path / "results/tiny/profile")
    results, log, rules = run_as_jobs(slurm, profile, experiment, "phase3_analyse_points")
    assert rules == [
        *("phase2_simulate_node", "phase2_fit_profile", "phase3_simulate_point", "phase3_analyse_points"),
    ]
    assert "--slurm-status-command squeue" in log
    assert len(pd.read_parquet(results / "projection.parquet")) == 1


@pytest.mark.parametrize("slurm", ["with accounting"], indirect=True)
def test_accounting_says_that_jobs_have_ended(slurm: dict[str, str], profile: Path, tmp_path: Path) -> None:
    experiment = pipeline.write(tmp_path, pipeline.tiny())
    results, log, rules = run_as_jobs(slurm, profile, experiment, "phase1_profile_ranks")
    assert rules == ["phase1_profile_ranks"] and "--slurm-status-command sacct" in log
    assert (results / "profile/nodes-2-rep-0/counters.parquet").is_file()


@pytest.mark.long
def test_a_step_that_fails_on_a_node_is_told_where_it_was_started(
    slurm: dict[str, str], profile: Path, tmp_path: Path
) -> None:
    options = ("--directory", tmp_path, "--cores", 2, "--profile", profile, "--until", "phase3_check_network")
    done = pipeline.manynode(
        "run", pipeline.write(tmp_path, pipeline.tiny(network=_without_rate())), *options, env=slurm
    )
    assert done.returncode == 6 and "line rate" in done.stderr, done.stdout + done.stderr


@pytest.mark.long
@once
def test_batches_of_a_congestion_study_run_as_jobs_of_slurm(
    slurm: dict[str, str], profile: Path, tmp_path: Path
) -> None:
    topology = {"kind": "dragonfly", "groups": 3, "routers_per_group": 2, "hosts_per_router": 4, "global_links": 2}
    ring = {"name": "patterns", "parameters": {"pattern": "random-ring", "bytes": 65536, "iterations": 20}}
    content: dict[str, Any] = {
        **{"name": "trial", "network": {"name": "small", "topology": topology, "flow_control": "credits"}, "batch": 4},
        "workloads": {"ring": {"application": ring}},
        "impact": {
            **{"nodes": 6, "rotations": 2, "intensity": None},
            "congestor": {"pattern": "incast", "bytes": "64 KiB"},
        },
    }
    study, output = pipeline.write(tmp_path, content, "study.yaml"), tmp_path / "out"
    done = pipeline.manynode("congestion", study, "--output", output, "--cores", 2, "--profile", profile, env=slurm)
    assert done.returncode == 0, done.stdout + done.stderr
    # Four settings in two rotations are two batches of four situations, each a job.
    assert len(list(output.glob("situations/*/result.json"))) == 8 and (output / "congestion.html").is_file()
    logs = "".join(path.read_text() for path in (output / ".snakemake/log").glob("*.log"))
    assert len(re.findall(r"submitted with SLURM jobid", logs)) == 2


def _without_rate() -> dict[str, Any]:
    """A network whose links take a thousand times as long: no message is long enough to reach their rate."""
    content: dict[str, Any] = yaml.safe_load((pipeline.ROOT / "configs/networks/opa100-fat-tree.yaml").read_text())
    content["link"]["latency"] = "90 us"
    return content


_JOB = """\
import os

from manynode import process
from manynode.launch import Block, job_command, job_environment

# As Snakemake's plugin starts a step: Slurm's variables are gone but the job's id.
for name in [name for name in os.environ if name.startswith("SLURM") and name != "SLURM_JOB_ID"]:
    del os.environ[name]
say = ["sh", "-c", "echo rank $PMI_RANK is on $SLURMD_NODENAME"]
words = job_command("mpich", [Block(1, say), Block(3, say)])
print(process.run(words, what="a job", env=job_environment("mpich")).output)
"""


@once
def test_ranks_of_a_job_of_two_nodes_are_on_both(slurm: dict[str, str], tmp_path: Path) -> None:
    script = tmp_path / "job.py"
    script.write_text(_JOB)
    words = [
        *("sbatch", "--wait", "--nodes=2", "--ntasks=4", "--mem=500", f"--output={tmp_path}/out"),
        f"--wrap=cd {pipeline.ROOT} && {sys.executable} {script}",
    ]
    slurm = slurm_snakemake.with_configuration(slurm, tmp_path / "commands")
    environment = {**slurm, "PYTHONPATH": f"{pipeline.ROOT}:{slurm.get('PYTHONPATH', '')}"}
    done = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=120, check=False)
    said = (tmp_path / "out").read_text()
    assert done.returncode == 0, said
    assert sorted(re.findall(r"rank (\d) is on (n\d)", said)) == [("0", "n1"), ("1", "n1"), ("2", "n2"), ("3", "n2")]
