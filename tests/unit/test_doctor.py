"""``manynode doctor``: everything is named, and what is missing comes with what to do."""

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
    } <= names


def test_what_is_missing_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    missing = [finding for finding in doctor.findings() if not finding.available]
    assert {"MPICH", "valgrind", "sst"} <= {finding.name for finding in missing}
    assert all(finding.remedy and finding.purpose for finding in missing)
