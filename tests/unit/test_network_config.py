"""The network section: overheads in both forms, rails, classes of links, and what does not fit together."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest
from pydantic import ValidationError

from manynode.config.network import Network
from manynode.config.quantities import RESOLVED
from manynode.config.resolved import read_yaml, validation_error
from manynode.paths import ROOT
from phase3_sst.point.host_costs import bandwidth_of_run, overhead_segments
from phase3_sst.point.run_file import network_description

TORUS: dict[str, Any] = {"kind": "torus", "shape": [4, 3], "hosts_per_switch": 2}


def network(**sections: Any) -> Network:
    return Network.model_validate({"name": "test", "topology": TORUS, **sections})


def message(**sections: Any) -> str:
    with pytest.raises(ValidationError) as caught:
        network(**sections)
    return validation_error(caught.value, Network, "test").render()


@pytest.mark.parametrize("name", sorted(path.stem for path in (ROOT / "configs/networks").glob("*.yaml")))
def test_every_shipped_network_is_valid_and_fits_the_schema(name: str) -> None:
    content = read_yaml(ROOT / f"configs/networks/{name}.yaml", "the network")
    assert Network.model_validate(content).name == name
    jsonschema.validate(content, Network.model_json_schema())


def test_the_machines_of_the_paper_differ_in_their_topology_only() -> None:
    networks = [
        Network.model_validate(read_yaml(ROOT / f"configs/networks/{name}.yaml", "the network"))
        for name in ("opa100-fat-tree", "paper-torus", "paper-dragonfly")
    ]
    assert [n.topology.kind for n in networks] == ["fat-tree", "torus", "dragonfly"]
    assert [n.room() for n in networks] == [2304, 2400, 2160]
    rest = [n.model_dump(exclude={"name", "description", "topology"}) for n in networks]
    assert rest[0] == rest[1] == rest[2]


def test_an_overhead_of_one_value_is_one_segment() -> None:
    host = network(host={"overhead_send": "350 ns", "overhead_per_byte": "0.02 ns/B"}).host
    assert overhead_segments(host, "overhead_send") == [
        {"from_bytes": 0, "seconds": pytest.approx(350e-9), "seconds_per_byte": pytest.approx(2e-11)}
    ]


def test_an_overhead_by_segments_keeps_their_sizes() -> None:
    segments = [{"from": "0 B", "time": "300 ns"}, {"from": "8 KiB", "time": "1 us", "per_byte": "0.1 ns/B"}]
    host = network(host={"overhead_recv": segments}).host
    assert overhead_segments(host, "overhead_recv") == [
        {"from_bytes": 0, "seconds": pytest.approx(3e-7), "seconds_per_byte": 0.0},
        {"from_bytes": 8192, "seconds": pytest.approx(1e-6), "seconds_per_byte": pytest.approx(1e-10)},
    ]


def test_a_resolved_network_reads_back_as_itself() -> None:
    segments = [{"from": "0 B", "time": "300 ns"}, {"from": "1 KiB", "time": "400 ns"}]
    model = network(
        topology={"kind": "fat-tree", "children": [4, 4], "parents": [1, 4], "parallel_links": [1, 1], "taper": [2]},
        host={
            "overhead_send": segments,
            "copy_bandwidth": [{"from": "0 B", "bandwidth": "9 GB/s"}],
            "rails": 2,
            "rail_choice": "striped",
            "receive": "on-arrival",
        },
        link_classes={"leaf-up": {"bandwidth": "50 Gbit/s", "latency": "1 us"}},
        contention=False,
    )
    resolved = json.loads(json.dumps(model.model_dump(mode="json")))
    again = Network.model_validate(resolved, context=RESOLVED)
    assert again.model_dump(mode="json") == resolved
    assert again == model
    assert resolved["topology"]["parents"] == [1, 2]
    assert "taper" not in resolved["topology"]


def test_a_rate_of_the_processor_is_one_value_or_grows_by_segments() -> None:
    segments = [{"from": "0 B", "bandwidth": "20 GB/s"}, {"from": "1 MiB", "bandwidth": "6 GB/s"}]
    host = network(host={"reduce_bandwidth": segments, "copy_bandwidth": "10 GB/s"}).host
    assert bandwidth_of_run(host.reduce_bandwidth) == [
        {"from_bytes": 0, "bandwidth_Bps": 20e9},
        {"from_bytes": 2**20, "bandwidth_Bps": 6e9},
    ]
    assert host.copy_bandwidth == 10e9
    assert network().host.copy_bandwidth is None
    assert network().host.fresh_bandwidth is None


@pytest.mark.parametrize("key", ["reduce_bandwidth", "copy_bandwidth", "fresh_bandwidth"])
def test_a_wrong_rate_of_the_processor_is_named(key: str) -> None:
    segments = [{"from": "0 B", "bandwidth": "20 GB/s"}, {"from": "0 B", "bandwidth": "6 GB/s"}]
    assert f"{key}: the first segment must begin at 0 B" in message(host={key: segments})
    assert f"host: {key}" in message(host={key: []})
    assert f"host: {key}" in message(host={key: "20 ns"})
    assert "unknown key; did you mean 'bandwidth'?" in message(host={key: [{"from": "0 B", "bandwith": "1 GB/s"}]})


@pytest.mark.parametrize("starts", [["1 B"], ["0 B", "0 B"], ["0 B", "2 KiB", "1 KiB"]])
def test_segments_that_do_not_grow_from_zero_are_refused(starts: list[str]) -> None:
    segments = [{"from": start, "time": "1 us"} for start in starts]
    for key in ("overhead_send", "message_latency"):
        assert f"{key}: the first segment must begin at 0 B" in message(host={key: segments})


@pytest.mark.parametrize("overhead", ["-1 ns", 3, None, [], [{"from": "0 B"}], [{"from": "0 B", "time": "-1 ns"}], {}])
def test_a_wrong_overhead_is_named(overhead: object) -> None:
    assert "host: overhead_recv" in message(host={"overhead_recv": overhead})


def test_a_misspelt_key_of_a_segment_is_named_with_its_place_in_the_list() -> None:
    text = message(host={"overhead_send": [{"form": "0 B", "time": "1 us"}]})
    assert "host: overhead_send: 0: form: unknown key; did you mean 'from'?" in text


def test_a_cost_per_byte_that_nothing_uses_is_refused() -> None:
    segments = [{"from": "0 B", "time": "1 us"}]
    host = {"overhead_send": segments, "overhead_recv": segments, "overhead_per_byte": "1 ns/B"}
    assert "overhead_per_byte has no effect with segments" in message(host=host)
    assert network(host={**host, "overhead_recv": "1 us"}).host.overhead_per_byte > 0


@pytest.mark.parametrize("key", ["input_buffer", "output_buffer"])
def test_a_buffer_has_room_for_a_chunk(key: str) -> None:
    assert f"{key}: 2047 B cannot hold a chunk of 2048 B" in message(**{key: "2047 B"})
    assert getattr(network(**{key: "2 KiB"}), key) == 2048


def test_flow_control_goes_with_contention_and_chunks() -> None:
    assert network().flow_control == "auto"
    assert network(contention=False).flow_control == "auto", "it becomes none where there is nothing to control"
    assert "flow_control: needs contention" in message(flow_control="credits", contention=False)
    assert "flow_control: host: receive: on-arrival" in message(flow_control="credits", host={"receive": "on-arrival"})


def test_flow_control_and_buffers_reach_the_run_file() -> None:
    described = network_description(network(flow_control="credits", input_buffer="64 KiB"))
    assert described["flow_control"] == "credits"
    assert described["input_buffer_bytes"] == 65536
    assert "output_buffer_bytes" not in described


def test_rails_share_the_hosts_of_the_topology() -> None:
    assert network(host={"rails": 4}).room() == 6
    assert "rails: 5 NICs per node do not divide the 24 hosts" in message(host={"rails": 5})


def test_a_class_of_links_that_the_topology_lacks_is_refused_with_the_nearest() -> None:
    override = {"bandwidth": "1 Gbit/s", "latency": "1 us"}
    assert network(link_classes={"dim1-plus": override}).link_classes["dim1-plus"].latency == pytest.approx(1e-6)
    assert "did you mean 'dim1-plus'?" in message(link_classes={"dim1-plsu": override})
    assert "link_classes: host-up: latency: this key is missing" in message(
        link_classes={"host-up": {"bandwidth": "1 Gbit/s"}}
    )
