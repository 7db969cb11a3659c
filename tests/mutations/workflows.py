"""Mutations that whole runs catch. Their workflow tests became shorter; they must stay as sharp."""

from __future__ import annotations

from mutation import Mutation

WORKFLOW = "tests/workflow"

MUTATIONS = [
    Mutation(
        "order-of-losses",
        "phase3_sst/studies/scaling/loss_table.py",
        "[times[-1], *reversed(losses)]",
        "[times[-1], *losses]",
        "swapped arguments: each loss gets the name of another",
        (f"{WORKFLOW}/test_scaling.py::test_the_parts_add_up_to_the_projected_time",),
    ),
    Mutation(
        "time-of-a-variant",
        "phase3_sst/studies/sensitivity/effect_tables.py",
        '"time_s": float(np.mean(times)),',
        '"time_s": _compute(result.ranks()),',
        "the compute time, which no network changes, as the time",
        (f"{WORKFLOW}/test_sensitivity.py",),
    ),
    Mutation(
        "indices-of-parameters",
        "phase3_sst/studies/sensitivity/effect_tables.py",
        'enumerate(described["names"])',
        'enumerate(reversed(described["names"]))',
        "swapped arguments: each parameter has the index of another",
        (f"{WORKFLOW}/test_sensitivity.py::test_sobol_indices_say_what_matters",),
    ),
    Mutation(
        "error-of-a-projection",
        "phase3_sst/studies/validation/error_tables.py",
        'joined["time_s"] / joined["measured_s"] - 1',
        'joined["measured_s"] / joined["time_s"] - 1',
        "swapped arguments: too slow is called too fast",
        (f"{WORKFLOW}/test_validation_run.py::test_the_errors_are_those_of_the_projection",),
    ),
    Mutation(
        "speedup-of-nodes",
        "phase3_sst/studies/strong/strong_points.py",
        'first["time_s"] / frame["time_s"]',
        'frame["time_s"] / first["time_s"]',
        "swapped arguments: a faster run has a smaller speedup",
        (f"{WORKFLOW}/test_strong_run.py::test_the_same_problem_gets_faster_with_the_nodes",),
    ),
    Mutation(
        "ideal-network",
        "phase3_sst/studies/what_if/alternatives.py",
        "**(IDEAL_CHANGES if ideal else {})",
        "**({} if ideal else IDEAL_CHANGES)",
        "swapped arguments: the real network is the ideal one",
        (f"{WORKFLOW}/test_what_if_run.py::test_alternatives_are_run_priced_and_compared",),
    ),
    Mutation(
        "mean-of-a-cluster",
        "phase2_nodesim/distributions.py",
        "Cluster(members.size, sample_mean(members),",
        "Cluster(members.size, float(members.max()),",
        "the longest time of a cluster as its mean",
        (f"{WORKFLOW}/test_pipeline.py::test_replayed_compute_time_is_that_of_the_profile",),
    ),
]
