"""Arguments of a command that follow the problem and the job: ``{EXPRESSION}`` in its words.

In: words, and values of names. Those of a job are ``ranks``, ``nodes``, the extents ``d0``, ``d1``, .. of a grid of its
ranks by a stated rule, and ``root``, the side of a grid that is a square or a cube. Out: words with numbers in their
place. Expressions are those of derived skeletons: ``{nx * d0}``, ``{ranks // 2}``. Braces around anything else, or
around names without a value, stay as they are.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from manynode.derived.arithmetic import floor_root
from manynode.derived.expression import Expression, ExpressionError, Scope, parse
from manynode.derived.grids import Grid
from manynode.derived.skeleton_file import grid_of
from manynode.derived.skeleton_model import GridSection
from manynode.errors import UsageError

_BRACES = re.compile(r"\{([^{}]+)\}")
# Not the name of a function, such as root(ranks, 3).
_NAME = re.compile(r"\b[A-Za-z_][A-Za-z0-9_]*\b(?!\s*\()")
_SIDE = re.compile(r"\broot\b(?!\s*\()")
_OF_THE_JOB = re.compile(r"ranks|nodes|root|d[0-9]+")


class DoesNotFitError(UsageError):
    """A job of so many ranks has no value for a name in its command."""


def with_values(command: Sequence[str], values: Mapping[str, int]) -> list[str]:
    """Return a command with values in place of their names, and numbers where no name is left."""
    return [_BRACES.sub(lambda found: _filled(found[1], values), word) for word in command]


def names_in(command: Sequence[str]) -> list[str]:
    """Return the names that the expressions of a command use, in their order."""
    found = [text for word in command for text in _BRACES.findall(word) if _expression(text) is not None]
    return list(dict.fromkeys(name for text in found for name in _NAME.findall(text)))


def of_the_job(name: str) -> bool:
    """Say whether a name is one of a job's, and none that a parameter may have."""
    return _OF_THE_JOB.fullmatch(name) is not None


def for_job(
    command: Sequence[str], ranks: int, ranks_per_node: int | None = None, grid: GridSection | None = None
) -> list[str]:
    """Return the words of a command for a job of ``ranks``, with ``grid`` as the stated grid of ranks.

    A name without a value is a :class:`DoesNotFitError` where another number of ranks has one, else a
    :class:`UsageError`.
    """
    return with_values(command, job_values(names_in(command), ranks, ranks_per_node, grid))


def job_values(
    names: Sequence[str], ranks: int, ranks_per_node: int | None, grid: GridSection | None
) -> dict[str, int]:
    """Return the values of the job's names among these; one without a value is an error as those of :func:`for_job`."""
    return {name: _value(name, ranks, ranks_per_node, grid_of(grid, ranks)) for name in names if of_the_job(name)}


def _value(name: str, ranks: int, ranks_per_node: int | None, grid: Grid | None) -> int:
    if name == "ranks":
        return ranks
    if name == "nodes":
        if ranks_per_node is None:
            raise UsageError(
                "the number of nodes of a job is not known here",
                where="{nodes}",
                remedy="say how many ranks a node has (--ranks-per-node), or use {ranks}",
            )
        if ranks % ranks_per_node:
            raise DoesNotFitError(
                "a job has no whole number of nodes",
                where="{nodes}",
                found=f"{ranks} ranks",
                allowed=f"multiples of {ranks_per_node}",
            )
        return ranks // ranks_per_node
    if grid is None or (name != "root" and int(name[1:]) >= len(grid.extents)):
        axes = 0 if grid is None else len(grid.extents)
        raise UsageError(
            "a command uses a grid of ranks that is not stated" if grid is None else "the grid has no such axis",
            where=f"{{{name}}}",
            found=f"{axes} axes" if axes else None,
            remedy="state it: --grid DIMENSIONS, such as --grid 3 (in an experiment, application: grid)",
        )
    if name != "root":
        return grid.extents[int(name[1:])]
    side = int(floor_root(ranks, len(grid.extents)))
    if side ** len(grid.extents) != ranks:
        raise DoesNotFitError(
            "a job has no grid with equal sides",
            where="{root}",
            found=f"{ranks} ranks",
            allowed=f"numbers of ranks that are a whole number to the power of {len(grid.extents)}",
        )
    return side


def _filled(text: str, values: Mapping[str, int]) -> str:
    found = _NAME.sub(lambda name: str(values.get(name[0], name[0])), text)
    expression = _expression(found)
    if expression is None or not _NAME.search(text):
        return f"{{{text}}}"
    if expression.names or _SIDE.search(found):
        return f"{{{found}}}"
    return str(int(expression.evaluate(Scope({}))))


def _expression(text: str) -> Expression | None:
    """Return the expression, with 1 in place of ``root``, which the language has as a function."""
    try:
        return parse(_SIDE.sub("1", text), text)
    except ExpressionError:
        return None
