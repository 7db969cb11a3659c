"""Bills of materials: the paper's three networks by hand-checkable arithmetic (Eyerman et al., section 6.2)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import ValidationError

from manynode.config.network import Network
from manynode.config.prices import Prices
from manynode.config.topology import topologies
from manynode.errors import UsageError
from phase3_sst.calibration.network_command import network as write_network
from phase3_sst.studies.what_if.bill import bill, oversized
from phase3_sst.studies.what_if.what_if_file import Alternative

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


FAST = {"link": {"bandwidth": "200 Gbit/s", "latency": "90 ns"}}


def test_a_price_that_an_alternative_changes_keeps_what_it_leaves_out() -> None:
    own = Alternative.model_validate(
        {"node": {"price": 8600}, "switch": {"watts": 300}, "cables": {"host": {"price": 7}}}
    )
    found = bill(network("paper-torus"), 100, prices(), own).set_index("item")
    assert (found.loc["nodes", "price"], found.loc["nodes", "watts"]) == (8600, 500)
    assert (found.loc["switches", "price"], found.loc["switches", "watts"]) == (15_000, 300)
    assert (found.loc["cables, host", "price"], found.loc["cables, dim0", "price"]) == (7, 300)


def test_faster_parts_cost_what_their_class_of_speed_says() -> None:
    slow = bill(network("paper-torus"), 100, prices()).set_index("item")["price"]
    links = bill(network("paper-torus", **FAST), 100, prices()).set_index("item")["price"]
    assert (slow["network adapters"], slow["switches"], slow["cables, dim0"]) == (500, 15_000, 300)
    # The adapter still has 100 Gbit/s.
    assert (links["network adapters"], links["switches"], links["cables, host"]) == (500, 25_000, 150)
    host = yaml.safe_load((CONFIGS / "networks" / "paper-torus.yaml").read_text())["host"]
    between = bill(network("paper-torus", host=host | {"nic_bandwidth": "150 Gbit/s"}), 100, prices())
    assert between.set_index("item")["price"]["network adapters"] == 1000, "150 Gbit/s need the class of 200"
    # Host links of 100, others of 200 Gbit/s: cables by their own class, switches by their fastest port.
    mixed = bill(network("infiniband-hdr100"), 100, prices()).set_index("item")["price"]
    assert (mixed["cables, host"], mixed["cables, leaf"], mixed["switches"]) == (80, 500, 25_000)
    with pytest.raises(UsageError, match=r"faster than every class.*(\n.*)*800 Gbit/s in the network"):
        bill(network("paper-torus", link={"bandwidth": "800 Gbit/s"}), 100, prices())


def test_prices_without_classes_of_speed_are_those_of_every_speed() -> None:
    plain = Prices.model_validate(prices().model_dump() | {"speeds": {}})
    assert bill(network("paper-torus", **FAST), 100, plain).equals(bill(network("paper-torus"), 100, plain))
    with pytest.raises(ValidationError, match="speeds"):
        Prices.model_validate(prices().model_dump() | {"speeds": {"fast": {}}})


def test_the_cost_over_a_life_is_the_price_and_the_energy_of_its_years_under_load() -> None:
    hours = 5 * 365.25 * 24 * 0.8
    assert prices().life_cost(1e6, 50_000) == pytest.approx(1e6 + 50 * hours * 1.3 * 0.25)
    free = Prices.model_validate(prices().model_dump() | {"energy": {}})
    assert free.life_cost(1e6, 50_000) == 1e6


def test_a_network_that_is_bought_for_many_more_nodes_is_said() -> None:
    assert oversized(network("opa100-fat-tree-4608"), 4096) == ""
    words = oversized(network("opa100-fat-tree-4608"), 256)
    assert "room for 4,608 nodes" in words and "480 switches, where about 17 would do for 256 nodes" in words
    for path in sorted((CONFIGS / "networks").glob("*.yaml")):
        whole = network(path.stem)
        assert oversized(whole, whole.room()) == "", path.stem


@pytest.mark.parametrize("kind", [kind for kind in topologies() if kind.is_sized], ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("taper", [1.0, 2.0, 3.5])
def test_a_sized_machine_has_room_few_switches_and_no_more_ports_than_a_switch(kind: Any, taper: float) -> None:
    for hosts in (1, 47, 48, 49, 256, 1000, 5000):
        for unit in (1, 4):
            made = kind.model_validate(kind.sized(hosts, 48, taper, unit))
            ports, own = made.ports_and_taper()
            assert made.hosts() >= hosts and made.hosts() % unit == 0
            assert ports <= 48 and (own <= taper + 1e-9 or made.switch_count() == 1), (hosts, made)
            assert made.switch_count() <= max(1, 8 * hosts / 48), (hosts, made)
    assert kind.sized(10**7, 3, taper) is None


def test_a_full_machine_of_the_catalogue_needs_its_own_switches() -> None:
    for name, switches in {
        "opa100-fat-tree-4608": 480,
        "opa100-fat-tree": 240,
        "paper-dragonfly": 90,
        "paper-torus": 100,
        "infiniband-hdr100": 60,
        "roce-leaf-spine": 40,
        "leonardo": 144,
    }.items():
        whole = network(name)
        needed = whole.topology.switches_needed(whole.topology.hosts(), whole.host.rails)
        assert needed == whole.topology.switch_count() == switches, name


def written(folder: Path, kind: str, base: str = "opa100-fat-tree", **options: Any) -> Network:
    path = folder / f"{kind}.yaml"
    write_network(kind, **{"nodes": 256, "base": base, "output": path, **options})
    content = yaml.safe_load(path.read_text())
    assert content["name"] == kind and f"manynode network {kind} --nodes 256" in path.read_text()
    return Network.model_validate(content)


def test_a_network_of_the_right_size_is_written_with_the_figures_of_its_base(tmp_path: Path) -> None:
    tree = written(tmp_path, "fat-tree", taper=2.0, bandwidth="200 Gbit/s")
    # 8 leaf switches with 32 nodes and 16 ports up, 4 spines with 4 cables to each.
    assert (tree.topology.switch_count(), tree.room(), oversized(tree, 256)) == (12, 256, "")
    assert tree.link.bandwidth == tree.host.nic_bandwidth == 25e9
    assert tree.host.model_copy(update={"nic_bandwidth": 12.5e9}) == network("opa100-fat-tree").host
    fly = written(tmp_path, "dragonfly", ports=48)
    assert fly.topology.switch_count() == 12 and fly.link == network("opa100-fat-tree").link
    kept = written(tmp_path, "dragonfly", base="paper-dragonfly-ugal", force=True).topology
    assert kept.routing == "ugal", "a base of the same kind gives its routing"  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("kind", "options", "said"),
    [
        ("dragonfly-plus", {}, "sizes no network of this kind"),
        ("dragon", {}, "unknown topology"),
        ("dragonfly", {}, "ports of a switch are not known"),
        ("fat-tree", {"nodes": 100_000}, "has room for so many"),
        ("fat-tree", {"base": "frontier", "ports": 64}, "adapters on several switches"),
        ("hyperx", {"base": "infiniband-hdr100", "ports": 48, "bandwidth": "fast"}, "bandwidth"),
        ("dragonfly", {"base": "marenostrum5", "ports": 48}, "link_classes|several switches"),
    ],
)
def test_a_network_that_cannot_be_sized_is_refused_and_nothing_is_written(
    tmp_path: Path, kind: str, options: dict[str, Any], said: str
) -> None:
    with pytest.raises(UsageError, match=said):
        written(tmp_path, kind, **options)
    assert not list(tmp_path.iterdir())


def test_a_network_file_is_not_replaced_without_being_asked(tmp_path: Path) -> None:
    written(tmp_path, "fat-tree")
    with pytest.raises(UsageError, match="exists"):
        written(tmp_path, "fat-tree")
    written(tmp_path, "fat-tree", force=True)
