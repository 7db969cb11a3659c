"""``manynode project`` with real programs: from nothing to a projection by one command."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pandas as pd
import pipeline
import pytest
import yaml

from manynode.paths import native_program
from manynode.process import run

SOURCES = Path(__file__).resolve().parent.parent / "data" / "mpi"
NETWORK = ["--network", "opa100-fat-tree"]
# Few runs tell the grids of small jobs apart.
SMALL = ["--nodes", "1..4", "--ranks", "4,8,12,18", "--held-out", "", "--node-engine", "native", "--cores", "2"]

# Halves of the ranks: nothing to derive; with an argument, there are none. It takes powers of two only.
OF_THE_NODE = """
#include <mpi.h>
#include <stdio.h>
int main(int argc, char** argv) {
  int ranks, rank, sum = 0, one = 1;
  MPI_Init(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (ranks & (ranks - 1)) {
    fprintf(stderr, "give me a power of two\\n");
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Abort(MPI_COMM_WORLD, 3);
  }
  MPI_Comm node = MPI_COMM_WORLD;
  if (argc == 1) MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
  MPI_Barrier(node);
  if (rank) MPI_Send(&one, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
  for (int i = 1; rank == 0 && i < ranks; i++) {
    MPI_Recv(&one, 1, MPI_INT, i, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    sum += one;
  }
  MPI_Finalize();
  return 0;
}
"""

pytestmark = pytest.mark.skipif(shutil.which("mpiexec.mpich") is None, reason="MPICH's mpiexec is not installed")


def project(folder: Path, *words: Any) -> Any:
    """Run the command with all of its files in ``folder``."""
    name = next(Path(str(word)).stem for index, word in enumerate(words) if index and words[index - 1] == "--")
    return pipeline.manynode("project", "--output", folder / f"{name}.yaml", "--directory", folder, *words)


def compiled(folder: Path, name: str, source: Path) -> Path:
    if shutil.which("mpicc.mpich") is None:
        pytest.skip("mpicc.mpich is not installed")
    run(["mpicc.mpich", "-g", "-O1", "-w", "-o", folder / name, source], what=f"compiling {name}")
    return folder / name


@pytest.fixture(scope="module")
def halo(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Any]]:
    """A program without labels, and options by which tests share recordings of it that suffice."""
    folder = tmp_path_factory.mktemp("halo")
    program = compiled(folder, "halo", SOURCES / "halo_unlabelled.c")
    options = ["--ranks", "4,6,9,16", "--held-out", "", "--recordings", folder / "recordings"]
    return program, [*options, "--parameter", "size=20"]


def test_one_command_leads_from_a_program_to_its_projection(tmp_path: Path) -> None:
    """A labelled program; the same command again changes nothing; an edited experiment is not overwritten."""
    program = [native_program("spmv"), *"--nx {nx} --ny 4 --nz 5 --columns 7 --iterations 5".split()]
    words = [*SMALL, *NETWORK, "--parameter", "nx=3", "--", *program]
    first = project(tmp_path, *words)
    assert first.returncode == 0, first.stdout + first.stderr
    projection = pd.read_parquet(tmp_path / "results/spmv/projection.parquet")
    assert sorted(projection["nodes"]) == [1, 2, 4] and (projection["time_s"] > 0).all()
    lines = first.stdout.splitlines()
    assert lines[-1] == f"report: {tmp_path}/results/spmv/report.html"
    assert any(line.startswith("projected: ") and "on 4 nodes, 8 ranks" in line for line in lines)
    # By its time, which varies on a busy host, or by hardware counters.
    assert "caling: a rank on 2 nodes has " in first.stdout
    files = sorted(path for path in tmp_path.rglob("*") if path.is_file() and "logs" not in path.parts)
    before = {path: path.stat().st_mtime_ns for path in files if path.name != "experiment.json"}
    again = project(tmp_path, *words)
    assert again.returncode == 0, again.stdout + again.stderr
    assert "recording " not in again.stdout and "steps" not in again.stdout and "as derived before" in again.stdout
    assert again.stdout.splitlines()[-7:] == lines[-7:]
    changed = {path.name for path, time in before.items() if path.stat().st_mtime_ns != time}
    assert not changed
    experiment = tmp_path / "spmv.yaml"
    experiment.write_text(experiment.read_text() + "seed: 2\n")
    edited = project(tmp_path, *words)
    assert edited.returncode == 2 and "it is not overwritten" in edited.stderr, edited.stdout + edited.stderr
    assert f"manynode run {experiment}" in edited.stderr and "seed: 2" in experiment.read_text()
    forced = project(tmp_path, "--force", "--write-only", *words)
    assert forced.returncode == 0 and "seed: 2" not in experiment.read_text(), forced.stdout + forced.stderr


def test_a_program_finds_its_files_where_the_command_was_started(tmp_path: Path) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    program = compiled(tmp_path, "divided_problem", SOURCES / "divided_problem.c")
    (here / "side.txt").write_text("72\n")
    words = ["--scaling", "weak", "--output", there / "x.yaml", "--directory", there, "--", program, "side.txt"]
    done = pipeline.manynode("project", *SMALL, *NETWORK, *words, cwd=here)
    assert done.returncode == 0, done.stdout + done.stderr
    assert sorted(pd.read_parquet(there / "results/x/projection.parquet")["nodes"]) == [1, 2, 4]


@pytest.mark.long
def test_a_lone_node_whose_phases_no_other_job_executes_is_measured_by_itself(
    tmp_path: Path, halo: tuple[Path, list[Any]]
) -> None:
    """Without labels, a lone rank computes between two calls between which others always make a third.

    Phases have the names of the calls around them; nodes are chosen so that each is measured.
    """
    program, recorded = halo
    words = [*recorded, "--ranks-per-node", 1, "--nodes", "1,32", "--cores", "2", "--node-engine", "native"]
    done = project(tmp_path, *words, *NETWORK, "--", program, "{size}", "3")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "on 32 nodes, 32 ranks" in done.stdout and "on 1 node, 1 rank" in done.stdout
    large, alone = (yaml.safe_load((tmp_path / f"halo{name}.yaml").read_text()) for name in ("", "-others"))
    assert large["nodes"] == [32] and large["profile"]["max_classes"] == 1
    assert alone["nodes"] == [1] and alone["techniques"] == ["no-ext-var"] and alone["nodesim"]["nodes"] == 1
    results = tmp_path / "results" / "halo"
    breakdown = pd.read_parquet(results / "breakdown.parquet").set_index("operation")
    assert (breakdown.loc[["compute"], "seconds"] > 0).all()
    verdicts = json.loads((results / "nodesim/skeleton-verdicts.json").read_text())["verdicts"]
    assert [(one["nodes"], one["level"]) for one in verdicts] == [(32, "agreed")]
    assert "was derived from recorded runs" in (results / "report.html").read_text()


def test_a_program_that_cannot_be_derived_ends_with_what_can_be_done(tmp_path: Path) -> None:
    (tmp_path / "node.c").write_text(OF_THE_NODE)
    program = compiled(tmp_path, "node", tmp_path / "node.c")
    done = project(tmp_path, *SMALL, *NETWORK, "--", program)
    assert done.returncode == 3, done.stdout + done.stderr
    assert "a communicator of the ranks that share memory" in done.stderr
    recorded = [line for line in done.stdout.splitlines() if line.startswith("recording ")]
    assert recorded == ["recording 2 ranks", "recording 8 ranks"], "the first, and the one to replay"
    assert f"manynode run {tmp_path}/node.replay.yaml" in done.stderr and "the run of 8 ranks" in done.stderr
    checked = pipeline.manynode("config", "check", tmp_path / "node.replay.yaml")
    assert checked.returncode == 0 and "techniques x nodes [4]" in checked.stdout, checked.stdout + checked.stderr
    assert not (tmp_path / "node.yaml").exists() and not (tmp_path / "node.skeleton.yaml").exists()
    words = ["--ranks", "2,4,8,12", "--held-out", "", "--recordings", tmp_path / "known", "--", program, "known"]
    known = pipeline.manynode("derive", "--output", tmp_path / "known.skeleton.yaml", *words)
    assert "left out: the program does not run on 12 ranks: give me a power of two" in known.stdout
    assert "it runs on 2, 4, 8 ranks, and seems to take powers of two (--ranks 2,4,8,16,32,64)" in known.stdout


def test_all_questions_come_at_once_before_anything_runs(tmp_path: Path) -> None:
    words = [
        "--nodes",
        "1-4",
        "--network",
        "opa",
        "--output",
        tmp_path / "x.yaml",
        "--",
        native_program("spmv"),
        "{nx}",
    ]
    done = pipeline.manynode("project", *words)
    assert done.returncode == 2 and "3 questions are open" in done.stderr, done.stderr
    assert "--network: unknown network" in done.stderr and "opa100-fat-tree-4608, paper-dragonfly" in done.stderr
    assert "--parameter nx=VALUE: " in done.stderr and "--nodes: node counts cannot be read" in done.stderr
    assert not list(tmp_path.iterdir())


def test_an_experiment_with_a_parameter_can_be_written_without_running_it(
    tmp_path: Path, halo: tuple[Path, list[Any]]
) -> None:
    """What a lone node does with another size was not recorded: that node count is left out, and said so."""
    program, recorded = halo
    words = ["--vary", "size=30,50", "--varied-ranks", "8", "--projected", "size=40"]
    options = [*recorded, "--nodes", "1..16", "--write-only"]
    done = project(tmp_path, *options, *NETWORK, *words, "--", program, "{size}", "3")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "not projected: 1 node, 2 ranks: " in done.stdout and "a recording of 2 ranks would decide" in done.stdout
    assert "measured runs to come" in done.stdout and not (tmp_path / "results/halo/profile").exists()
    written = yaml.safe_load((tmp_path / "halo.yaml").read_text())
    assert written["application"]["command"][1:] == ["{size}", "3"]
    assert written["application"]["parameters"] == {"size": 40}
    assert written["nodes"] == [2, 4, 8, 16]
    checked = pipeline.manynode("config", "check", tmp_path / "halo.yaml")
    assert checked.returncode == 0 and "4 points" in checked.stdout, checked.stdout + checked.stderr
