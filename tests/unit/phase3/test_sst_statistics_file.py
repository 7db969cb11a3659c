"""The parser of SST's statistics, on files that a real SST wrote (tests/golden/sst)."""

from __future__ import annotations

import json
from typing import Any

import pytest
import sst_machine_runs as runs

from manynode.errors import EngineFailedError
from phase3_sst.engines.sst.machine.sst_run_file import run_of
from phase3_sst.engines.sst.machine.statistics_file import PortCounts

GOLDEN = runs.ROOT / "tests" / "golden" / "sst"
KINDS = ["fat-tree", "torus", "dragonfly"]


def recorded(kind: str) -> tuple[Any, str]:
    content = json.loads((GOLDEN / f"{kind}.json").read_text())
    assert content.pop("sst_version").startswith("SST-Core Version")
    return run_of(content), (GOLDEN / f"{kind}.csv").read_text()


@pytest.mark.parametrize("kind", KINDS)
def test_recorded_counts_become_rows_of_the_common_tables(kind: str) -> None:
    run, text = recorded(kind)
    counts = PortCounts(run, [text])
    expected = json.loads((GOLDEN / "expected.json").read_text())[kind]
    found = {"links": counts.links(), "link_jobs": counts.link_jobs(), "series": counts.series()}
    assert json.loads(json.dumps(found)) == expected


@pytest.mark.parametrize("kind", KINDS)
def test_what_hosts_send_others_receive_and_intervals_add_up(kind: str) -> None:
    run, text = recorded(kind)
    counts = PortCounts(run, [text])
    classes = {row["class"]: row for row in counts.link_jobs()}
    # Every rank sends 3,000 bytes and a header of 45 to the two others, in two packets.
    assert classes["host-up"]["bytes"] == classes["host-down"]["bytes"] == 3 * 2 * 3045
    assert classes["host-up"]["chunks"] == classes["host-down"]["chunks"] == 3 * 2 * 2
    for cls, row in classes.items():
        of_class = [part for part in counts.series() if part["class"] == cls]
        assert sum(part["bytes"] for part in of_class) == row["bytes"]
        assert row["busy_s"] == pytest.approx(row["bytes"] / 12.5e9)


def test_files_of_several_processes_are_one() -> None:
    run, text = recorded("fat-tree")
    lines = text.splitlines(keepends=True)
    halves = ["".join([lines[0], *lines[1::2]]), "".join([lines[0], *lines[2::2]])]
    assert PortCounts(run, halves).links() == PortCounts(run, [text]).links()


def test_stalls_of_a_crossbar_are_those_of_the_link_that_comes_to_its_port() -> None:
    run, text = recorded("fat-tree")
    end = text.splitlines()[-1].split(",")[4]
    lines = []
    for line in text.splitlines():
        # leaf_0's port 0 goes to host 0; 1,000 cycles at four times 12.5 GB/s, 8 bytes each, are 160 ns.
        if line.startswith("leaf_0,xbar_stalls,port0,") and line.split(",")[4] == end:
            line = ",".join([*line.split(",")[:6], "1000", *line.split(",")[7:]])
        lines.append(line)
    links = {(row["source"], row["target"]): row for row in PortCounts(run, ["\n".join(lines)]).links()}
    assert links["host-0", "leaf-0"]["inq_stall_s"] == pytest.approx(160e-9)
    assert links["leaf-0", "host-0"]["inq_stall_s"] == 0
    assert all(row["credit_stall_s"] == row["stall_s"] for row in links.values())


def test_bytes_of_several_jobs_are_not_told_apart() -> None:
    run, text = recorded("fat-tree")
    content = runs.run_content(runs.network(topology=run.network["topology"]), runs.job([0, 1]), runs.job([2]))
    assert PortCounts(run_of(content), [text]).link_jobs() == []


def test_other_columns_are_an_error_that_names_them() -> None:
    run, _ = recorded("torus")
    with pytest.raises(EngineFailedError, match="other columns"):
        PortCounts(run, ["a,b\n1,2\n"])
