"""What a user states by hand: which hypothesis holds where the recordings leave several open.

In: a derived skeleton and the list ``assumptions`` of its file before, entries such as ``{at: when, says: c0 > 2}``:
``at`` is a field (or ``grid``), ``says`` one of the hypotheses of a doubt about it. Out: the skeleton with these
hypotheses in place, without the doubts. Verdicts then are ``assumed``. An assumption that fits no doubt is an
:class:`InputError`: it would change nothing in silence.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from manynode.errors import InputError
from phase2_nodesim.derive.grids.patterns import rules
from phase2_nodesim.derive.judging.interpret import Content

_GRID = "grid"


def with_assumptions(content: Content, stated: Sequence[Mapping[str, Any]]) -> Content:
    """Return the content under what was stated; ``content`` itself stays as it is."""
    found = {**content, "body": _copied(content["body"]), "doubts": list(content["doubts"])}
    if "communicators" in content:
        found["communicators"] = [dict(one) for one in content["communicators"]]
    for assumption in stated:
        field, says = str(assumption.get("at", "")), str(assumption.get("says", ""))
        settled = [
            doubt for doubt in found["doubts"] if _field(doubt) == field and says in (doubt["says"], *doubt["or"])
        ]
        if not settled and not _holds(found, field, says):
            doubts = [f"{_field(doubt)}: {doubt['says']} or {', '.join(doubt['or'])}" for doubt in found["doubts"]]
            raise InputError(
                "what is stated by hand fits no doubt of the derived skeleton",
                where="assumptions",
                found=f"{field}: {says}",
                allowed="; ".join(doubts) or "nothing: the recordings leave nothing open",
                remedy="correct it, or remove it from the file's list 'assumptions'",
            )
        for doubt in settled:
            found["doubts"].remove(doubt)
            _take(found, doubt, says)
    found["assumptions"] = [dict(assumption) for assumption in stated]
    return found


def _field(doubt: Mapping[str, Any]) -> str:
    return str(doubt["at"]).rsplit("/", 1)[-1]


def _holds(content: Content, field: str, says: str) -> bool:
    """Say whether a field already says what is stated: later recordings have settled it."""
    if field == _GRID:
        return _rule(says) == _grid_of(content)
    return any(str(item.get(field)) == says for item in _stating(content))


def _take(content: Content, doubt: Mapping[str, Any], says: str) -> None:
    """Put a hypothesis in the place of what the skeleton says, wherever the doubt stands for."""
    if _field(doubt) == _GRID:
        content["grid"] = {**content["grid"], **(_rule(says) or {})}
        return
    field = _field(doubt)
    for item in _stating(content):
        if field in item and str(item[field]) == doubt["says"]:
            item[field] = says


def _stating(content: Content) -> Iterator[Content]:
    """Yield the items of the body, and the communicators."""
    yield from _items(content["body"])
    yield from content.get("communicators", ())


def _grid_of(content: Content) -> dict[str, Any]:
    grid = content.get(_GRID) or {}
    return {key: grid.get(key) for key in ("rule", "dimensions", "order", "ties")}


def _rule(name: str) -> dict[str, Any] | None:
    for rule in rules():
        if str(rule) == name:
            return {"rule": rule.rule, "dimensions": rule.dimensions, "order": rule.order, "ties": rule.ties}
    return None


def _copied(items: Sequence[Content]) -> list[Content]:
    return [{**item, **({"do": _copied(item["do"])} if "do" in item else {})} for item in items]


def _items(items: Sequence[Content]) -> Iterator[Content]:
    for item in items:
        yield item
        yield from _items(item.get("do", ()))
