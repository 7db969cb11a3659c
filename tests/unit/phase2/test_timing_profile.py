"""Reading timing profiles: whatever is wrong with the file, an InputError says where."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from manynode.errors import InputError
from manynode.timing_profile import SCHEMA, TimingProfile, read_timing_profile, write_timing_profile

ABOVE = {"probability": 0.9, "exceedances": 40, "scale_s": 0.1, "shape": -0.1}
CLUSTER = {
    "mean_s": 2.0,
    "count": 4,
    "weight": 1.0,
    "cdf": {"time_s": [1.0, 3.0], "probability": [0.0, 1.0]},
    "tail": {
        **ABOVE,
        "model": "generalised-pareto",
        "threshold_s": 2.8,
        "anderson_darling": 0.4,
        "p_value": 0.5,
        "others": [ABOVE],
    },
}
SHARE = {"share": 0.3, "low": 0.1, "high": 0.6, "correlation": 0.35}
PHASE = {
    "name": "symgs",
    "count": 4,
    "mean_s": 2.0,
    "clusters": [CLUSTER],
    "pattern": {"kind": "weights"},
    "variance": {"between_ranks_s2": 0.0, "within_rank_s2": 0.5, "total_s2": 0.5},
    "waited_s": 0.02,
    "persistence": {"ranks": 4, "nodes": 2, "between_ranks": SHARE, "between_nodes": SHARE},
}
SOUND: dict[str, Any] = {
    "schema": SCHEMA,
    "application": {"name": "hpcg", "parameters": {"nx": 16}},
    "engine": "valgrind",
    "engine_version": "3.19.0",
    "machine": "broadwell",
    "external": True,
    "nodes": 2,
    "ranks": 4,
    "simulated_ranks": [0, 1],
    "compute_s": 8.0,
    "skipped_s": 0.0,
    "waiting": {"share": 0.01, "counted": True},
    "classes": [
        {"name": "0", "share": 1.0, "simulated_ranks": [0, 1], "borrowed": False, "common": 0.5, "phases": [PHASE]}
    ],
    "provenance": {},
}


def read(folder: Path, content: Any) -> TimingProfile:
    path = folder / "profile.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return read_timing_profile(path)


def changed(path: str, value: Any) -> dict[str, Any]:
    """The sound profile with one entry replaced; ``path`` like ``classes.0.name``."""
    content = copy.deepcopy(SOUND)
    at: Any = content
    *way, last = [int(part) if part.isdigit() else part for part in path.split(".")]
    for part in way:
        at = at[part]
    at[last] = value
    return content


def test_a_profile_survives_the_file(tmp_path: Path) -> None:
    profile = read(tmp_path, SOUND)
    write_timing_profile(tmp_path / "again.json", profile)
    assert read_timing_profile(tmp_path / "again.json") == profile
    written = json.loads((tmp_path / "again.json").read_text())
    assert {key: value for key, value in written.items() if key != "checksum"} == SOUND


def test_a_file_of_an_earlier_version_knows_of_no_persistent_differences_and_no_tails(tmp_path: Path) -> None:
    content = copy.deepcopy(SOUND)
    (entry,) = content["classes"]
    del entry["common"], entry["phases"][0]["persistence"], entry["phases"][0]["clusters"][0]["tail"]
    (read_class,) = read(tmp_path, content).classes
    assert read_class.common == 0
    assert read_class.phases[0].persistence is None and read_class.phases[0].clusters[0].tail is None


PHASE_AT = "classes.0.phases.0"
CLUSTER_AT = f"{PHASE_AT}.clusters.0"


@pytest.mark.parametrize(
    ("path", "value", "place"),
    [
        ("schema", "timing-profile/2", "timing-profile/1"),
        ("nodes", 0, "nodes"),
        ("classes.0.common", 1.5, "common"),
        (f"{PHASE_AT}.persistence.ranks", 1, "persistence.ranks"),
        (f"{PHASE_AT}.persistence.between_ranks.correlation", 0.9, "sum to more than 1"),
        (f"{PHASE_AT}.persistence.between_nodes.share", -0.1, "between_nodes.share"),
        (f"{CLUSTER_AT}.tail.shape", 1.0, "tail.shape"),
        (f"{CLUSTER_AT}.tail.model", "normal", "tail.model"),
        ("nodes", "two", "nodes"),
        ("classes", [], "classes"),
        ("classes.0.phases", [], r"classes\[0\].phases"),
        ("classes.0.share", 1.5, r"classes\[0\].share"),
        ("extra", 1, "extra"),
        (f"{PHASE_AT}.mean_s", float("nan"), r"phases\[0\].mean_s"),
        (f"{PHASE_AT}.mean_s", -1.0, r"phases\[0\].mean_s"),
        (f"{PHASE_AT}.clusters", [], r"phases\[0\].clusters"),
        (f"{PHASE_AT}.pattern", {"kind": "spiral"}, "pattern"),
        (f"{PHASE_AT}.pattern", {"kind": "sequence", "sequence": [], "repeat": 1, "agreement": 1.0}, "sequence"),
        (f"{PHASE_AT}.pattern", {"kind": "sequence", "sequence": [1], "repeat": 1, "agreement": 1.0}, "1 clusters"),
        (
            f"{PHASE_AT}.pattern",
            {"kind": "sequence", "sequence": [0], "repeat": 1, "agreement": 1.0, "percentiles": [[1], [1, 2]]},
            r"percentiles\[1\] has 2 numbers; the sequence has 1",
        ),
        (
            f"{PHASE_AT}.pattern",
            {"kind": "sequence", "sequence": [0], "repeat": 1, "agreement": 1.0, "percentiles": [[100]]},
            "less than or equal to 99",
        ),
        (f"{CLUSTER_AT}.weight", 0.5, "weights"),
        (f"{CLUSTER_AT}.cdf.time_s", [3.0, 1.0], r"time_s\[1\]"),
        (f"{CLUSTER_AT}.cdf", {"time_s": [1.0, 3.0, 2.0], "probability": [0.0, 0.5, 1.0]}, r"time_s\[2\]"),
        (f"{CLUSTER_AT}.cdf.time_s", [1.0], "1 times but 2"),
        (f"{CLUSTER_AT}.cdf.time_s", [1e400, 1e400], "time_s"),
        (f"{CLUSTER_AT}.cdf.probability", [0.0, 0.9], "last probability"),
        (f"{CLUSTER_AT}.cdf", {"time_s": [1.0] * 102, "probability": [1.0] * 102}, "time_s"),
        (f"{CLUSTER_AT}.count", 10**400, "count|cannot be used"),
    ],
)
def test_a_wrong_entry_is_named(tmp_path: Path, path: str, value: Any, place: str) -> None:
    if path.endswith("count"):
        # Python's JSON reader takes any whole number; what matters is that nothing but an InputError comes out.
        try:
            read(tmp_path, changed(path, value))
        except InputError:
            pass
        return
    with pytest.raises(InputError, match=place) as caught:
        read(tmp_path, changed(path, value))
    assert "remedy" in str(caught.value)


def test_a_class_or_phase_given_twice_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="class '0' is given twice"):
        read(tmp_path, {**SOUND, "classes": SOUND["classes"] * 2})
    with pytest.raises(InputError, match="phase 'symgs' is given twice"):
        read(tmp_path, changed("classes.0.phases", [PHASE, PHASE]))


@pytest.mark.parametrize("text", ["", "{", "[]", "null", "3", "[" * 100_000, '{"schema": 1}', "\x00"])
def test_what_is_no_profile_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(InputError):
        read(tmp_path, text)


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="No such file"):
        read_timing_profile(tmp_path / "none.json")


def places(value: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [at] if at else []
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, entry in items:
        found += places(entry, (*at, key))
    return found


odd_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=5)
    | st.sampled_from([10**400, -1, 2**70, "NaN", 1e308, [], {}]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)


@given(st.sampled_from(places(SOUND)), odd_values, st.sampled_from(["replace", "delete", "append"]))
@settings(deadline=None, max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_fuzzed_profile_is_read_or_refused(tmp_path: Path, place: tuple[Any, ...], value: Any, how: str) -> None:
    content = copy.deepcopy(SOUND)
    at: Any = content
    for part in place[:-1]:
        at = at[part]
    if how == "delete":
        del at[place[-1]]
    elif how == "append" and isinstance(at[place[-1]], list):
        at[place[-1]].append(value)
    else:
        at[place[-1]] = value
    try:
        read(tmp_path, content)
    except InputError as error:
        assert error.render()


@given(st.binary(max_size=40), st.integers(0, 2000))
@settings(deadline=None, max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_damaged_file_is_read_or_refused(tmp_path: Path, noise: bytes, at: int) -> None:
    data = json.dumps(SOUND).encode()
    path = tmp_path / "damaged.json"
    path.write_bytes(data[: at % len(data)] + noise + data[(at % len(data)) + len(noise) :])
    try:
        read_timing_profile(path)
    except InputError as error:
        assert error.render()
