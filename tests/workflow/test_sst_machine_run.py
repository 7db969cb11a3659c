"""The sst engine's machine in a real SST, with ember's own motifs: what messages cost, rates, routes, no deadlock."""

from __future__ import annotations

import csv
import json
import re
import subprocess
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
import sst_machine_runs as runs

from phase3_sst.engines.sst.machine.links import link_of_port
from phase3_sst.engines.sst.machine.sst_run_file import run_of
from phase3_sst.engines.sst.machine.statistics_file import PortCounts

pytestmark = pytest.mark.skipif(bool(runs.lacking()), reason=f"needs SST: {runs.lacking()}")

# Bytes that firefly adds to a message: its own headers and those of the protocol. All of them are on the wire.
HEADER_BYTES = 45


def ping_pong(
    net: dict[str, Any], size: int, folder: Path, hosts: tuple[int, int] = (0, 15), ranks_per_node: int = 1
) -> float:
    """Return the time of one message."""
    motifs = runs.stock(("Init", {}), ("PingPong", {"messageSize": size, "iterations": 2}), ("Fini", {}))
    done = runs.run_sst(runs.run_content(net, runs.job(list(hosts), ranks_per_node), extra_parameters=motifs), folder)
    found = re.search(r"total time ([\d.]+) us, loop (\d+)", done.stdout)
    assert found, done.stdout + done.stderr
    return float(found[1]) / int(found[2]) / 2 * 1e-6


def formula(net: dict[str, Any], size: int, links: int) -> float:
    """The time of a message between two nodes in the model of phase3_sst/engines/fast/README.md."""
    host = net["host"]
    overhead = sum(
        part["seconds"] + part["seconds_per_byte"] * size for part in (*host["overhead_send"], *host["overhead_recv"])
    )
    path = 2 * host["nic_latency_s"] + links * net["link"]["latency_s"] + (links - 1) * net["switch_latency_s"]
    crossings = 1 if size <= host["eager_limit_bytes"] else 3
    return overhead + crossings * path + size / min(net["link"]["bandwidth_Bps"], host["nic_bandwidth_Bps"])


@pytest.mark.parametrize("size", [0, 8, 512, 2048, 8192, 8193, 1 << 20])
@pytest.mark.parametrize(("hosts", "links"), [((0, 1), 2), ((0, 15), 4)])
def test_a_message_costs_the_formula_and_its_headers(
    size: int, hosts: tuple[int, int], links: int, tmp_path: Path
) -> None:
    net = runs.network()
    extra = ping_pong(net, size, tmp_path, hosts) - formula(net, size, links)
    headers = HEADER_BYTES if size <= 8192 else 2 * HEADER_BYTES
    # Delays are whole nanoseconds, starts are multiples of the crossbar's clock.
    assert extra == pytest.approx(headers / 12.5e9, abs=3e-9)


@pytest.mark.parametrize("gigabits", [20, 40, 100, 200, 400, 1000])
@pytest.mark.parametrize("eager", [False, True])
def test_ping_pong_reaches_the_rate_of_the_links(gigabits: int, eager: bool, tmp_path: Path) -> None:
    rate = gigabits / 8 * 1e9
    net = runs.at_rate(rate, eager_limit_bytes=1 << 26 if eager else 8192)
    size = 16 << 20
    assert size / ping_pong(net, size, tmp_path) >= 0.95 * rate


def test_latency_grows_with_that_of_the_links_one_to_one(tmp_path: Path) -> None:
    latencies = [40e-9, 90e-9, 200e-9, 500e-9, 1000e-9]
    times = [ping_pong(runs.at_rate(12.5e9, latency), 8, tmp_path / str(latency)) for latency in latencies]
    for (shorter, before), (longer, after) in zip(
        zip(latencies, times, strict=True), list(zip(latencies, times, strict=True))[1:], strict=False
    ):
        assert (after - before) / (longer - shorter) / 4 == pytest.approx(1, abs=0.01)


def test_within_a_node_long_messages_cost_the_formula(tmp_path: Path) -> None:
    net = runs.network()
    for size, copied, crossings in ((0, 0, 1), (8, 0, 1), (65536, 65536, 3)):
        overhead = 2 * (350e-9 + 0.02e-9 * size)
        wanted = overhead + crossings * 300e-9 + copied / 8e9
        assert ping_pong(net, size, tmp_path / str(size), ranks_per_node=2) == pytest.approx(wanted, rel=0.005)


