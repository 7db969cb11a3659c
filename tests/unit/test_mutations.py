"""The table of mutations (tests/mutations) stays usable: its texts are in the code, its tests exist."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "mutations"))

from mutation import ROOT, Mutation
from table import ALL


def test_names_are_distinct_and_every_phase_has_some() -> None:
    assert len({mutation.name for mutation in ALL}) == len(ALL) >= 30
    for room in ("phase1_profile/", "phase2_nodesim/", "phase3_sst/", "skeletons/", "manynode/"):
        assert any(mutation.file.startswith(room) for mutation in ALL), room


@pytest.mark.parametrize("mutation", ALL, ids=lambda mutation: mutation.name)
def test_a_mutation_changes_one_place(mutation: Mutation) -> None:
    assert mutation.mutated() != (ROOT / mutation.file).read_text(encoding="utf-8")
    assert mutation.wrong and mutation.tests
    native = Path(mutation.file).suffix != ".py"
    assert native == bool(mutation.targets)


@pytest.mark.parametrize("mutation", ALL, ids=lambda mutation: mutation.name)
def test_the_tests_of_a_mutation_exist(mutation: Mutation) -> None:
    for test in mutation.tests:
        if test.startswith("gtest:"):
            _, program, names = test.split(":")
            assert any(
                re.search(rf"(add_executable|manynode_add_test_program)\({program}\b", path.read_text())
                for path in _native("CMakeLists.txt")
            )
            suite, name = names.split(".") if "." in names else ("*", "*")
            wanted = rf"TEST(?:_[FP])?\({_pattern(suite)},\s*{_pattern(name)}\)"
            assert any(re.search(wanted, path.read_text()) for path in _native("*_test.cpp")), test
        else:
            file, _, name = test.partition("::")
            assert re.search(rf"^def {name.split('[')[0] or 'test_'}", (ROOT / file).read_text(), re.M), test


def _native(name: str) -> list[Path]:
    return sorted((ROOT / "tests" / "cpp").rglob(name))


def _pattern(name: str) -> str:
    return r"\w+" if name == "*" else name
