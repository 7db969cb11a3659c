"""Strong scaling: legal study files, and timing profiles between two sizes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml
from phase3_cases import ROOT

from manynode.errors import InputError, UsageError
from manynode.rank_classes import assign_classes
from manynode.timing_profile import SequencePattern, TimingProfile
from phase3_sst.studies.strong.interpolate import Times, at_work, errors
from phase3_sst.studies.strong.strong_file import changes, read_study, work
from phase3_sst.studies.strong.strong_points import experiments
from phase3_sst.studies.strong.strong_sentences import sentences

CUBE, SLAB, BAR, SMALL = (
    {"nx": 16, "ny": 16, "nz": 16},
    {"nx": 16, "ny": 16, "nz": 8},
    {"nx": 16, "ny": 8, "nz": 8},
    {"nx": 8, "ny": 8, "nz": 8},
)


def study(folder: Path, **others: Any) -> Path:
    (folder / "base.yaml").write_text("name: base\n")
    content: dict[str, Any] = {
        **{"name": "strong", "experiment": "base.yaml", "measured": [CUBE, SMALL], "held_out": BAR},
        "nodes": {1: CUBE, 2: SLAB, 8: SMALL},
    }
    path = folder / "strong.yaml"
    path.write_text(yaml.safe_dump(content | others))
    return path


def test_a_study_is_read(tmp_path: Path) -> None:
    found = read_study(study(tmp_path))
    assert found.nodes[2] == SLAB and found.techniques == ["ext-var"]


@pytest.mark.parametrize(
    ("others", "word"),
    [
        ({"nodes": {1: CUBE, 2: CUBE}}, "the whole problem is the same"),
        ({"nodes": {1: {"nx": 32, "ny": 16, "nz": 16}, 2: CUBE}}, "nothing is extrapolated"),
        ({"measured": [CUBE, CUBE]}, "the same work"),
        ({"measured": [CUBE, {"nx": 8}]}, "the same parameters"),
        ({"held_out": SMALL}, "between the measured ones"),
        ({"experiment": "none.yaml"}, "does not exist"),
        ({"measured": [2, CUBE], "nodes": [1, 8]}, "the same parameters"),
        ({"measured": [2, 8], "held_out": 16, "nodes": [1, 8]}, "between the measured ones"),
        ({"sizes": []}, "unknown key"),
    ],
)
def test_a_study_that_makes_no_sense_is_refused(tmp_path: Path, others: dict[str, Any], word: str) -> None:
    with pytest.raises(UsageError) as caught:
        read_study(study(tmp_path, **others))
    assert word in caught.value.render()


def profile(scale: float, *, clusters: int = 2, name: str = "0") -> TimingProfile:
    """Return phases whose times are ``scale`` times those of the unit."""
    parts = []
    for index in range(clusters):
        times = scale * (index + 1) * np.linspace(0.9, 1.1, 11)
        cdf = {"time_s": times.tolist(), "probability": np.linspace(0, 1, 11).tolist()}
        parts.append({"mean_s": scale * (index + 1), "count": 100, "weight": 1 / clusters, "cdf": cdf})
    phase = {
        **{"name": "work", "count": 100 * clusters, "mean_s": scale * (clusters + 1) / 2, "clusters": parts},
        "pattern": {"kind": "sequence", "sequence": list(range(clusters)), "repeat": 100, "agreement": 1.0},
        "variance": dict.fromkeys(("between_ranks_s2", "within_rank_s2", "total_s2"), scale**2),
    }
    entry = {"name": name, "share": 1.0, "simulated_ranks": [0], "phases": [phase]}
    content = {
        **{"application": {}, "engine": "native", "engine_version": "1", "machine": "m", "external": True},
        **{"nodes": 1, "ranks": 1, "simulated_ranks": [0], "compute_s": 1.0, "skipped_s": 0.0, "provenance": {}},
        "classes": [entry],
    }
    return TimingProfile.model_validate(content)


def times(*scales: float, of_rank: str = "0", fixed: dict[str, str] | None = None, clusters: int = 2) -> Times:
    """Return the times of classes "0", "1" and so on; ``of_rank`` has the class of each rank."""
    own = profile(1.0)
    entries = [profile(scale, clusters=clusters, name=str(n)).classes[0] for n, scale in enumerate(scales)]
    rest = [name for rank, name in enumerate(of_rank) if str(rank) not in (fixed or {})]
    shares = {name: rest.count(name) / len(rest) for name in set(rest)}
    rule = {"fixed": fixed or {}, "shares": shares}
    classes = {"rank_class": {str(rank): name for rank, name in enumerate(of_rank)}, "assignment": rule}
    return Times(own.model_copy(update={"classes": entries}), classes)


def whole(content: dict[str, Any]) -> Times:
    """Return the times of a profile of one class."""
    return Times(TimingProfile.model_validate(content), times(1.0).classes)


def test_times_that_are_a_power_of_the_size_are_interpolated_exactly() -> None:
    """Times proportional to the square root of the work: between 100 and 1,600, at 400 they are the geometric mean."""
    found = at_work({100: times(1.0), 1600: times(4.0)}, 400)
    truth = times(2.0)
    phase, wanted = found.profile.classes[0].phases[0], truth.profile.classes[0].phases[0]
    assert phase.mean_s == pytest.approx(wanted.mean_s) and phase.pattern == wanted.pattern
    for cluster, other in zip(phase.clusters, wanted.clusters, strict=True):
        assert cluster.mean_s == pytest.approx(other.mean_s)
        assert cluster.cdf.time_s == pytest.approx(np.linspace(other.cdf.time_s[0], other.cdf.time_s[-1], 101))
    assert phase.variance.total_s2 == pytest.approx(4.0)
    table = errors(found, truth)
    assert table["error"].abs().max() < 1e-9 and table["share"].sum() == pytest.approx(1)


def test_the_nearer_size_counts_more() -> None:
    """Times proportional to the square root of the work, a quarter of the way (in logarithms) from 100 to 1,600."""
    phase = at_work({100: times(1.0), 1600: times(4.0)}, 200).profile.classes[0].phases[0]
    assert phase.mean_s == pytest.approx(profile(2**0.5).classes[0].phases[0].mean_s)
    assert phase.variance.total_s2 == pytest.approx(2.0)


@pytest.mark.parametrize(
    ("sizes", "work", "factor"),
    [({1: 0.9, 100: 1.0, 1600: 4.0}, 6400, 8.0), ({100: 1.0, 1600: 4.0, 3200: 4.1}, 25, 0.5)],
)
def test_beyond_the_sizes_the_power_of_the_nearest_ones_holds_on(
    sizes: dict[float, float], work: float, factor: float
) -> None:
    """Times proportional to the square root of the work between 100 and 1,600, and to whatever else elsewhere."""
    phase = at_work({size: times(scale) for size, scale in sizes.items()}, work).profile.classes[0].phases[0]
    assert phase.mean_s == pytest.approx(profile(factor).classes[0].phases[0].mean_s)
    assert sum(cluster.weight for cluster in phase.clusters) == pytest.approx(1)


def test_sizes_are_node_counts_where_the_program_divides_the_problem(tmp_path: Path) -> None:
    found = read_study(study(tmp_path, measured=[2, 8], held_out=4, nodes=[1, 4, 64]))
    assert work(found.nodes[64]) == pytest.approx(1 / 64) and found.held_out == {"nodes": 4}
    assert changes(found.measured[1]) == {"nodesim.nodes": 8, "profile.nodes": [8], "profile.max_classes": 1}
    assert changes(CUBE) == {f"application.parameters.{axis}": 16 for axis in CUBE}


def test_a_measured_size_is_taken_as_it_is() -> None:
    profiles = {100: times(1.0), 1600: times(4.0)}
    assert at_work(profiles, 1600) is profiles[1600]


def test_the_nearest_neighbours_are_used() -> None:
    found = at_work({1: times(1.0), 4: times(10.0), 16: times(40.0)}, 8)
    assert found.profile.classes[0].phases[0].clusters[0].mean_s == pytest.approx(20.0)


def test_the_same_sequence_is_matched_however_often_it_came_and_well_it_fits() -> None:
    content = profile(4.0).model_dump()
    content["classes"][0]["phases"][0]["pattern"].update(repeat=50, agreement=0.97)
    phase = at_work({100: times(1.0), 1600: whole(content)}, 400).profile.classes[0].phases[0]
    assert [cluster.mean_s for cluster in phase.clusters] == pytest.approx([2.0, 4.0])
    assert isinstance(phase.pattern, SequencePattern) and phase.pattern.sequence == [0, 1]


def test_patterns_of_one_length_are_matched_by_their_places() -> None:
    """Three places: the smaller size has clusters of 2 and 1 s, the larger one of 8, 6 and 4 s."""
    low, high = (profile(1.0).model_dump(), profile(4.0, clusters=3).model_dump())
    for content, sequence, times in ((low, [0, 0, 1], [2.0, 1.0]), (high, [0, 1, 2], [8.0, 6.0, 4.0])):
        phase = content["classes"][0]["phases"][0]
        phase["pattern"].update(sequence=sequence, repeat=1)
        for number, (cluster, time) in enumerate(zip(phase["clusters"], times, strict=True)):
            cluster.update(mean_s=time, weight=sequence.count(number) / 3)
            cluster["cdf"] = {"time_s": [time, time], "probability": [0.0, 1.0]}
    found = at_work({1: whole(low), 16: whole(high)}, 4)
    phase = found.profile.classes[0].phases[0]
    assert isinstance(phase.pattern, SequencePattern)
    replayed = [phase.clusters[index].mean_s for index in phase.pattern.sequence]
    assert replayed == pytest.approx([4.0, 12**0.5, 2.0])
    assert [cluster.weight for cluster in phase.clusters] == pytest.approx([1 / 3] * 3)


def test_phases_with_other_clusters_become_one() -> None:
    found = at_work({100: times(1.0), 1600: times(4.0, clusters=1)}, 400)
    (cluster,) = found.profile.classes[0].phases[0].clusters
    assert found.profile.classes[0].phases[0].pattern.kind == "weights"
    # The means are 1.5 and 4.
    assert cluster.mean_s == pytest.approx((1.5 * 4.0) ** 0.5)
    assert cluster.cdf.time_s == sorted(cluster.cdf.time_s) and cluster.cdf.time_s[0] > 0


def test_the_error_of_times_that_are_no_power_is_told() -> None:
    found = at_work({100: times(1.0), 1600: times(4.0)}, 400)
    assert errors(found, times(2.5))["error"].tolist() == [pytest.approx(-0.2)]


def test_classes_belong_together_by_their_ranks_whatever_their_names() -> None:
    """Rank 0 is the only one of its class at both sizes, and slower by a half."""
    sizes = {100: times(1.5, 1.0, of_rank="0111"), 1600: times(4.0, 6.0, of_rank="1000")}
    found = at_work(sizes, 400)
    means = {entry.name: entry.phases[0].mean_s for entry in found.profile.classes}
    of_rank = [means[name] / 1.5 for name in assign_classes(found.classes, 4, 1)]
    assert of_rank == pytest.approx([3.0, 2.0, 2.0, 2.0])
    assert {entry.share for entry in found.profile.classes} == {0.25, 0.75}


def test_a_class_that_another_size_divides_is_divided() -> None:
    """Rank 0 has a fixed place at the larger size; ranks 2 and 3 differ from rank 1 at the smaller one only."""
    sizes = {
        100: times(1.0, 4.0, of_rank="0011"),
        1600: times(4.0, 16.0, of_rank="1000", fixed={"0": "1"}),
    }
    found = at_work(sizes, 400)
    means = {entry.name: entry.phases[0].mean_s / 1.5 for entry in found.profile.classes}
    assert [means[name] for name in assign_classes(found.classes, 4, 1)] == pytest.approx([4.0, 2.0, 4.0, 4.0])
    larger = assign_classes(found.classes, 31, 1)
    assert means[larger[0]] == pytest.approx(4.0) and larger[0] not in larger[1:]
    assert sorted(larger[1:]).count(found.classes["rank_class"]["1"]) == 10, "one rank of three"
    # At the size that was left out, ranks 0 and 1 were of one class.
    table = errors(found, times(3.0, 4.0, of_rank="0011"))
    assert table["interpolated_s"].tolist() == pytest.approx([4.5, 6.0])
    assert table["error"].tolist() == pytest.approx([0.0, 0.0])


def test_jobs_of_different_ranks_have_no_common_classes() -> None:
    with pytest.raises(InputError, match="different numbers of ranks"):
        at_work({100: times(1.0, of_rank="00"), 1600: times(4.0)}, 400)


def test_different_classes_are_said() -> None:
    table = pd.DataFrame({"technique": ["ext-var"], "nodes": [1], "time_s": [1.0], "speedup": [1.0],
                          "efficiency": [1.0], "interpolated": [True], "extrapolated": [False]})  # fmt: skip
    errors_of = pd.DataFrame({"error": [], "extrapolated": []})
    same = {"nx=8": ["0", "1"], "nx=16": ["1", "0"]}
    assert not any("differ" in text for text in sentences(table, errors_of, same))
    other = {**same, "nx=32": ["0", "0"]}
    assert "(2, 2 and 1 classes)" in sentences(table, errors_of, other)[-1]


def test_own_times_of_one_size_are_no_strong_scaling(tmp_path: Path) -> None:
    path = study(tmp_path, experiment=str(ROOT / "configs/own-times.yaml"))
    with pytest.raises(UsageError, match="measures compute times at several sizes"):
        experiments(read_study(path), path, tmp_path / "out")
