"""Bills of materials: the paper's three networks by hand-checkable arithmetic (Eyerman et al., section 6.2)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import ValidationError

from manynode.config.network import Network
from manynode.config.prices import Prices
from manynode.errors import UsageError
from phase3_sst.studies.what_if.bill import bill

CONFIGS = Path(__file__).resolve().parent.parent.parent.parent / "configs"


def network(name: str, **changes: Any) -> Network:
    content = yaml.safe_load((CONFIGS / "networks" / f"{name}.yaml").read_text())
    return Network.model_validate(content | changes)


def prices() -> Prices:
    return Prices.model_validate(yaml.safe_load((CONFIGS / "prices" / "example.yaml").read_text()))


@pytest.mark.parametrize(
    ("name", "switches", "cables"),
    [
        # 96 + 96 + 48 switches of 48 ports; each of the 2 x 96 lower ones has 24 cables up.
        ("opa100-fat-tree", 240, {"host": 2048, "leaf": 96 * 24, "level2": 96 * 24}),
        # 5 x 5 x 4 switches; 4 cables to the next one in each of three dimensions.
        ("paper-torus", 100, {"host": 2048, "dim0": 400, "dim1": 400, "dim2": 400}),
        # 5 groups of 18, each joined with the 17 others; 126 global ports a group, two ports a cable.
        ("paper-dragonfly", 90, {"host": 2048, "local": 5 * 18 * 17 // 2, "global": 5 * 126 // 2}),
    ],
)
def test_the_papers_networks(name: str, switches: int, cables: dict[str, int]) -> None:
    found = bill(network(name), 2048, prices()).set_index("item")
    assert found.loc["switches", "count"] == switches
    assert {item.removeprefix("cables, "): n for item, n in found["count"].items() if "cables" in item} == cables
    assert found.loc["switches", "cost"] == switches * 15_000
    assert found.loc["nodes", "power_w"] == 2048 * 500
    copper, optical = (80, 300)
    rest = sum(count * (100 if kind == "local" else optical) for kind, count in cables.items() if kind != "host")
    assert found["cost"].sum() == 2048 * (8000 + 500 + copper) + switches * 15_000 + rest


def test_every_port_of_the_papers_switches_is_used_by_a_full_machine() -> None:
    for name in ("opa100-fat-tree", "paper-torus", "paper-dragonfly"):
        topology = network(name).topology
        cables = topology.cables()
        ports = sum(2 * count for kind, count in cables.items() if kind != "host") + cables["host"]
        assert ports == 48 * topology.switch_count(), name


def test_rails_need_adapters_and_cables() -> None:
    base = yaml.safe_load((CONFIGS / "networks" / "paper-torus.yaml").read_text())
    found = bill(network("paper-torus", host=base["host"] | {"rails": 2}), 100, prices()).set_index("item")
    assert found.loc["network adapters", "count"] == found.loc["cables, host", "count"] == 200


def test_what_does_not_fit_or_is_no_cable_is_refused() -> None:
    with pytest.raises(UsageError, match="do not fit"):
        bill(network("paper-dragonfly"), 2161, prices())
    with pytest.raises(ValidationError, match="greater than or equal to 0"):
        Prices.model_validate({**prices().model_dump(), "nic": {"price": -1}})
    wrong = prices().model_dump() | {"cables": {"optical": {"price": 1.0}}}
    with pytest.raises(UsageError, match="no class of cables"):
        bill(network("paper-torus"), 10, Prices.model_validate(wrong))
