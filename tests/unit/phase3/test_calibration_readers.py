"""Readers of measured tables: what programs print becomes a tidy table; what cannot be read is named with its line."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from manynode.errors import InputError, ManynodeError, UsageError
from phase3_sst.calibration.measurements import read_measurements
from phase3_sst.calibration.readers.interface import readers

DATA = Path(__file__).resolve().parent.parent.parent / "data" / "calibration"

# The layout of the C programs of the OSU micro-benchmarks; the numbers are made up.
OSU_MBW_MR = """\
srun: job 17 queued and waiting for resources
# OSU MPI Multiple Bandwidth / Message Rate Test v5.6.3
# [ pairs: 15 ] [ window size: 64 ]
# Size                  MB/s        Messages/s
1                      20.00       20000000.00
1024                 5120.00        5000000.00
"""
OSU_ALLREDUCE = """\

# OSU MPI Allreduce Latency Test v7.0
# Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations
4                       3.25              2.75              3.75        1000
8                       3.50              3.00              4.00        1000
"""
OSU_BARRIER = """\
# OSU MPI Barrier Latency Test v7.0
# Avg Latency(us)
              5.50
"""
OSU_PUT = """\
# OSU MPI_Put Latency Test v7.0
# Window creation: MPI_Win_allocate
# Size          Latency (us)
1                       1.80
"""


def read(name: str, *, form: str = "auto", cluster: str | None = None) -> pd.DataFrame:
    return read_measurements([DATA / name], form, cluster)


def read_text(folder: Path, text: str, name: str = "measured.txt", form: str = "auto") -> pd.DataFrame:
    (folder / name).write_text(text, encoding="utf-8")
    return read_measurements([folder / name], form)


def refused(folder: Path, text: str, name: str = "measured.txt", form: str = "auto") -> str:
    with pytest.raises(InputError) as caught:
        read_text(folder, text, name, form)
    assert caught.value.exit_code == 3
    return caught.value.render()


def one(table: pd.DataFrame, **wanted: object) -> pd.Series[float]:
    for key, value in wanted.items():
        table = table[table[key] == value]
    assert len(table) == 1
    return table.iloc[0]


def test_osu_latency_is_half_a_round_trip_in_microseconds() -> None:
    table = read("printed/mpi4py_osu_latency.txt")
    assert set(table["measure"]) == {"pingpong"}
    assert len(table) == 24
    last = one(table, size_bytes=4194304)
    assert last["time_s"] == pytest.approx(165.41e-6)
    assert last["line"] == 26


@pytest.mark.parametrize(("test", "measure"), [("bw", "bandwidth"), ("bibw", "bidirectional-bandwidth")])
def test_the_title_decides_what_a_column_is_not_its_heading(test: str, measure: str) -> None:
    text = (DATA / f"printed/mpi4py_osu_{test}.txt").read_text(encoding="utf-8")
    assert "Latency [us]" in text  # this port heads its MB/s so
    table = read(f"printed/mpi4py_osu_{test}.txt")
    assert set(table["measure"]) == {measure}
    assert table["time_s"].isna().all()
    assert table["bandwidth_Bps"].max() > 1e9


def test_osu_mbw_mr_gives_messages_and_pairs(tmp_path: Path) -> None:
    table = read_text(tmp_path, OSU_MBW_MR)
    row = one(table, size_bytes=1024)
    assert (row["measure"], row["processes"]) == ("message-rate", 30)
    assert row["messages_per_s"] == 5e6
    assert row["bandwidth_Bps"] == 5.12e9
    assert row["line"] == 6


def test_osu_collectives_give_their_average(tmp_path: Path) -> None:
    table = read_text(tmp_path, OSU_ALLREDUCE + OSU_BARRIER + OSU_PUT)
    assert one(table, measure="allreduce", size_bytes=8)["time_s"] == pytest.approx(3.5e-6)
    assert one(table, measure="barrier")["time_s"] == pytest.approx(5.5e-6)
    # One-sided: no ping-pong, though its title says latency.
    assert one(table, measure="put latency")["size_bytes"] == 1


# Titles of the versions 3 to 7, as their sources have them.
COLLECTIVES = (
    "Allgather", "Allgatherv", "Allreduce", "Barrier", "Gather", "Gatherv", "Reduce", "Reduce_scatter",
    "Reduce_scatter_block", "Scatter", "Scatterv",
)  # fmt: skip
EXCHANGES = ("All-to-All", "All-to-Allv", "All-to-Allw")
NEIGHBOURS = ("Allgather", "Allgatherv", "Alltoall", "Alltoallv", "Alltoallw")
TITLES = {
    "MPI Latency": "pingpong",
    "MPI Bandwidth": "bandwidth",
    "MPI Bi-Directional Bandwidth": "bidirectional-bandwidth",
    "MPI Multiple Bandwidth / Message Rate": "message-rate",
    "MPI Multi BW / Message Rate": "message-rate",
    "MPI Broadcast Latency": "bcast",
    **{f"MPI {name} Latency": name.lower() for name in COLLECTIVES},
    **{f"MPI {name} Personalized Exchange Latency": name.lower().replace("-", "") for name in EXCHANGES},
}
# Nothing here may pass for a blocking operation between the memories of CPUs.
OTHERS = (
    "MPI Multi Latency", "MPI Multi-threaded Latency", "MPI Multi-process Latency", "MPI Latency Persistent",
    "MPI Bandwidth Persistent", "MPI Bi-Directional Bandwidth Persistent", "MPI Non-Blocking Broadcast Latency",
    "MPI Broadcast Persistent Latency", "MPI Non-blocking All-to-All Latency", "MPI-CUDA Latency",
    "MPI-CUDA Allreduce Latency", "MPI-ROCM Bandwidth", "NCCL Allreduce Latency", "OpenSHMEM Barrier Latency",
    "UPC++ AlltoAll Latency", "MPI_Put Latency", "MPI_Put-CUDA Bandwidth", "MPI_Get latency", "MPI_Get Multi Latency",
    "MPI_Accumulate latency", "MPI_Fetch_and_op latency", "One Sided MPI_Put latency",
    *(f"MPI Non-blocking {name} Latency" for name in COLLECTIVES),
    *(f"MPI {name} Persistent Latency" for name in COLLECTIVES),
    *(f"MPI Non-blocking {name} Personalized Exchange Latency" for name in EXCHANGES),
    *(f"MPI {name} Personalized Exchange Persistent Latency" for name in EXCHANGES),
    *(f"MPI {kind}Neighborhood {name} Latency" for name in NEIGHBOURS for kind in ("", "Non-blocking ")),
)  # fmt: skip


def titled(title: str) -> str:
    rows = "12.10\n" if title == "MPI Barrier Latency" else "1    12.10\n1024  14.20\n"
    return f"# OSU {title} Test v7.5\n# Datatype: MPI_CHAR.\n# Size       Avg Latency(us)\n{rows}"


@pytest.mark.parametrize("title", TITLES)
def test_every_title_of_osu_is_known(title: str, tmp_path: Path) -> None:
    assert set(read_text(tmp_path, titled(title))["measure"]) == {TITLES[title]}


def test_osu_tests_of_other_kinds_have_names_of_their_own(tmp_path: Path) -> None:
    found = [read_text(tmp_path, titled(title))["measure"].iloc[0] for title in OTHERS]
    assert not {*found} & {*TITLES.values()}


@pytest.mark.parametrize("label", ["", "0: ", " 0: ", "[1,0]<stdout>:", "[1,0]<stdout>: ", "[0] "])
def test_lines_of_a_job_around_the_rows_are_skipped(label: str, tmp_path: Path) -> None:
    lines = ["# OSU MPI Latency Test v5.6.2", "# Size          Latency (us)", "0    1.38", "4    1.5"]
    before = "Currently Loaded Modulefiles:\n1) gcc/12.2   2) openmpi/4.1\n2 nodes in use\n"
    between = "2 total processes killed (some possibly by mpirun during cleanup)\n"
    after = f"{between}2024-05-01T10:00:00 job ended\n"
    text = before + "".join(f"{label}{line}\n" for line in lines[:3]) + between + f"{label}{lines[3]}\n" + after
    table = read_text(tmp_path, text)
    assert table["size_bytes"].tolist() == [0, 4]
    assert table["time_s"].tolist() == pytest.approx([1.38e-6, 1.5e-6])


IMB = """\
#----------------------------------------------------------------
# Benchmarking {name}
# #processes = 8
#----------------------------------------------------------------
       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]
