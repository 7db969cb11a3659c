"""The steps of a derivation alone: grids, common sequence, loops, waits, and a job that must match itself."""

from __future__ import annotations

import gc
from typing import Any

import numpy as np
import pytest
from small_programs import COUNTS, halo, runs

from manynode.derived.expression import Scope, parse
from manynode.derived.grids import coordinate_names
from manynode.errors import InputError
from phase2_nodesim.derive.derivation import derive
from phase2_nodesim.derive.grids.patterns import GridRule, find_pattern
from phase2_nodesim.derive.grids.points import Points
from phase2_nodesim.derive.judging.interpret import Job
from phase2_nodesim.derive.judging.matching import mismatch
from phase2_nodesim.derive.recorded.events import Event, split_phase, streams
from phase2_nodesim.derive.recorded.identity import find_identity
from phase2_nodesim.derive.sequence.align import Token, align
from phase2_nodesim.derive.sequence.fold import Leaf, Node, fold
from phase2_nodesim.derive.sequence.slots import Slot
from phase2_nodesim.derive.writing.waits import name_requests
from phase2_nodesim.recording import RecordedCall


def test_a_grid_is_the_one_with_the_fewest_displacements_over_all_runs() -> None:
    by_count = {one.ranks: streams(one) for one in runs(halo)}
    found = find_pattern(by_count, find_identity(by_count))
    assert str(found.grid) == "least-surface 3-D ascending" and found.displacements == 12
    assert found.grid is not None and found.grid.periodic == (False, False, False)
    # 24 ranks tell factors that are dealt out to unsorted axes from the least surface.
    assert not any("unsorted" in str(twin) for twin in found.twins)


def test_all_runs_at_once_have_the_values_of_each_run_alone() -> None:
    rule = GridRule("least-surface", 2, "ascending", periodic=(True, False))
    runs = [(ranks, {"n": ranks + 3}) for ranks in (1, 4, 6, 35)]
    together = Points(runs, rule)
    texts = ["at(1, -1)", "at(0, 1) if c0 > 0 and n > 8 else null", "on(d0 - 1, c1)", "n // c1 if c1 else P", "5", "d1"]
    for text in texts:
        alone = []
        for ranks, parameters in runs:
            grid, own = rule.grid(ranks), np.arange(ranks, dtype=np.int64)
            names = {"P": ranks, "rank": own, **coordinate_names(grid, own), **parameters}
            alone.append(np.broadcast_to(parse(text, "here").evaluate(Scope(names, grid=grid)), ranks))
        found = together.values(text)
        assert found is not None and found.tolist() == np.concatenate(alone).tolist(), text
    assert together.values("P // (n - 4)") is None, "of one run"


def test_the_collector_of_cycles_is_on_again_after_a_derivation() -> None:
    with pytest.raises(InputError):
        derive([])
    assert gc.isenabled()


def test_labels_with_a_plus_sign_are_not_cut() -> None:
    assert split_phase("a+b", frozenset({"a", "b"})) == ["a", "b"]
    assert split_phase("operator+=+end", frozenset({"operator+=", "end"})) == ["operator+=", "end"]
    assert split_phase("a+b", frozenset({"a+b", "a", "b"})) == ["a+b"]


def token(name: str, *labels: str) -> Token:
    return Token((name, "", 0, None), None, (frozenset(labels),) if labels else ())


def test_streams_with_and_without_calls_lie_on_one_sequence() -> None:
    full = [token("recv", "left"), token("recv", "right"), token("sum")]
    slots, where = align({"middle": full * 2, "first": full[1:] * 2, "last": [full[0], full[2]] * 2})
    assert [slot.place[0] for slot in slots] == ["recv", "recv", "sum"] * 2
    assert where == {"middle": [0, 1, 2, 3, 4, 5], "first": [1, 2, 4, 5], "last": [0, 2, 3, 5]}


def test_streams_without_a_common_order_end_at_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    mixed = {shift: list(map(token, ("abcd" * 3)[shift : shift + 5 + shift])) for shift in range(4)}
    assert len(align(mixed)[0]) < sum(map(len, mixed.values())), "what some have in one order is the same"
    monkeypatch.setattr("phase2_nodesim.derive.sequence.align._MOST_COMPARED", 50)
    with pytest.raises(InputError, match="no common order of the calls of all ranks was found") as refused:
        align(mixed)
    assert "50 pairs" in str(refused.value)


def slots_of(text: str) -> list[Slot]:
    """Return a slot for each letter; a digit after a letter is its tag."""
    found: list[Slot] = []
    for letter in text:
        if letter.isdigit():
            event = found[-1].seen[0, 0][0]
            found[-1].seen[0, 0] = (Event(event.operation, "", RecordedCall(event.operation, "", tag=int(letter))),)
        else:
            call = RecordedCall(letter, "", tag=0)
            found.append(Slot((letter, "", 0, None), seen={(0, 0): (Event(letter, "", call),)}))
    return found


