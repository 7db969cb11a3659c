"""Which cores are the node, and how many sockets and memory domains it has then."""

from __future__ import annotations

import dataclasses

import pytest
from calibration_host import HOST, MANY_CORES

from phase2_nodesim.calibration.figures import Figure
from phase2_nodesim.calibration.node_figures import cores_of_node, inclusion_figure, node_figures, within_node


def values(figures: dict[str, Figure]) -> tuple[object, ...]:
    return tuple(figures[key].value for key in ("sockets", "cores_per_socket", "memory.domains"))


def test_a_whole_host_is_as_it_says() -> None:
    found = node_figures(MANY_CORES, 128)
    assert values(found) == (2, 64, 2)
    assert all(figure.source.startswith("host") for figure in found.values())


def test_some_cores_are_one_domain_and_the_file_says_why() -> None:
    found = node_figures(MANY_CORES, 6)
    assert values(found) == (1, 6, 1)
    assert found["memory.domains"].source == "assumed, because only some of the host's cores are the node"


def test_cores_that_cannot_be_divided_are_one_domain_and_the_file_says_why() -> None:
    found = node_figures(dataclasses.replace(HOST, cores=4, domains=3), 4)
    assert values(found) == (1, 4, 1)
    assert found["memory.domains"].source == "assumed, because 4 cores cannot be divided equally among 3 domains"


def test_no_cache_is_shared_by_more_than_the_node() -> None:
    figures = {"caches.l2.shared_by": Figure(1, "host"), "caches.last_level.shared_by": Figure(8, "host")}
    found = within_node(figures, 2)
    assert [figure.value for figure in found.values()] == [1, 2]
    assert found["caches.last_level.shared_by"].source == "host: 8, but the node has 2 cores"


@pytest.mark.parametrize(
    ("inclusive", "wanted", "source"),
    [(True, "inclusive", "host: the processor says so"), (False, "victim", "assumed, because the processor says")],
)
def test_the_last_level_includes_the_others_if_the_processor_says_so(inclusive: bool, wanted: str, source: str) -> None:
    (found,) = inclusion_figure(HOST, inclusive).values()
    assert found.value == wanted and found.source.startswith(source)


def test_an_unknown_inclusion_and_that_of_a_single_level_are_left_out() -> None:
    assert inclusion_figure(HOST, None) == {}
    caches = {name: cache for name, cache in HOST.caches.items() if name != "l2"}
    assert inclusion_figure(dataclasses.replace(HOST, caches=caches), inclusive=False) == {}


@pytest.mark.parametrize(
    ("asked", "quota", "cores", "word"),
    [
        (None, 8, 4, None),
        (None, 2, 2, "only these of 4 are the node"),
        (3, 4, 3, None),
        (3, 2, 3, "3 at the same time are slowed down"),
    ],
)
def test_a_quota_of_processor_time_limits_the_node(asked: int | None, quota: int, cores: int, word: str | None) -> None:
    notes: list[str] = []
    assert cores_of_node(HOST, asked, quota, notes) == cores
    assert [word in note for note in notes] == ([True] if word else [])
