"""Verdicts on files that people wrote or changed."""

from __future__ import annotations

from pathlib import Path

import yaml
from small_programs import Parameters, Rank, runs

from manynode.paths import ROOT
from phase2_nodesim.derive.derivation import derive
from phase2_nodesim.derive.judging.judged import read_content
from phase2_nodesim.derive.judging.verdict import verdict

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


def test_numbers_of_ranks_without_a_job_decide_nothing() -> None:
    """There is no third of two ranks, and the program was recorded on more."""

    def thirds(rank: Rank, _: Parameters) -> None:
        rank.split(2, lambda other: (other % (rank.ranks // 3), other))
        rank.collective("MPI_Barrier", communicator=2)

    content = derive(runs(thirds, (3, 6, 12, 18))).skeleton
    says = "rank % (P // 3)"
    assert content["communicators"][0]["color"] == says
    content["doubts"] = [{"at": "communicators/0/color", "says": says, "or": [f"{says} if P < 200 else 0"]}]
    found = verdict(content, 240)
    assert found.level == "refused" and not found.deciding
