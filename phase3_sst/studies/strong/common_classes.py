"""The rank classes that two sizes of a problem have in common: ranks are alike if they are alike at both sizes.

Each size has classes of its own, whose names say nothing at the other size. The profiled jobs have the same ranks,
which tell which classes belong together. In: two ``rank-classes/1`` documents. Out: one in that form.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from manynode.errors import InputError

Pairs = Mapping[str, tuple[str, str]]
"""Name of a common class -> its class at the smaller and at the larger size."""


def common_classes(low: Mapping[str, Any], high: Mapping[str, Any]) -> tuple[dict[str, Any], Pairs]:
    """Return the common classes of two sizes, which have a rank each, and the classes that they come from.

    A rank with a fixed place at one of the sizes keeps it. Shares are those of the other profiled ranks. A class keeps
    the name of the size that has all classes. Jobs of different numbers of ranks are an :class:`InputError`.
    """
    ranks = len(low["rank_class"])
    if len(high["rank_class"]) != ranks:
        raise InputError(
            "the jobs profiled at two sizes have different numbers of ranks",
            found=f"{ranks} and {len(high['rank_class'])} ranks",
            allowed="the same ranks, which say which classes belong together",
            remedy="remove the results of the size that differs, and run the study again",
        )
    of_rank = [(str(low["rank_class"][str(rank)]), str(high["rank_class"][str(rank)])) for rank in range(ranks)]
    names = _names(sorted(set(of_rank)))
    places = {int(text) for one in (low, high) for text in one["assignment"]["fixed"]}
    # In a job of few ranks, counting from the start wins, as it does where classes are given to ranks.
    fixed = {place: of_rank[place] for place in sorted(places, key=lambda place: (place < 0, place))
             if -ranks <= place < ranks}  # fmt: skip
    taken = {place % ranks for place in fixed}
    rest = [pair for rank, pair in enumerate(of_rank) if rank not in taken] or of_rank
    document = {
        "rank_class": {str(rank): names[pair] for rank, pair in enumerate(of_rank)},
        "assignment": {
            "fixed": {str(place): names[pair] for place, pair in fixed.items()},
            "shares": {names[pair]: rest.count(pair) / len(rest) for pair in sorted(set(rest))},
        },
    }
    return document, {name: pair for pair, name in names.items()}


def _names(pairs: list[tuple[str, str]]) -> dict[tuple[str, str], str]:
    for side in (0, 1):
        own = [pair[side] for pair in pairs]
        if len(set(own)) == len(own):
            return dict(zip(pairs, own, strict=True))
    return {pair: f"{pair[0]} and {pair[1]}" for pair in pairs}
