"""Sizes that depend on load: drawn from distributions whose mean follows the number of ranks, or refused."""

from __future__ import annotations

import functools
from collections.abc import Callable
from functools import partial

import numpy as np
import pytest
from small_programs import COUNTS, Parameters, Rank, grid_of, halo, neighbour, run, runs

from manynode.config import yaml_text
from manynode.derived import skeleton_file
from manynode.errors import InputError
from phase2_nodesim.derive.derivation import Derivation, derive
from phase2_nodesim.derive.judging.compared import first_difference
from phase2_nodesim.derive.judging.interpret import Job
from phase2_nodesim.derive.judging.load import LoadShare
from phase2_nodesim.derive.judging.matching import mismatch
from phase2_nodesim.derive.judging.verdict import verdict
from phase2_nodesim.derive.rules.means import means
from phase2_nodesim.derive.sequence.irregular import loads
from phase2_nodesim.derive.writing.drawn import comparison
from phase2_nodesim.recording import RecordedCall

_BOX = 960_000  # bytes of a face of the whole domain, cut by the other two axes


@functools.cache
def _noise(*key: int) -> float:
    """Return a number from 0.97 to 1.03 that depends on the key alone."""
    return 0.97 + 0.06 * float(np.random.default_rng([abs(part) for part in key]).random())


def _face(ranks: int, axis: int) -> float:
    """Return the mean size of a face's message: its area, and a border of a tenth of the domain around the part."""
    extents = grid_of(ranks).extents
    others = [extent for other, extent in enumerate(extents) if other != axis]
    return _BOX * (1 / others[0] + 0.1) * (1 / others[1] + 0.1)


