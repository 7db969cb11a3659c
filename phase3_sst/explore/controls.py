"""Controls: which keys of the experiment can be changed, with unit, bounds, choices and help.

In: the base, or the experiment of a question, whose network has other keys. Out: a :class:`Control` for each key,
generated from the same fields as the defaults, the schema and the reference.
"""

from __future__ import annotations

import types
import typing
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from manynode.config.key_tables import description_of
from manynode.config.resolved import Resolved, read_yaml
from manynode.config.sections import plain, section_of
from manynode.config.written_form import quantity_of, written_value
from manynode.errors import ManynodeError
from manynode.input_file import kept_until_changed
from manynode.paths import ROOT
from phase3_sst.explore.base import Asked, Base, techniques_of
from phase3_sst.point.contract import engines

# Questions are answered in seconds with so many replicas; they are paired with the first ones of the base.
START_REPLICAS = 5
# Sections and keys that no control shows: names, and what a question may not change.
_HIDDEN = (
    "network.name",
    "network.description",
    "network.fitted_to",
    "network.node_names",
    "network.topology.kind",
    "simulate.sst",
    "simulate.preflight.vary",
    "simulate.profile_bootstrap",
)
# A faster link alone brings a node nothing if its adapter is not as fast, nor the reverse.
ENDS = ("network.link.bandwidth", "network.host.nic_bandwidth")
_LABELS = {"overhead_recv": "overhead receive", "nic_bandwidth": "NIC bandwidth", "nic_latency": "NIC latency"}


@dataclass(frozen=True)
class Control:
    """One key that a question may change.

    ``kind``: number, quantity (a text with a unit), choice, bool, text or structure (a mapping or list, as YAML).
    ``least`` and ``most`` are bounds in SI units; ``value`` is that of the experiment as its file has it, ``start`` the
    one that a new question has, where it is another. ``keys``, where not empty, are several that take the same value.
    """

    key: str
    label: str
    kind: str
    group: str
    help: str
    value: Any
    start: Any = None
    dimension: str | None = None
    least: float | None = None
    most: float | None = None
    whole: bool = False
    optional: bool = False
    choices: list[Any] = field(default_factory=list)
    scale: str = "linear"
    keys: list[str] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        """Return the control as JSON."""
        return asdict(self)


def controls(base: Base, asked: Asked) -> list[Control]:
    """Return the controls with the values of a question's experiment."""
    resolved, own = asked.resolved, base.resolved
    room = resolved.network.room() - resolved.simulate.job_nodes()
    question = asked.question
    first = [
        Control("nodes", "nodes", "number", "question", "Node count to project", question.nodes, least=1, most=room,
                whole=True, scale="log"),
        Control("technique", "technique", "choice", "question", description_of(_field(Resolved, "techniques")),
                question.technique, choices=techniques_of(asked.measured)),
        Control("losses", "waterfall of losses", "bool", "question", "Whether to simulate what the time is lost to",
                question.losses),
        Control("machine", "measured machine", "choice", "question",
                "Results folder whose measured node is used: the same application and ranks per node, measured beside "
                "the base on another machine", asked.measured.name, choices=list(base.machines)),
        Control("network", "network", "choice", "network", description_of(_field(Resolved, "network")),
                _network(base, asked), choices=sorted({*networks(), base.network})),
    ]  # fmt: skip
    network = list(_section(resolved.network, "network", "network"))
    link = next(one for one in network if one.key == ENDS[0])
    ends = replace(link, key="+".join(ENDS), keys=list(ENDS), label="bandwidth of link and NIC",
                   help="Bandwidth of every link and of each NIC, per direction: both take the same value")  # fmt: skip
    found = [*first, *network, ends, *_section(resolved.simulate, "simulate", "run")]
    replicas = min(own.simulate.replicas, START_REPLICAS)
    starts = {"simulate.replicas": replicas} if replicas != own.simulate.replicas else {}
    return [replace(one, start=starts[one.key]) if one.key in starts else one for one in found]


def _network(base: Base, asked: Asked) -> str:
    given = asked.question.changes.get("network")
    return base.network if given is None else given if isinstance(given, str) else asked.resolved.network.name


def starts(found: list[Control]) -> dict[str, Any]:
    """Return the changes that a new question has."""
    return {one.key: one.start for one in found if one.start is not None}


def networks() -> list[str]:
    """Return the names of the shipped networks."""
    return sorted(path.stem for path in _folder("networks").glob("*.yaml"))


