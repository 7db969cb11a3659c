"""Engines charge the copy of an eager message: a ping-pong takes its time longer, up to the eager limit."""

from __future__ import annotations

from pathlib import Path

import pytest
from half_round_trip import half_round_trip

from manynode.config.network import Network

LIMIT = 8192
COPIES = {"none": 0, "receiver": 1, "both": 2}


def network(eager_copy: str) -> Network:
    return Network.model_validate(
        {
            "name": "test",
            "topology": {"kind": "fat-tree", "children": [2], "parents": [1], "parallel_links": [1]},
            "host": {"eager_limit": f"{LIMIT} B", "eager_copy": eager_copy, "copy_bandwidth": "10 GB/s"},
        }
    )


@pytest.mark.parametrize("engine", ["fast", "simgrid"])
def test_a_ping_pong_takes_the_copies_longer(engine: str, build_dir: Path, tmp_path: Path) -> None:
    program = build_dir / "bin" / f"manynode-{engine}"
    for size in (1, 4096, LIMIT, LIMIT + 1):
        times = {kind: half_round_trip(program, tmp_path / f"{kind}-{size}", network(kind), size) for kind in COPIES}
        copy = size / 10e9 if size <= LIMIT else 0.0
        for kind, copies in COPIES.items():
            assert times[kind] - times["none"] == pytest.approx(copies * copy, abs=1e-11), (kind, size)
