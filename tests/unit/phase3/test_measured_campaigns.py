"""Tables of pico -> the table of collectives of a validation study."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest

from manynode.config.measured import read_collectives
from manynode.errors import InputError, ManynodeError, UsageError
from phase3_sst.measured.campaigns.interface import Wanted, campaigns
from phase3_sst.measured.measured_command import measured

DATA = Path(__file__).resolve().parent.parent.parent / "data"
PICO = DATA / "calibration/pico/collectives.csv"
HEADER = (
    "system,campaign,collective,algorithm,nodes,shape,ranks_per_node,vector_bytes,iterations,median_s,p10_s,p90_s\n"
)
ROW = "a,c1,alltoall,linear,4,2x2,2,64,100,2e-5,1e-5,3e-5\n"


def read(text: str, **wanted: Any) -> tuple[list[dict[str, Any]], list[str]]:
    reader = campaigns.get("pico")()
    assert reader.recognises(text)
    return reader.read(text, "pico.csv", Wanted(**wanted))


def convert(output: Path, *files: Path, **options: Any) -> list[dict[str, Any]]:
    given = {"nodes": None, "ranks_per_node": 1, "form": "auto", "system": None, "campaign": None, **options}
    measured(list(files), output, **given)
    return read_collectives(output)


def test_every_measured_point_of_a_machine_becomes_a_row(tmp_path: Path) -> None:
    with PICO.open() as source:
        given = [row for row in csv.DictReader(source) if row["system"] == "fugaku"]
    found = convert(tmp_path / "fugaku.csv", PICO, system="fugaku")
    assert len(found) == len(given) == 248
    for row in given:
        ranks = int(row["nodes"]) * int(row["ranks_per_node"])
        shared = row["collective"] in ("gather", "scatter", "allgather", "alltoall", "reduce_scatter")
        (same,) = [
            one
            for one in found
            if (one["campaign"], one["collective"], one["algorithm"], one["nodes"], one["shape"])
            == (row["campaign"], row["collective"], row["algorithm"], int(row["nodes"]), row["shape"])
            and one["bytes"] * (ranks if shared else 1) == int(row["vector_bytes"])
        ]
        assert same["seconds"] == pytest.approx(float(row["median_s"]), rel=1e-8)
        assert same["p10_s"] <= same["seconds"] <= same["p90_s"]
        assert "iterations" not in same  # the simulation repeats itself


def test_the_part_of_a_rank_is_the_vector_over_the_ranks_for_collectives_that_share_it() -> None:
    rows, _ = read(HEADER + ROW + ROW.replace("alltoall", "bcast") + ROW.replace("alltoall", "allreduce"))
    assert {row["collective"]: row["bytes"] for row in rows} == {"alltoall": 8, "bcast": 64, "allreduce": 64}
    rows, notes = read(HEADER + ROW + ROW.replace(",64,", ",65,") + ROW.replace("alltoall", "alltoallv"))
    assert [row["bytes"] for row in rows] == [8]
    assert notes == [
        "alltoall, 65 bytes: no whole part for each of 8 ranks",
        "alltoallv: not a collective that can be simulated",
    ]


def test_points_measured_again_are_joined() -> None:
    again = ROW.replace("2e-5,1e-5,3e-5", "4e-5,2e-5,5e-5") + ROW.replace("2e-5,1e-5", "2.5e-5,2e-5")
    (row,), notes = read(HEADER + ROW + again)
    assert (row["seconds"], row["p10_s"], row["p90_s"]) == (2.5e-5, 1e-5, 5e-5)
    assert notes == ["1 points measured more than once: the median of the medians, the widest spread"]


def test_machine_campaign_and_nodes_can_be_chosen(tmp_path: Path) -> None:
    both = HEADER + ROW + ROW.replace("a,c1", "b,c2") + ROW.replace("c1", "c3").replace("4,2x2", "8,2x2x2")
    assert [row["campaign"] for row in read(both, system="a")[0]] == ["c1", "c3"]
    assert [row["campaign"] for row in read(both, system="a", nodes=8)[0]] == ["c3"]
    assert [row["campaign"] for row in read(both, campaign="c2")[0]] == ["c2"]
    for wanted, words in (
        ({}, ["several machines", "a, b", "--system"]),
        ({"campaign": "c4"}, ["--campaign", "c1, c2, c3", "did you mean"]),
        ({"system": "a", "nodes": 5}, ["--nodes", "4, 8"]),
    ):
        with pytest.raises(UsageError) as caught:
            read(both, **wanted)
        for word in words:
            assert word in caught.value.render(), caught.value.render()
    assert len(convert(tmp_path / "lumi.csv", PICO, system="lumi")) == 72


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("median_s,", "median,", [":1", "a column is missing", "'median' has no unit", "'median_s'"]),
        ("median_s,", "median_us,", ["'median_us' has no unit or another one", "'median_s'"]),
        ("ranks_per_node,", "ppn,", ["a column is missing", "add 'ranks_per_node'"]),
        ("2e-5,", ",", [":2, column median_s", "an empty cell"]),
        ("2e-5,", "2e-5 s,", [":2, column median_s", "'2e-5 s'"]),
        ("2e-5,", "0,", [":2, column median_s", "above 0"]),
        ("linear", "", [":2, column algorithm", "an empty cell"]),
        ("4,2x2", "x,2x2", [":2, column nodes", "'x'"]),
        ("4,2x2", "4,2x3", [":2, column shape", "6 places; 4 nodes"]),
        ("1e-5,3e-5", "3e-5,4e-5", [":2, columns p10_s, seconds, p90_s"]),
        ("1e-5,3e-5", "1e-5,3e-5,7", [":2", "13 values"]),
        (ROW, "", ["has no rows"]),
    ],
)
def test_a_wrong_table_is_refused_with_row_and_column(old: str, new: str, words: list[str]) -> None:
    text = HEADER + ROW
    assert old in text
    with pytest.raises(InputError) as caught:
        read(text.replace(old, new, 1))
    for word in [*words, "pico.csv"]:
        assert word in caught.value.render(), caught.value.render()


def test_the_command_says_what_it_found_and_warns(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    convert(tmp_path / "fugaku.csv", PICO, system="fugaku")
    said = capsys.readouterr().out
    assert "allgather bruck: 15 points" in said
    assert "warning: 2025_03_26___19_49_06: allreduce on 8 nodes: 'ring' and 'segmented_ring'" in said


def test_options_of_campaigns_do_not_serve_other_tables(tmp_path: Path) -> None:
    imb = DATA / "calibration/fugaku/riken_imb_allreduce.csv"
    for files, words in (((imb,), "only campaigns have"), ((imb, PICO), "two commands")):
        with pytest.raises(ManynodeError, match=words):
            convert(tmp_path / "out.csv", *files, system="fugaku")
    assert not (tmp_path / "out.csv").exists()
