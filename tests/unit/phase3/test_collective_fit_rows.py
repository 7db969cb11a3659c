"""Which rows a fit to collectives may see, and its tables of errors."""

from __future__ import annotations

import pandas as pd
import pytest

from manynode.config.measured_collective import MeasuredCollective
from manynode.errors import InputError
from phase3_sst.calibration.collective_fit import held_out


def rows(nodes: tuple[int, ...] = (8, 64)) -> list[MeasuredCollective]:
    return [
        MeasuredCollective(
            collective="bcast", algorithm=algorithm, bytes=size, nodes=count, ranks_per_node=1, seconds=1e-5
        )
        for algorithm in ("binomial", "linear")
        for count in nodes
        for size in (8, 64, 512, 4096, 32768)
    ]


def test_sizes_keeps_every_second_one_of_each_algorithm_and_scale() -> None:
    marks = held_out.held_out(rows(), "sizes")
    assert marks == [False, True, False, True, False] * 4


def test_nodes_keeps_all_but_the_smallest_scale() -> None:
    measured = rows()
    marks = held_out.held_out(measured, "nodes")
    assert [row.nodes for row, out in zip(measured, marks, strict=True) if not out] == [8] * 10
    assert held_out.held_out(measured, "none") == [False] * 20


def test_one_scale_leaves_nothing_to_hold_out() -> None:
    with pytest.raises(InputError) as caught:
        held_out.held_out(rows((8,)), "nodes")
    assert "8 ranks only" in str(caught.value.found)
    assert "--hold-out sizes" in str(caught.value.remedy)


def compared() -> pd.DataFrame:
    measured = rows((8,))
    frame = pd.DataFrame([row.model_dump() for row in measured])
    frame["simulated_algorithm"] = frame["algorithm"]
    frame["error"] = [0.1, -0.1, 0.1, 0.1, 0.3, -0.5, -0.4, -0.5, -0.3, -0.5]
    return frame


def test_tables_name_the_algorithms_that_are_far_off() -> None:
    frame = compared()
    table = held_out.by_algorithm(frame).set_index("simulated_algorithm")
    assert table.loc["binomial", "median"] == pytest.approx(0.1)
    assert table.loc["linear", "bias"] == pytest.approx(-0.5)
    assert table.loc["linear", "points"] == 5
    assert held_out.large(frame) == ["bcast linear on 8 x 1 ranks: 50% (median of simulated / measured - 1: -50%)"]
    sizes = held_out.by_size(frame).set_index("sizes")["points"]
    assert sizes.to_dict() == {"below 1 KiB": 6, "1 to 16 KiB": 2, "16 to 256 KiB": 2}


def test_the_text_has_a_line_for_each_algorithm_and_for_all() -> None:
    lines = held_out.as_text(compared()).splitlines()
    assert any(line.startswith("bcast  linear  8 x 1") and " 50.0%" in line for line in lines)
    assert lines[-1].split() == ["all", "10", "30.0%", "50.0%", "-20.0%"]