"""


@pytest.mark.parametrize(
    "words",
    [
        'time-out.; Time limit (secs_per_sample * msg_sizes_list_len) is over; use "-time X"',
        'out-of-mem.; needed X=   1.538 GB; use flag "-mem X" or MAX_MEM_USAGE>=X (IMB_mem_info.h)',
        "int-overflow; The production rank*size caused int overflow;",
    ],
)
def test_imb_sizes_that_failed_are_left_out(words: str, tmp_path: Path) -> None:
    text = IMB.format(name="Allreduce") + f"  8  1000  20.11  21.02  20.50\n  4194304 {words}\n"
    assert read_text(tmp_path, text)["size_bytes"].tolist() == [8]
    assert read_text(tmp_path, "".join(f"0: {line}\n" for line in text.splitlines()))["processes"].tolist() == [8]


def test_imb_sizes_that_are_measured_again_give_their_median(tmp_path: Path) -> None:
    rows = "".join(f"  {size}  1000  1.0  9.0  {time}\n" for size, time in [(4, 2.03), (4, 2.02), (4, 2.08), (8, 2.06)])
    table = read_text(tmp_path, IMB.format(name="Allreduce") + rows)
    assert table["size_bytes"].tolist() == [4, 8]
    assert table["time_s"].tolist() == pytest.approx([2.03e-6, 2.06e-6])


def test_imb_blocks_of_groups_and_without_waiting_have_names_of_their_own(tmp_path: Path) -> None:
    groups = (
        IMB.format(name="Multi-Allreduce").replace("       #bytes", "  Group #bytes").replace("# #processes = 8\n", "")
    )
    overlap = IMB.format(name="Iallreduce").replace(
        "t_min[usec]  t_max[usec]  t_avg[usec]", "t_ovrl[usec] t_pure[usec] t_CPU[usec]"
    )
    own = IMB.format(name="Allreduce") + "  8  1000  30.11  31.02  30.50\n"
    text = f"{groups}  0  8  1000  20.11  21.02  20.50\n  1  8  1000  20.11  21.02  20.50\n{own}"
    table = read_text(tmp_path, f"{text}{overlap}  8  1000  20.11  11.02  9.50\n")
    assert table["measure"].tolist() == ["multi-allreduce", "allreduce", "iallreduce"]
    assert table["processes"].tolist() == [0, 8, 8]


def test_a_packed_file_and_one_of_another_encoding_are_read(tmp_path: Path) -> None:
    text = f"# job of José\n{OSU_ALLREDUCE}"
    (tmp_path / "a.gz").write_bytes(gzip.compress(text.encode()))
    (tmp_path / "b.txt").write_bytes(text.encode("latin-1"))
    for name in ("a.gz", "b.txt"):
        assert read_measurements([tmp_path / name])["size_bytes"].tolist() == [4, 8]
    (tmp_path / "a.gz").write_bytes(gzip.compress(text.encode())[:-9])
    with pytest.raises(InputError, match="cannot be unpacked"):
        read_measurements([tmp_path / "a.gz"])


def test_imb_blocks_are_told_apart() -> None:
    table = read("printed/imb_mpi1.txt")
    assert set(table["measure"]) == {"pingpong", "pingping", "sendrecv", "allreduce", "barrier", "message-rate"}
    assert set(table["processes"]) == {2}
    allreduce = one(table, measure="allreduce", size_bytes=16)
    assert allreduce["time_s"] == pytest.approx(4.30e-6)  # the average of 0.31 and 8.29
    rate = one(table, measure="message-rate", size_bytes=8192)
    assert rate["messages_per_s"] == 534162


def test_imb_sizes_without_a_value_are_left_out() -> None:
    assert "16384 time-out." in (DATA / "printed/imb_mpi1.txt").read_text(encoding="utf-8")
    table = read("printed/imb_mpi1.txt")
    assert table[table["measure"] == "message-rate"]["size_bytes"].max() == 8192


def test_ping_pongs_among_calls_are_halved() -> None:
    table = read("dahu_opa100/pingpong_calls.csv", cluster="dahu")
    assert table.groupby("measure").size().to_dict() == {"isend": 200, "pingpong": 200, "recv": 200, "send": 200}
    # The file has 2.64816 us for 3 bytes there and back.
    assert one(table, measure="pingpong", size_bytes=3)["time_s"] == pytest.approx(1.32408e-6)
    large = table[table["size_bytes"] > 2**24].pivot_table(index="size_bytes", columns="measure", values="time_s")
    assert np.median(large["pingpong"] / large["send"]) == pytest.approx(1.0, abs=0.02)


def test_ping_pongs_that_are_halves_already_stay(tmp_path: Path) -> None:
    text = "experiment,cluster,msg_size,duration\nsend,a,2000000,1e-3\npingpong,a,2000000,1.05e-3\n"
    assert one(read_text(tmp_path, text), measure="pingpong")["time_s"] == 1.05e-3


def test_calls_that_contradict_each_other_are_refused(tmp_path: Path) -> None:
    text = "experiment,cluster,msg_size,duration\nsend,a,2000000,1e-3\npingpong,a,2000000,9e-3\n"
    assert "lasts 9 times a send" in refused(tmp_path, text)


def test_tables_with_units_in_their_column_names() -> None:
    table = read("fugaku/riken_imb_pingpong.csv")
    assert one(table, size_bytes=4194304)["time_s"] == 6.68e-4
    assert set(table["measure"]) == {"pingpong"}
    assert set(read("fugaku/julia_osu_latency.csv")["measure"]) == {"pingpong"}
    allreduce = read("fugaku/julia_imb_allreduce.csv")  # has min, max and average
    assert set(allreduce["measure"]) == {"allreduce"}
    assert one(allreduce, size_bytes=4)["time_s"] == pytest.approx(6.199393420131388e-6)


def test_microseconds_in_a_table_are_converted(tmp_path: Path) -> None:
    table = read_text(tmp_path, "size (B),latency (us)\n1,2.5\n", "pingpong.csv")
    assert one(table, size_bytes=1)["time_s"] == pytest.approx(2.5e-6)


def test_lists_of_single_results() -> None:
    table = read("crossroads_osu/OSU_ats3_results.csv")
    assert one(table, measure="pingpong")["time_s"] == pytest.approx(1.61e-6)
    assert one(table, measure="bidirectional-bandwidth")["bandwidth_Bps"] == pytest.approx(45.30717e9)
    assert one(table, measure="barrier")["size_bytes"] == 0
    # One row, two sizes: "8B, 16 MB" and "345.55, 2477365.95 us".
    allreduce = table[table["measure"] == "allreduce"].set_index("size_bytes")["time_s"]
    assert allreduce[8] == pytest.approx(345.55e-6)
    assert allreduce[16_000_000] == pytest.approx(2.47736595)


def test_memory_copies() -> None:
    table = read("dahu_opa100/memcpy.csv")
    assert set(table["measure"]) == {"copy"}
    assert one(table, size_bytes=545336)["time_s"] == pytest.approx(2.9856336e-5)


def test_every_format_recognises_its_own_files_only() -> None:
    owners = {
        "printed/mpi4py_osu_bw.txt": "osu",
        "printed/imb_mpi1.txt": "imb",
        "dahu_opa100/pingpong_calls.csv": "calls",
        "dahu_opa100/memcpy.csv": "copy",
        "fugaku/riken_imb_pingpong.csv": "table",
        "crossroads_osu/OSU_ats3_results.csv": "summary",
    }
    assert sorted(owners.values()) == readers.names()
    for name, owner in owners.items():
        text = (DATA / name).read_text(encoding="utf-8")
        assert [form for form in readers.names() if readers.get(form)().recognises(text)] == [owner]


CALLS = "experiment,cluster,msg_size,duration\n"
REFUSED = {
    "an empty file": ("", "measured.txt", "is empty"),
    "only blanks": ("\n \n", "measured.txt", "is empty"),
    "no known format": ("a,b\n1,2\n", "measured.csv", "the format is not known"),
    "a title and nothing else": ("# OSU MPI Latency Test v7.0\n", "a.txt", "no measured value was found"),
    "a header and nothing else": (CALLS, "a.csv", "no measured value was found"),
    "a column is missing": ("experiment,msg_size,duration\nsend,1,1\n", "a.csv", "add 'cluster'"),
    "a column is misspelt": (
        "experiment,cluster,msg_size,durations\n",
        "a.csv",
        "is 'durations' meant for 'duration'?",
    ),
    "no time in a table": ("size (bytes),throughput (MB/s)\n1,1\n", "pingpong.csv", "a column is missing"),
    "an unknown unit": ("size (bytes),time (fortnights)\n1,1\n", "pingpong.csv", "unknown unit"),
    "a table of nobody knows what": ("size (bytes),time (s)\n1,1\n", "x.csv", "does not say what was measured"),
    "an unknown experiment": (CALLS + "sendrecv,a,1,1e-6\n", "a.csv", "a.csv:2"),
    "a negative time": (CALLS + "send,a,1,1e-6\nsend,a,2,-1e-6\n", "a.csv", "a.csv:3"),
    "a time that is not finite": (CALLS + "send,a,1,nan\n", "a.csv", "a finite number of at least 0"),
    "a size that is not whole": (CALLS + "send,a,1.5,1e-6\n", "a.csv", "whole bytes"),
    "a word for a number": ("# OSU MPI Latency Test\n1   fast\n", "a.txt", "a.txt:2"),
    "a row that is cut off": ("# OSU MPI Latency Test\n1 1.0\n1024\n", "a.txt", "a row is cut off"),
    "a row too short for its header": (
        "# Benchmarking PingPong\n#bytes #repetitions t[usec] Mbytes/sec\n0 1000 0.2\n",
        "a.txt",
        "3 values",
    ),
    "columns without a time": (
        "# Benchmarking PingPong\n#bytes #repetitions\n0 1000\n",
        "a.txt",
        "no usable column",
    ),
    "a word for a number in a row of five": (
        "# OSU MPI Allreduce Latency Test\n1 2.0 1.0 3.0 1000\n4 fast 1.0 3.0 1000\n",
        "a.txt",
        "a.txt:3",
    ),
    "a row that failed its validation": ("# OSU MPI Latency Test\n1 1.0 Pass\n2 1.0 Fail\n", "a.txt", "a.txt:3"),
    "sizes that do not rise": ("# OSU MPI Latency Test\n1 1.0\n4 1.0\n2 1.0\n", "a.txt", "2 after 4"),
    "a size twice": ("# OSU MPI Latency Test\n1 1.0\n1 1.0\n", "a.txt", "a.txt:3"),
    "falling sizes in a table": ("size (bytes),time (s)\n2,1\n1,1\n", "pingpong.csv", "1 after 2"),
    "falling sizes in a block": (
        "# Benchmarking PingPong\n#bytes t[usec]\n2 1.0\n1 1.0\n",
        "a.txt",
        "the message sizes do not increase",
    ),
    "a result that does not fit": (
        "Test,Ranks,Msg Size,Num Nodes,Result\nosu_bw,1,8 B,2,fast\n",
        "a.csv",
        "the result does not fit",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_read_is_refused(case: str, tmp_path: Path) -> None:
    text, name, said = REFUSED[case]
    assert said in refused(tmp_path, text, name)


def test_a_row_without_a_title_is_refused(tmp_path: Path) -> None:
    assert "a row without a title" in refused(tmp_path, "1 1.0\n", form="osu")


def test_several_clusters_need_a_choice() -> None:
    with pytest.raises(UsageError, match="several clusters") as caught:
        read("dahu_opa100/pingpong_calls.csv")
    assert "dahu, gros" in caught.value.render()
    with pytest.raises(UsageError, match="no measurements of this cluster"):
        read("dahu_opa100/pingpong_calls.csv", cluster="yeti")


def test_an_unknown_format_names_the_known_ones() -> None:
    with pytest.raises(UsageError) as caught:
        read("printed/imb_mpi1.txt", form="imbs")
    assert "calls, copy, imb, osu, summary, table" in caught.value.render()
    assert "did you mean 'imb'?" in caught.value.render()


def test_a_file_that_is_not_there_or_not_text(tmp_path: Path) -> None:
    with pytest.raises(ManynodeError, match="cannot be read"):
        read_measurements([tmp_path / "absent.txt"])
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="is not text"):
        read_measurements([tmp_path / "binary"])
