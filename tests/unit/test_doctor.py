"""``manynode doctor``: everything is named, and missing tools come with a remedy."""

from __future__ import annotations

import pytest

from manynode import doctor


def test_every_engine_of_every_phase_is_listed() -> None:
    names = {finding.name for finding in doctor.findings()}
    assert {"MPICH", "Open MPI", "valgrind", "sst", "hardware counters"} <= names
    assert {
        "nodesim: native",
        "nodesim: valgrind",
        "nodesim: gem5",
        "simulate: fast",
        "simulate: simgrid",
        "profile: callgrind",
        "profile: qemu",
        "nodesim: qemu",
    } <= names


def test_what_is_missing_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    missing = [finding for finding in doctor.findings() if not finding.available]
    assert {"MPICH", "valgrind", "sst"} <= {finding.name for finding in missing}
    assert all(finding.remedy and finding.purpose for finding in missing)


@pytest.mark.parametrize("columns", ["20", "80", "300"])
def test_a_path_is_never_broken(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], columns: str
) -> None:
    long = "/a/very/long/path/" + "to/a/folder/" * 20 + "sst [beta]"
    found = [
        doctor.Finding("sst", True, long, "1.2", "the simulator", ""),
        doctor.Finding("gem5", False, "", "", "cores", f"optional; put it in {long}\nor build it"),
    ]
    monkeypatch.setenv("COLUMNS", columns)
    doctor.print_report(found)
    text = capsys.readouterr().out
    assert text.count(long) == 2
    assert text.splitlines()[:2] == ["ok  sst   the simulator", f"    1.2, {long}"]
    assert "\n    or build it\n" in text
