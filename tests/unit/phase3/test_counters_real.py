"""Real counters: the formats of LDMS, PAPI and Darshan, and every fault of cumulative counters."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from manynode.errors import InputError, UsageError
from phase3_sst.studies.congestion.counters.counter_table import Counters
from phase3_sst.studies.congestion.counters.names import known
from phase3_sst.studies.congestion.counters.readers.interface import read_counters

FLIT, STALL = "AR_RTR_0_0_INQ_PRF_INCOMING_FLIT_VC0", "AR_RTR_0_0_INQ_PRF_ROWBUS_STALL_CNT"
HEAD = f"#Time,Time_usec,ProducerName,component_id,job_id,aries_rtr_id,{FLIT},{STALL}"
ROUTER = "c0-0c0s0a0"
T = 1497648110


def sample(second: float, flits: object, stalls: object, producer: str = "nid00001", router: str = ROUTER) -> str:
    usec = round(second % 1 * 1e6)
    return f"{T + int(second)}.{usec:06d},{usec},{producer},{int(producer[3:])},7,{router},{flits},{stalls}"


def ldms(folder: Path, *lines: str, head: str = HEAD, name: str = "metric_set_rtr") -> Counters:
    path = folder / name
    path.write_text("\n".join([head, *lines]) + "\n")
    return read_counters([path])


def values(counters: Counters, column: str = "flits") -> list[float]:
    return counters.table[column].tolist()


def test_cumulative_counters_become_rolling_differences(tmp_path: Path) -> None:
    found = ldms(tmp_path, sample(0, 100, 10), sample(1, 150, 10), sample(2, 180, 40))
    assert values(found) == [50, 30] and values(found, "stalls") == [0, 30]
    assert found.table["start_s"].tolist() == [T, T + 1] and found.notes == []
    row = found.table.iloc[0]
    assert (row["router"], row["port"], row["port_class"], row["direction"]) == (ROUTER, "0_0", "network", "in")
    assert found.router_of_node["nid00001"] == ROUTER and found.router_of_node["1"] == ROUTER


def test_counters_above_2_to_the_53_lose_no_digit(tmp_path: Path) -> None:
    high = 2**63
    assert values(ldms(tmp_path, sample(0, high, 0), sample(1, high + 1, 0))) == [1]


@pytest.mark.parametrize("width", [32, 48, 64])
def test_a_wrap_is_repaired_and_told(tmp_path: Path, width: int) -> None:
    found = ldms(tmp_path, sample(0, 2**width - 10, 0), sample(1, 5, 0), sample(2, 25, 0))
    assert values(found) == [15, 20]
    assert [note for note in found.notes if "1 wraps of a counter were repaired" in note]


def test_a_reset_starts_anew_and_leaves_its_interval_out(tmp_path: Path) -> None:
    found = ldms(tmp_path, sample(0, 10**12, 5), sample(1, 7, 6), sample(2, 27, 8))
    assert [note for note in found.notes if "1 resets of a counter" in note]
    assert pd.isna(values(found)[0]) and values(found)[1] == 20
    assert values(found, "stalls") == [1, 2]


def test_a_jump_that_no_tile_can_make_is_left_out(tmp_path: Path) -> None:
    found = ldms(tmp_path, sample(0, 0, 0), sample(1, 10**13, 1), sample(2, 10**13 + 4, 2))
    assert pd.isna(values(found)[0]) and values(found)[1] == 4
    assert [note for note in found.notes if "grew by more than it can" in note]


def test_a_gap_becomes_a_longer_interval_and_is_told(tmp_path: Path) -> None:
    found = ldms(tmp_path, *(sample(s, 10 * s, 0) for s in (0, 1, 2, 3, 7, 8)))
    assert values(found) == [10, 10, 10, 40, 10]
    assert (found.table["end_s"] - found.table["start_s"]).max() == 4
    assert [note for note in found.notes if "1 gaps, 3 s without samples" in note]


def test_a_missing_value_is_told_and_the_next_interval_reaches_over_it(tmp_path: Path) -> None:
    found = ldms(tmp_path, sample(0, 0, 0), sample(1, "", 5), sample(2, 30, 9))
    told = found.table.set_index(["start_s", "end_s"])
    assert told.loc[(T, T + 2), "flits"] == 30 and pd.isna(told.loc[(T, T + 2), "stalls"])
    assert told.loc[(T, T + 1), "stalls"] == 5
    assert [note for note in found.notes if "1 cells have no value" in note]


def test_a_repeated_row_is_used_once(tmp_path: Path) -> None:
    found = ldms(tmp_path, sample(0, 0, 0), sample(1, 10, 0), sample(1, 10, 0), sample(2, 20, 0))
    assert values(found) == [10, 10]
    assert [note for note in found.notes if "1 repeated rows" in note]


def test_two_different_rows_at_one_time_are_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="two samples of one time differ"):
        ldms(tmp_path, sample(0, 0, 0), sample(1, 10, 0), sample(1, 11, 0))


def test_time_that_goes_back_is_put_in_order_and_told(tmp_path: Path) -> None:
    found = ldms(tmp_path, sample(0, 0, 0), sample(2, 30, 0), sample(1, 10, 0), sample(3, 60, 0))
    assert values(found) == [10, 20, 30]
    assert [note for note in found.notes if "1 rows were earlier than the row before them" in note]


def test_of_two_nodes_that_sample_a_router_one_is_used(tmp_path: Path) -> None:
    two = [sample(s, 10 * s, 0, producer) for s in range(3) for producer in ("nid00002", "nid00001")]
    found = ldms(tmp_path, *two, sample(3, 30, 0, "nid00002"))
    assert values(found) == [10, 10, 10]  # nid00002 has more samples
    assert [note for note in found.notes if "1 producers" in note]


def test_virtual_channels_are_added_up_and_a_part_of_them_is_no_sum(tmp_path: Path) -> None:
    head = f"{HEAD},AR_RTR_0_0_INQ_PRF_INCOMING_FLIT_VC1"
    found = ldms(tmp_path, sample(0, 0, 0) + ",0", sample(1, 10, 1) + ",5", sample(2, 20, 2) + ",", head=head)
    assert values(found)[0] == 15 and pd.isna(values(found)[1])
    assert [note for note in found.notes if "lack a counter that they are the sum of" in note]


def test_rolled_over_files_continue_each_other(tmp_path: Path) -> None:
    for name, seconds in (("rtr.1", (0, 1)), ("rtr.2", (2, 3))):
        (tmp_path / name).write_text("\n".join([HEAD, *(sample(s, 10 * s, 0) for s in seconds)]) + "\n")
    assert values(read_counters([tmp_path / "rtr.1", tmp_path / "rtr.2"])) == [10, 10, 10]


def test_a_header_may_stand_in_a_file_of_its_own_and_be_written_again(tmp_path: Path) -> None:
    (tmp_path / "rtr.HEADER.15").write_text(HEAD.replace(",", ", ") + "\n")
    (tmp_path / "rtr.15").write_text("\n".join([sample(0, 0, 0), HEAD, sample(1, 10, 0)]) + "\n")
    assert values(read_counters([tmp_path / "rtr.15"])) == [10]


def test_metrics_that_change_within_a_file_are_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="metrics change"):
        ldms(tmp_path, sample(0, 0, 0), HEAD + ",more")


def test_unknown_counters_are_told_by_name(tmp_path: Path) -> None:
    found = ldms(
        tmp_path, sample(0, 0, 0) + ",1", sample(1, 9, 0) + ",2", head=f"{HEAD},AR_RTR_7_9_INQ_PRF_ROWBUS_STALL_CNT"
    )
    assert found.notes == ["1 counters are not used, such as AR_RTR_7_9_INQ_PRF_ROWBUS_STALL_CNT"]


def test_a_file_without_a_known_counter_is_an_error_with_the_nearest_name(tmp_path: Path) -> None:
    head = HEAD.replace(FLIT, "AR_RTR_0_0_INQ_PRF_INCOMMING_FLITS_VC0").replace(STALL, "other")
    with pytest.raises(InputError, match="is 'AR_RTR_0_0_INQ_PRF_INCOMMING_FLITS_VC0' meant to be like") as error:
        ldms(tmp_path, sample(0, 0, 0), head=head)
    assert error.value.found == "8 columns, such as 'AR_RTR_0_0_INQ_PRF_INCOMMING_FLITS_VC0'"


def test_a_line_that_was_cut_off_is_an_error_with_its_number(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="metric_set_rtr:3"):
        ldms(tmp_path, sample(0, 0, 0), f"{T + 1}.0,0,nid0")


def test_one_sample_is_not_enough(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="at least two samples"):
        ldms(tmp_path, sample(0, 0, 0))


def test_gemini_percentages_are_taken_as_they_are(tmp_path: Path) -> None:
    stall, bandwidth = "X+_SAMPLE_GEMINI_LINK_CREDIT_STALL (% x1e6)", "X+_SAMPLE_GEMINI_LINK_USED_BW (%)"
    mesh = ", ".join(f"nettopo_mesh_coord_{axis}" for axis in "XYZ")
    head = f"#Time, Time_usec, ProducerName, {mesh}, {stall}, {bandwidth}"
    lines = [f"{T + s}.000000, 0, nid00012, 1, 0, 6, {68_000_000 + s}, 61" for s in range(2)]
    table = ldms(tmp_path, *lines, head=head).table
    row = table.iloc[0]
    assert (row["router"], row["port"], len(table)) == ("gemini-1-0-6", "X+", 1)
    assert row["credit_stalled_pct"] == pytest.approx(68.000001) and row["used_pct"] == 61
    assert pd.isna(row["flits"])


def test_gpcdr_nanoseconds_become_percent_of_all_tiles_of_a_direction(tmp_path: Path) -> None:
    head = "#Time,Time_usec,ProducerName,Y+_credit_stall (ns)"
    table = ldms(tmp_path, f"{T}.0,0,n1,0", f"{T + 2}.0,0,n1,{4 * 10**9}", head=head).table
    assert table["credit_stalled_pct"].tolist() == pytest.approx([50])  # 4 s of 2 s on 4 tiles


def test_milliseconds_of_time_format_1_are_read(tmp_path: Path) -> None:
    head = HEAD.replace("#Time,", "#Time_msec,")
    lines = [f"{T * 1000 + 500 * s},250,nid00001,1,7,{ROUTER},{s},0" for s in range(2)]
    assert ldms(tmp_path, *lines, head=head).table["start_s"].tolist() == pytest.approx([T + 0.00025], abs=1e-6)


def test_papi_events_are_read_wide_and_long(tmp_path: Path) -> None:
    wide = tmp_path / "wide.csv"
    wide.write_text(f"time,router,npu:::{FLIT}\n0,a,0\n1.5,a,30\n")
    long = tmp_path / "long.csv"
    long.write_text(f"time,router,event,value\n0,a,{FLIT},0\n0,a,{STALL},0\n1.5,a,{FLIT},30\n1.5,a,{STALL},3\n")
    assert values(read_counters([wide])) == [30]
    found = read_counters([long])
    assert (values(found), values(found, "stalls")) == ([30], [3])


def test_the_same_traffic_is_not_counted_at_processor_tiles_and_nics(tmp_path: Path) -> None:
    tile, nic = "AR_RTR_PT_5_0_INQ_PRF_INCOMING_FLIT_VC0", "AR_NL_PRF_REQ_NIC_0_TO_PTILES_FLITS"
    to_nic = "AR_NL_PRF_RSP_PTILES_TO_NIC_0_FLITS"
    (tmp_path / "a.csv").write_text(f"time,router,{tile},{nic},{to_nic}\n0,a,0,0,0\n1,a,10,10,8\n")
    found = read_counters([tmp_path / "a.csv"])
    assert found.table[["port", "direction", "flits"]].to_numpy().tolist() == [
        ["pt_5_0", "in", 10],
        ["nic_0", "out", 8],
    ]
    assert [note for note in found.notes if "NIC_TO_PTILES is not used" in note]


DARSHAN = """# darshan log version: 3.41
# start_time: 1500000000
# run time: 20.0
# description of columns:
APXC\t0\t1\tAPXC_GROUPS\t1
APXC\t0\t2\tAPXC_GROUP\t3
APXC\t0\t2\tAPXC_CHASSIS\t1
APXC\t0\t2\tAPXC_BLADE\t4
APXC\t0\t2\tAPXC_NODE\t77
APXC\t0\t2\tAPXC_AR_RTR_0_0_INQ_PRF_INCOMING_FLIT_VC0\t1000\t\t\t
APXC\t0\t2\tAPXC_AR_RTR_0_0_INQ_PRF_ROWBUS_STALL_CNT\t50\t\t\t
APXC\t0\t2\tAPXC_AR_RTR_PT_5_3_INQ_PRF_INCOMING_FLIT_VC4\t200\t\t\t
"""


def test_a_darshan_log_tells_what_was_counted_in_the_run(tmp_path: Path) -> None:
    (tmp_path / "log.txt").write_text(DARSHAN)
    found = read_counters([tmp_path / "log.txt"])
    row = found.table[found.table["port"] == "0_0"].iloc[0]
    assert (row["router"], row["flits"], row["stalls"]) == ("aries-3-1-4", 1000, 50)
    assert row["end_s"] - row["start_s"] == 20
    assert found.router_of_node == {"77": "aries-3-1-4"}


def test_a_log_without_apxc_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "log.txt").write_text("# darshan log version: 3.41\nPOSIX\t0\t1\tPOSIX_OPENS\t1\n")
    with pytest.raises(InputError, match="no counters of routers"):
        read_counters([tmp_path / "log.txt"])


def test_an_unknown_format_is_named(tmp_path: Path) -> None:
    (tmp_path / "x.txt").write_text("hello\n")
    with pytest.raises(InputError, match="format of the counters"):
        read_counters([tmp_path / "x.txt"])
    with pytest.raises(UsageError, match="darshan, ldms, papi"):
        read_counters([tmp_path / "x.txt"], "ganglia")


def test_optical_and_electrical_tiles_are_told_apart() -> None:
    kinds = [known(f"AR_RTR_{r}_{c}_INQ_PRF_ROWBUS_STALL_CNT") for r in range(5) for c in range(8)]
    assert sum(kind is not None and kind.link_class == "optical" for kind in kinds) == 10
    assert len({kind.port for kind in kinds if kind is not None}) == 40
