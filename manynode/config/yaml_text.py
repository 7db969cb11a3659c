"""Reads YAML text into the types of JSON. No input causes a traceback, a hang or exhausted memory.

In: text. Out: mappings (with text or whole-number keys), lists, texts, numbers, booleans and None. Other YAML types
(dates, sets, binary data, Python objects) are refused, as are duplicate keys, control characters, ambiguous numbers
(010, 1:30) and aliases that would expand to a large content. Experiments, machines, networks, studies and values of
``--set`` are read here, and written.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import yaml

MOST_CHARACTERS = 4 * 2**20
"""Limit for a text, with and without its aliases written out."""

_MOST_LEVELS = 50
# Reading this many entries takes about ten seconds.
_MOST_ENTRIES = 200_000
# Python needs quadratic time for YAML's sexagesimal numbers, and refuses to print integers of 4,300 digits.
_MOST_OF_A_NUMBER = 100

_TAG = "tag:yaml.org,2002:"
# Control characters except tab and line feed, and halves of surrogate pairs: no report or terminal can show them.
_UNSHOWABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")

_Size = tuple[int, int]
"""Characters and levels of a node's content."""


def parse(text: str) -> Any:
    """Return the content of ``text``; a :class:`ValueError` names line, column and mistake."""
    if len(text) > MOST_CHARACTERS:
        raise ValueError(f"the text has {len(text)} characters; the limit is {MOST_CHARACTERS}")
    try:
        loader = _Loader(text)
        # Error messages use this name.
        loader.name = "the text"
        try:
            node = loader.get_single_node()
            if node is None:
                return None
            _measure(node, {})
            return loader.construct_document(node)
        finally:
            loader.dispose()
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise ValueError(f"line {line} has the control character U+{ord(text[error.position]):04X}") from None
    except yaml.YAMLError as error:
        raise ValueError(str(error).replace('in "the text", ', "in ")) from None
    except RecursionError:
        raise ValueError(f"nested more than {_MOST_LEVELS} levels deep") from None


def dump(content: Any, **options: Any) -> str:
    """Return ``content`` as text that :func:`parse` reads back; ``options`` are those of ``yaml.dump``."""
    text: str = yaml.dump(content, Dumper=Dumper, **{"sort_keys": False, **options})
    return text


def unshowable(text: str) -> str | None:
    """Return the first character of ``text`` that cannot be shown (such as U+001B), or None."""
    match = _UNSHOWABLE.search(text)
    return None if match is None else f"U+{ord(match[0]):04X}"


