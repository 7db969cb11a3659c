"""A scaling study with the real engine: its parts add up, and each network parameter moves its own part alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pipeline
import pytest
import yaml
from described_tables import described

OWN = {
    "latency": {"link": {"bandwidth": "100 Gbit/s", "latency": "20 us"}},
    "bandwidth": {"link": {"bandwidth": "2 Gbit/s", "latency": "90 ns"}},
    "overhead": {"host": {"overhead_send": "20 us"}},
}
# Slower links make others wait for them too.
MOVED = {"overhead": ["overhead"], "latency": ["latency"], "bandwidth": ["bandwidth", "contention"]}
# A part cannot depend on a cost that was zero before the part is removed.
BELOW = {
    "overhead": ["compute", "dependency", "variability"],
    "latency": ["compute", "dependency", "variability", "overhead"],
    "bandwidth": ["compute", "dependency", "variability", "overhead", "latency"],
}


def losses(folder: Path, finished: Path, changes: dict[str, Any], nodes: list[int]) -> Path:
    """Run the tiny experiment with a scaling study on a changed network; return its results."""
    network = yaml.safe_load((pipeline.ROOT / "configs/networks/opa100-fat-tree.yaml").read_text())
    for section, values in changes.items():
        network[section] = {**network.get(section, {}), **values}
    # The check refuses latencies that are out of proportion, like these.
    simulate = {"replicas": 3, "preflight": {"enabled": False}}
    techniques = ["ext-var", "no-ext-var"]
    content = pipeline.tiny(network=network, nodes=nodes, techniques=techniques, simulate=simulate, scaling={})
    done = pipeline.run(pipeline.write(folder, content), folder, ["--measurements-from", finished])
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "results" / "tiny"


def parts(results: Path, nodes: int = 4) -> pd.Series:
    frame = pd.read_parquet(results / "scaling.parquet")
    return frame[frame["nodes"] == nodes].set_index("part")["seconds"]


@pytest.fixture(scope="module")
def base(finished: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return losses(tmp_path_factory.mktemp("scaling"), finished, {}, [1, 4])


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
def test_a_cost_moves_its_own_part(base: Path, finished: Path, tmp_path: Path, cost: str) -> None:
    before, after = parts(base), parts(losses(tmp_path, finished, OWN[cost], [4]))
    assert after[BELOW[cost]].to_dict() == pytest.approx(before[BELOW[cost]].to_dict(), abs=1e-12)
    assert after[cost] > 3 * before[cost]
    grown = after - before
    assert grown[MOVED[cost]].sum() > 0.7 * grown.sum() > 0


def test_the_report_says_where_and_why(base: Path) -> None:
    page = (base / "report.html").read_text()
    assert 'id="figure-losses"' in page and 'id="figure-losses-waterfall"' in page
    assert "The efficiency of ext-var" in page
    assert "From 1 to 4 nodes the time grows by" in page
