"""The report names phases whose times differ by factors in no known order."""

from __future__ import annotations

from typing import Any

import pytest

from manynode.report.order import order_words
from manynode.timing_profile import TimingProfile

# The layers of a small network: 12 executions on one rank, 10 % below 13.8 us and above 1.3 ms.
LAYERS = [13.8e-6, 19.5e-6, 53.6e-6, *[246e-6] * 5, 441e-6, *[1.32e-3] * 3]
WEIGHTS = {"kind": "weights"}


def profile(times: list[float], pattern: dict[str, Any] = WEIGHTS, **changes: Any) -> TimingProfile:
    edges = sorted(times)
    chances = [(place + 1) / len(edges) for place in range(len(edges))]
    mean = sum(times) / len(times)
    cluster = {"mean_s": mean, "count": len(times), "weight": 1.0, "cdf": {"time_s": edges, "probability": chances}}
    phase = {
        **{"name": "backward", "count": len(times), "mean_s": mean, "clusters": [cluster], "pattern": pattern},
        "variance": {"between_ranks_s2": 0.0, "within_rank_s2": 0.0, "total_s2": 0.0},
    }
    content = {
        **{"application": {}, "engine": "qemu", "engine_version": "1", "machine": "m", "external": True},
        **{"nodes": 1, "ranks": 1, "simulated_ranks": [0], "compute_s": sum(times), "skipped_s": 0.0},
        **{"provenance": {}, "classes": [{"name": "0", "share": 1.0, "simulated_ranks": [0], "phases": [phase]}]},
    }
    return TimingProfile.model_validate({**content, **changes})


def test_times_that_differ_by_factors_without_an_order_are_named() -> None:
    text = order_words(profile(LAYERS), {"backward": "backward of net.cpp"})
    assert "backward of net.cpp (12 executions, 10 % below " in text and "above 1.32 ms" in text
    assert "too long" in text and "more iterations" in text


@pytest.mark.parametrize(
    "other",
    [
        profile([1e-4, 1.1e-4, 1.2e-4, 2.5e-4] * 5),
        profile([1e-4] * 99 + [1e-2]),
        profile(LAYERS, {"kind": "sequence", "sequence": [0], "repeat": 3, "agreement": 1.0}),
        profile(LAYERS, compute_s=100 * sum(LAYERS)),
        profile([1e-3]),
        None,
    ],
    ids=["similar", "one outlier", "a pattern", "little time", "one execution", "no profile"],
)
def test_other_phases_are_not(other: TimingProfile | None) -> None:
    assert order_words(other, {}) == ""