def alltoall(topology: dict[str, Any], hosts: list[int], size: int, **sst: Any) -> dict[str, Any]:
    motifs = runs.stock(("Init", {}), ("Alltoall", {"bytes": size, "iterations": 1}))
    content = runs.run_content(runs.network(topology=topology), runs.job(hosts, **sst), extra_parameters=motifs)
    content["run"]["jobs"][0]["application"]["parameters"] = {
        **{"pattern": "collective", "collective": "alltoall"},
        **{"bytes": size, "iterations": 1},
    }
    content["run"]["collectives"] = {"alltoall": "pairwise"}
    return content


def fast_links(content: dict[str, Any], folder: Path, build_dir: Path) -> dict[int, dict[str, str]]:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "fast.json").write_text(json.dumps(content["run"]))
    subprocess.run(
        [build_dir / "bin" / "manynode-fast", folder / "fast.json", "--output", folder / "fast"],
        check=True,
        timeout=60,
    )
    with (folder / "fast" / "links.csv").open() as rows:
        return {int(row["link"]): row for row in csv.DictReader(rows)}


DRAGONFLY = {"kind": "dragonfly", "hosts_per_router": 2}
PLUS = {"kind": "torus", "routing": "dimension-order-plus"}
SAME_ROUTES: dict[str, dict[str, Any]] = {
    "full tree": runs.FULL_TREE,
    "tapered tree": {"kind": "fat-tree", "children": [8, 2], "parents": [1, 2], "parallel_links": [1, 1]},
    "parallel cables": {"kind": "fat-tree", "children": [4, 4], "parents": [1, 2], "parallel_links": [1, 2]},
    "like omni-path-100": {
        "kind": "fat-tree",
        "children": [4, 4, 4],
        "parents": [1, 4, 2],
        "parallel_links": [1, 1, 2],
    },
    "torus of odd rings": {"kind": "torus", "shape": [3, 5], "hosts_per_switch": 2, "links_per_direction": 1},
    "torus of even rings, merlin's ties": {**PLUS, "shape": [4, 2, 3], "hosts_per_switch": 2, "links_per_direction": 1},
    "torus of several cables, as merlin": {**PLUS, "shape": [4, 5], "hosts_per_switch": 2, "links_per_direction": 3},
    "dragonfly": {**DRAGONFLY, "groups": 5, "routers_per_group": 2, "local_links": 1, "global_links": 2},
    "dragonfly of several cables, as merlin": {
        **{**DRAGONFLY, "groups": 3, "routers_per_group": 3, "local_links": 2, "global_links": 2},
        "routing": "minimal-by-source",
    },
}
# The same bytes per class, but merlin chooses among parallel cables in its own way.
OTHER_CABLES: dict[str, dict[str, Any]] = {
    "tapered, parallel cables": {"kind": "fat-tree", "children": [8, 4], "parents": [1, 2], "parallel_links": [1, 2]},
    "tapered in the middle": {
        "kind": "fat-tree",
        "children": [4, 4, 2],
        "parents": [1, 2, 4],
        "parallel_links": [1, 1, 1],
    },
    "torus of several cables": {"kind": "torus", "shape": [3, 5], "hosts_per_switch": 2, "links_per_direction": 2},
    "dragonfly, local cables": {**DRAGONFLY, "groups": 3, "routers_per_group": 2, "local_links": 2, "global_links": 1},
}


