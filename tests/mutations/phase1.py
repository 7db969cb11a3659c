"""Mutations of phase 1: features and classes of ranks, their stability, chosen nodes, the readers of counters."""

from __future__ import annotations

from mutation import Mutation

FEATURES = "tests/unit/phase1/test_rank_features.py"
PARTITION = "tests/unit/phase1/test_rank_partition.py"
STABILITY = "tests/unit/phase1/test_stability.py"
NODES = "tests/unit/phase1/test_representative_nodes.py"
PERF = "tests/unit/phase1/test_perf_csv.py"
CALLGRIND = "tests/unit/test_callgrind.py"

MUTATIONS = [
    Mutation(
        "ipc-upside-down",
        "phase1_profile/features.py",
        '_ratio("instructions", "cycles")',
        '_ratio("cycles", "instructions")',
        "swapped arguments: cycles per instruction instead of instructions per cycle",
        (f"{FEATURES}::test_ipc_is_instructions_over_cycles_and_a_feature_without_counts_is_left_out_with_the_reason",),
    ),
    Mutation(
        "scale-of-a-job",
        "phase1_profile/features.py",
        "np.median(positive)",
        "np.max(positive)",
        "ranks are compared with the largest of a job instead of its median",
        (f"{FEATURES}::test_counts_are_relative_to_the_median_of_the_ranks_that_have_any",),
    ),
    Mutation(
        "noise-degrees-of-freedom",
        "phase1_profile/noise.py",
        "freedom += (repetitions - 1) * (ranks - 1)",
        "freedom += repetitions * ranks",
        "off by one, twice: the noise is underestimated",
        (f"{FEATURES}::test_noise_is_measured_from_repetitions_and_a_slower_run_as_a_whole_is_none",),
    ),
    Mutation(
        "noise-confidence-limit",
        "phase1_profile/noise.py",
        "stats.chi2.ppf(1 - CONFIDENCE, freedom)",
        "stats.chi2.ppf(CONFIDENCE, freedom)",
        "the lower limit of the noise instead of the upper one",
        (f"{FEATURES}::test_noise_is_measured_from_repetitions_and_a_slower_run_as_a_whole_is_none",),
    ),
    Mutation(
        "penalty-of-a-class",
        "phase1_profile/partition.py",
        "np.sum(counts * np.log(counts / n)) - penalty",
        "np.sum(counts * np.log(counts / n)) + penalty",
        "wrong sign: every further class is rewarded",
        (f"{PARTITION}::test_ranks_that_differ_by_noise_alone_are_one_class",),
    ),
    Mutation(
        "assignment-term-of-a-split",
        "phase1_profile/partition.py",
        "cost -= cuts * np.log",
        "cost += cuts * np.log",
        "wrong sign of the assignment term in the search for a threshold",
        (f"{PARTITION}::test_rank_0_alone_is_found_as_a_class_of_its_own",),
    ),
    Mutation(
        "separation-of-classes",
        "phase1_profile/partition.py",
        "if distance <= separation:",
        "if distance >= separation:",
        "classes that differ are merged, those that do not are kept",
        (f"{PARTITION}::test_classes_closer_than_the_separation_are_one",),
    ),
    Mutation(
        "ranks-from-the-end",
        "phase1_profile/stability.py",
        "ranks + rank for rank in fixed",
        "ranks + rank - 1 for rank in fixed",
        "off by one: the rank before the last counts as the fixed one",
        (STABILITY,),
    ),
    Mutation(
        "share-of-a-class-changes",
        "phase1_profile/stability.py",
        "elif max(values) - min(values) > tolerance:",
        "elif max(values) - min(values) < tolerance:",
        "exchanged comparison: stable shares are called unstable",
        (STABILITY,),
    ),
    Mutation(
        "needed-ranks",
        "phase1_profile/nodes.py",
        "needed = min(ranks, ",
        "needed = max(ranks, ",
        "min and max exchanged: every class is needed whatever the coverage",
        (NODES,),
    ),
    Mutation(
        "lowest-nodes",
        "phase1_profile/nodes.py",
        "return min(done)",
        "return max(done)",
        "min and max exchanged: of equal choices the highest nodes are taken",
        (NODES,),
    ),
    Mutation(
        "milliseconds-of-perf",
        "phase1_profile/perf_csv.py",
        '"msec": 1e-3',
        '"msec": 1e-6',
        "wrong unit factor: milliseconds are read as microseconds",
        (PERF,),
    ),
    Mutation(
        "kinds-of-core",
        "phase1_profile/perf_csv.py",
        "PerfCount(a.value + b.value,",
        "PerfCount(max(a.value, b.value),",
        "events of hybrid processors are not added up",
        (PERF,),
    ),
    Mutation(
        "helper-threads",
        "manynode/callgrind.py",
        "if part.thread in (None, str(thread))",
        "if part.thread not in (str(thread),)",
        "events of the MPI library's threads instead of the program's",
        (CALLGRIND,),
    ),
]
