"""Records the statistics that the tests of their parser read: one small run of a real SST per kind of topology.

Run ``python tests/golden/sst/record.py`` in a checkout whose native build has the engine sst. expected.json holds the
parser's result; check its changes by eye.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parents[2]), str(HERE.parents[1])]

import sst_machine_runs as runs  # noqa: E402

from phase3_sst.engines.sst.machine.sst_run_file import run_of  # noqa: E402
from phase3_sst.engines.sst.machine.statistics_file import PortCounts  # noqa: E402

TOPOLOGIES = {
    "fat-tree": {"kind": "fat-tree", "children": [2, 2], "parents": [1, 2], "parallel_links": [1, 1]},
    "torus": {"kind": "torus", "shape": [3], "hosts_per_switch": 1, "links_per_direction": 2},
    "dragonfly": {
        **{"kind": "dragonfly", "groups": 3, "routers_per_group": 2, "hosts_per_router": 1},
        **{"local_links": 1, "global_links": 1, "routing": "ugal"},
    },
}


def main() -> None:
    """Run SST on each topology and keep its output."""
    version = subprocess.run(["sst", "--version"], capture_output=True, text=True, check=True).stdout.strip()
    expected = {}
    for name, topology in TOPOLOGIES.items():
        hosts = list(range(3))
        motifs = runs.stock(("Init", {}), ("Alltoall", {"bytes": 3000, "iterations": 1}))
        content = runs.run_content(
            runs.network(topology=topology),
            runs.job(hosts),
            extra_parameters=motifs,
            counters={"interval_s": 1e-6, "per": "class"},
        )
        with tempfile.TemporaryDirectory() as folder:
            done = runs.run_sst(content, Path(folder))
            assert done.returncode == 0, done.stdout + done.stderr
            text = (Path(folder) / "statistics.csv").read_text()
        (HERE / f"{name}.csv").write_text(text)
        (HERE / f"{name}.json").write_text(json.dumps({"sst_version": version, **content}, indent=1) + "\n")
        counts = PortCounts(run_of(content), [text])
        expected[name] = {"links": counts.links(), "link_jobs": counts.link_jobs(), "series": counts.series()}
    (HERE / "expected.json").write_text(json.dumps(expected, indent=1) + "\n")


if __name__ == "__main__":
    main()
