"""What a user states where recordings leave hypotheses open: it holds, is listed, and never changes nothing."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from manynode.errors import InputError
from phase2_nodesim.derive.writing.assumptions import with_assumptions
from phase2_nodesim.derive.writing.rendering import rendered

CONTENT: dict[str, Any] = {
    "schema": "derived-skeleton/1",
    "name": "one",
    "grid": {
        "rule": "least-surface",
        "dimensions": 2,
        "order": "ascending",
        "ties": "first",
        "layout": "first-fastest",
    },
    "body": [
        {"call": "MPI_Barrier", "when": "c0 > 2"},
        {"repeat": "P", "do": [{"call": "MPI_Allreduce", "bytes": "8", "when": "c0 > 2"}]},
        {"call": "MPI_Allreduce", "bytes": "16"},
    ],
    "doubts": [
        {"at": "body/0/when", "says": "c0 > 2", "or": ["c1 > 2", "P > 4"]},
        {"at": "grid", "says": "least-surface 2-D ascending", "or": ["dealt 2-D ascending"]},
    ],
    "assumptions": [],
}


def test_a_stated_hypothesis_holds_wherever_its_doubt_stands_for() -> None:
    before = rendered(CONTENT)
    content = with_assumptions(CONTENT, [{"at": "when", "says": "c1 > 2"}])
    assert [content["body"][0]["when"], content["body"][1]["do"][0]["when"]] == ["c1 > 2", "c1 > 2"]
    assert content["doubts"] == CONTENT["doubts"][1:]
    assert content["assumptions"] == [{"at": "when", "says": "c1 > 2"}]
    assert rendered(CONTENT) == before


def test_a_stated_grid_is_that_rule() -> None:
    content = with_assumptions(CONTENT, [{"at": "grid", "says": "dealt 2-D ascending"}])
    assert content["grid"]["rule"] == "dealt" and content["grid"]["layout"] == "first-fastest"
    assert [doubt["at"] for doubt in content["doubts"]] == ["body/0/when"]


def test_what_later_recordings_have_settled_may_stay_stated() -> None:
    settled = {**CONTENT, "doubts": []}
    for assumption in ({"at": "when", "says": "c0 > 2"}, {"at": "grid", "says": "least-surface 2-D ascending"}):
        content = with_assumptions(settled, [assumption])
        assert content["body"] == CONTENT["body"] and content["assumptions"] == [assumption]


@pytest.mark.parametrize(
    "assumption",
    [{"at": "when", "says": "c2 > 2"}, {"at": "grid", "says": "dealt 3-D ascending"}, {"at": "", "says": ""}],
)
def test_what_fits_no_doubt_is_refused(assumption: dict[str, str]) -> None:
    with pytest.raises(InputError, match="fits no doubt") as raised:
        with_assumptions(CONTENT, [assumption])
    assert "when: c0 > 2 or c1 > 2, P > 4" in str(raised.value.allowed)


def test_a_file_has_a_line_for_each_call_and_says_the_same() -> None:
    text = rendered(CONTENT)
    read = yaml.safe_load(text)
    assert "\n  - {call: MPI_Barrier, when: c0 > 2}\n" in text
    assert "\n  - repeat: P\n    do:\n      - {call: MPI_Allreduce, when: c0 > 2, bytes: 8}\n" in text
    # Numbers are numbers there.
    read["body"][1]["do"][0]["bytes"] = str(read["body"][1]["do"][0]["bytes"])
    read["body"][2]["bytes"] = str(read["body"][2]["bytes"])
    assert read == CONTENT
