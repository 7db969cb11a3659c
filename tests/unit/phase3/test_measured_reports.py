"""Reports of mpiP and IPM, marker files and tables of collectives -> tables for a validation study."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from manynode.config.measured import read_collectives, read_runs
from manynode.errors import InputError, ManynodeError, UsageError
from phase3_sst.measured import collect
from phase3_sst.measured.marker_files import _seconds, _within
from phase3_sst.measured.measured_command import measured
from phase3_sst.measured.readers.interface import Report, readers

DATA = Path(__file__).resolve().parent.parent.parent / "data"
REPORTS = DATA / "measured"
MPIP = REPORTS / "solver.4.7121.1.mpiP"
TABLES = DATA / "calibration"


def read(path: Path, old: str = "", new: str = "") -> list[Report]:
    """Read a report with a part of its text replaced."""
    text = path.read_text(encoding="utf-8")
    assert old in text
    text = text.replace(old, new) if old else text
    (name,) = [name for name in readers.names() if readers.get(name)().recognises(text)]
    return readers.get(name)().read(text, path.name)


def refused(path: Path, old: str, new: str) -> str:
    with pytest.raises(InputError) as caught:
        read(path, old, new)
    return caught.value.render()


def test_mpip_gives_the_slowest_task_and_the_call_sites_by_operation() -> None:
    (report,) = read(MPIP)
    assert (report.seconds, report.ranks, report.nodes) == (10.2, 4, 2)
    # 400 x 12.5 ms and 40 x 5 ms of Allreduce, over 4 tasks; computation is the rest of the mean, 40.6 / 4.
    assert report.operations["MPI_Allreduce"] == pytest.approx((5.0 + 0.2) / 4)
    assert report.operations["MPI_Waitall"] == pytest.approx(0.5)
    assert report.operations["MPI_Isend"] == pytest.approx(0.2)
    assert report.operations["compute"] == pytest.approx(10.15 - 2.0)
    assert sum(report.operations.values()) == pytest.approx(10.15)


def test_mpip_without_call_sites_is_read_from_the_aggregate_times() -> None:
    text = MPIP.read_text()
    start, end = text.index("@--- Callsite Time"), text.index("@--- Callsite Message")
    (report,) = read(MPIP, text[start:end], "")
    (whole,) = read(MPIP)
    assert report.operations == pytest.approx(dict(whole.operations))


def test_a_report_within_a_job_s_output_is_read(tmp_path: Path) -> None:
    path = tmp_path / "job.out.gz"
    path.write_bytes(gzip.compress(b"a solver's output, \xe8\n\n" + MPIP.read_bytes()))
    assert collect.report_format(path, "auto") == "mpip"
    assert collect.runs([path], ["mpip"], None) == collect.runs([MPIP], ["mpip"], None)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("   1       10.1        1.9    18.81", "   1       10.1", ["mpiP:23", "Task AppTime MPITime MPI%"]),
        ("   1       10.1", "   1       what", ["AppTime cannot be used", "'what'"]),
        ("MPI Time (seconds)", "Task Time Statistics (seconds)", ["no times of the tasks", "-c"]),
        ("MPI Task Assignment", "Task", ["does not name its nodes"]),
        ("    400       14     12.5", "    400       14     22.5", ["12 s in the call sites", "8 s in"]),
    ],
)
def test_a_report_of_mpip_that_is_not_whole_is_refused(old: str, new: str, words: list[str]) -> None:
    message = refused(MPIP, old, new)
    for word in words:
        assert word in message, message


def test_ipm_gives_sums_over_ranks_as_means() -> None:
    (report,) = read(REPORTS / "ipm_full.txt")
    assert (report.seconds, report.ranks, report.nodes) == (5.4, 8, 2)
    assert report.operations["MPI_Allreduce"] == pytest.approx(0.75)
    assert report.operations["compute"] == pytest.approx((42.6 - 8.0) / 8)
    assert set(report.operations) == {"compute", "MPI_Allreduce", "MPI_Waitall", "MPI_Isend"}


def test_ipm_leaves_out_what_begins_and_ends_a_run() -> None:
    init = "# MPI_Init                      0.00"
    (report,) = read(REPORTS / "ipm_full.txt", init, init.replace("0.00", "1.60"))
    assert report.seconds == pytest.approx(5.4 - 0.2)
    assert report.operations["compute"] == pytest.approx((42.6 - 8.0 - 1.6) / 8)


def test_a_short_banner_of_ipm_gives_computation_alone_and_a_file_several_runs() -> None:
    first, second = read(REPORTS / "ipm_terse.txt")
    assert (first.seconds, first.nodes, second.seconds, second.nodes) == (5.0, 2, 5.2, 4)
    assert first.operations == {"compute": pytest.approx(4.0)}
    assert second.operations == {"compute": pytest.approx(3.9)}


def test_the_banner_of_the_older_ipm_is_read_too() -> None:
    (report,) = read(REPORTS / "ipm_0.98.txt")
    assert (report.seconds, report.ranks, report.nodes) == (2.05, 4, 1)
    expected = {"compute": 1.75, "MPI_Allreduce": 0.2, "MPI_Send": 0.05}
    assert report.operations == pytest.approx(expected)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("# mpi_tasks : 8 on 2 nodes", "#", ["ipm_full.txt:2", "mpi_tasks : RANKS on NODES nodes"]),
        ("8 on 2 nodes", "0 on 2 nodes", ["without ranks"]),
        ("wallclock : 5.40", "wallclock : 0.00", ["without time"]),
        ("wallclock : 5.40", "wallclock : long", ["the wall clock cannot be used", "'long'"]),
        ("MPI_Waitall                   1.60", "MPI_Waitall                    inf", ["MPI_Waitall", ":21"]),
    ],
)
def test_a_banner_of_ipm_that_is_not_whole_is_refused(old: str, new: str, words: list[str]) -> None:
    message = refused(REPORTS / "ipm_full.txt", old, new)
    for word in words:
        assert word in message, message


def test_markers_count_from_the_end_of_init_to_the_start_of_finalize() -> None:
    rows = [
        ("MPI_Init", 0.0, 1.0, 0.0),
        ("MPI_Send", 3.0, 3.5, 2.0),
        ("MPI_Send", 4.0, 4.25, 0.5),
        ("MPI_Finalize", 5.0, 9.0, 0.75),
    ]
    records = pd.DataFrame(rows, columns=["operation", "time_in_s", "time_out_s", "compute_s"])
    within = _within(records)
    assert within["time_in_s"].iloc[-1] - within["time_out_s"].iloc[0] == 4
    assert _seconds(within) == {"compute": 3.25, "MPI_Send": 0.75}


def test_runs_on_the_same_nodes_get_running_replicas_and_the_same_operations() -> None:
    paths = [MPIP, REPORTS / "ipm_full.txt", REPORTS / "ipm_terse.txt"]
    found = collect.runs(paths, ["mpip", "ipm", "ipm"], None)
    assert [(run["nodes"], run["replica"]) for run in found] == [(2, 0), (2, 1), (2, 2), (4, 0)]
    # IPM's short banner has no single operations; a full one names all that took time.
    assert [set(run["operations"]) for run in found[2:]] == [{"compute"}] * 2
    one_node = collect.runs([REPORTS / "ipm_0.98.txt", MPIP], ["ipm", "mpip"], None)
    assert [run["operations"]["MPI_Send"] for run in one_node] == [pytest.approx(0.05), 0]
    assert [run["nodes"] for run in collect.runs([MPIP], ["mpip"], 7)] == [7]


def test_collectives_of_a_published_table() -> None:
    found, notes = collect.collectives([TABLES / "fugaku/julia_imb_allreduce.csv"], "auto", 384, 4)
    assert {row["collective"] for row in found} == {"allreduce"}
    assert found[0] == {
        **{"collective": "allreduce", "bytes": 4, "nodes": 384, "ranks_per_node": 4},
        "seconds": pytest.approx(6.199393e-6),
    }
    assert notes == ["allreduce, 0 bytes: MPI returns at once where there is nothing to send"]


def test_collectives_of_imb_tell_their_processes_and_others_are_left_out() -> None:
    found, notes = collect.collectives([TABLES / "printed/imb_mpi1.txt"], "auto", None, 2)
    assert {(row["collective"], row["nodes"]) for row in found} == {("allreduce", 1), ("barrier", 1)}
    assert any(note.startswith("pingpong: not a collective") for note in notes)


def test_a_rank_keeps_its_part_of_the_vector_of_a_reduce_scatter(tmp_path: Path) -> None:
    title = "# OSU MPI Reduce_scatter Latency Test v7.0\n# Size       Avg Latency(us)\n"
    path = tmp_path / "osu.txt"
    path.write_text(title + "4                       2.00\n4096                    8.00\n")
    found, notes = collect.collectives([path], "auto", 4, 2)
    assert [(row["bytes"], row["seconds"]) for row in found] == [(512, pytest.approx(8e-6))]
    assert notes == ["reduce_scatter, 4 bytes: MPI returns at once where there is nothing to send"]


@pytest.mark.parametrize(
    ("path", "nodes", "each", "words"),
    [
        ("fugaku/julia_imb_allreduce.csv", None, 1, "does not say on how many nodes"),
        ("printed/imb_mpi1.txt", 4, 1, "measured with other ranks"),
        ("printed/imb_mpi1.txt", None, 4, "do not fill whole nodes"),
        ("fugaku/julia_osu_latency.csv", 2, 1, "no latency of a collective"),
    ],
)
def test_tables_that_do_not_fit_are_refused(path: str, nodes: int | None, each: int, words: str) -> None:
    with pytest.raises(ManynodeError, match=words):
        collect.collectives([TABLES / path], "auto", nodes, each)


def convert(output: Path, *files: Path, **options: Any) -> str:
    measured(list(files), output, **{"nodes": None, "ranks_per_node": 1, "form": "auto", **options})
    return output.read_text()


def test_the_command_writes_what_an_experiment_reads(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = tmp_path / "measured.csv"
    text = convert(output, MPIP, REPORTS / "ipm_full.txt")
    assert text.startswith("# Written by 'manynode measured' of solver.4.7121.1.mpiP, ipm_full.txt\nnodes,replica,")
    first, second = read_runs(output)
    assert (first["seconds"], second["seconds"]) == (10.2, 5.4)
    assert "2 nodes, replica 1: 5.4 s" in capsys.readouterr().out
    convert(output, TABLES / "fugaku/julia_imb_allreduce.csv", nodes=384, ranks_per_node=4)
    assert len(read_collectives(output)) == 21


def test_the_command_refuses_what_does_not_go_together(tmp_path: Path) -> None:
    output = tmp_path / "measured.csv"
    with pytest.raises(UsageError, match="two commands"):
        convert(output, MPIP, TABLES / "fugaku/julia_imb_allreduce.csv")
    with pytest.raises(UsageError, match="unknown format"):
        convert(output, MPIP, form="mpiP")
    with pytest.raises(InputError, match="cannot be read"):
        convert(output, tmp_path / "nowhere.mpiP")
    assert not output.exists()
