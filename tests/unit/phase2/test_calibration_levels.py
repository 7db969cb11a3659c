"""Which plateau is which cache: a host with fewer or more plateaus than it describes gets no wrong latency."""

from __future__ import annotations

import dataclasses

import calibration_host
import pytest
from calibration_curves import KIB, MIB, Hierarchy
from calibration_host import FREQUENCY, HOST, calibrated

from manynode.units import parse
from phase2_nodesim.calibration.figures import Figure
from phase2_nodesim.calibration.host import Host, HostCache
from phase2_nodesim.calibration.memory_figures import memory_figures

FIRST, SECOND, LAST = (48 * KIB, 4.0), (1 * MIB, 14.0), (32 * MIB, 50.0)


def figures(
    monkeypatch: pytest.MonkeyPatch, caches: tuple[tuple[float, float], ...], host: Host = HOST
) -> tuple[dict[str, Figure], list[str]]:
    """Return the figures of a host that describes three caches, and has ``caches``."""
    monkeypatch.setattr(calibration_host, "HIERARCHY", Hierarchy(caches))
    plan, cycles = calibrated(host)
    notes: list[str] = []
    return memory_figures(cycles, plan, host, notes), notes


def latencies(found: dict[str, Figure]) -> dict[str, int]:
    """Return the latencies of caches by name, rounded [cycles]."""
    return {
        key.split(".")[1]: round(float(figure.value))
        for key, figure in found.items()
        if key.startswith("caches.") and key.endswith(".latency")
    }


def memory_cycles(found: dict[str, Figure]) -> float:
    return parse(str(found["memory.latency"].value), "time") * FREQUENCY


@pytest.mark.parametrize(
    ("caches", "known"),
    [
        ((FIRST, SECOND), {"l1d": 4, "l2": 14}),
        ((FIRST, LAST), {"l1d": 4, "last_level": 50}),
        ((SECOND, LAST), {"l2": 14, "last_level": 50}),
    ],
)
def test_with_one_plateau_too_few_memory_is_still_memory(
    monkeypatch: pytest.MonkeyPatch, caches: tuple[tuple[float, float], ...], known: dict[str, int]
) -> None:
    found, notes = figures(monkeypatch, caches)
    assert latencies(found) == known
    assert memory_cycles(found) == pytest.approx(600, rel=0.03)
    assert any(
        note.startswith("caches: 3 plateaus") and "4 expected (l1d, l2, last_level, memory)" in note for note in notes
    )
    lost = next(name for name in ("l1d", "l2", "last_level") if name not in known)
    assert any(note.startswith(f"caches.{lost}: no plateau") for note in notes)
    # What the host says of that cache is still known.
    assert found[f"caches.{lost}.size"].source == "host"


@pytest.mark.parametrize(
    ("caches", "known"),
    [
        ((FIRST, (256 * KIB, 9.0), SECOND, LAST), {"l1d": 4, "last_level": 50}),
        ((FIRST, SECOND, (6 * MIB, 35.0), (32 * MIB, 70.0)), {"l1d": 4, "l2": 14}),
    ],
)
def test_with_one_plateau_too_many_the_cache_that_has_two_has_no_latency(
    monkeypatch: pytest.MonkeyPatch, caches: tuple[tuple[float, float], ...], known: dict[str, int]
) -> None:
    found, notes = figures(monkeypatch, caches)
    assert latencies(found) == known
    assert memory_cycles(found) == pytest.approx(600, rel=0.03)
    assert any(note.startswith("caches: 5 plateaus") and "4 expected" in note for note in notes)
    assert [found[f"caches.{name}.size"].value for name in ("l1d", "l2", "last_level")] == ["48 KiB", "1 MiB", "32 MiB"]


def test_without_a_description_other_numbers_of_plateaus_give_only_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    found, notes = figures(monkeypatch, (FIRST, SECOND), dataclasses.replace(HOST, caches={}))
    assert latencies(found) == {} and memory_cycles(found) == pytest.approx(600, rel=0.03)
    assert any(note.startswith("caches: 3 plateaus") for note in notes)


def test_chases_that_end_in_the_last_level_give_no_latency_of_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    found, notes = figures(monkeypatch, (FIRST, SECOND, LAST), dataclasses.replace(HOST, memory_bytes=128 * MIB))
    assert "memory.latency" not in found and latencies(found) == {"l1d": 4, "l2": 14, "last_level": 50}
    assert any(note.startswith("memory.latency: no plateau") and "32 MiB" in note for note in notes)


def test_the_memory_ends_where_translation_makes_chases_slower(monkeypatch: pytest.MonkeyPatch) -> None:
    latency = Hierarchy.latency
    monkeypatch.setattr(Hierarchy, "latency", lambda self, size: latency(self, size) + 500 * (size > 140 * MIB))
    found, notes = figures(monkeypatch, (FIRST, SECOND, LAST))
    assert latencies(found) == {"l1d": 4, "l2": 14, "last_level": 50}
    assert memory_cycles(found) == pytest.approx(600, rel=0.03)
    assert not any(note.startswith("memory.latency") for note in notes)


def test_a_step_to_a_plateau_of_no_known_cache_gives_no_size(monkeypatch: pytest.MonkeyPatch) -> None:
    # As a cache of the memory's side, which Linux does not describe.
    host = dataclasses.replace(HOST, caches={**HOST.caches, "last_level": HostCache(16 * MIB, 16, 64, 4)})
    found, _ = figures(monkeypatch, (FIRST, SECOND, (16 * MIB, 50.0), (64 * MIB, 200.0)), host)
    assert latencies(found) == {"l1d": 4, "l2": 14, "last_level": 50}
    assert memory_cycles(found) == pytest.approx(600, rel=0.03)
    assert found["caches.l2.size"].source.startswith("host; measured")
    assert found["caches.last_level.size"].source == "host"


def test_a_short_plateau_between_two_levels_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    found, notes = figures(monkeypatch, (FIRST, SECOND, (1.9 * MIB, 25.0), LAST))
    assert latencies(found) == {"l1d": 4, "l2": 14, "last_level": 50}
    assert memory_cycles(found) == pytest.approx(600, rel=0.03)
    assert all(found[f"caches.{name}.size"].source.startswith("host; measured") for name in ("l1d", "l2", "last_level"))
    assert any(
        note.startswith("caches: 5 plateaus") and note.endswith("1 shorter than an octave left out") for note in notes
    )
