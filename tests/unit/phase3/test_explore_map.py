"""Maps: the search for points, what is simulated and what is interpolated, cancelling, lines and knees."""

from __future__ import annotations

import asyncio
import json
import math

import numpy as np
import pytest
from explore_cases import BANDWIDTH, LATENCY, NODES, FormulaAsker, kinked, recorded, smooth
from pydantic import ValidationError

from manynode.errors import UsageError
from phase3_sst.explore import map_design
from phase3_sst.explore.axis import Axis
from phase3_sst.explore.iso_lines import iso_lines, levels
from phase3_sst.explore.knees import knee_of, knees
from phase3_sst.explore.map_search import LEAST, fill
from phase3_sst.explore.parameter_map import Map
from phase3_sst.explore.question import Question

QUESTION = Question(nodes=64)
SLOW_BANDWIDTH = Axis(keys=["network.link.bandwidth"], kind="bandwidth", low="1 Gbit/s", high="100 Gbit/s")
LONG_LATENCY = Axis(keys=["network.link.latency"], kind="time", low="100 ns", high="100 us")


def filled(asker: FormulaAsker, x: Axis = BANDWIDTH, y: Axis = LATENCY, **limits: float) -> Map:
    return asyncio.run(fill(asker, QUESTION, x, y, **limits))  # type: ignore[arg-type]


def true_errors(found: Map, asker: FormulaAsker) -> np.ndarray:
    """The relative errors of the interpolated cells against the formula."""
    errors = []
    for cell in found.cells:
        question = QUESTION.with_change(found.x.keys[0], cell.x).with_change(found.y.keys[0], cell.y)
        if cell.state == "interpolated":
            assert cell.time_s is not None
            errors.append(cell.time_s / asker.time(question) - 1)
    return np.array(errors)


def test_the_values_of_a_range_are_spread_on_its_scale_and_are_written_with_units() -> None:
    assert BANDWIDTH.written[:3] == ("10 Gbit/s", "16.94 Gbit/s", "28.69 Gbit/s")
    assert BANDWIDTH.written[-1] == "400 Gbit/s" and len(BANDWIDTH.written) == 8
    even = Axis(keys=["simulate.slow_node.factor"], kind="number", low=1.0, high=2.0, n=5, scale="linear")
    assert even.written == (1.0, 1.25, 1.5, 1.75, 2.0)
    # Eight values of a short range of whole numbers would be the same value twice.
    assert Axis(keys=["nodes"], kind="count", low=1, high=4).written == (1, 2, 3, 4)
    assert BANDWIDTH.at(BANDWIDTH.coordinate(5e9)) == pytest.approx(5e9)
    assert [BANDWIDTH.coordinate(end) for end in BANDWIDTH.ends()] == [0.0, 1.0]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ({"kind": "bandwidth", "low": "1 Gbit/s"}, "both 'low' and 'high'"),
        ({"kind": "bandwidth", "low": "9 Gbit/s", "high": "1 Gbit/s"}, "less than 'high'"),
        ({"kind": "bandwidth", "low": 1.0, "high": 2.0}, "has no unit"),
        ({"kind": "time", "low": "0 ns", "high": "1 us"}, "above zero"),
        ({"kind": "count", "low": 1.5, "high": 3}, "not a whole number"),
        ({"kind": "choice", "low": "a", "high": "b"}, "a choice has no range"),
        ({"kind": "choice", "values": ["a", "a"]}, "two different values"),
        ({"kind": "number", "values": [1, 2], "low": 1}, "either 'values' or a range"),
        ({"keys": ["nodes"], "kind": "number", "values": [1, 2]}, "nodes are a count"),
    ],
)
def test_an_axis_that_cannot_be_drawn_is_refused(content: dict[str, object], words: str) -> None:
    with pytest.raises(ValidationError, match=words):
        Axis.model_validate({"keys": ["key"], **content})


@pytest.mark.parametrize("times", [smooth, kinked])
def test_a_map_of_64_cells_is_good_after_at_most_20_points_and_its_true_error_as_well(times: object) -> None:
    asker = FormulaAsker(times)  # type: ignore[arg-type]
    found = filled(asker)
    assert found.good and found.finished and found.error is not None and found.error < 0.02
    assert LEAST <= found.asked == len(asker.asked) == len(set(asker.asked)) <= 20
    assert float(np.sqrt(np.mean(true_errors(found, asker) ** 2))) < 0.02
    assert "below the target" in found.words


