"""Short names of compute phases for people: demangled, distinct, without the parts that all share.

In: names from segments and timing profiles. These are labels of the application, or pairs of MPI calls with their call
sites, such as ``MPI_Wait@halo.cpp:9 Halo::run -> MPI_Send@halo.cpp:12 Halo::run``. Out: a short text for each, such as
``Halo::run: Wait:9 → Send:12``. Files keep the whole names: two call sites never share one.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from manynode.call_sites import short_function

MOST = 84
_LEAST_ROOM = 6  # characters of a function that stay
_PAIR = re.compile(r"^(?:(?P<region>.*?)/)?(?P<before>MPI_\w+@.*?) -> (?P<after>MPI_\w+@.*)$", re.DOTALL)
_CALL = re.compile(r"^MPI_(?P<operation>\w+)@(?P<site>.*)$", re.DOTALL)
_LINE = re.compile(r"^(?P<file>[^\s:]+)(?P<place>:\d+)(?: (?P<function>.+))?$", re.DOTALL)
_OFFSET = re.compile(r"^(?P<file>.+)(?P<place>\+0x[0-9a-f]+)(?: (?P<function>.+))?$", re.DOTALL)
_PARAMETERS = re.compile(r"<[^<>]*>")
_MOST_PARAMETERS = 20
_BOUNDARIES = "/:. "
_CONTEXT = 6  # characters kept before the first difference


@dataclass(frozen=True)
class _Call:
    """An MPI call: ``Wait``, ``halo.cpp``, ``:9``, ``Halo::run``."""

    operation: str
    file: str
    place: str
    function: str


def by_call_sites(name: str) -> bool:
    """Return whether a phase is named by the MPI calls around it, because the application gave it no label."""
    return _PAIR.match(name) is not None


def short_call(call: str) -> str:
    """Return ``MPI_Wait@halo.cpp:9 solver::Halo<double>::run(int)`` as ``MPI_Wait in Halo::run, halo.cpp:9``."""
    known = _call(call)
    if known is None:
        return call
    where = f"{known.file}{known.place}"
    function = short_function(known.function) if known.function else ""
    return f"MPI_{known.operation} in {function}, {where}" if function else f"MPI_{known.operation}@{where}"


def short_names(names: Iterable[str], most: int = MOST) -> dict[str, str]:
    """Return a text of at most ``most`` characters for each name; different names have different texts.

    Names that look alike get back their file, then their template parameters. If they still look alike, they are cut
    around the difference, or numbered.
    """
    distinct = list(dict.fromkeys(names))
    pairs = {name: match for name in distinct if (match := _PAIR.match(name))}
    calls = [call for match in pairs.values() for part in ("before", "after") if (call := _call(match[part]))]
    told = {
        "function": len(pairs) < 2 or len({call.function for call in calls}) > 1,
        "file": len({call.file for call in calls}) > 1,
    }
    labels = _without_common([name for name in distinct if name not in pairs], most)
    texts = {name: labels.get(name, "") for name in distinct}
    left = list(pairs)
    for detail in ({}, {"with_file": True}, {"with_file": True, "whole": True}):
        for name in left:
            texts[name] = _pair_text(pairs[name], most, told, **detail)
        alike = Counter(texts.values())
        left = [name for name in left if alike[texts[name]] > 1]
    return _told_apart(texts, most)


def shorter(name: str, most: int = 60) -> str:
    """Return a name cut in its middle to ``most`` characters."""
    return name if len(name) <= most else f"{name[: most // 2 - 1]}…{name[-(most // 2) :]}"


def _call(text: str) -> _Call | None:
    match = _CALL.match(text)
    if match is None:
        return None
    site = _LINE.match(match["site"]) or _OFFSET.match(match["site"])
    if site is None:
        return _Call(match["operation"], "", f" {match['site']}", "")
    if site["function"] or site["place"].startswith(":"):
        return _Call(match["operation"], site["file"], site["place"], site["function"] or "")
    # A symbol with its offset, or a program without symbols: what it is called stands before the offset.
    return _Call(match["operation"], "", site["place"], site["file"])


def _pair_text(
    match: re.Match[str], most: int, told: Mapping[str, bool], *, with_file: bool = False, whole: bool = False
) -> str:
    """Return ``region: Class::function: Wait:9 → Send:12``; long functions are cut to fit.

    ``told`` states whether functions and files differ among the names. With ``whole``, functions keep their template
    parameters.
    """
    before, after = _call(match["before"]), _call(match["after"])
    if before is None or after is None:
        return match[0]
    region = f"{match['region']}: " if match["region"] else ""

    def text(room: int) -> str:
        def where(call: _Call, whole: bool) -> str:
            function = _function(call.function, room, whole) if told["function"] and call.function else ""
            file = call.file if with_file or (told["file"] and not function) else ""
            words = f"{function} ({file})" if function and file else function or file
            return f"{words}: " if words else ""

        # What the first function is an instance of, the second mostly is as well.
        alike = _PARAMETERS.findall(before.function)[:1] == _PARAMETERS.findall(after.function)[:1]
        first, second = where(before, whole), where(after, whole and not alike)
        # Cut, two functions may look like one.
        same = (before.function, before.file) == (after.function, after.file)
        return (
            f"{region}{first}{before.operation}{before.place} → {'' if same else second}{after.operation}{after.place}"
        )

    room = max(_LEAST_ROOM, len(before.function), len(after.function))
    while room > _LEAST_ROOM and len(text(room)) > most:
        room -= 1
    return text(room)


def _function(signature: str, room: int, whole: bool) -> str:
    """Return a function's name of limited length: it first loses its class, and is then cut in the middle.

    With ``whole``, the first template parameters follow.
    """
    parameters = _PARAMETERS.search(signature) if whole else None
    rest = shorter(parameters[0], _MOST_PARAMETERS) if parameters else ""
    name, room = short_function(signature), room - len(rest)
    if len(name) > room:
        name = shorter(name.rpartition("::")[2], max(2, room))
    return name + rest


def _without_common(labels: Sequence[str], most: int) -> dict[str, str]:
    """Return the labels without their common beginning and end, in whole parts, if one label is too long."""
    if len(labels) < 2 or max(map(len, labels)) <= most:
        return {label: label for label in labels}
    start = _alike(labels)
    while start and labels[0][start - 1] not in _BOUNDARIES:
        start -= 1
    rest = [label[start:] for label in labels]
    end = _alike([label[::-1] for label in rest])
    while end and rest[0][len(rest[0]) - end] not in _BOUNDARIES:
        end -= 1
    return {label: text[: len(text) - end] or label for label, text in zip(labels, rest, strict=True)}


def _told_apart(texts: dict[str, str], most: int) -> dict[str, str]:
    """Return the texts cut to ``most`` characters; texts that would look alike are cut around their difference."""
    groups: dict[str, list[str]] = {}
    for name, text in texts.items():
        groups.setdefault(shorter(text, most), []).append(name)
    found: dict[str, str] = {}
    for text, names in groups.items():
        if len(names) > 1:
            start = max(0, _alike([texts[name] for name in names]) - _CONTEXT)
            found |= {name: _from(texts[name], start, most) for name in names}
        else:
            found[names[0]] = text
    taken: set[str] = set()
    for name in texts:
        text, number = found[name], 1
        while found[name] in taken:
            number += 1
            found[name] = f"{shorter(text, most - 4)} ({number})"
        taken.add(found[name])
    return found


def _alike(texts: Sequence[str]) -> int:
    """Return how many characters all texts have in common at their beginning."""
    return sum(1 for _ in itertools.takewhile(lambda letters: len(set(letters)) == 1, zip(*texts, strict=False)))


def _from(text: str, start: int, most: int) -> str:
    """Return ``text`` from ``start`` on, at most ``most`` characters."""
    return shorter(f"…{text[start:]}" if start > 1 else text, most)
