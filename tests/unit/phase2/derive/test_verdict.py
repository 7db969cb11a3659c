"""Verdicts on files that people wrote or changed."""

from __future__ import annotations

from pathlib import Path

import yaml

from manynode.paths import ROOT
from phase2_nodesim.derive.judged import read_content
from phase2_nodesim.derive.verdict import verdict

HPCG = ROOT / "tests" / "data" / "derived" / "hpcg.yaml"


def test_a_skeleton_without_recordings_is_worth_its_writers_word() -> None:
    content = read_content(HPCG)
    content.pop("recorded", None)
    for ranks in (1, 8, 27):
        found = verdict(content, ranks)
        assert found.level == "assumed" and "no run was recorded" in found.reasons[-1]


def test_extents_stated_by_hand_are_the_grid(tmp_path: Path) -> None:
    content = read_content(HPCG)
    assert content["grid"]["dimensions"] == 3
    content["grid"] = {"extents": {8: [8, 1, 1]}, "layout": content["grid"]["layout"]}
    path = tmp_path / "stated.yaml"
    path.write_text(yaml.safe_dump(content))
    stated = read_content(path)
    assert verdict(stated, 8).usable
    refused = verdict(stated, 12)
    assert refused.level == "refused" and "no extents for this number of ranks" in refused.reasons[0]