@pytest.mark.parametrize(
    ("name", "x", "y"),
    [
        ("bandwidth-latency", BANDWIDTH, LATENCY),
        ("bandwidth-nodes", BANDWIDTH, NODES),
        ("slow-network", SLOW_BANDWIDTH, LONG_LATENCY),
    ],
)
def test_a_map_of_the_demo_is_good_after_at_most_20_of_its_64_simulated_times(name: str, x: Axis, y: Axis) -> None:
    """Times of the demo that the engine fast simulated (benchmarks/explore_map.py writes them)."""
    by_numbers = {
        (y.number(int(row) if y is NODES else row), x.number(column)): time
        for (row, column), time in recorded(name).items()
    }
    assert len(by_numbers) == 64

    def time(bandwidth: float, latency: float, nodes: int) -> float:
        return by_numbers[(float(nodes) if y is NODES else latency, bandwidth)]

    asker = FormulaAsker(time)
    found = filled(asker, x, y)
    assert found.good and found.asked <= 20
    assert float(np.sqrt(np.mean(true_errors(found, asker) ** 2))) < 0.02


def test_every_cell_says_what_it_is_and_only_simulated_ones_have_an_answer() -> None:
    asker = FormulaAsker(kinked)
    found = filled(asker, most=13)
    assert [(cell.row, cell.column) for cell in found.cells] == [
        (row, column) for row in range(8) for column in range(8)
    ]
    simulated = [cell for cell in found.cells if cell.state == "simulated"]
    assert len(simulated) == found.simulated == len(asker.asked)
    for cell in simulated:
        answer = next(answer for digest, answer in asker.answers.items() if answer.digest == cell.digest)
        assert (cell.time_s, cell.low_s, cell.high_s) == (answer.time_s, answer.low_s, answer.high_s)
        assert cell.error is None and cell.expected_s is not None
    for cell in found.cells:
        if cell.state != "simulated":
            assert cell.state == "interpolated" and cell.digest is None and cell.low_s is None
            assert cell.error is not None and cell.error > 0
    assert json.loads(json.dumps(found.as_json(), allow_nan=False))["cells"][0]["state"] == "simulated"


def test_interpolated_times_never_lie_beyond_all_simulated_ones() -> None:
    found = filled(FormulaAsker(kinked), most=5)
    times = [cell.time_s for cell in found.cells if cell.state == "simulated" and cell.time_s]
    assert all(min(times) <= (cell.time_s or 0) <= max(times) for cell in found.cells)


def test_the_stated_errors_cover_the_true_ones() -> None:
    asker = FormulaAsker(kinked)
    found = filled(asker, target=0.005)
    errors = [cell.error for cell in found.cells if cell.state == "interpolated"]
    inside = np.abs(true_errors(found, asker)) <= 2 * np.array(errors, dtype=float)
    assert inside.mean() >= 0.85


def test_known_points_cost_nothing_and_a_second_map_asks_nothing_more() -> None:
    asker = FormulaAsker(kinked)
    first = filled(asker)
    asked = len(asker.asked)
    second = filled(asker)
    assert second.asked == 0 and len(asker.asked) == asked
    assert second.simulated == first.simulated and second.good


def test_progress_is_told_after_each_point_and_points_run_side_by_side() -> None:
    seen: list[Map] = []
    asker = FormulaAsker(smooth)
    asyncio.run(fill(asker, QUESTION, BANDWIDTH, LATENCY, at_once=3, on_point=seen.append))
    assert asker.most_running == 3
    assert [found.asked for found in seen] == sorted(found.asked for found in seen)
    assert sum(cell.pending for cell in seen[0].cells) == 3 and seen[0].cells[0].state == "unknown"
    assert [found.finished for found in seen].count(True) == 1 and seen[-1].finished


def test_a_cancelled_map_cancels_its_points_and_asks_no_more() -> None:
    async def cancelled() -> FormulaAsker:
        asker = FormulaAsker(smooth)
        asker.holds_back = asyncio.Event()
        task = asyncio.ensure_future(fill(asker, QUESTION, BANDWIDTH, LATENCY, at_once=2))
        while asker.running < 2:
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        asker.holds_back.set()
        await asyncio.sleep(0.01)
        return asker

    asker = asyncio.run(cancelled())
    assert (asker.cancelled, asker.running, len(asker.asked), len(asker.answers)) == (2, 0, 2, 0)


def test_cells_that_cannot_be_asked_are_refused_in_words_and_the_rest_is_filled() -> None:
    asker = FormulaAsker(smooth, refuses=lambda question: question.nodes > 32)
    found = filled(asker, BANDWIDTH, NODES)
    refused = [cell for cell in found.cells if cell.state == "refused"]
    assert {cell.y for cell in refused} == {48, 64} and len(refused) == 16
    assert all("do not fit the network" in cell.words and cell.time_s is None for cell in refused)
    assert found.good and all(question.nodes <= 32 for question in asker.asked)
    nothing = filled(FormulaAsker(smooth, refuses=lambda question: True))
    assert nothing.finished and not nothing.good and "no cell of the map can be simulated" in nothing.words


def test_failed_points_have_no_time_and_others_take_their_places() -> None:
    asker = FormulaAsker(smooth, fails=lambda question: question.changes["network.link.bandwidth"] == "10 Gbit/s")
    found = filled(asker)
    failed = [cell for cell in found.cells if cell.state == "failed"]
    assert failed and all("exit code 5" in cell.words and cell.time_s is None for cell in failed)
    assert found.asked <= 20 and found.simulated == found.asked - len(failed)
    hopeless = filled(FormulaAsker(smooth, fails=lambda question: True), most=7)
    assert hopeless.asked == 7 and "too few points" in hopeless.words and hopeless.error is None


