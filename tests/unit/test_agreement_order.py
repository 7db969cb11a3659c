"""The question of a sweep in benchmarks/sst_agreement.py: which of two configurations is better?"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent / "benchmarks"))

from _agreement import Case
from sst_agreement import cases, orders


def case(machine: str, rate: float, size: int = 8) -> Case:
    return Case("halo3d", size, machine, {}, rate_Gbit=rate)


def test_two_configurations_in_another_order_are_found() -> None:
    a, b, c = case("torus", 20), case("torus", 100), case("dragonfly", 100)
    told, wrong = orders({a: (10.0, 10.0), b: (5.0, 6.0), c: (6.0, 5.0)})
    assert told == 3 and wrong == [(b, c)]


def test_what_the_reference_does_not_tell_apart_does_not_count() -> None:
    told, wrong = orders({case("torus", 20): (1.0, 1.02), case("torus", 100): (2.0, 1.0)})
    assert (told, wrong) == (0, [])


def test_messages_of_another_length_are_another_question() -> None:
    told, wrong = orders({case("torus", 20, 8): (1.0, 2.0), case("torus", 100, 16): (2.0, 1.0)})
    assert (told, wrong) == (0, [])


def test_every_case_has_a_name_of_its_own() -> None:
    names = [one.name for one in cases()]
    assert len(names) == len(set(names)) == 5 * 2 * 3 * 3
