"""Prices of questions: a price file of the catalogue, or prices that a person edited; bills, and the front.

No name of a request becomes a path: a price file is one that the catalogue lists.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from manynode.config.network import Network
from manynode.config.prices import Prices
from manynode.config.resolved import checked, included
from manynode.errors import ManynodeError, UsageError
from phase3_sst.explore.asker import with_value
from phase3_sst.explore.axis import Axis
from phase3_sst.explore.cheapest_search import Alternative
from phase3_sst.explore.costs import Costs
from phase3_sst.explore.question import Question
from phase3_sst.studies.what_if.bill import bill

if TYPE_CHECKING:
    from phase3_sst.explore.explorer import Explorer

MOST_ROWS = 5000


def prices_of(explorer: Explorer, given: dict[str, Any] | str | None) -> Prices:
    """Return the prices that a page chose: a name of the catalogue, edited prices, or None for the first file."""
    if isinstance(given, dict):
        return checked(Prices, given, "the prices", "the prices")
    names = [each["name"] for each in explorer.catalogue()["prices"]]
    name = given if given is not None else next(iter(names), "")
    if name not in names:
        raise UsageError("there is no such price file", where="prices", found=name, allowed=", ".join(names))
    return checked(Prices, included("prices", name, "prices", Path(), "the prices"), name, "the price file")


class PricedAnswers:
    """Every finished answer with its cost; the networks of answers are looked up once."""

    def __init__(self, explorer: Explorer) -> None:
        self._explorer = explorer
        self._networks: dict[str, Network] = {}

    def front(self, prices: Prices, together: bool) -> dict[str, Any]:
        """Return all finished answers with costs and fronts.

        ``together``: answers of all node counts do the same work and share one front.
        """
        costs = Costs(prices, self._explorer.base.resolved.relevant_difference)
        refused: dict[str, str] = {}
        questions: dict[str, dict[str, Any]] = {}
        for question, answer in self._explorer.finished():
            if len(questions) >= MOST_ROWS:
                break
            try:
                network = self.network(question, answer.digest)
                group = "all" if together else f"{answer.nodes} nodes"
                costs.add(answer, network, answer.nodes, group=group)
            except ManynodeError as error:
                refused[answer.digest] = error.render()
            questions[answer.digest] = question.as_json()
        return {
            "currency": prices.currency,
            "prices": prices.model_dump(mode="json"),
            "rows": [{**row.as_json(), "question": questions[row.digest]} for row in costs.front()],
            "refused": [{"question": questions[digest], "words": words} for digest, words in refused.items()],
        }

    def network(self, question: Question, digest: str) -> Network:
        """Return the network of a question."""
        if digest not in self._networks:
            self._networks[digest] = self._explorer.checked(question).network
        return self._networks[digest]


def alternatives(
    explorer: Explorer, question: Question, axis: Axis, prices: Prices
) -> tuple[list[Alternative], list[str]]:
    """Return a question per value of ``axis`` with the cost of its machine, and the values that cannot be priced."""
    found, refused = [], []
    for value in axis.written:
        try:
            asked = with_value(question, axis, value)
            network = explorer.checked(asked).network
            cost = float(bill(network, asked.nodes, prices)["cost"].sum())
        except ManynodeError as error:
            refused.append(f"{value}: {error.what}")
            continue
        found.append(Alternative(str(value), asked, cost))
    if not found:
        raise UsageError(
            "no alternative can be simulated and priced", where=axis.label, found="; ".join(refused) or "none"
        )
    return found, refused
