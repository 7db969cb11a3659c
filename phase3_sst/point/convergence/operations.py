"""Checks that an application's iterations are alike, from the operation stream of its skeleton, for a few ranks.

In: application, parameters, ranks. Out: executions of each compute phase per iteration. A rank's operations and bytes
in the full run must equal those of a short run plus those of the extra iterations. Otherwise some iterations differ,
and a few cannot predict the others.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from manynode import process
from manynode.errors import EngineFailedError
from manynode.paths import native_program

_PROGRAM = "manynode-skeleton"
_ROW = re.compile(r"^(\S+) +(\d+)(?: +(\d+))?$")
# Limit of the operations counted for one rank; takes some seconds.
_MOST_OPERATIONS = 50_000_000

Counts = dict[str, tuple[int, int]]


@dataclass(frozen=True)
class Iteration:
    """One iteration of one rank: executions of each compute phase. ``counted`` iterations were inspected."""

    draws: Mapping[str, int]
    counted: int


class UnlikeIterationsError(Exception):
    """Iterations of the application differ; the message says how."""


def iteration_of(name: str, parameters: Mapping[str, Any], counter: str, ranks: int, rank: int) -> Iteration:
    """Return an iteration of ``rank``; :class:`UnlikeIterationsError` when they differ.

    ``counter`` is the parameter that sets the number of iterations. All iterations are counted, up to fifty million
    operations.
    """

    def counts(iterations: int) -> Counts:
        return _counts(name, {**parameters, counter: iterations}, ranks, rank)

    second, third, fourth = counts(2), counts(3), counts(4)
    more = {key: _minus(third[key], second.get(key, (0, 0))) for key in third}
    if {key: _minus(fourth[key], third.get(key, (0, 0))) for key in fourth} != more:
        raise UnlikeIterationsError(
            f"iterations of {name} differ: rank {rank} does other things in the 4th than in the 3rd"
        )
    operations = sum(number for number, _ in more.values())
    counted = max(4, min(int(parameters[counter]), _MOST_OPERATIONS // max(1, operations)))
    expected = {key: _plus(fourth[key], more[key], counted - 4) for key in fourth}
    found = counts(counted)
    for key in sorted({*expected, *found}):
        if found.get(key, (0, 0)) != expected.get(key, (0, 0)):
            raise UnlikeIterationsError(
                f"iterations of {name} differ: rank {rank} has {found.get(key, (0, 0))[0]} times {key.split()[-1]} in "
                f"{counted} iterations, where the first ones would make it {expected.get(key, (0, 0))[0]}"
            )
    draws = {key.split()[-1]: number for key, (number, _) in more.items() if key.startswith("phase ") and number}
    return Iteration(draws, counted)


def _minus(left: tuple[int, int], right: tuple[int, int]) -> tuple[int, int]:
    return left[0] - right[0], left[1] - right[1]


def _plus(start: tuple[int, int], step: tuple[int, int], times: int) -> tuple[int, int]:
    return start[0] + times * step[0], start[1] + times * step[1]


def _counts(name: str, parameters: Mapping[str, Any], ranks: int, rank: int) -> Counts:
    which = ["--app", name, "--ranks", str(ranks), "--rank", str(rank), "--parameters", json.dumps(parameters)]
    done = process.run([native_program(_PROGRAM), "stream", *which, "--sink", "count"], what=_PROGRAM)
    return read_counts(done.output)


def read_counts(text: str) -> Counts:
    """Return the tables of the count sink: "operation NAME", "phase NAME" and "message to RANK" -> number and bytes."""
    found: Counts = {}
    kind = ""
    for line in text.splitlines():
        words = line.split()
        if not words:
            continue
        if words[0] in ("operation", "phase", "sender"):
            kind = words[0]
        elif kind == "sender" and len(words) == 4:
            found[f"message to {words[1]}"] = int(words[2]), int(words[3])
        elif kind and (match := _ROW.match(line)):
            found[f"{kind} {match[1]}"] = int(match[2]), int(match[3] or 0)
        else:
            raise EngineFailedError(
                f"what {_PROGRAM} counted cannot be read",
                found=line,
                remedy="run 'make build': it is of another version",
            )
    return found