def catalogue(base: Base) -> dict[str, list[dict[str, str]]]:
    """Return what can be chosen by name, with a description of each."""
    return {
        "networks": _described("networks"),
        "prices": _described("prices"),
        "machines": [{"name": name, "description": str(folder)} for name, folder in base.machines.items()],
        "techniques": [{"name": name, "description": ""} for name in techniques_of(base.results)],
        "engines": [{"name": name, "description": ""} for name in engines.names()],
    }


def _described(kind: str) -> list[dict[str, str]]:
    found = ((path.stem, _description(path)) for path in sorted(_folder(kind).glob("*.yaml")))
    return [{"name": name, "description": text} for name, text in found if text is not None]


@kept_until_changed
def _description(path: Path) -> str | None:
    """Return what a file says of itself, None if it cannot be read; every page that opens asks for all of them."""
    try:
        return str(read_yaml(path, path.parent.name).get("description", ""))
    except ManynodeError:
        return None


def _folder(kind: str) -> Path:
    return ROOT / "configs" / kind


def _section(section: BaseModel, key: str, group: str) -> Iterator[Control]:
    """Yield the controls of a section and of the sections in it."""
    for name, info in type(section).model_fields.items():
        place, value = f"{key}.{info.alias or name}", getattr(section, name)
        if place.startswith(_HIDDEN):
            continue
        if isinstance(value, BaseModel) and (section_of(info.annotation) is not None or name == "topology"):
            # A kind of topology has keys of its own; the whole of it can be another kind.
            if name == "topology":
                yield _control(place, info, value, "topology")
            yield from _section(value, place, name if group in ("network", "run") else group)
        else:
            yield _control(place, info, value, group)


def _control(place: str, info: FieldInfo, value: Any, group: str) -> Control:
    *_, name = place.split(".")
    written = written_value(value, info)
    common: dict[str, Any] = {
        "key": place,
        "label": _LABELS.get(name, name.replace("_", " ")),
        "group": group,
        "help": description_of(info),
        "value": written,
        "optional": _is_optional(info.annotation),
    }
    inner, quantity = plain(info.annotation), quantity_of(info)
    if place == "simulate.engine":
        return Control(**common, kind="choice", choices=engines.names())
    if typing.get_origin(inner) is typing.Literal:
        return Control(**common, kind="choice", choices=list(typing.get_args(inner)))
    if quantity is not None and not isinstance(value, list):
        common |= {"least": quantity.least, "most": quantity.most, "dimension": quantity.dimension}
        return Control(**common, kind="quantity", scale="log")
    if inner is bool:
        return Control(**common, kind="bool")
    if inner in (int, float):
        least, most = _bounds(info)
        wide = least is not None and most is not None and most > 100 * max(least, 1)
        scale = "log" if least is not None and least > 0 and (most is None or wide) else "linear"
        return Control(**common, kind="number", least=least, most=most, whole=inner is int, scale=scale)
    if inner is str:
        return Control(**common, kind="text")
    return Control(**common, kind="structure")


def _bounds(info: FieldInfo) -> tuple[float | None, float | None]:
    """Return the smallest and the largest number that a field allows; exclusive bounds are returned as they are."""
    least: float | None = None
    most: float | None = None
    for note in _notes(info):
        least = next((float(v) for v in (getattr(note, "ge", None), getattr(note, "gt", None)) if v is not None), least)
        most = next((float(v) for v in (getattr(note, "le", None), getattr(note, "lt", None)) if v is not None), most)
    return least, most


def _notes(info: FieldInfo) -> Iterator[Any]:
    yield from _flat(info.metadata)
    yield from _notes_in(info.annotation)


def _notes_in(annotation: Any) -> Iterator[Any]:
    origin = typing.get_origin(annotation)
    if origin is typing.Annotated:
        inner, *notes = typing.get_args(annotation)
        yield from _flat(notes)
        yield from _notes_in(inner)
    elif origin in (typing.Union, types.UnionType):
        for member in typing.get_args(annotation):
            yield from _notes_in(member)


def _flat(notes: Any) -> Iterator[Any]:
    """Yield notes, and those within a field that is itself a note."""
    for note in notes:
        yield from _flat(note.metadata) if isinstance(note, FieldInfo) else (note,)


def _is_optional(annotation: Any) -> bool:
    origin = typing.get_origin(annotation)
    if origin is typing.Annotated:
        return _is_optional(typing.get_args(annotation)[0])
    return origin in (typing.Union, types.UnionType) and type(None) in typing.get_args(annotation)


def _field(model: type[BaseModel], name: str) -> FieldInfo:
    return model.model_fields[name]
