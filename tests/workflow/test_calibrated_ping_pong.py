"""The shipped calibrated networks in the fast engine: its ping-pong is the formula's, and so the measured one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from half_round_trip import half_round_trip

from manynode.config.network import Host, Network
from manynode.config.quantities import RESOLVED
from manynode.config.resolved import read_yaml
from phase3_sst.calibration import network_file
from phase3_sst.calibration.fit import CROSSINGS_OF_RENDEZVOUS
from phase3_sst.calibration.measurements import read_measurements
from phase3_sst.calibration.pieces import Piece, evaluate
from phase3_sst.point.host_costs import overhead_segments

ROOT = Path(__file__).resolve().parent.parent.parent
DATA = ROOT / "tests" / "data" / "calibration"
MEASURED = {
    "omni-path-100": (DATA / "dahu_opa100/pingpong_calls.csv", "dahu"),
    "tofu-d": (DATA / "fugaku/riken_imb_pingpong.csv", None),
}
# Picoseconds and bytes are whole numbers in the engine.
ROUNDING = 1e-5
MOST_CHUNKS = 64
# What docs/how-to/calibrate.md claims of both files.
MEDIAN_ERROR = 0.02
LARGEST_ERROR = 0.11


def network(name: str) -> dict[str, Any]:
    return network_file.read(read_yaml(ROOT / "configs" / "networks" / f"{name}.yaml", "the network"), name)


def host_of(content: dict[str, Any]) -> Host:
    return Network.model_validate(content, context=RESOLVED).host


def formula(content: dict[str, Any], size: int) -> float:
    """The half round trip that ``docs/how-to/calibrate.md`` promises for this network file."""
    host = content["host"]
    base = network_file.base_of(content, network_file.links_between(content))
    crossings = CROSSINGS_OF_RENDEZVOUS if size > host["eager_limit"] else 1
    overhead = 0.0
    for key in ("overhead_send", "overhead_recv"):
        pieces = [Piece(*part.values()) for part in overhead_segments(host_of(content), key)]
        overhead += float(evaluate(pieces, np.array([float(size)]))[0])
    return overhead + crossings * base.crossing_s + size / min(host["nic_bandwidth"], base.link_bandwidth_Bps)


def delay_of_a_chunk(content: dict[str, Any], size: int) -> float:
    """What the engine adds where a NIC feeds a faster link: the difference of one chunk (its README)."""
    bytes_ = min(size, max(content["chunk"], size / MOST_CHUNKS))
    return bytes_ * abs(1 / content["host"]["nic_bandwidth"] - 1 / content["link"]["bandwidth"])


def simulated(build_dir: Path, folder: Path, content: dict[str, Any], size: int) -> float:
    """Half a round trip between nodes 0 and 1 in the fast engine [s]."""
    model = Network.model_validate(content, context=RESOLVED)
    return half_round_trip(build_dir / "bin" / "manynode-fast", folder, model, size)


def sizes_around_every_limit(content: dict[str, Any]) -> list[int]:
    host = content["host"]
    starts = {
        part["from_bytes"]
        for key in ("overhead_send", "overhead_recv")
        for part in overhead_segments(host_of(content), key)
    }
    limits = {*starts, round(host["eager_limit"]) + 1} - {0}
    return sorted({0, 1, 2**20, 2**24} | limits | {limit - 1 for limit in limits})


@pytest.mark.parametrize("name", MEASURED)
def test_the_engine_keeps_the_formula_around_every_limit(name: str, build_dir: Path, tmp_path: Path) -> None:
    content = network(name)
    for size in sizes_around_every_limit(content):
        time = simulated(build_dir, tmp_path / str(size), content, size)
        expected = formula(content, size)
        assert expected * (1 - ROUNDING) <= time, size
        assert time <= (expected + delay_of_a_chunk(content, size)) * (1 + ROUNDING), size


@pytest.mark.parametrize("name", MEASURED)
def test_the_engine_reproduces_the_measured_half_round_trip(name: str, build_dir: Path, tmp_path: Path) -> None:
    path, cluster = MEASURED[name]
    table = read_measurements([path], cluster=cluster)
    measured: pd.Series[float] = table[table["measure"] == "pingpong"].set_index("size_bytes")["time_s"]
    content = network(name)
    chosen = measured.iloc[:: max(1, len(measured) // 40)]
    errors = np.array(
        [
            abs(simulated(build_dir, tmp_path / str(size), content, int(size)) / time - 1)
            for size, time in chosen.items()
        ]
    )
    assert np.median(errors) < MEDIAN_ERROR
    assert errors.max() < LARGEST_ERROR