def test_a_defect_ends_the_map_and_its_other_points() -> None:
    def broken(bandwidth: float, latency: float, nodes: int) -> float:
        raise ZeroDivisionError

    asker = FormulaAsker(broken)
    with pytest.raises(ZeroDivisionError):
        filled(asker)
    assert asker.running == 0


def test_both_axes_need_different_keys() -> None:
    with pytest.raises(UsageError, match="vary the same key"):
        filled(FormulaAsker(smooth), BANDWIDTH, BANDWIDTH)


def test_a_small_map_of_choices_is_simulated_completely() -> None:
    routing = Axis(keys=["network.topology.routing"], kind="choice", values=["minimal", "valiant", "ugal"])
    asker = FormulaAsker(kinked)
    found = filled(asker, Axis(keys=["nodes"], kind="count", values=[2, 16, 64]), routing)
    assert found.simulated == 9 and "every cell that can be simulated" in found.words
    assert iso_lines(found) == [] and len(knees(found, along="x")) == 3 and knees(found, along="y") == []


def test_the_first_points_are_the_corners_the_middle_and_the_sides() -> None:
    cells = map_design.places(BANDWIDTH, LATENCY)
    assert map_design.corners(8, 8, range(64)) == [0, 7, 56, 63]
    first, *rest = map_design.spread(cells, range(64), [0, 7, 56, 63], 5)
    assert (first // 8, first % 8) in {(3, 3), (3, 4), (4, 3), (4, 4)}
    assert sum(cell // 8 in (0, 7) or cell % 8 in (0, 7) for cell in rest) >= 3


def test_lines_of_equal_time_pass_where_the_formula_has_that_time() -> None:
    found = filled(FormulaAsker(smooth), target=0.004)
    (line,) = iso_lines(found, [0.03])
    points = [point for part in line.parts for point in part]
    assert len(points) > 10
    for bandwidth, latency in points:
        assert 1.25e9 <= bandwidth <= 5e10 * (1 + 1e-9) and 2e-8 <= latency * (1 + 1e-9)
        assert smooth(bandwidth, latency, 64) == pytest.approx(0.03, rel=0.01)
    assert iso_lines(found, [9.0])[0].parts == []
    times = [line.time_s for line in iso_lines(found)]
    assert 3 <= len(times) <= 7 and times == sorted(times)


def test_levels_are_round_and_none_for_a_flat_map() -> None:
    assert levels(1.0, 1.005) == []
    assert levels(0.0289, 0.036) == [0.0297, 0.0305, 0.0314, 0.0323, 0.0332, 0.0341, 0.035]
    assert all(0.1 < level < 100 for level in levels(0.1, 100.0))


def test_a_knee_is_where_doubling_saves_less_than_the_share() -> None:
    numbers = np.geomspace(1, 1000, 400)
    # 1 + 10/x: doubling saves (5/x) / (1 + 10/x), which is 5 % at x = 90.
    assert knee_of(numbers, 1 + 10 / numbers, 0.05, True) == pytest.approx(90, rel=0.01)
    mirrored = 1 / numbers[::-1]
    assert knee_of(mirrored, 1 + 10 * mirrored, 0.05, False) == pytest.approx(1 / 90, rel=0.01)
    assert knee_of(numbers, np.ones(400), 0.05, True) == -math.inf
    assert knee_of(numbers, 1 / numbers, 0.05, True) == math.inf
    assert knee_of(numbers, np.ones(400), 0.05, False) == math.inf
    assert knee_of(numbers, numbers, 0.05, False) == -math.inf


def test_knees_of_a_map_lie_where_the_formula_has_them() -> None:
    found = filled(FormulaAsker(smooth), target=0.004)
    rows = knees(found, share=0.1)
    assert [knee.other for knee in rows] == list(LATENCY.written)
    for knee in rows:
        assert knee.state == "inside" and knee.at is not None
        # The knee of a + b/x for a share s: b (1/2 - s) / (s a).
        base = smooth(math.inf, LATENCY.number(knee.other), 64)
        assert knee.at == pytest.approx(2e7 * 0.4 / (0.1 * base), rel=0.1)
        assert knee.low is None or knee.low <= knee.at * 1.001
        assert knee.high is None or knee.high >= knee.at * 0.999
    assert {knee.state for knee in knees(found, share=0.9)} == {"below"}
    assert {knee.state for knee in knees(found, share=0.001)} == {"above"}
    # Latency only costs: the knee is the latency up to which halving saves little.
    columns = knees(found, share=0.05, along="y")
    assert [knee.other for knee in columns] == list(BANDWIDTH.written)
    assert all(knee.state in ("inside", "above") for knee in columns)
    with pytest.raises(UsageError, match="between 0 and 1"):
        knees(found, share=0)
