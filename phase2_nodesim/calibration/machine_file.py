"""The machine file of a calibration: measured figures over those of a base, each with its source on its line.

In: the base's mapping and figures by key. Out: YAML text. The text is read back with the loader's own model, so an
invalid file is never written.
"""

from __future__ import annotations

import copy
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any, get_args

from pydantic import BaseModel, ValidationError

from manynode.config import yaml_text
from manynode.config.machine import Machine
from manynode.config.resolved import included, validation_error
from manynode.errors import CheckFailedError
from manynode.paths import ROOT
from phase2_nodesim.calibration.figures import Figure, Value

_WIDTH = 110


def read_base(name: str) -> dict[str, Any]:
    """Return the mapping of a machine file: a name in ``configs/machines`` or the path of a file."""
    content = included("machine", name, "machines", ROOT, "--base")
    try:
        Machine.model_validate(copy.deepcopy(content))
    except ValidationError as error:
        raise validation_error(error, Machine, f"the base machine {name}") from None
    return content


def merged(base: Mapping[str, Any], figures: Mapping[str, Figure], base_name: str) -> dict[str, Any]:
    """Return nested mappings of figures: those given, and the base's with their source."""
    tree = _sourced(base, f"base {base_name}: not measured")
    for key, figure in figures.items():
        *sections, last = key.split(".")
        place = tree
        for section in sections:
            place = place.setdefault(section, {})
        place[last] = figure
    return _without_halves(tree)


def text(tree: Mapping[str, Any], *, name: str, description: str, remarks: Sequence[str]) -> str:
    """Return the file; ``remarks`` are its first lines. Figures that contradict each other are a failed check."""
    lines = [line for remark in remarks for line in _comment(remark)]
    lines += [f"name: {_scalar(name)}", *_folded("description", description)]
    lines += _block({key: value for key, value in tree.items() if key not in ("name", "description")}, Machine, "")
    result = "\n".join(lines) + "\n"
    try:
        Machine.model_validate(yaml_text.parse(result))
    except ValidationError as error:
        raise CheckFailedError(
            "the measured figures contradict each other, so no file was written",
            where="the calibrated machine",
            found="; ".join(str(entry["msg"]) for entry in error.errors()[:3]),
            allowed="what a machine file allows (docs/reference/experiment.md)",
            remedy="measure again with more --rounds on a quieter host, or choose a --base with as many cache levels",
        ) from None
    return result


def not_measured(tree: Mapping[str, Any], prefix: str = "") -> list[str]:
    """Return the keys whose figures are the base's."""
    found = []
    for key, value in tree.items():
        if isinstance(value, Figure):
            found += [prefix + key] if value.source.startswith("base ") else []
        else:
            found += not_measured(value, f"{prefix}{key}.")
    return found


def prefetcher_note(tree: Mapping[str, Any], base_name: str) -> str | None:
    """Return a note if prefetchers were not measured and the base has none: most hosts have some."""
    if any("prefetcher" in cache for cache in tree["caches"].values()):
        return None
    return (
        f"prefetchers were not measured, and no cache of the base {base_name} has one: what streams through memory "
        "will be simulated too slow; --base with a machine of the host's family in configs/machines has them"
    )


def _sourced(content: Mapping[str, Any], source: str) -> dict[str, Any]:
    return {
        key: _sourced(value, source) if isinstance(value, Mapping) else Figure(value, source)
        for key, value in content.items()
        if key not in ("name", "description")
    }


def _without_halves(tree: dict[str, Any]) -> dict[str, Any]:
    """Drop what cannot stand alone: caches without a latency, TLBs without a second level, figures of other domains."""
    caches = tree["caches"]
    for name in [name for name, cache in caches.items() if "latency" not in cache or "size" not in cache]:
        del caches[name]
    tlbs = tree.get("tlbs", {})
    if tlbs and not {"l1i", "l1d", "l2", "l2_latency", "walk_latency"} <= tlbs.keys():
        del tree["tlbs"]
    memory = tree["memory"]
    domains = memory.get("domains")
    if domains is not None and domains.value == 1:
        memory.pop("remote_latency", None)
    return tree


def _block(tree: Mapping[str, Any], model: type[BaseModel], indent: str) -> list[str]:
    """Return the lines of a section, in the order of its model."""
    lines = []
    for key in [key for key in model.model_fields if key in tree]:
        value = tree[key]
        if isinstance(value, Figure):
            lines.append(f"{indent}{key}: {_scalar(value.value)}  # {value.source}")
        else:
            lines += [f"{indent}{key}:", *_block(value, _section(model, key), indent + "  ")]
    return lines


def _section(model: type[BaseModel], key: str) -> type[BaseModel]:
    annotation = model.model_fields[key].annotation
    for candidate in (annotation, *get_args(annotation)):
        if isinstance(candidate, type) and issubclass(candidate, BaseModel):
            return candidate
    raise AssertionError(f"{key} is no section")


def _scalar(value: Value) -> str:
    dumped: str = yaml_text.dump(value, width=10**6)
    return dumped.removesuffix("...\n").strip()


def _comment(remark: str) -> list[str]:
    # Tables keep their lines, and options of commands their dashes.
    parts = remark.splitlines() if "\n" in remark else textwrap.wrap(remark, _WIDTH, break_on_hyphens=False)
    return [f"# {line}".rstrip() for line in parts]


def _folded(key: str, value: str) -> list[str]:
    line = f"{key}: {_scalar(value)}"
    if len(line) <= _WIDTH:
        return [line]
    words = textwrap.wrap(value, _WIDTH, break_on_hyphens=False, break_long_words=False)
    return [f"{key}: >-", *[f"  {part}" for part in words]]
