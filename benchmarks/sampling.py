"""Check the honesty of intervals, splits and tails on synthetic profiles with known truth (the tests' and more).

``python benchmarks/sampling.py`` prints every case; ``figures()`` has the targets.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from _figure import figure

from manynode.slowest import expected_slowest

_TESTS = Path(__file__).resolve().parent.parent / "tests" / "unit"
sys.path[:0] = [str(_TESTS / "phase3"), str(_TESTS / "phase2")]
PROFILES = 60


def coverage() -> Iterator[tuple[str, float, float]]:
    """Yield (name, share of intervals that cover the truth, the same for the replicas alone) for 8 ranks."""
    import test_interval_honesty as honesty

    for name, quantile in honesty.FAMILIES.items():
        for correlation in honesty.CORRELATIONS:
            truth = honesty.Truth(quantile, correlation)
            target = honesty.expected(truth, 16)
            covered = {"replicas": 0, "profile": 0, "both": 0}
            for number in range(PROFILES):
                rng = np.random.default_rng(1000 + number)
                series = honesty.sampled(truth, 8, 40, rng)
                for part, (low, high) in honesty.interval(series, 16, rng).items():
                    covered[part] += low <= target <= high
            yield f"{name}, {correlation}", covered["both"] / PROFILES, covered["replicas"] / PROFILES


def splits() -> Iterator[tuple[str, float, float]]:
    """Yield (name, relative error of the median share, share of single profiles within a tenth) by simulated ranks."""
    import test_persistence as persistence

    for ranks in (4, 8, 16, 64, 256):
        for share in (0.1, 0.5, 0.8):
            rng = np.random.default_rng(ranks)
            found = [persistence.shares_of(persistence.nested(rng, 1, ranks, 60, 0, share))[1] for _ in range(400)]
            errors = np.array(found) / share - 1
            yield f"{ranks} ranks, {share}", float(np.median(errors)), float(np.mean(np.abs(errors) <= 0.1))


def tails(samples: int = 5000) -> Iterator[tuple[str, float, float, float]]:
    """Yield (name, relative error of the median slowest of 65,536, share within a twentieth, error without tail)."""
    import test_tail as tail

    for name, (shape, offset) in tail.KNOWN.items():
        truth = tail.true_slowest(shape, offset, tail.RANKS)
        rng = np.random.default_rng(1)
        phases = [tail.phase_of(offset + shape.rvs(size=samples, random_state=rng)) for _ in range(60)]
        errors = np.array([expected_slowest(phase, tail.RANKS, tail=True) for phase in phases]) / truth - 1
        alone = np.median([expected_slowest(phase, tail.RANKS, tail=False) for phase in phases]) / truth - 1
        yield name, float(np.median(errors)), float(np.mean(np.abs(errors) <= 0.05)), float(alone)


def figures() -> list[dict[str, Any]]:
    """Return coverage, the split's error and the tail's error, each over all cases."""
    covered = [both for _, both, _ in coverage()]
    split = max(abs(error) for _, error, _ in splits())
    tail = max(abs(error) for _, error, _, _ in tails())
    cases = len(covered) * PROFILES
    return [
        figure(f"90 % intervals that cover the truth, {cases} profiles", float(np.mean(covered)), "", 0.85, ">="),
        figure("the same, at most", float(np.mean(covered)), "", 0.95, "<="),
        figure("share between ranks: error of the median estimate, worst case", split, "", 0.10, "<="),
        figure("slowest of 65,536: error of the median estimate, worst distribution", tail, "", 0.05, "<="),
    ]


if __name__ == "__main__":
    for case in (*splits(), *tails(), *coverage()):
        print(case[0], *(f"{value:+.3f}" for value in case[1:]), flush=True)
