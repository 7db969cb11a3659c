"""Strong scaling: legal study files, and timing profiles between two sizes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from manynode.errors import InputError, UsageError
from manynode.timing_profile import SequencePattern, TimingProfile
from phase3_sst.studies.strong.interpolate import at_work, errors
from phase3_sst.studies.strong.strong_file import read_study

CUBE, SLAB, BAR, SMALL = (
    {"nx": 16, "ny": 16, "nz": 16},
    {"nx": 16, "ny": 16, "nz": 8},
    {"nx": 16, "ny": 8, "nz": 8},
    {"nx": 8, "ny": 8, "nz": 8},
)


def study(folder: Path, **changes: Any) -> Path:
    (folder / "base.yaml").write_text("name: base\n")
    content: dict[str, Any] = {
        **{"name": "strong", "experiment": "base.yaml", "measured": [CUBE, SMALL], "held_out": BAR},
        "nodes": {1: CUBE, 2: SLAB, 8: SMALL},
    }
    path = folder / "strong.yaml"
    path.write_text(yaml.safe_dump(content | changes))
    return path


def test_a_study_is_read(tmp_path: Path) -> None:
    found = read_study(study(tmp_path))
    assert found.nodes[2] == SLAB and found.techniques == ["ext-var"]


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"nodes": {1: CUBE, 2: CUBE}}, "the whole problem is the same"),
        ({"nodes": {1: {"nx": 32, "ny": 16, "nz": 16}, 2: CUBE}}, "nothing is extrapolated"),
        ({"measured": [CUBE, CUBE]}, "the same work"),
        ({"measured": [CUBE, {"nx": 8}]}, "the same parameters"),
        ({"held_out": SMALL}, "between the measured ones"),
        ({"experiment": "none.yaml"}, "does not exist"),
        ({"sizes": []}, "unknown key"),
    ],
)
def test_a_study_that_makes_no_sense_is_refused(tmp_path: Path, changes: dict[str, Any], word: str) -> None:
    with pytest.raises(UsageError) as caught:
        read_study(study(tmp_path, **changes))
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


def test_times_that_are_a_power_of_the_size_are_interpolated_exactly() -> None:
    """Times proportional to the square root of the work: between 100 and 1,600, at 400 they are the geometric mean."""
    found = at_work({100: profile(1.0), 1600: profile(4.0)}, 400)
    truth = profile(2.0)
    phase, wanted = found.classes[0].phases[0], truth.classes[0].phases[0]
    assert phase.mean_s == pytest.approx(wanted.mean_s) and phase.pattern == wanted.pattern
    for cluster, other in zip(phase.clusters, wanted.clusters, strict=True):
        assert cluster.mean_s == pytest.approx(other.mean_s)
        assert cluster.cdf.time_s == pytest.approx(np.linspace(other.cdf.time_s[0], other.cdf.time_s[-1], 101))
    assert phase.variance.total_s2 == pytest.approx(4.0)
    table = errors(found, truth)
    assert table["error"].abs().max() < 1e-9 and table["share"].sum() == pytest.approx(1)


def test_the_nearer_size_counts_more() -> None:
    """Times proportional to the square root of the work, a quarter of the way (in logarithms) from 100 to 1,600."""
    phase = at_work({100: profile(1.0), 1600: profile(4.0)}, 200).classes[0].phases[0]
    assert phase.mean_s == pytest.approx(profile(2**0.5).classes[0].phases[0].mean_s)
    assert phase.variance.total_s2 == pytest.approx(2.0)


def test_a_measured_size_is_taken_as_it_is() -> None:
    profiles = {100: profile(1.0), 1600: profile(4.0)}
    assert at_work(profiles, 1600) is profiles[1600]


def test_the_nearest_neighbours_are_used() -> None:
    found = at_work({1: profile(1.0), 4: profile(10.0), 16: profile(40.0)}, 8)
    assert found.classes[0].phases[0].clusters[0].mean_s == pytest.approx(20.0)


def test_the_same_sequence_is_matched_however_often_it_came_and_well_it_fits() -> None:
    content = profile(4.0).model_dump()
    content["classes"][0]["phases"][0]["pattern"].update(repeat=50, agreement=0.97)
    phase = at_work({100: profile(1.0), 1600: TimingProfile.model_validate(content)}, 400).classes[0].phases[0]
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
    found = at_work({1: TimingProfile.model_validate(low), 16: TimingProfile.model_validate(high)}, 4)
    phase = found.classes[0].phases[0]
    assert isinstance(phase.pattern, SequencePattern)
    replayed = [phase.clusters[index].mean_s for index in phase.pattern.sequence]
    assert replayed == pytest.approx([4.0, 12**0.5, 2.0])
    assert [cluster.weight for cluster in phase.clusters] == pytest.approx([1 / 3] * 3)


def test_phases_with_other_clusters_become_one() -> None:
    found = at_work({100: profile(1.0, clusters=2), 1600: profile(4.0, clusters=1)}, 400)
    (cluster,) = found.classes[0].phases[0].clusters
    assert found.classes[0].phases[0].pattern.kind == "weights"
    # The means are 1.5 and 4.
    assert cluster.mean_s == pytest.approx((1.5 * 4.0) ** 0.5)
    assert cluster.cdf.time_s == sorted(cluster.cdf.time_s) and cluster.cdf.time_s[0] > 0


def test_the_error_of_times_that_are_no_power_is_told() -> None:
    found = at_work({100: profile(1.0), 1600: profile(4.0)}, 400)
    assert errors(found, profile(2.5))["error"].tolist() == [pytest.approx(-0.2)]


def test_other_classes_are_refused() -> None:
    with pytest.raises(InputError, match="different rank classes"):
        at_work({100: profile(1.0), 1600: profile(4.0, name="root")}, 400)
