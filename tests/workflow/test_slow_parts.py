"""The effect of one slow node and one slow link on the whole job, as a sensitivity study with the real engine."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pipeline
import pytest
import yaml


@pytest.mark.long
def test_one_slow_node_slows_the_job_and_one_slow_link_what_crosses_it(finished: Path, tmp_path: Path) -> None:
    network = yaml.safe_load((pipeline.ROOT / "configs/networks/opa100-fat-tree.yaml").read_text())
    network["slow_links"] = [{"between": ["host-0", "leaf-0"], "bandwidth_share": 1.0}]
    parameters = {
        "slow node": {"keys": ["simulate.slow_node.factor"], "values": [1.0, 1.25, 1.5], "scale": "linear"},
        "slow link": {"keys": ["network.slow_links.0.bandwidth_share"], "values": [1.0, 0.5, 0.01]},
    }
    techniques = ["ext-const", "ext-var"]
    study = {"plan": "one-at-a-time", "techniques": techniques, "parameters": parameters}
    content = pipeline.tiny(nodes=[4], techniques=techniques, network=network, sensitivity=study)
    done = pipeline.run(pipeline.write(tmp_path, content), tmp_path, ["--measurements-from", finished])
    assert done.returncode == 0, done.stdout + done.stderr
    results = tmp_path / "results" / "tiny"
    points = pd.read_parquet(results / "sensitivity.parquet").set_index("technique")
    own = pd.read_parquet(results / "projection.parquet").set_index("technique")["time_s"]
    compute = pd.read_parquet(results / "breakdown.parquet").query("operation == 'compute'")
    for technique in techniques:
        nodes = points.loc[technique].query("varied == 'slow node'").set_index("slow node")["time_s"]
        links = points.loc[technique].query("varied == 'slow link'").set_index("slow link")["time_s"]
        assert nodes[1.0] == links[1.0] == own[technique]
        assert nodes.is_monotonic_increasing
        # All wait for the slow node in every iteration, which computes half as long again.
        alone = float(compute.set_index("technique").loc[technique, "seconds"])
        assert 0.4 * alone < nodes[1.5] - nodes[1.0] < 0.55 * alone
        assert links[1.0] < links[0.5] < links[0.01]
    assert 'id="figure-sensitivity-slow-node"' in (results / "report.html").read_text()
