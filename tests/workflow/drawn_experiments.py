"""Experiments drawn from the fields' own declarations: valid ones of tiny size, and ones with a few values changed.

In: a number. Out: an experiment in the form of a file. The same number gives the same experiment. Sections that the
measured phases depend on stay those of the tiny experiment: all share one set of measured runs.
"""

from __future__ import annotations

import copy
import math
import random
import types
import typing
from collections.abc import Iterator
from typing import Any

import pipeline
import yaml
from pydantic import BaseModel, TypeAdapter
from pydantic.fields import FieldInfo

from manynode import units
from manynode.config.experiment import TECHNIQUES, Experiment
from manynode.config.sections import plain, section_of

_UNITS = {"time": "s", "bandwidth": "B/s", "size": "B", "frequency": "Hz", "time_per_size": "s/B"}
# The measured runs depend on these sections: they are taken over unchanged.
_MEASURED = {"application", "ranks_per_node", "machine", "profile", "nodesim", "name"}
_ALGORITHMS = {
    "allreduce": ["ring", "recursive_doubling", "reduce_bcast", "reduce_scatter_allgather"],
    "bcast": ["binomial", "linear", "pipelined_tree"],
    "barrier": ["tree", "dissemination"],
    "reduce": ["binomial", "linear"],
}