def particles(
    rank: Rank, parameters: Parameters, *, size: Callable[[int, int], float] = _face, long_axes: bool = False
) -> None:
    """Send what has left the part along each axis, around the edges; its amount changes every second iteration."""
    grid = grid_of(rank.ranks)
    for iteration in range(6):
        for axis in range(3):
            to, source = (neighbour(grid, rank.rank, axis, step, around=True) for step in (1, -1))
            if to == rank.rank:
                continue
            rank.irecv(source, round(size(rank.ranks, axis) * _noise(source, axis, iteration // 2, rank.ranks)), axis)
            rank.isend(to, round(size(rank.ranks, axis) * _noise(rank.rank, axis, iteration // 2, rank.ranks)), axis)
            rank.waitall()
            if long_axes and grid.extents[axis] > 2:
                rank.isend(source, round(1e7 * _noise(rank.rank, axis, iteration, rank.ranks)), 9)
                rank.irecv(to, round(1e7 * _noise(to, axis, iteration, rank.ranks)), 9)
                rank.waitall()
        rank.compute("move")
        rank.collective("MPI_Allreduce", 8)


@pytest.fixture(scope="module")
def derived() -> Derivation:
    return derive(runs(particles), [run(particles, 36)])


def test_where_nothing_was_sent_at_a_place_of_load_larger_jobs_may_send_something() -> None:
    """miniMD's set-up: one atom in millions is on the other side of a border, where numbers round so."""

    def size(ranks: int, rank: int, iteration: int) -> int:
        if iteration == 0:
            return 56 if ranks == 36 and rank == 1 else 0
        return round(_face(ranks, 0) * _noise(rank, iteration, ranks))

    def program(rank: Rank, parameters: Parameters) -> None:
        grid = grid_of(rank.ranks)
        to, source = (neighbour(grid, rank.rank, 0, step, around=True) for step in (1, -1))
        for iteration in range(5):
            sizes = [size(rank.ranks, one, iteration) for one in (rank.rank, source)]
            rank.note(
                RecordedCall("MPI_Sendrecv", "", to, source, *sizes, tag=1, receive_tag=1, communicator=0), "exchange"
            )
            rank.collective("MPI_Allreduce" if iteration else "MPI_Barrier", 8 if iteration else 0)

    content = derive(runs(program), [run(program, 36)]).skeleton
    assert all(one["equal"] for one in content["recorded"]) and verdict(content, 36).usable
    assert {"mean": "0", "values": [0]} in content["distributions"].values()


def test_structure_is_exact_and_the_volume_near_where_no_run_was(derived: Derivation) -> None:
    for ranks in (16, 36, 64, 125):
        recording = run(particles, ranks)
        assert first_difference(derived.skeleton, recording) is None
        found = comparison(derived.skeleton, recording)
        assert found is not None
        assert abs(found.volume_error) < 0.01 and found.apart < 0.02 and 0.5 < found.calls < 0.7


def test_the_mean_is_the_face_of_a_part_with_its_border(derived: Derivation) -> None:
    grids = {ranks: Job(derived.skeleton, ranks) for ranks in (64, 216, 1000)}
    for ranks, job in grids.items():
        wanted = sorted(_face(ranks, axis) for axis in range(3))
        assert np.allclose(sorted(job.means.values()), wanted, rtol=0.04), ranks


def test_the_verdict_says_how_much_is_drawn_and_never_that_it_is_proved(derived: Derivation) -> None:
    elsewhere, recorded = verdict(derived.skeleton, 64), verdict(derived.skeleton, 12)
    assert elsewhere.level == recorded.level == "agreed"
    assert "sizes are drawn in" in elsewhere.reasons[-1] and "of the bytes" in elsewhere.reasons[-1]
    assert recorded.reasons[0].startswith("recorded, and equal but for sizes")
    assert set(derived.report.drawn) == {f"{ranks} ranks" for ranks in (*COUNTS, 36)}


def test_a_size_that_stays_from_step_to_step_persists(derived: Derivation) -> None:
    # Of five pairs of messages in a row, three have the same size.
    for entry in derived.skeleton["distributions"].values():
        assert 0.5 < entry["persistence"] < 0.65 and 20 < len(set(entry["values"])) <= 40


def test_both_ends_of_each_message_draw_from_the_same_distribution(derived: Derivation) -> None:
    job = Job(derived.skeleton, 36)
    assert mismatch(job) is None
    content = skeleton_file.checked(derived.skeleton, "particles")
    names = list(content.distributions)
    changed = [dict(item) for item in derived.skeleton["body"]]
    loop = next(item for item in changed if "do" in item)
    send = next(item for item in loop["do"] if item.get("call") == "MPI_Isend")
    send["bytes"] = {"draw": next(name for name in names if name != send["bytes"]["draw"])}
    wrong = mismatch(Job({**derived.skeleton, "body": changed}, 36))
    assert wrong is not None and ("from one distribution" in wrong or "receives" in wrong)


def test_receives_with_room_for_the_largest_message_are_the_other_ends() -> None:
    def roomy(rank: Rank, parameters: Parameters) -> None:
        particles(rank, parameters)
        rank.noted = [
            call.but(bytes=1 << 20) if call.operation == "MPI_Irecv" and call.peer >= 0 else call for call in rank.noted
        ]

    found = derive(runs(roomy))
    receives = [item for item in found.skeleton["body"][0]["do"] if item.get("call") == "MPI_Irecv"]
    assert len(receives) == 3 and all("draw" in item["bytes"] for item in receives)
    assert first_difference(found.skeleton, run(roomy, 64)) is None and verdict(found.skeleton, 64).usable


def test_a_parameter_that_changes_drawn_sizes_stays_fixed() -> None:
    def scaled(rank: Rank, parameters: Parameters) -> None:
        particles(rank, parameters, size=lambda ranks, axis: _face(ranks, axis) * parameters["n"])
        for _ in range(parameters["steps"]):
            rank.collective("MPI_Allreduce", 8 * parameters["steps"])

    base = runs(scaled, n=1, steps=4)
    others = [run(scaled, 12, {"n": n, "steps": steps}) for n, steps in ((2, 4), (3, 4), (1, 5), (1, 7))]
    found = derive([*base, *others])
    assert list(found.skeleton["parameters"]) == ["steps"]
    assert "sizes that depend on load change with a parameter" in found.report.fixed["n"]
    assert not verdict(found.skeleton, 36, {"n": 2}).usable and verdict(found.skeleton, 36, {"steps": 9}).usable


MUTANTS: dict[str, Callable[[int, int], float]] = {
    "no border": lambda ranks, axis: _face(ranks, axis) - 0.01 * _BOX,
    "twice as much from 27 ranks on": lambda ranks, axis: _face(ranks, axis) * (2 if ranks >= 27 else 1),
    "a fifth more from 27 ranks on": lambda ranks, axis: _face(ranks, axis) * (1.2 if ranks >= 27 else 1),
    "twice as much above 32 ranks": lambda ranks, axis: _face(ranks, axis) * (2 if ranks > 32 else 1),
    "more with each doubling": lambda ranks, axis: 1e4 * ranks.bit_length(),
    "as a power": lambda ranks, axis: 1e6 / ranks ** (2 / 3),
    "as the root": lambda ranks, axis: 1e6 / ranks**0.5,
    "with the ranks": lambda ranks, axis: 1e3 * ranks,
    "squares of extents": lambda ranks, axis: 1e6 / grid_of(ranks).extents[axis] ** 2,
    "other numbers of twos": lambda ranks, axis: 1e5 * (1.5 if ranks % 8 == 0 else 1),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_no_volume_is_wrong_in_silence(name: str) -> None:
    program = partial(particles, size=MUTANTS[name])
    try:
        found = derive(runs(program), [run(program, 36)])
    except InputError:
        return
    for ranks in (16, 48, 64, 125):
        recording = run(program, ranks)
        compared = comparison(found.skeleton, recording)
        assert compared is not None
        usable = verdict(found.skeleton, ranks).usable and first_difference(found.skeleton, recording) is None
        assert not usable or abs(compared.volume_error) < 0.05, (ranks, compared.volume_error)


def test_what_rules_give_is_not_drawn() -> None:
    found = derive(runs(partial(halo, around=(0, 1, 2))))
    assert "distributions" not in found.skeleton and verdict(found.skeleton, 64).level == "agreed"


def test_sizes_without_a_rule_are_refused() -> None:
    def jumping(ranks: int, axis: int) -> float:
        return 1000.0 * (1 + (7 * ranks) % 11)

    with pytest.raises(InputError) as error:
        derive(runs(partial(particles, size=jumping)))
    assert error.value.what == "sizes that depend on load follow no rule of the number of ranks"
    assert "replay a recording" in str(error.value)


def test_a_set_of_messages_that_few_runs_have_decides_nothing_elsewhere() -> None:
    # Along the shortest axis, only a job of 27 ranks has them.
    found = derive(runs(partial(particles, long_axes=True)))
    # Rivals that are plain numbers stay readable.
    written = yaml_text.parse(found.text())
    assert any(isinstance(text, int) for entry in written["distributions"].values() for text in entry.get("or", ()))
    skeleton_file.checked(written, "late")
    refused = verdict(written, 512)
    assert refused.level == "refused"
    share = LoadShare.of(Job(written, 512), written)
    assert share is not None and share.error > 0.2


def test_the_volume_of_a_recorded_run_is_as_far_off_as_it_was_measured(derived: Derivation) -> None:
    skeleton = {**derived.skeleton, "recorded": [dict(one) for one in derived.skeleton["recorded"]]}
    for one in skeleton["recorded"]:
        found = verdict(skeleton, one["ranks"])
        assert (
            found.level == "agreed" and f"their volume is {abs(one.get('volume_error', 0)):.1%} off" in found.reasons[0]
        )
    skeleton["recorded"][0]["volume_error"] = -0.103
    refused = verdict(skeleton, skeleton["recorded"][0]["ranks"])
    assert refused.level == "refused" and "their volume is 10.3% off" in refused.reasons[0]


def test_messages_received_in_another_order_are_refused() -> None:
    def crossed(rank: Rank, parameters: Parameters) -> None:
        other = rank.rank ^ 1
        for iteration in range(4):
            first, second = (round(1000 * _noise(min(rank.rank, other), i, iteration, rank.ranks)) for i in (1, 2))
            if rank.rank % 2 == 0:
                rank.isend(other, first, 1)
                rank.isend(other, second, 2)
            else:
                rank.irecv(other, second, 2)
                rank.irecv(other, first, 1)
            rank.waitall()

    recording = run(crossed, 24)
    streams = []
    from phase2_nodesim.derive.recorded.events import streams as events_of

    for rank, events in enumerate(events_of(recording)):
        # One leaf for all sends, one for all receives.
        streams.append((0, rank, events, [0 if event.operation == "MPI_Isend" else 1 for event in events]))
    with pytest.raises(InputError, match="not received in the order in which they are sent"):
        loads(streams, frozenset({("MPI_Isend", "MPI_Isend")}), lambda run, rank, number: range(24))


def test_means_are_sums_of_few_products() -> None:
    extents = [grid_of(ranks).extents for ranks in COUNTS]
    names = ["d0", "d1", "d2"]
    exact = [4800 / one[0] / one[1] + 960 for one in extents]
    assert means(exact, extents, names)[0] == "960 + 4800 // (d0 * d1)"
    assert means([512.0] * len(COUNTS), extents, names) == ["512"]
    assert means([1e6 / ranks for ranks in COUNTS], [[ranks] for ranks in COUNTS], ["P"])[0] == "1000000 // P"
    best, *_, off = means([1.0, 90.0, 3.0, 70.0, 2.0, 80.0, 4.0], extents, names)
    assert off.startswith(f"({best}) * ") and int(off.split()[-3]) > 150
