"""``manynode map``: the launchers of MPICH and Open MPI put each rank where the mapping wants it.

Hosts are this one under several names. In place of ssh, the launchers get a script that runs the command here and
passes the name of the intended host.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pandas as pd
import pytest
import typer
from typer.testing import CliRunner

from manynode.errors import ManynodeError
from phase3_sst.studies.congestion.counters.counter_table import Counters, ordered, write
from phase3_sst.studies.congestion.mapping import scotch
from phase3_sst.studies.congestion.mapping.map_command import map_ranks

AGENT = """#!/bin/sh
while [ "${1#-}" != "$1" ]; do shift; done
SEAT_HOST=$1; export SEAT_HOST; shift
TMPDIR=$(mktemp -d); export TMPDIR; trap 'rm -rf "$TMPDIR"' EXIT
eval "$@"
"""

# Hosts of Curie: nid00016 and nid00017 at one router, nid00032 at another.
HOSTS = "host,node,slots\nnid00016,60,2\nnid00032,6,2\n"
# Rank 0 talks with rank 2, and rank 1 with rank 3.
MATRIX = "0,2,1000\n2,0,1000\n1,3,1000\n3,1,1000\n0,1,1\n"

needs_scotch = pytest.mark.skipif(not scotch.available(), reason="the native build has no Scotch")


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "hosts.csv").write_text(HOSTS)
    (tmp_path / "matrix.csv").write_text(MATRIX)
    agent = tmp_path / "agent.sh"
    agent.write_text(AGENT)
    agent.chmod(0o755)
    return tmp_path


def run_map(folder: Path, *options: object, tasks: str | None = "matrix.csv") -> str:
    """Run the command on the files of ``folder``; raise its error."""
    app = typer.Typer(pretty_exceptions_enable=False)
    app.command()(map_ranks)
    defaults: dict[str, object] = {
        "--hosts": folder / "hosts.csv",
        "--machine": "curie-gemini",
        "--metric": "hops",
        "--output": folder / "ranks",
    }
    if tasks is not None:
        defaults["--tasks"] = folder / tasks
    given = list(map(str, options))
    words = [word for key, value in defaults.items() if key not in given for word in (key, str(value))]
    result = CliRunner().invoke(app, [*words, *given])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0, result.output
    return str(result.output)


def launched(command: list[object]) -> dict[int, str]:
    """Return the host of each rank, as reported by the launched processes."""
    done = subprocess.run(
        list(map(str, command)), capture_output=True, text=True, timeout=120, check=False, stdin=subprocess.DEVNULL
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return {int(rank): host for rank, host in re.findall(r"^rank (\d+) on (\S+)", done.stdout, re.MULTILINE)}


def expected(text: str) -> dict[int, str]:
    return {int(rank): host for rank, host in re.findall(r"^rank (\d+)=(\S+) ", text, re.MULTILINE)}


@needs_scotch
def test_open_mpi_starts_the_ranks_where_the_file_says(files: Path) -> None:
    launcher = shutil.which("mpiexec.openmpi")
    if launcher is None:
        pytest.skip("Open MPI is not installed")
    output = run_map(files)
    assert "of the default's" in output and "--rankfile" in output
    seats = expected((files / "ranks").read_text())
    assert seats[0] == seats[2] != seats[1] == seats[3], "ranks that talk are on one host"
    command: list[object] = [launcher, "--allow-run-as-root", "--mca", "plm_rsh_agent", files / "agent.sh"]
    # Both hosts are this one: their daemons would write one description of its cores to shared memory, and may crash.
    command += ["--mca", "rtc_hwloc_vmhole", "none"]
    command += ["--host", "nid00016:2,nid00032:2", "--oversubscribe", "--rankfile", files / "ranks", "-n", 4]
    assert launched([*command, "sh", "-c", "echo rank $OMPI_COMM_WORLD_RANK on $SEAT_HOST"]) == seats


@needs_scotch
def test_mpich_starts_the_ranks_where_the_file_says(files: Path) -> None:
    launcher = shutil.which("mpiexec.mpich")
    if launcher is None:
        pytest.skip("MPICH is not installed")
    run_map(files)
    seats = expected((files / "ranks").read_text())
    output = run_map(files, "--format", "mpich", "--output", files / "machines")
    assert "do not share memory" in output, "hosts are not in one piece here"
    command: list[object] = [launcher, "-f", files / "machines", "-n", 4, "-launcher", "ssh"]
    command += ["-launcher-exec", files / "agent.sh"]
    assert launched([*command, "sh", "-c", "echo rank $PMI_RANK on $SEAT_HOST"]) == seats


def test_a_skeleton_is_mapped_without_scotch_by_its_grid(files: Path) -> None:
    (files / "hosts.csv").write_text("host,node,slots\na,0,4\nb,1,4\nc,2,4\nd,3,4\n")
    skeleton = '{"pattern": "halo3d", "grid": "4x2x2", "periodic": false, "bytes": 1000, "iterations": 1}'
    words = ["--app", "patterns", "--parameters", skeleton, "--ranks", 16, "--metric", "geometric", "--grid", "4x2x2"]
    output = run_map(files, *words, "--no-keep", tasks=None)
    assert "16 ranks on 4 hosts by geometric" in output
    text = (files / "ranks").read_text()
    assert sorted(expected(text)) == list(range(16))
    assert all(list(expected(text).values()).count(host) == 4 for host in "abcd")


def counters_of_one_link(folder: Path, peer: str, **changes: float) -> Path:
    """Write counters of the router behind the stalled link as a table router-counters/1."""
    row = {"start_s": 0.0, "end_s": 1.0, "router": "router-0-0-2", "port": "Z-", "port_class": "network"}
    row |= {"direction": "in", "peer": peer, "credit_stalled_pct": 68.0, "used_pct": 61.0, **changes}
    write(folder / "counters.parquet", Counters(ordered(pd.DataFrame([row]))))
    return folder / "counters.parquet"


@needs_scotch
@pytest.mark.parametrize("source", ["snapshot", "counters", "cables"])
def test_ranks_that_talk_stay_off_the_stalled_route(files: Path, source: str) -> None:
    # Four hosts at four routers in a line along Z; between the second and the third the network is stalled.
    nodes = [2 * 4 * z for z in range(4)]
    (files / "hosts.csv").write_text("host,node\n" + "".join(f"h{i},{node}\n" for i, node in enumerate(nodes)))
    (files / "matrix.csv").write_text("0,3,1000\n1,2,1000\n0,1,1\n")
    if source == "snapshot":
        words = ["--snapshot", files / "counters.csv"]
        (files / "counters.csv").write_text(
            "source,target,percent_stalled,percent_bandwidth\nrouter-0-0-1,router-0-0-2,68,61\n"
        )
    elif source == "counters":
        words = ["--counters", counters_of_one_link(files, "router-0-0-1")]
    else:
        words = ["--counters", counters_of_one_link(files, ""), "--cables", files / "cables.csv"]
        (files / "cables.csv").write_text("router,port,source,target\nrouter-0-0-2,Z-,router-0-0-1,router-0-0-2\n")
    run_map(files, "--metric", "stalls", *words)
    seats = expected((files / "ranks").read_text())
    low = {"h0", "h1"}
    assert (seats[0] in low) == (seats[3] in low)
    assert (seats[1] in low) == (seats[2] in low)


@needs_scotch
def test_counters_without_bandwidth_map_by_stalls_but_cannot_judge(files: Path) -> None:
    counters = counters_of_one_link(files, "router-0-0-1", used_pct=float("nan"))
    words = ["--metric", "stalls", "--counters", counters]
    with pytest.raises(ManynodeError, match="the columns that the metric stalls needs") as caught:
        run_map(files, *words)
    assert "used_pct" in str(caught.value.allowed) and "--no-keep" in str(caught.value.remedy)
    assert not (files / "ranks").exists()
    assert "4 ranks on 2 hosts by stalls" in run_map(files, *words, "--no-keep")


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (["--ranks", 9], 2, "the task graph is larger than the machine"),
        (["--metric", "stalls"], 2, "needs counters"),
        (["--metric", "stall"], 2, "unknown metric"),
        (["--format", "hydra"], 2, "unknown format"),
        (["--machine", "curie"], 2, "unknown machine"),
        (["--app", "hpcg"], 2, "one source"),
        (["--grid", "2by2", "--metric", "geometric"], 2, "grid cannot be read"),
        (["--snapshot", "nowhere.csv"], 3, "snapshot cannot be read"),
        (["--snapshot", "nowhere.csv", "--counters", "nowhere.csv"], 2, "give one source of counters"),
        (["--counters", "nowhere.csv"], 3, "counters cannot be read"),
        (["--cables", "nowhere.csv"], 2, "names the links of counters"),
    ],
)
def test_a_mistake_is_named_and_nothing_is_written(files: Path, options: list[object], code: int, message: str) -> None:
    with pytest.raises(ManynodeError, match=message) as caught:
        run_map(files, *options)
    assert caught.value.exit_code == code
    assert not (files / "ranks").exists()


def test_negative_bytes_and_unknown_nodes_are_named(files: Path) -> None:
    (files / "matrix.csv").write_text("0,1,-5\n")
    with pytest.raises(ManynodeError, match="communication matrix") as caught:
        run_map(files)
    assert "line 1" in str(caught.value.where)
    (files / "matrix.csv").write_text(MATRIX)
    (files / "hosts.csv").write_text("host,node\nnid00016,64\n")
    with pytest.raises(ManynodeError, match="host file") as caught:
        run_map(files)
    assert "0 to 63" in str(caught.value.allowed)