class Draw:
    """One experiment in the making: ``content``, and ``changes`` (the keys that were changed to anything)."""

    def __init__(self, number: int, measured: bool = False) -> None:
        """With ``measured``, sections that the measured runs depend on are not touched."""
        self.rng = random.Random(number)
        self.measured = measured
        self.content = self._valid()
        self.changes: list[str] = []
        for _ in range(self.rng.choice((0, 1, 1, 1, 2, 3))):
            self._change()

    def _valid(self) -> dict[str, Any]:
        rng = self.rng
        content = copy.deepcopy(pipeline.tiny())
        content["seed"] = rng.randrange(2**63)
        content["techniques"] = rng.sample(TECHNIQUES, rng.choice((1, 1, 2)))
        content["network"], room = self._network()
        content["nodes"] = sorted(rng.sample(range(1, min(room, 9)), rng.choice((1, 2)))) if room > 2 else [1]
        if not self.measured:
            machine = pipeline.ROOT / "configs" / "machines" / "broadwell.yaml"
            content["machine"] = yaml.safe_load(machine.read_text())
            content["ranks_per_node"] = rng.choice((1, 1, 2, 3))
            parameters = content["application"]["parameters"]
            parameters |= {"nx": rng.choice((4, 8, 12)), "iterations": rng.randint(2, 8)}
        content["simulate"] = self._simulate(content, room)
        if rng.random() < 0.15:
            content["sensitivity"] = self._sensitivity(content)
        if rng.random() < 0.1 and content["simulate"]["engine"] == "fast":
            if any(name.endswith("-var") for name in content["techniques"]):
                content["scaling"] = {}
        return content

    def _network(self) -> tuple[dict[str, Any], int]:
        rng = self.rng
        shapes: list[tuple[dict[str, Any], int]] = [
            ({"kind": "fat-tree", "children": [4, 4], "parents": [1, 2], "parallel_links": [1, 1]}, 16),
            ({"kind": "fat-tree", "children": [3, 2, 2], "parents": [1, 2, 2], "parallel_links": [1, 1, 2]}, 12),
            ({"kind": "fat-tree", "children": [1], "parents": [1], "parallel_links": [1]}, 1),
            ({"kind": "torus", "shape": [3, 2], "hosts_per_switch": 2}, 12),
            ({"kind": "torus", "shape": [2, 2, 2], "hosts_per_switch": 1, "links_per_direction": 2}, 8),
            ({"kind": "torus", "shape": [2, 3, 2], "hosts_per_switch": 1, "mesh": [0, 2]}, 12),
            ({"kind": "torus", "shape": [4, 2], "hosts_per_switch": 2, "links_by_dimension": [1, 2], "mesh": [0]}, 16),
            ({"kind": "hyperx", "shape": [2, 3], "hosts_per_switch": 2, "routing": "minimal-adaptive"}, 12),
            (
                {
                    **{"kind": "dragonfly-plus", "groups": 3, "leaves_per_group": 2, "spines_per_group": 2},
                    **{"hosts_per_leaf": 2, "global_links": 2, "routing": "ugal"},
                },
                12,
            ),
            (
                {
                    **{"kind": "dragonfly-2d", "groups": 2, "rows": 2, "columns": 2},
                    **{"hosts_per_router": 2, "global_links": 1, "routing": "ugal"},
                },
                16,
            ),
            (
                {"kind": "dragonfly", "groups": 3, "routers_per_group": 2, "hosts_per_router": 2, "global_links": 1},
                12,
            ),
            (
                {"kind": "dragonfly", "groups": 1, "routers_per_group": 4, "hosts_per_router": 3, "global_links": 0},
                12,
            ),
        ]
        topology, room = copy.deepcopy(rng.choice(shapes))
        if topology["kind"] == "dragonfly":
            topology["routing"] = rng.choice(("minimal", "valiant", "ugal"))
        elif topology["kind"] == "fat-tree":
            topology["routing"] = rng.choice(("d-mod-k", "adaptive"))
        network: dict[str, Any] = {"name": "drawn", "topology": topology, "link": {}, "host": {}, "intranode": {}}
        if rng.random() < 0.3:
            network["flow_control"] = "credits"
        if rng.random() < 0.2 and room % 2 == 0:
            network["host"] |= {"rails": 2, "rail_choice": rng.choice(("by-rank", "by-message", "striped"))}
            room //= 2
        elif rng.random() < 0.2 and "flow_control" not in network:
            network["host"]["receive"] = "on-arrival"
        if rng.random() < 0.2:
            network["link_classes"] = {"host-up": {"bandwidth": "50 Gbit/s", "latency": "50 ns"}}
        if rng.random() < 0.2:
            segments = [{"from": "0 B", "time": "200 ns"}, {"from": "1 KiB", "time": "1 us", "per_byte": "0.1 ns/B"}]
            network["host"]["overhead_send"] = segments
        return network, room

    def _simulate(self, content: dict[str, Any], room: int) -> dict[str, Any]:
        rng = self.rng
        host = content["network"]["host"]
        simulate: dict[str, Any] = {"engine": "fast", "replicas": rng.choice((1, 2)), "time_limit": "60 s"}
        flows = (
            "flow_control" in content["network"]
            or "receive" in host
            or host.get("rail_choice") in ("by-message", "striped")
        )
        if rng.random() < 0.15 and not flows:
            simulate["engine"] = "simgrid"
        fast = simulate["engine"] == "fast"
        if rng.random() < 0.3:
            name = rng.choice(sorted(_ALGORITHMS))
            simulate["collectives"] = {name: rng.choice(_ALGORITHMS[name]), "rules": rng.choice(("mpich", "openmpi"))}
        if rng.random() < 0.3:
            simulate["placement"] = rng.choice(
                (
                    {"nodes": "random"},
                    {"nodes": "fragmented"},
                    {"nodes": "strided", "stride": 3},
                    {"offset": room - 1},
                    {"rank_order": "cyclic"},
                )
            )
        if rng.random() < 0.2:
            simulate["slow_node"] = {"node": 0, "factor": rng.choice((1.0, 1.5, 2.0))}
        if rng.random() < 0.2 and fast:
            simulate["counters"] = {"interval": "10 us", "per": rng.choice(("class", "link"))}
        if rng.random() < 0.2 and room - max(content["nodes"]) >= 2:
            pattern = rng.choice(("shift", "blocking-ring", "congestor-alltoall"))
            application = {"name": "patterns", "parameters": {"pattern": pattern, "iterations": 3}}
            job = {"name": "other", "application": application, "nodes": 2, "background": rng.random() < 0.5}
            if fast and "receive" not in host and rng.random() < 0.5:
                job["injection"] = {"kind": "static", "share": 0.5}
            simulate["jobs"] = [job]
        if rng.random() < 0.15:
            simulate["converge"] = {"first": 8, "iterations": rng.choice((20, 40)), "width": 0.05}
        return simulate

    def _sensitivity(self, content: dict[str, Any]) -> dict[str, Any]:
        rng = self.rng
        parameters = {
            "bandwidth": {"keys": ["network.link.bandwidth"], "values": ["20 Gbit/s", "100 Gbit/s"]},
            "latency": {"keys": ["network.switch_latency"], "values": ["50 ns", "1 us"]},
            "eager": {"keys": ["network.host.eager_limit"], "values": ["1 KiB", "64 KiB"]},
            "rules": {"keys": ["simulate.collectives.rules"], "values": ["mpich", "openmpi"]},
        }
        chosen = rng.sample(sorted(parameters), rng.choice((1, 2)))
        study: dict[str, Any] = {"parameters": {name: parameters[name] for name in chosen}}
        study["plan"] = rng.choice(("grid", "one-at-a-time", "sobol"))
        if study["plan"] == "sobol":
            study["samples"] = 2
            study["parameters"] = {"latency": {"keys": ["network.link.latency"], "low": "10 ns", "high": "1 us"}}
        study["nodes"] = [content["nodes"][-1]]
        return study

    def _change(self) -> None:
        """Change one declared key of an existing section to a value from its declaration, or to any other value."""
        places = [place for place in _fields(Experiment, self.content, ()) if self._may(place[0])]
        # What is simulated below is the network and phase 3: most of the changes go there.
        weights = [3 if path[0] in ("network", "simulate", "sensitivity") else 1 for path, _ in places]
        ((path, field),) = self.rng.choices(places, weights)
        section = self.content
        for part in path[:-1]:
            if not isinstance(section.get(part), dict):
                section[part] = {}
            section = section[part]
        key = field.alias or path[-1]
        kind = self.rng.random()
        if kind < 0.05:
            section[f"{key}x"] = 1
        elif kind < 0.08:
            section.pop(key, None)
        else:
            section[key] = self._value(field)
        self.changes.append(f"{'.'.join(path)} = {section.get(key)!r}")

    def _may(self, path: tuple[str, ...]) -> bool:
        # Where the results go, and what ends a simulation that hangs, are not drawn.
        return path[0] not in (_MEASURED if self.measured else {"name"}) and path != ("simulate", "time_limit")

    def _value(self, field: FieldInfo) -> Any:
        if self.rng.random() < 0.08:
            return self.rng.choice((None, True, -1, 0, 1.5, math.nan, math.inf, "", "nonsense", [], {}, [1], "1e400 s"))
        annotation = typing.Annotated[(field.annotation, *field.metadata)] if field.metadata else field.annotation
        return self._of_schema(TypeAdapter(annotation).json_schema())

    def _of_schema(self, schema: dict[str, Any]) -> Any:
        rng = self.rng
        if "anyOf" in schema:
            return self._of_schema(rng.choice(schema["anyOf"]))
        if "x-dimension" in schema:
            return self._quantity(schema)
        if "enum" in schema or "const" in schema:
            return rng.choice((*schema.get("enum", [schema.get("const")]), "bogus"))
        kind = schema.get("type")
        if kind in ("integer", "number"):
            return self._number(schema, whole=kind == "integer")
        if kind == "boolean":
            return rng.choice((True, False, "yes", 1))
        if kind == "null":
            return None
        if kind == "array":
            items = schema.get("items", {})
            return [self._of_schema(items) for _ in range(rng.choice((1, 1, 2)))]
        if kind == "string":
            return rng.choice(("auto", "fast", "ring", "bogus", "x y", "\u00e4", "../up", "'"))
        return rng.choice(({}, {"kind": "none"}, {"kind": "torus"}, {"a": 1}))

    def _quantity(self, schema: dict[str, Any]) -> str:
        dimension = schema["x-dimension"]
        least, most = (units.parse(text.strip(" <>="), dimension) for text in schema["x-bounds"].split(","))
        lowest = least or most * 1e-15
        within = math.exp(self.rng.uniform(math.log(lowest), math.log(most)))
        value = self.rng.choice((*[within] * 6, least, most, -1.0, most * 10, least / 10, 1e30, 0.1))
        if dimension == "size" and value == within:
            value = round(value)
        return f"{value!r} {self.rng.choice((_UNITS[dimension],) * 19 + ('nonsense',))}"

    def _number(self, schema: dict[str, Any], *, whole: bool) -> Any:
        """Return a number within its bounds (of tiny size if it is a count), at a bound, or beyond."""
        rng = self.rng
        least = schema.get("minimum", schema.get("exclusiveMinimum", 0))
        most = schema.get("maximum", schema.get("exclusiveMaximum", 1))
        if whole:
            near = rng.randint(least, min(most, least + 4))
            return rng.choice((*[near] * 7, least - 1, most + 1, 10**12, 10**30, True, 2.0, str(near)))
        within = rng.uniform(least, most)
        return rng.choice((*[within] * 5, least, most, least - 1, most * 2, math.inf, math.nan, 1e300, True))


def _fields(model: type[BaseModel], given: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], FieldInfo]]:
    """Yield every declared key below ``given``, of existing sections and of those with defaults."""
    for name, field in model.model_fields.items():
        here = (*path, name)
        yield here, field
        value = given.get(name) if isinstance(given, dict) else None
        inner = section_of(field.annotation)
        if inner is not None and (value is not None or not _optional(field.annotation)):
            yield from _fields(inner, value, here)
        elif isinstance(value, dict) and "kind" in value:
            for member in typing.get_args(plain(field.annotation)):
                section = section_of(member)
                kind = section.model_fields.get("kind") if section is not None else None
                if section is not None and kind is not None and value["kind"] in typing.get_args(kind.annotation):
                    yield from _fields(section, value, here)


def _optional(annotation: Any) -> bool:
    return typing.get_origin(annotation) in (typing.Union, types.UnionType) and type(None) in typing.get_args(
        annotation
    )
