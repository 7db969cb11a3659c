"""Rank files by launcher, and the host file of the user."""

from __future__ import annotations

from pathlib import Path

import pytest

from manynode.errors import InputError, UsageError
from phase3_sst.studies.congestion.mapping.host_file import Host, equal_slots, read_hosts
from phase3_sst.studies.congestion.mapping.rank_files import Seat, rank_file, split_hosts

# Ranks 0 to 3 on hosts a (slots 0, 1) and b (slots 2, 3).
SEATS = [Seat("b", 0, 2), Seat("b", 1, 3), Seat("a", 0, 0), Seat("a", 1, 1)]
MIXED = [Seat("a", 0, 0), Seat("b", 0, 2), Seat("a", 1, 1), Seat("b", 1, 3)]


def test_open_mpi_gets_a_host_and_cores_for_each_rank() -> None:
    assert rank_file("openmpi", MIXED).splitlines() == [
        *("rank 0=a slot=0", "rank 1=b slot=0", "rank 2=a slot=1", "rank 3=b slot=1"),
    ]
    assert rank_file("openmpi", MIXED, 4).splitlines()[2] == "rank 2=a slot=4-7"


def test_hydra_gets_hosts_in_the_order_of_the_ranks() -> None:
    assert rank_file("mpich", SEATS).splitlines() == ["b:2", "a:2"]
    assert rank_file("mpich", MIXED).splitlines() == ["a:1", "b:1", "a:1", "b:1"]


def test_slurm_gets_a_host_for_each_rank_and_cray_the_ranks_in_the_order_of_the_slots() -> None:
    assert rank_file("slurm", MIXED).splitlines() == ["a", "b", "a", "b"]
    assert rank_file("cray", MIXED) == "0,2,1,3\n"
    with pytest.raises(UsageError, match="leaves empty slots between hosts"):
        rank_file("cray", [Seat("a", 0, 0), Seat("b", 0, 2)])


def test_hosts_in_several_pieces_are_found() -> None:
    assert split_hosts(SEATS) == []
    assert split_hosts(MIXED) == ["a", "b"]


def test_an_unknown_format_names_the_known_ones() -> None:
    with pytest.raises(UsageError, match="unknown format") as caught:
        rank_file("hydra", SEATS)
    assert "mpich" in str(caught.value.allowed)


def hosts(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "hosts.csv"
    path.write_text(text)
    return path


def test_a_host_file_has_hosts_nodes_and_slots(tmp_path: Path) -> None:
    path = hosts(tmp_path, "host,node,slots\n# two nodes\nnid00016, 60, 4\nnid00017,61,4\n")
    assert read_hosts(path, 64) == [Host("nid00016", 60, 4), Host("nid00017", 61, 4)]
    assert equal_slots(path, read_hosts(path, 64)) == 4
    assert read_hosts(hosts(tmp_path, "host,node\na,0\n"), 64)[0].slots == 1
    assert [host.name for host in read_hosts(hosts(tmp_path, "host,node\nNA,0\nnull,1\n"), 64)] == ["NA", "null"]


@pytest.mark.parametrize(
    ("text", "line", "found"),
    [
        ("host,slots\na,1\n", 1, "host, slots"),
        ("host,node\n", 2, "nothing"),
        ("host,node\na,0\nb,64\n", 3, "node 64"),
        ("host,node\na,-1\n", 2, "-1"),
        ("host,node\na:2,1\n", 2, "a:2"),
        ("host,node\na,1\na,2\n", 2, "name a"),
        ("host,node\na,1\nb,1\n", 2, "node 1"),
        ("host,node,slots\na,1,0\n", 2, "0"),
    ],
)
def test_a_mistake_in_a_host_file_names_its_line(tmp_path: Path, text: str, line: int, found: str) -> None:
    with pytest.raises(InputError, match="host file") as caught:
        read_hosts(hosts(tmp_path, text), 64)
    assert f"line {line}" in str(caught.value.where)
    assert found in str(caught.value.found)


def test_hosts_with_different_slots_are_refused(tmp_path: Path) -> None:
    path = hosts(tmp_path, "host,node,slots\na,1,2\nb,2,4\n")
    with pytest.raises(InputError, match="different numbers of slots"):
        equal_slots(path, read_hosts(path, 64))
