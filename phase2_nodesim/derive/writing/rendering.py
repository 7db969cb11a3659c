"""A derived skeleton as the text of its file: one line for each call, to read and to edit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import yaml

from manynode.config import yaml_text

_WIDTH = 10_000  # a call is never broken into lines
_FIRST = ("call", "compute", "site", "when")
# What has a line of its own per entry; everything else is on one line if it fits.
_BLOCKS = ("parameters", "definitions", "phases", "sites", "doubts", "recorded", "body", "do", "communicators")


class _OneLine(dict[str, Any]):
    """A mapping in braces."""


class _Dumper(yaml_text.Dumper):
    """Writes entries of lists below their key, indented."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        super().increase_indent(flow, False)


def _in_braces(dumper: yaml.SafeDumper, value: _OneLine) -> yaml.Node:
    return dumper.represent_mapping("tag:yaml.org,2002:map", value, flow_style=True)


def _in_brackets(dumper: yaml.SafeDumper, value: tuple[Any, ...]) -> yaml.Node:
    return dumper.represent_sequence("tag:yaml.org,2002:seq", value, flow_style=True)


_Dumper.add_representer(_OneLine, _in_braces)
_Dumper.add_representer(tuple, _in_brackets)


def rendered(content: Mapping[str, Any]) -> str:
    """Return the text of a skeleton's file."""
    return yaml.dump(_block(content), Dumper=_Dumper, sort_keys=False, width=_WIDTH, allow_unicode=True)


def _texts(doubt: Mapping[str, Any]) -> _OneLine:
    """Return a doubt on one line; its hypotheses stay texts."""
    return _OneLine({key: tuple(value) if isinstance(value, list) else value for key, value in doubt.items()})


def _block(content: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in content.items():
        if key == "doubts":
            found[key] = [_texts(doubt) for doubt in value]
        elif key in _BLOCKS and isinstance(value, list):
            found[key] = [_block(_sorted(entry)) if _nested(entry) else _line(entry) for entry in value]
        elif key in _BLOCKS and isinstance(value, Mapping):
            found[key] = {name: _line(entry) for name, entry in value.items()}
        else:
            found[key] = _line(value)
    return found


def _sorted(item: Mapping[str, Any]) -> dict[str, Any]:
    """Return a loop or a group with its items last."""
    return {key: item[key] for key in [*(key for key in _ordered(item) if key != "do"), "do"]}


def _nested(entry: Any) -> bool:
    return isinstance(entry, Mapping) and "do" in entry


def _ordered(item: Mapping[str, Any]) -> list[str]:
    """Return the keys of an item: what happens and when, then the rest."""
    first = [key for key in _FIRST if key in item]
    return [*first, *(key for key in item if key not in first)]


def _line(value: Any) -> Any:
    """Return a value that is written on one line; a number in a text becomes one."""
    if isinstance(value, Mapping):
        return _OneLine({key: _line(value[key]) for key in _ordered(value)})
    if isinstance(value, list | tuple):
        return tuple(map(_line, value))
    return int(value) if isinstance(value, str) and value.isdecimal() and str(int(value)) == value else value
