"""The cores that a process may keep busy: with a binding to some of them, or with a quota."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from manynode import cores


def _groups(folder: Path, own: str, files: dict[str, str]) -> float | None:
    for name, text in files.items():
        path = folder / "mount" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (folder / "own").write_text(own)
    return cores.cgroup_quota(folder / "own", folder / "mount")


@pytest.mark.parametrize(
    ("own", "files", "quota"),
    [
        ("0::/job/step\n", {"job/step/cpu.max": "150000 100000\n"}, 1.5),
        # A group above limits all below it.
        ("0::/job/step\n", {"job/step/cpu.max": "max 100000\n", "job/cpu.max": "200000 100000\n"}, 2.0),
        ("0::/\n", {"cpu.max": "400000 100000\n"}, 4.0),
        ("0::/job\n", {"job/cpu.max": "max 100000\n"}, None),
        ("0::/job\n", {}, None),
        (
            "4:cpu,cpuacct:/job\n3:memory:/other\n",
            {"cpu,cpuacct/job/cpu.cfs_quota_us": "300000\n", "cpu,cpuacct/job/cpu.cfs_period_us": "100000\n"},
            3.0,
        ),
        ("4:cpu:/job\n", {"cpu/job/cpu.cfs_quota_us": "-1\n", "cpu/job/cpu.cfs_period_us": "100000\n"}, None),
        ("nonsense", {}, None),
    ],
)
def test_the_quota_of_control_groups_is_read(
    tmp_path: Path, own: str, files: dict[str, str], quota: float | None
) -> None:
    assert _groups(tmp_path, own, files) == quota


def test_a_host_without_control_groups_has_no_quota(tmp_path: Path) -> None:
    assert cores.cgroup_quota(tmp_path / "none", tmp_path) is None


@pytest.mark.parametrize(("quota", "expected"), [(None, 6), (2.5, 3), (0.2, 1), (100.0, 6)])
def test_the_smaller_of_binding_and_quota_counts(
    monkeypatch: pytest.MonkeyPatch, quota: float | None, expected: int
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: set(range(6)))
    monkeypatch.setattr(cores, "cgroup_quota", lambda own, root: quota)
    assert cores.available_cores() == expected
