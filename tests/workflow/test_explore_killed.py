"""The explore server is killed at random moments, and started again: no finished point is lost, nothing runs on.

By default it is killed twice, once after an answer; ten times with ``MANYNODE_FUZZ=all``.
"""

from __future__ import annotations

import hashlib
import json
import random
import time
from pathlib import Path
from typing import Any

import explore_bases
import explore_site
import pytest
from conftest import made_once
from explore_runs import KILLS

# test_explore_store.py kills amid each step; here the whole server goes.
SEED = 7
PATIENCE_S, ANSWER_S = 10, 120


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = made_once(tmp_path_factory, "explore-small", explore_bases.run_small) / "results" / "small"
    return explore_bases.copied(made, tmp_path_factory.mktemp("killed"))


def question(number: int) -> dict[str, Any]:
    return {
        "changes": {"network.link.bandwidth": f"{20 + number} Gbit/s", "simulate.replicas": 2},
        **{"nodes": 1 + number % 8, "technique": "ext-var", "losses": False},
    }


def finished(site: explore_site.Site, asked: dict[int, str]) -> dict[int, dict[str, Any]]:
    """Return the answers that are there, by the number of the question; ``asked`` has the digests of the questions."""
    found = {}
    for number, digest in asked.items():
        status, text = site.call("GET", f"/api/answer/{digest}")
        if status == 200:
            found[number] = json.loads(text)["answer"]
    return found


def simulated(results: Path) -> dict[str, str]:
    """Return the checksum of every file of a finished point."""
    files = sorted(results.glob("explore/points/*/results/*/projection.parquet"))
    return {path.parent.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


@pytest.mark.long
def test_a_server_killed_again_and_again_loses_no_finished_point_and_leaves_no_process(results: Path) -> None:
    chance = random.Random(SEED)
    kept: dict[int, dict[str, Any]] = {}
    files: dict[str, str] = {}
    asked: dict[int, str] = {}
    for kill in range(KILLS):
        site = explore_site.start(results)
        try:
            if kill == 0:
                began = time.monotonic()
                kept[-1] = site.answered(question(-1))["answer"]
                takes_s = time.monotonic() - began
                asked[-1] = kept[-1]["digest"]
            again = finished(site, asked)
            for number, answer in kept.items():
                assert again.get(number) == answer, f"after kill {kill}, the answer to question {number} is another"
            now = simulated(results)
            assert {name: now.get(name) for name in files} == files, f"after kill {kill}, files have changed"
            new = {
                number: site.post("/api/ask", {"question": question(number), "tab": f"tab{number:05d}"})["digest"]
                for number in (2 * kill, 2 * kill + 1)
            }
            asked |= new
            # Every other kill counts its delay from the first answer, however long that takes on a busy machine.
            if kill % 2:
                site.answered(question(2 * kill), patience_s=ANSWER_S)
            end = time.monotonic() + chance.uniform(0, takes_s)
            while time.monotonic() < end:
                kept |= finished(site, new)
                time.sleep(0.1)
            kept |= finished(site, new)
            files |= simulated(results)
        finally:
            site.kill()
        assert site.left_after(PATIENCE_S) == [], f"after kill {kill}"
    with explore_site.exploring(results) as site:
        for number in asked:
            got = site.answered(question(number))
            assert got["state"] == "finished", got
            if number in kept:
                assert got["answer"] == kept[number]
        log = [entry["question"] for entry in site.get("/api/questions")["questions"]]
        assert all(question(number) in log for number in asked), "every question is in the list"
    print(f"a question takes {takes_s:.1f} s; {len(kept)} of {len(asked)} questions were finished before a kill")
    assert 1 < len(kept) < len(asked), "kills must have come before and after answers"