@pytest.mark.parametrize("name", [*SAME_ROUTES, *OTHER_CABLES])
def test_links_carry_what_they_carry_in_the_fast_engine(name: str, tmp_path: Path, build_dir: Path) -> None:
    topology = {**SAME_ROUTES, **OTHER_CABLES}[name]
    size, hosts = 1000, [0, 1, 3, 4, 7, 8, 10, 11]
    content = alltoall(topology, hosts, size)
    fast = fast_links(content, tmp_path, build_dir)
    done = runs.run_sst(content, tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    run = run_of(content)
    by_number = {link.id: link for link in link_of_port(run).values()}
    for number, row in fast.items():
        link = by_number[number]
        assert (link.cls, link.source, link.target) == (row["class"], row["source"], row["target"])
    rows = PortCounts(run, [(tmp_path / "statistics.csv").read_text()]).links()
    carried = {row["link"]: row["bytes"] for row in rows}
    wanted = {number: int(row["bytes"]) // size * (size + HEADER_BYTES) for number, row in fast.items()}
    if name in SAME_ROUTES:
        assert carried == wanted
    else:
        assert by_class(carried, by_number) == by_class(wanted, by_number)


def by_class(carried: dict[int, int], links: dict[int, Any]) -> dict[str, int]:
    sums: dict[str, int] = defaultdict(int)
    for number, size in carried.items():
        sums[links[number].cls] += size
    return sums


ROUTINGS: list[tuple[str, dict[str, Any]]] = [
    ("adaptive", {**runs.FULL_TREE, "routing": "adaptive"}),
    *(
        (f"{routing}, {groups} groups", {**DRAGONFLY, "groups": groups, "routers_per_group": 3, "local_links": 1,
                                         "global_links": 0 if groups == 1 else 2, "routing": routing})
        for routing in ("valiant", "ugal")
        for groups in (1, 2, 4)
    ),
]  # fmt: skip


@pytest.mark.parametrize("topology", [case[1] for case in ROUTINGS], ids=[case[0] for case in ROUTINGS])
def test_routings_that_choose_deliver_everything(topology: dict[str, Any], tmp_path: Path) -> None:
    content = alltoall(topology, [0, 1, 2, 3, 4, 5], 20000)
    done = runs.run_sst(content, tmp_path)
    assert "Simulation is complete, simulated time" in done.stdout, done.stdout + done.stderr
    rows = PortCounts(run_of(content), [(tmp_path / "statistics.csv").read_text()]).links()
    down = sum(row["bytes"] for row in rows if row["class"] == "host-down")
    assert down == sum(row["bytes"] for row in rows if row["class"] == "host-up") > 30 * 20000


TREE_OF_64 = {"kind": "fat-tree", "children": [8, 8], "parents": [1, 8], "parallel_links": [1, 1]}


@pytest.mark.parametrize(("size", "ranks_per_node"), [(8192, 1), (1000, 4), (20000, 4)])
def test_all_send_to_one_and_all_to_all_end(size: int, ranks_per_node: int, tmp_path: Path) -> None:
    hosts = list(range(64))
    for motif, arguments in (
        ("NtoM", {"messageSize": size, "iterations": 4, "numRecvBufs": 2, "targetRankList": 0}),
        ("Alltoall", {"bytes": min(size, 8192), "iterations": 1}),
    ):  # fmt: skip
        motifs = runs.stock(("Init", {}), (motif, arguments), ("Fini", {}))
        content = runs.run_content(
            runs.network(topology=TREE_OF_64), runs.job(hosts, ranks_per_node), extra_parameters=motifs
        )
        done = runs.run_sst(content, tmp_path / motif)
        assert "Simulation is complete, simulated time" in done.stdout, done.stdout[-2000:] + done.stderr[-2000:]
        assert "Event queue empty" not in done.stdout


def test_threads_change_no_count(tmp_path: Path) -> None:
    content = alltoall(runs.FULL_TREE, list(range(16)), 1000, ranks_per_node=2)
    content["run"]["counters"] = {"interval_s": 2e-5, "per": "link"}
    found = []
    for threads in ("1", "2"):
        assert runs.run_sst(content, tmp_path / threads, "-n", threads).returncode == 0
        counts = PortCounts(run_of(content), [(tmp_path / threads / "statistics.csv").read_text()])
        found.append((counts.links(), counts.series()))
    assert found[0] == found[1]
    links, series = found[0]
    assert sum(row["bytes"] for row in links) == sum(row["bytes"] for row in series)


def test_a_users_mistake_is_one_line_of_json(tmp_path: Path) -> None:
    done = runs.run_sst(runs.run_content(runs.network(contention=False), runs.job([0])), tmp_path)
    assert done.returncode == 2
    assert json.loads(done.stderr.strip().splitlines()[-1])["error"]["where"] == "network.contention"
