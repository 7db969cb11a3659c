"""Mutations of phase 2: phases, patterns, distributions, persistence, resamples, interval model, markers."""

from __future__ import annotations

from mutation import Mutation

PATTERNS = "tests/unit/phase2/test_patterns.py"
DISTRIBUTIONS = "tests/unit/phase2/test_distributions.py"
PERSISTENCE = "tests/unit/phase2/test_persistence.py"
RESAMPLING = "tests/unit/phase2/test_resampling.py"
INTERVAL = "tests/unit/phase2/test_interval.py"
PROFILE = "tests/unit/phase2/test_profile.py"
SEGMENTS = "tests/unit/phase2/test_segments.py"
TAIL = "tests/unit/phase2/test_tail.py"
MARKERS = "tests/unit/test_markers.py"

MUTATIONS = [
    Mutation(
        "variance-between-ranks",
        "phase2_nodesim/phases.py",
        "float(((by_rank - by_cluster) ** 2).mean())",
        "float(((times - by_cluster) ** 2).mean())",
        "the whole variance counts as that between ranks",
        (PROFILE, "tests/unit/phase2/test_timing_profile.py"),
    ),
    Mutation(
        "phase-of-a-pattern",
        "phase2_nodesim/patterns.py",
        "np.roll(sequence, limit % period)",
        "np.roll(sequence, -(limit % period))",
        "wrong sign: the pattern is rolled the other way round",
        (PATTERNS,),
    ),
    Mutation(
        "majority-of-ranks",
        "phase2_nodesim/patterns.py",
        "if 2 * followers <= len(ranks):",
        "if followers <= len(ranks):",
        "no class ever has a common pattern",
        (PATTERNS,),
    ),
    Mutation(
        "probability-of-an-edge",
        "phase2_nodesim/distributions.py",
        "chosen / (n - 1)",
        "chosen / n",
        "off by one: the distribution does not reach probability 1",
        (DISTRIBUTIONS,),
    ),
    Mutation(
        "mean-of-a-distribution",
        "phase2_nodesim/distributions.py",
        "(self.time_s[1:] + self.time_s[:-1]) / 2",
        "self.time_s[1:]",
        "the upper edge of a bin instead of its middle",
        (DISTRIBUTIONS,),
    ),
    Mutation(
        "excess-of-the-f-ratio",
        "phase2_nodesim/persistence.py",
        "self.within_dof)) - 1) / self.size",
        "self.within_dof)) + 1) / self.size",
        "wrong sign: noise counts as a persistent difference",
        (PERSISTENCE,),
    ),
    Mutation(
        "bisection-for-a-correlation",
        "phase2_nodesim/persistence.py",
        "**degrees) < share else",
        "**degrees) > share else",
        "exchanged comparison: the search runs to the wrong end",
        (PERSISTENCE,),
    ),
    Mutation(
        "covariance-of-other-phases",
        "phase2_nodesim/persistence.py",
        "covariances.sum() - np.trace(covariances)",
        "covariances.sum()",
        "a phase's own variance counts as what phases have in common",
        (PERSISTENCE,),
    ),
    Mutation(
        "blocks-of-a-resample",
        "phase2_nodesim/resampling.py",
        "first = start + length * rng.integers(whole, size=whole)",
        "first = start + length * np.arange(whole)",
        "blocks are not drawn: every resample is the sample",
        (RESAMPLING,),
    ),
    Mutation(
        "overlap-of-misses",
        "phase2_nodesim/interval.py",
        "np.minimum(overlapping, limit)",
        "np.maximum(overlapping, limit)",
        "min and max exchanged: more misses overlap than there are buffers",
        (INTERVAL,),
    ),
    Mutation(
        "bandwidth-in-cycles",
        "phase2_nodesim/interval.py",
        "/ share * machine.frequency",
        "/ share / machine.frequency",
        "divided by the frequency instead of multiplied",
        (INTERVAL,),
    ),
    Mutation(
        "hidden-by-the-window",
        "phase2_nodesim/interval.py",
        "max(0.0, latency - window / rate)",
        "max(0.0, latency - window * rate)",
        "multiplied instead of divided: the window hides too much",
        (INTERVAL,),
    ),
    Mutation(
        "calls-around-a-phase",
        "phase2_nodesim/segments.py",
        'pair = before + " -> " + call',
        'pair = call + " -> " + before',
        "swapped arguments: the call after a phase is named before it",
        (SEGMENTS,),
    ),
    Mutation(
        "tail-above-its-threshold",
        "phase2_nodesim/tail.py",
        "shape = 2 - mean / np",
        "shape = 2 + mean / np",
        "wrong sign: every tail gets the heaviest shape",
        (TAIL,),
    ),
    Mutation(
        "compute-between-calls",
        "manynode/markers.py",
        'raw["time_out_ns"][:-1].astype',
        'raw["time_in_ns"][:-1].astype',
        "the time inside an MPI call counts as compute time",
        (MARKERS,),
    ),
    Mutation(
        "wait-that-is-counted",
        "phase2_nodesim/waits.py",
        "(0.0 if counted else waited)",
        "(waited if counted else 0.0)",
        "swapped: waiting is added where the time has it already",
        ("tests/unit/phase2/test_waits.py",),
    ),
    Mutation(
        "scale-of-shared-counters",
        "phase2_nodesim/markers/counter_math.h",
        "(long double)enabled / (long double)running",
        "(long double)running / (long double)enabled",
        "swapped arguments: events are scaled down instead of up",
        ("gtest:markers_tests:*",),
        ("markers_tests",),
    ),
    Mutation(
        "difference-of-counters",
        "phase2_nodesim/markers/counter_math.h",
        "return after >= before ? after - before : 0;",
        "return after - before;",
        "dropped guard: a counter that was reset gives nearly 2^64 events",
        ("gtest:markers_tests:*",),
        ("markers_tests",),
    ),
]
