"""Segments: names of compute phases, and an engine's times in place of the host's."""

from __future__ import annotations

import pandas as pd
import pytest
from phase2_cases import records

from manynode.errors import InputError
from phase2_nodesim.segments import COLUMNS, segment_table

CALLS = [
    ("MPI_Init", "main", 0.0, "", False),
    ("MPI_Irecv", "exchange_halo", 1e-3, "", False),
    ("MPI_Waitall", "exchange_halo", 2e-3, "pack", False),
    ("MPI_Irecv", "exchange_halo", 3e-3, "", False),
    ("MPI_Allreduce", "dot", 4e-3, "solve", True),
]


def test_unlabelled_phases_are_named_by_their_calls() -> None:
    table = segment_table(records(0, CALLS))
    assert table["phase"].tolist() == [
        "MPI_Init@main -> MPI_Irecv@exchange_halo",
        "pack",
        "MPI_Waitall@exchange_halo -> MPI_Irecv@exchange_halo",
        "solve/MPI_Irecv@exchange_halo -> MPI_Allreduce@dot",
    ]
    assert table["labelled"].tolist() == [False, True, False, True]
    assert table["compute_s"].tolist() == [1e-3, 2e-3, 3e-3, 4e-3]
    assert list(table.columns) == list(COLUMNS)


def test_ranks_do_not_run_into_each_other() -> None:
    both = pd.concat([records(1, CALLS), records(0, CALLS[:2])], ignore_index=True)
    table = segment_table(both.sample(frac=1.0, random_state=1))
    assert table["rank"].tolist() == [0, 1, 1, 1, 1]
    assert table["call_before"].tolist()[:2] == ["MPI_Init@main", "MPI_Init@main"]
    assert table["sequence"].tolist() == [1, 1, 2, 3, 4]


def test_the_engines_time_takes_the_hosts_place() -> None:
    detail = pd.DataFrame({"rank": 0, "sequence": [1, 2, 3, 4], "compute_s": [9.0, 8.0, 7.0, 6.0], "Ir": [1, 2, 3, 4]})
    table = segment_table(records(0, CALLS), detail)
    assert table["compute_s"].tolist() == [9.0, 8.0, 7.0, 6.0]
    assert table["Ir"].tolist() == [1, 2, 3, 4]


def test_a_phase_that_the_engine_lost_is_named() -> None:
    detail = pd.DataFrame({"rank": 0, "sequence": [1, 2, 4], "compute_s": 1.0})
    with pytest.raises(InputError, match=r"rank 0, MPI call 3 \(MPI_Irecv@exchange_halo\)"):
        segment_table(records(0, CALLS), detail)


@pytest.mark.parametrize("value", [-1.0, float("nan"), float("inf")])
def test_an_impossible_time_is_named(value: float) -> None:
    frame = records(0, CALLS)
    frame.loc[2, "compute_s"] = value
    with pytest.raises(InputError, match="rank 0, MPI call 2"):
        segment_table(frame)


def test_a_missing_column_is_named() -> None:
    with pytest.raises(InputError, match="phase_inherited"):
        segment_table(records(0, CALLS).drop(columns="phase_inherited"))
