"""Names of nodes as schedulers write them: host lists such as ``x[1100-1105]c[0-7]s[0-7]b[0-1]n0`` (Slurm's form).

In: the text of one host list. Out: its names, the last bracket fastest. Numbers keep their leading zeros.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterable, Sequence

MOST_NAMES = 4_000_000

_LIST = re.compile(r"(?:[A-Za-z0-9._-]|\[[0-9,-]+\])+")
_RANGE = re.compile(r"([0-9]+)(?:-([0-9]+))?")


def expanded(text: str) -> list[str]:
    """Return the names of a host list; raise ``ValueError`` where it is none."""
    if not _LIST.fullmatch(text):
        raise ValueError(
            f"{text!r} is no host list; write a name, or ranges in brackets such as node[001-128] or x[1-2]c[0-7]"
        )
    parts = [[part] if part[0] != "[" else _numbers(part[1:-1], text) for part in re.findall(r"\[[^]]*\]|[^[]+", text)]
    if math.prod(map(len, parts)) > MOST_NAMES:
        raise ValueError(f"{text!r} has {math.prod(map(len, parts))} names (limit {MOST_NAMES})")
    return ["".join(name) for name in itertools.product(*parts)]


def all_expanded(lists: Iterable[str]) -> list[str]:
    """Return the names of several host lists in order; raise ``ValueError`` where a name comes twice."""
    names = [name for text in lists for name in expanded(text)]
    if len(set(names)) != len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the name {twice!r} is given twice")
    return names


def numbers_of(given: Sequence[int | str], names: Sequence[str]) -> list[int]:
    """Return the number of each node that is given by number or by host lists of ``names``.

    ``ValueError`` names the first node that ``names`` does not have.
    """
    place = {name: number for number, name in enumerate(names)}
    found: list[int] = []
    for entry in given:
        if isinstance(entry, int):
            found.append(entry)
            continue
        for name in expanded(entry):
            if name not in place:
                raise ValueError(name)
            found.append(place[name])
    return found


def _numbers(ranges: str, text: str) -> list[str]:
    found = []
    for part in ranges.split(","):
        match = _RANGE.fullmatch(part)
        if match is None:
            raise ValueError(f"{text!r} is no host list: {part!r} is no number and no range such as 001-128")
        first, last = match[1], match[2] or match[1]
        if int(last) < int(first):
            raise ValueError(f"{text!r} is no host list: the range {part!r} runs downwards")
        if int(last) - int(first) >= MOST_NAMES:
            raise ValueError(f"{text!r} has more than {MOST_NAMES} names")
        found += [str(number).zfill(len(first)) for number in range(int(first), int(last) + 1)]
    return found
