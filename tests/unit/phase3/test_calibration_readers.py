"""Readers of measured tables: what programs print becomes a tidy table; what cannot be read is named with its line."""

from __future__ import annotations

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
