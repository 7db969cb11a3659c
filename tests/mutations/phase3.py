"""Mutations of phase 3 in Python: analysis, intervals, link load, calibration and the studies."""

from __future__ import annotations

from mutation import Mutation

ANALYSIS = "tests/unit/phase3/test_analysis.py"
PARTS = "tests/unit/phase3/test_interval_parts.py"
FIT = "tests/unit/phase3/test_calibration_fit.py"
SENSITIVITY = "tests/unit/phase3/test_sensitivity_study.py"

MUTATIONS = [
    Mutation(
        "efficiency-upside-down",
        "phase3_sst/analysis/projection_tables.py",
        'frame["technique"].map(base) / frame["time_s"]',
        'frame["time_s"] / frame["technique"].map(base)',
        "swapped arguments: the efficiency rises with the time",
        (ANALYSIS,),
    ),
    Mutation(
        "ranks-of-a-breakdown",
        "phase3_sst/analysis/projection_tables.py",
        'len(ranks[["replica", "rank"]].drop_duplicates())',
        'len(ranks[["rank"]].drop_duplicates())',
        "seconds per rank are added up over the replicas",
        (ANALYSIS,),
    ),
    Mutation(
        "bias-of-few-samples",
        "phase3_sst/analysis/interval_parts.py",
        "centre - part.bias_s",
        "centre + part.bias_s",
        "wrong sign: the bias is added instead of removed",
        (PARTS,),
    ),
    Mutation(
        "factor-of-few-ranks",
        "phase3_sst/analysis/interval_parts.py",
        "variance * groups / (groups - 1)",
        "variance * (groups - 1) / groups",
        "the factor for few ranks upside down: the interval is too narrow",
        (PARTS,),
    ),
    Mutation(
        "queue-of-a-link",
        "phase3_sst/analysis/link_load.py",
        'groups["queue"].sum() / count',
        'groups["queue"].sum()',
        "the mean over the replicas is their sum",
        ("tests/unit/phase3/test_link_load.py",),
    ),
    Mutation(
        "first-iteration",
        "phase3_sst/analysis/iteration_times.py",
        "return found[1:] if",
        "return found[:-1] if",
        "the last iteration is left out instead of the first with the set-up",
        (ANALYSIS,),
    ),
    Mutation(
        "latency-of-both-adapters",
        "phase3_sst/calibration/fit.py",
        "self.path_latency_s + 2 * self.nic_latency_s",
        "self.path_latency_s + self.nic_latency_s",
        "one adapter is passed instead of two",
        (FIT,),
    ),
    Mutation(
        "crossings-of-rendezvous",
        "phase3_sst/calibration/fit.py",
        "CROSSINGS_OF_RENDEZVOUS = 3",
        "CROSSINGS_OF_RENDEZVOUS = 2",
        "off by one: the request of a long message costs nothing",
        (FIT,),
    ),
    Mutation(
        "fitted-eager-limit",
        "phase3_sst/calibration/fit.py",
        "return max(jumps)[2] - 1",
        "return max(jumps)[2]",
        "off by one: the first rendezvous size counts as eager",
        (FIT,),
    ),
    Mutation(
        "knee-of-a-curve",
        "phase3_sst/studies/sensitivity/effect_tables.py",
        "below = chord - y",
        "below = y - chord",
        "wrong sign: the knee is looked for above the chord",
        (SENSITIVITY,),
    ),
    Mutation(
        "enough-of-a-parameter",
        "phase3_sst/studies/sensitivity/effect_tables.py",
        "if y[0] < y[-1]:",
        "if y[0] > y[-1]:",
        "the most expensive value is called the cheapest sufficient one",
        (SENSITIVITY,),
    ),
    Mutation(
        "interpolation-of-times",
        "phase3_sst/studies/strong/interpolate.py",
        "np.exp((1 - part) * np.log(low) + part * np.log(high))",
        "np.exp(part * np.log(low) + (1 - part) * np.log(high))",
        "swapped weights: the farther size counts more",
        ("tests/unit/phase3/test_strong_scaling.py",),
    ),
    Mutation(
        "cables-of-rails",
        "phase3_sst/studies/what_if/bill.py",
        'cables["host"] = nodes * network.host.rails',
        'cables["host"] = nodes',
        "a node with two adapters pays one cable",
        ("tests/unit/phase3/test_bill.py",),
    ),
    Mutation(
        "half-a-round-trip",
        "phase3_sst/studies/congestion/delay/latency.py",
        "np.asarray(round_trips_s, dtype=float) / 2",
        "np.asarray(round_trips_s, dtype=float)",
        "wrong factor: a message takes as long as its round trip",
        ("tests/workflow/test_delay_latency.py::test_coefficients_are_found_again",),
    ),
    Mutation(
        "waiting-for-a-stalled-link",
        "phase3_sst/studies/congestion/delay/stalls.py",
        "share / (1.0 - share)",
        "share / (1.0 + share)",
        "wrong sign: a jammed link costs half a unit",
        ("tests/unit/phase3/congestion/test_delay_stalls.py",),
    ),
    Mutation(
        "gradient-of-run-times",
        "phase3_sst/studies/congestion/delay/run_time_model.py",
        "times_s.mean() - gradient * delivery.mean()",
        "times_s.mean() + gradient * delivery.mean()",
        "wrong sign: the line does not pass through the mean of the runs",
        ("tests/unit/phase3/congestion/test_delay_sensitivity.py",),
    ),
    Mutation(
        "contention-that-stays",
        "manynode/config/counterfactuals.py",
        '("network.contention", False)',
        '("network.contention", True)',
        "dropped change: contention is not taken away",
        ("tests/unit/phase3/test_scaling_study.py",),
    ),
]
