"""Conclusions from timing profile and operation stream about iterations that are not simulated, and their record."""

from __future__ import annotations

from typing import Any

import pytest

from manynode.config.application import ApplicationDescription
from manynode.errors import EngineFailedError
from manynode.timing_profile import TimingProfile
from phase3_sst.point.convergence import note
from phase3_sst.point.convergence.operations import read_counts
from phase3_sst.point.convergence.profile_periods import Replayed, period, unlike, unseen


def phase(name: str, means: list[float], weights: list[float], sequence: list[int] | None = None) -> dict[str, Any]:
    clusters = [
        {"mean_s": mean, "count": 10, "weight": weight, "cdf": {"time_s": [mean], "probability": [1.0]}}
        for mean, weight in zip(means, weights, strict=True)
    ]
    pattern = {"kind": "weights"}
    if sequence:
        pattern = {"kind": "sequence", "sequence": sequence, "repeat": 3, "agreement": 1.0}
    mean = sum(mean * weight for mean, weight in zip(means, weights, strict=True))
    variance = {"between_ranks_s2": 0.0, "within_rank_s2": 0.0, "total_s2": 0.0}
    common = {"name": name, "count": 10, "mean_s": mean}
    return {**common, "clusters": clusters, "pattern": pattern, "variance": variance}


def profile(*phases: dict[str, Any]) -> TimingProfile:
    classes = [{"name": "0", "share": 1.0, "simulated_ranks": [0], "phases": list(phases)}]
    head = {"application": {}, "engine": "none", "engine_version": "1", "machine": "none", "external": True}
    sizes = {"nodes": 1, "ranks": 1, "simulated_ranks": [0], "compute_s": 1.0, "skipped_s": 0.0}
    return TimingProfile.model_validate({**head, **sizes, "classes": classes, "provenance": {}})


def ranks(number: int = 8, **draws: int) -> list[Replayed]:
    return [Replayed("0", number, draws)]


def test_a_pattern_repeats_when_executions_and_iterations_meet() -> None:
    levels = phase("symgs", [4.0, 3.0, 2.0, 1.0], [2 / 7, 2 / 7, 2 / 7, 1 / 7], [0, 1, 2, 3, 2, 1, 0])
    assert period(profile(levels), ranks(symgs=7)) == (1, "")
    assert period(profile(levels), ranks(symgs=14)) == (1, "")
    assert period(profile(levels), ranks(symgs=3)) == (7, "symgs")
    other = phase("dot", [1.0, 2.0], [0.5, 0.5], [0, 1])
    assert period(profile(levels, other), ranks(symgs=3, dot=1)) == (14, "symgs")


def test_what_no_iteration_executes_and_what_never_varies_has_no_period() -> None:
    setup = phase("setup", [1.0, 2.0], [0.5, 0.5], [0, 1, 1, 0, 1])
    steady = phase("update", [1.0], [1.0], [0, 0, 0])
    assert period(profile(setup, steady), ranks(update=1)) == (1, "")


def once(sequence: list[int]) -> dict[str, Any]:
    """A phase of 2 and 1 s whose series came once."""
    share = sequence.count(0) / len(sequence)
    cold = phase("update", [2.0, 1.0], [share, 1 - share], sequence)
    cold["pattern"]["repeat"] = 1
    return cold


def test_a_series_that_came_once_has_no_period() -> None:
    assert period(profile(once([0, 1, 1, 1, 1, 0])), ranks(update=2)) == (1, "")


def test_a_first_iteration_that_differs_is_no_objection_and_a_later_part_is() -> None:
    cold = profile(once([0, 1, 1, 1, 1, 1]))
    assert unlike(cold, ranks(update=2), 1, 3, 3) == (0.0, "")
    # Of twelve iterations, the first of every three: 1 + 2 s in place of 1 + 1.
    assert unlike(cold, ranks(update=2), 1, 3, 13)[0] == pytest.approx(4 / 12)
    late = profile(once([*[1] * 10, *[0] * 10]))
    assert unlike(late, ranks(update=1), 4, 8, 20) == (pytest.approx(10 / 16), "update")
    assert unlike(late, ranks(update=1), 0, 20, 40) == (0.0, "")
    repeated = profile(phase("update", [2.0, 1.0], [0.5, 0.5], [0, 1]))
    assert unlike(repeated, ranks(update=1), 4, 7, 20) == (0.0, "")


def test_a_rare_long_time_is_counted_as_unseen_until_it_comes_often() -> None:
    """One of 10,000 executions takes a second; 8 ranks execute the phase once in an iteration."""
    rare = profile(phase("update", [0.001, 1.0], [0.9999, 0.0001]))
    lost, name = unseen(rare, ranks(update=1), 100)
    assert name == "update"
    assert lost == pytest.approx(8 * 0.0001 * (1 - rare.classes[0].phases[0].mean_s))
    assert unseen(rare, ranks(update=1), 100_000) == (0.0, "")


def test_the_tail_of_a_cluster_counts_as_well() -> None:
    long_tail = phase("update", [1.0], [1.0])
    long_tail["clusters"][0]["cdf"] = {"time_s": [0.9, 1.1, 50.0], "probability": [0.0, 0.9999, 1.0]}
    assert unseen(profile(long_tail), ranks(update=1), 100)[0] == pytest.approx(8 * 1e-4 * 49, rel=0.01)


def test_the_counts_of_the_skeleton_are_read() -> None:
    text = (
        "operation                number              bytes\n"
        "MPI_Isend                    12               3456\n"
        "\nphase                    number\nsymgs                         7\n"
        "\nsender  receiver       messages              bytes\n5       4                    11               1024\n"
    )
    found = read_counts(text)
    assert found == {"operation MPI_Isend": (12, 3456), "phase symgs": (7, 0), "message to 4": (11, 1024)}
    with pytest.raises(EngineFailedError, match="cannot be read"):
        read_counts("operation number bytes\nMPI_Isend twelve\n")


def test_the_counter_of_iterations_is_a_parameter() -> None:
    parameters = {
        "n": {"type": "int", "default": 1, "description": ""},
        "x": {"type": "float", "default": 1.0, "description": ""},
    }
    given = {"name": "a", "description": "", "executable": "a", "parameters": parameters}
    assert ApplicationDescription.model_validate({**given, "iterations": "n"}).iterations == "n"
    for wrong in ("x", "m"):
        with pytest.raises(ValueError, match=f"'{wrong}' must name a parameter of type int"):
            ApplicationDescription.model_validate({**given, "iterations": wrong})


EXTRAPOLATED = {"iterations": {"of": 100, "simulated": 16, "extrapolated": True, "added_s": 0.5}}


def test_tables_say_what_was_simulated() -> None:
    assert note.columns({}) == {"extrapolated": False, "iterations": "all", "extrapolation_s": 0.0}
    found = note.columns(EXTRAPOLATED)
    assert note.growth(EXTRAPOLATED) == 6.25 and note.growth({}) == 1
    assert found["extrapolated"] and found["iterations"] == "16 of 100, the others extrapolated"
    refused = {"iterations": {"of": 100, "simulated": 100, "extrapolated": False, "reasons": "too few"}}
    assert note.columns(refused)["iterations"] == "all 100: too few" and not note.extrapolated(refused)


def test_the_interval_is_no_narrower_than_the_extrapolation() -> None:
    assert note.widened(9.9, 10.1, 10.0, EXTRAPOLATED) == (9.5, 10.5)
    assert note.widened(9.0, 11.0, 10.0, EXTRAPOLATED) == (9.0, 11.0)
    assert note.widened(9.9, 10.1, 10.0, {}) == (9.9, 10.1)