class _Loader(yaml.SafeLoader):
    """The safe loader without the types that JSON lacks."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._entries = 0

    def compose_node(self, parent: Any, index: Any) -> yaml.Node | None:
        self._entries += 1
        if self._entries > _MOST_ENTRIES:
            place = self.peek_event().start_mark  # type: ignore[no-untyped-call]
            place = self.peek_event().start_mark  # type: ignore[no-untyped-call]
            raise yaml.composer.ComposerError(None, None, f"more than {_MOST_ENTRIES} entries", place)
        return super().compose_node(parent, index)

    def compose_mapping_node(self, anchor: Any) -> yaml.MappingNode:
        node: yaml.MappingNode = super().compose_mapping_node(anchor)
        seen: set[str | int] = set()
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode) or key.tag.removeprefix(_TAG) not in ("str", "int", "merge"):
                found = f" ({_cut(key.value)})" if isinstance(key, yaml.ScalarNode) else ""
                raise _error(f"a key is neither text nor a whole number{found}; put quotes around text", key)
            written = self.construct_object(key) if key.tag == f"{_TAG}int" else key.value
            if written in seen:
                raise _error(f"key {_cut(key.value)} is given twice", key)
            seen.add(written)
        return node


def _error(problem: str, node: yaml.Node) -> yaml.YAMLError:
    return yaml.constructor.ConstructorError(None, None, problem, node.start_mark)


def _cut(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:57] + "...")


def _measure(node: yaml.Node, known: dict[int, _Size | None]) -> _Size:
    """Return the size of ``node`` with its aliases written out; too large or endless content is an error.

    Each node is measured only once, even if several aliases refer to it.
    """
    if id(node) in known:
        found = known[id(node)]
        if found is None:
            raise _error("an alias refers to content that contains it", node)
        return found
    known[id(node)] = None
    if isinstance(node, yaml.ScalarNode):
        characters, levels = len(node.value) + 1, 0
    else:
        parts = node.value if isinstance(node, yaml.SequenceNode) else [part for pair in node.value for part in pair]
        sizes = [_measure(part, known) for part in parts]
        characters = 1 + sum(size for size, _ in sizes)
        levels = 1 + max((level for _, level in sizes), default=0)
    if levels > _MOST_LEVELS:
        raise _error(f"nested more than {_MOST_LEVELS} levels deep", node)
    if characters > MOST_CHARACTERS:
        raise _error(f"with its aliases written out, the text has more than {MOST_CHARACTERS} characters", node)
    known[id(node)] = (characters, levels)
    return characters, levels


# YAML 1.1 reads these as octal numbers and as numbers of base 60; hardly anybody means that.
_LEADING_ZERO = re.compile(r"[-+]?0[0-9_]+")
_BASE_60 = re.compile(r"[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?")


def _plain(node: yaml.Node) -> None:
    """Refuse a number that people and YAML read differently; the error names both decimal numbers."""
    written = str(node.value)
    if _LEADING_ZERO.fullmatch(written):
        sign, digits = ("-" if written.startswith("-") else ""), written.lstrip("+-").replace("_", "")
        octal = f", or {sign}{int(digits, 8)} if it is octal" if set(digits) <= set("01234567") else ""
        means = f"write {sign}{int(digits)}{octal}"
    elif _BASE_60.fullmatch(written):
        value = 0.0
        for part in written.lstrip("+-").replace("_", "").split(":"):
            value = 60 * value + float(part)
        means = f"YAML reads base 60: write {'-' if written.startswith('-') else ''}{value:.15g} if that is meant"
    else:
        return
    raise _error(f"the number {_cut(written)} is ambiguous; {means}, or put quotes around text", node)


def _number(construct: Callable[[Any, Any], Any], kind: str) -> Callable[[_Loader, yaml.Node], Any]:
    def checked(loader: _Loader, node: yaml.Node) -> Any:
        if isinstance(node, yaml.ScalarNode) and len(node.value) > _MOST_OF_A_NUMBER:
            raise _error(f"a number of {len(node.value)} characters", node)
        _plain(node)
        try:
            return construct(loader, node)
        except (ValueError, LookupError, ArithmeticError):
            # A wrong tag, such as !!bool on a number.
            raise _error(f"{_cut(str(node.value))} is not a {kind}", node) from None

    return checked


def _text(loader: _Loader, node: yaml.Node) -> str:
    text = loader.construct_yaml_str(node)
    if (character := unshowable(text)) is not None:
        raise _error(f"a text has the control character {character}", node)
    return text


def _list(loader: _Loader, node: yaml.SequenceNode) -> list[Any]:
    return loader.construct_sequence(node, deep=True)


def _mapping(loader: _Loader, node: yaml.Node) -> dict[str | int, Any]:
    if not isinstance(node, yaml.MappingNode):
        raise _error("expected 'key: value' entries", node)
    loader.flatten_mapping(node)
    # Merged entries come first; the mapping's own entries override them.
    return {loader.construct_object(key): loader.construct_object(value, deep=True) for key, value in node.value}


def _refuse(loader: _Loader, node: yaml.Node) -> Any:
    kind = node.tag.removeprefix(_TAG)
    found = "a date" if kind == "timestamp" else f"the type {_cut(kind)}"
    raise _error(f"{found} is not allowed here; put quotes around the value if it is text", node)


class Dumper(yaml.SafeDumper):
    """Writes what :func:`parse` reads back: texts that it would take for numbers get quotes."""


# YAML 1.1 wants a dot and a sign in 1.0e+9, and takes 08 for text.
for _kind in (_Loader, Dumper):
    _kind.add_implicit_resolver(
        f"{_TAG}float", re.compile(r"[-+]?([0-9]+(\.[0-9]*)?|\.[0-9]+)[eE][-+]?[0-9]+\Z"), list("-+.0123456789")
    )
    _kind.add_implicit_resolver(f"{_TAG}int", re.compile(rf"{_LEADING_ZERO.pattern}\Z"), list("-+0"))
_Loader.yaml_constructors = {
    f"{_TAG}null": yaml.SafeLoader.construct_yaml_null,
    f"{_TAG}bool": _number(yaml.SafeLoader.construct_yaml_bool, "boolean"),
    f"{_TAG}int": _number(yaml.SafeLoader.construct_yaml_int, "whole number"),
    f"{_TAG}float": _number(yaml.SafeLoader.construct_yaml_float, "number"),
    f"{_TAG}str": _text,
    f"{_TAG}seq": _list,
    f"{_TAG}map": _mapping,
    None: _refuse,
}
