"""Arguments that follow the problem and the job."""

from __future__ import annotations

import pytest

from manynode.config.application_section import ApplicationSection
from manynode.config.command_words import DoesNotFitError, for_job, names_in, with_values
from manynode.config.resolved import ResolvedApplication
from manynode.derived.skeleton_model import GridSection
from manynode.errors import UsageError
from manynode.launch import application_command

THREE = GridSection(rule="least-surface", dimensions=3)


def test_parameters_are_filled_in_and_the_names_of_a_job_stay_until_it_is_known() -> None:
    command = ["p", "-n={nx}", "{nx * d0}", "{nx + root}"]
    filled = with_values(command, {"nx": 8})
    assert filled == ["p", "-n=8", "{8 * d0}", "{8 + root}"]
    assert for_job(filled, 64, None, THREE) == ["p", "-n=8", "32", "12"]


@pytest.mark.parametrize("word", ["a{5}", '{"ranks": 4}', "{x}", "{}", "{a b}", "{nodes.txt}", "{other + 1}", "ranks"])
def test_other_braces_stay_as_they_are(word: str) -> None:
    assert for_job(with_values([word], {"nx": 1, "b": 2}), 8, 2) == [word]


@pytest.mark.parametrize(
    ("word", "ranks", "filled"),
    [
        ("{ranks}x{nodes}", 12, "12x3"),
        ("{d0}x{d1}x{d2}", 12, "3x2x2"),
        ("{root}", 27, "3"),
        ("{root(ranks, 2)}", 27, "5"),
        ("{ceil_div(100, d0)}", 12, "34"),
        ("{ranks // 2 if ranks > 8 else ranks}", 8, "8"),
    ],
)
def test_arguments_follow_the_job(word: str, ranks: int, filled: str) -> None:
    assert for_job([word], ranks, 4, THREE) == [filled]


def test_names_are_those_that_expressions_use() -> None:
    assert names_in(["p", "{nx * d0}", "{root(ranks, 3)}{nx}", '{"a": b}', "{root}"]) == ["nx", "d0", "ranks", "root"]


@pytest.mark.parametrize(
    ("word", "ranks", "grid", "what"),
    [
        ("{root}", 12, THREE, "no grid with equal sides"),
        ("{nodes}", 6, None, "no whole number of nodes"),
    ],
)
def test_a_job_that_does_not_fit_is_told_from_a_mistake(
    word: str, ranks: int, grid: GridSection | None, what: str
) -> None:
    with pytest.raises(DoesNotFitError, match=what):
        for_job([word], ranks, 4, grid)


@pytest.mark.parametrize(
    ("word", "grid", "what"),
    [
        ("{d0}", None, "a grid of ranks that is not stated"),
        ("{root}", None, "a grid of ranks that is not stated"),
        ("{d3}", THREE, "no such axis"),
        ("{nodes}", None, "number of nodes of a job is not known"),
    ],
)
def test_a_name_without_a_value_is_a_mistake(word: str, grid: GridSection | None, what: str) -> None:
    with pytest.raises(UsageError, match=what) as caught:
        for_job([word], 8, None, grid)
    assert not isinstance(caught.value, DoesNotFitError) and caught.value.remedy


def test_an_experiment_starts_its_program_with_the_arguments_of_each_job() -> None:
    command = ["/bin/p", "{d1}", "{nodes}"]
    grid = {"rule": "least-surface", "dimensions": 2}
    section = ApplicationSection.model_validate({"command": command, "grid": grid, "mpi": "mpich"})
    application = ResolvedApplication(**dict(section))
    assert application_command(application, 12, 4) == (["/bin/p", "3", "3"], "mpich")
    assert application_command(application)[0] == command
    assert "grid" not in ResolvedApplication(command=["/bin/p"]).model_dump()
