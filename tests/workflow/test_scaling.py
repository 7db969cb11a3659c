"""A scaling study with the real engine: its parts add up, and each network parameter moves its own part alone."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pandas as pd
import pipeline
import pytest
from described_tables import described

from phase3_sst.explore.answer import Answer
from phase3_sst.explore.explorer import Explorer

pytestmark = pytest.mark.long

OWN = {
    "latency": {"network.link.latency": "20 us"},
    "bandwidth": {"network.link.bandwidth": "2 Gbit/s"},
    "overhead": {"network.host.overhead_send": "20 us"},
}
# Slower links make others wait for them too.
MOVED = {"overhead": ["overhead"], "latency": ["latency"], "bandwidth": ["bandwidth", "contention"]}
# A part cannot depend on a cost that was zero before the part is removed.
BELOW = {
    "overhead": ["compute", "dependency", "variability"],
    "latency": ["compute", "dependency", "variability", "overhead"],
    "bandwidth": ["compute", "dependency", "variability", "overhead", "latency"],
}


def parts(results: Path, nodes: int = 4) -> pd.Series:
    frame = pd.read_parquet(results / "scaling.parquet")
    return frame[frame["nodes"] == nodes].set_index("part")["seconds"]


@pytest.fixture(scope="module")
def base(finished: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The results of the tiny experiment with a scaling study."""
    folder = tmp_path_factory.mktemp("scaling")
    # The check refuses latencies that are out of proportion, like those of the changed networks.
    simulate = {"replicas": 3, "preflight": {"enabled": False}}
    content = pipeline.tiny(techniques=["ext-var", "no-ext-var"], simulate=simulate, scaling={})
    done = pipeline.run(pipeline.write(folder, content), folder, ["--measurements-from", finished])
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "results" / "tiny"


def changed(base: Path, changes: dict[str, Any]) -> pd.Series:
    """Return the parts at 4 nodes on a changed network, as explore answers: with the steps of the same study."""

    async def ask() -> Answer:
        explorer = Explorer(base, cores=2)
        try:
            return await explorer.answer(explorer.baseline().changed(changes=changes, losses=True))
        finally:
            await explorer.close()

    rows = asyncio.run(ask()).losses
    assert rows is not None
    return pd.Series({row["part"]: row["seconds"] for row in rows})


def test_the_parts_add_up_to_the_projected_time(base: Path) -> None:
    assert "scaling/1" in described(base)
    times = pd.read_parquet(base / "projection.parquet").set_index(["technique", "nodes"])["time_s"]
    for nodes in (1, 4):
        found = parts(base, nodes)
        assert found.sum() == pytest.approx(times["ext-var", nodes], rel=1e-9)
        assert found["compute"] > 0 and (found.drop("compute") > -0.02 * found.sum()).all()
    # One rank alone waits for nobody.
    alone = parts(base, 1)
    assert alone["dependency"] == pytest.approx(0, abs=1e-9)
    assert alone["latency"] == alone["bandwidth"] == alone["contention"] == 0
    assert parts(base)["variability"] > 0


@pytest.mark.parametrize("cost", OWN)
def test_a_cost_moves_its_own_part(base: Path, cost: str) -> None:
    before, after = parts(base), changed(base, OWN[cost])
    assert after[BELOW[cost]].to_dict() == pytest.approx(before[BELOW[cost]].to_dict(), abs=1e-12)
    assert after[cost] > 3 * before[cost]
    grown = after - before
    assert grown[MOVED[cost]].sum() > 0.7 * grown.sum() > 0


def test_the_report_says_where_and_why(base: Path) -> None:
    page = (base / "report.html").read_text()
    assert 'id="figure-losses"' in page and 'id="figure-losses-waterfall"' in page
    assert "The efficiency of ext-var" in page
    assert "From 1 to 4 nodes the time grows by" in page