def shown(nodes: list[Node], slots: list[Slot]) -> str:
    words = []
    for node in nodes:
        if isinstance(node, Leaf):
            words.append(slots[node.slots[0]].operation)
        else:
            steps = f"+{max(node.steps)}" if node.steps.any() else ""
            words.append(f"{node.count}{steps}({shown(node.body, slots)})")
    return "".join(words)


@pytest.mark.parametrize(
    ("text", "loops"),
    [
        ("abc", "abc"),
        ("aaaa", "4(a)"),
        ("sabcabcabce", "s3(abc)e"),
        ("aabaabaab", "3(2(a)b)"),
        ("a0a1a2b", "3+1(a)b"),
        ("a0a1b", "aab"),  # two repetitions show no step
        ("a0a1a2ba0a1a2b", "2(3+1(a)b)"),
    ],
)
def test_loops_are_found_with_tags_that_grow(text: str, loops: str) -> None:
    slots = slots_of(text)
    assert shown(fold(slots), slots) == loops


def waits_of(*steps: tuple[str, int, tuple[int, ...]]) -> dict[str, Any]:
    """Return what the last step, a wait, says, from (operation, request, completes)."""
    stream = [Event(name, "", RecordedCall(name, "", request=made, completes=done)) for name, made, done in steps]
    own = list(range(len(stream)))
    return dict(name_requests([(stream, own, own)], [[number] for number in own]).words[own[-1]])


def test_a_wait_says_which_requests_it_completes_and_in_which_order() -> None:
    receive, send = ("MPI_Irecv", 0, ()), ("MPI_Isend", 1, ())
    assert waits_of(receive, send, ("MPI_Waitall", -1, (0, 1))) == {"requests": ["requests1"]}
    by_name = waits_of(receive, send, ("MPI_Waitall", -1, (1, 0)))
    assert by_name["order"] == "names" and len(by_name["requests"]) == 2
    first, second = waits_of(receive, send, ("MPI_Wait", -1, (1,))), waits_of(receive, send, ("MPI_Wait", -1, (0,)))
    assert len(first["requests"]) == len(second["requests"]) == 1


def test_a_wait_that_no_words_describe_is_refused() -> None:
    stream = [Event("MPI_Irecv", "", RecordedCall("MPI_Irecv", "", request=number)) for number in range(4)]
    stream.append(Event("MPI_Waitsome", "halo.c:9", RecordedCall("MPI_Waitsome", "", completes=(1, 3))))
    stream.append(Event("MPI_Waitall", "halo.c:10", RecordedCall("MPI_Waitall", "", completes=(0, 2))))
    with pytest.raises(InputError, match="which requests a call completes"):
        name_requests([(stream, [0, 0, 0, 0, 1, 2], list(range(6)))], [[0, 1, 2, 3], [4], [5]])


def job(*items: dict[str, Any], ranks: int = 4) -> Job:
    return Job({"body": list(items)}, ranks)


RIGHT = {"peer": "(rank + 1) % P", "bytes": "8"}
LEFT = {"peer": "(rank + P - 1) % P", "bytes": "8"}


@pytest.mark.parametrize(
    ("items", "says"),
    [
        ([{"call": "MPI_Send", **RIGHT}, {"call": "MPI_Recv", **LEFT}], None),
        ([{"call": "MPI_Send", **RIGHT}], "receives no message"),
        ([{"call": "MPI_Recv", **LEFT}], "sends no message"),
        ([{"call": "MPI_Send", **RIGHT, "tag": "1"}, {"call": "MPI_Recv", **LEFT}], "(tag 1)"),
        ([{"call": "MPI_Send", **RIGHT, "bytes": "9"}, {"call": "MPI_Recv", **LEFT}], "receives 8 bytes"),
        ([{"call": "MPI_Send", **RIGHT, "peer": "rank + 1"}, {"call": "MPI_Recv", **LEFT}], "rank 3 has peer 4"),
        ([{"call": "MPI_Send", **RIGHT, "bytes": "0 - 8"}, {"call": "MPI_Recv", **LEFT}], "has -8 bytes"),
        ([{"call": "MPI_Barrier", "when": "rank > 0"}], "ranks 0 and 1 make different collectives"),
        ([{"call": "MPI_Allreduce", "bytes": "8 + rank"}], "different collectives"),
        ([{"call": "MPI_Ibarrier", "request": "sync"}], "never completes a request of sync"),
        ([{"call": "MPI_Wait", "requests": ["sync"]}], "waits for no request"),
        ([{"repeat": "1000000", "do": [{"call": "MPI_Allreduce", "bytes": "8"}]}], None),
    ],
)
def test_a_job_that_does_not_match_itself_is_named(items: list[dict[str, Any]], says: str | None) -> None:
    found = mismatch(job(*items))
    assert found is None if says is None else found is not None and says in found


def test_counts_of_the_examples_show_three_ranks_along_each_axis() -> None:
    by_count = {one.ranks: streams(one) for one in runs(halo)}
    grid = find_pattern(by_count, find_identity(by_count)).grid
    assert grid is not None
    assert [max(axis) for axis in zip(*(grid.grid(ranks).extents for ranks in COUNTS), strict=True)] == [3, 4, 4]
