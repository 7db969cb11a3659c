"""Number of cores that this process may use: its affinity, limited by the quota of its control groups.

A container or a batch job often has fewer cores than the host: by affinity (Slurm, taskset), or by a quota of processor
time (cgroup v2 ``cpu.max``, v1 ``cpu.cfs_quota_us``).
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from pathlib import Path

_CGROUPS = Path("/sys/fs/cgroup")


def available_cores() -> int:
    """Return the number of cores that this process may keep busy, at least 1."""
    bound = len(os.sched_getaffinity(0))
    quota = cgroup_quota(Path("/proc/self/cgroup"), _CGROUPS)
    return max(1, bound if quota is None else min(bound, math.ceil(quota - 1e-9)))


def cgroup_quota(own: Path, root: Path) -> float | None:
    """Return the quota [cores] of the control groups in ``own``, mounted at ``root``; None without one."""
    try:
        lines = own.read_text(encoding="utf-8").splitlines()
    except OSError:
        return None
    quotas = []
    for line in lines:
        _, controllers, path = [*line.split(":", 2), "", ""][:3]
        if not controllers:
            quotas += [_unified(folder) for folder in _with_parents(root, path)]
        elif "cpu" in controllers.split(","):
            mounted = (root / controllers, root / "cpu")
            quotas += [_legacy(folder) for mount in mounted for folder in _with_parents(mount, path)]
    return min((quota for quota in quotas if quota is not None), default=None)


def _with_parents(mount: Path, path: str) -> Iterator[Path]:
    """Yield the group's folder and its parents: a quota applies to all groups below it."""
    parts = [part for part in path.split("/") if part not in ("", "..")]
    for length in range(len(parts), -1, -1):
        yield mount.joinpath(*parts[:length])


def _unified(folder: Path) -> float | None:
    words = _text(folder / "cpu.max").split()
    return int(words[0]) / int(words[1]) if len(words) == 2 and words[0].isdigit() and int(words[1]) > 0 else None


def _legacy(folder: Path) -> float | None:
    quota, period = (_text(folder / f"cpu.cfs_{name}_us") for name in ("quota", "period"))
    return int(quota) / int(period) if quota.isdigit() and period.isdigit() and int(period) > 0 else None


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8").strip()
    except OSError:
        return ""
