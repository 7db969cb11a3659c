"""Timing profiles whose ranks waited for a core while they were measured."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from manynode.timing_profile import TimingProfile, read_timing_profile, write_timing_profile
from manynode.waiting import Waiting

_CLUSTER = {"mean_s": 2.0, "count": 4, "weight": 1.0, "cdf": {"time_s": [1.0, 3.0], "probability": [0.0, 1.0]}}
_PHASE = {
    **{"name": "work", "count": 4, "mean_s": 2.0, "clusters": [_CLUSTER], "pattern": {"kind": "weights"}},
    "variance": {"between_ranks_s2": 0.0, "within_rank_s2": 0.5, "total_s2": 0.5},
}
_PROFILE: dict[str, Any] = {
    **{"application": {}, "engine": "native", "engine_version": "1", "machine": "m", "external": True},
    **{"nodes": 1, "ranks": 1, "simulated_ranks": [0], "compute_s": 8.0, "skipped_s": 0.0, "provenance": {}},
    "classes": [{"name": "0", "share": 1.0, "simulated_ranks": [0], "phases": [_PHASE]}],
}


def waiting_profile(path: Path, share: float) -> Path:
    """Let the ranks of the timing profile at ``path`` wait for ``share`` of their time; without a file, write one."""
    profile = read_timing_profile(path) if path.is_file() else TimingProfile.model_validate(_PROFILE)
    write_timing_profile(path, profile.model_copy(update={"waiting": Waiting(share=share, counted=True)}))
    return path
