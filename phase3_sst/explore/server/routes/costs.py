"""What the machines of all finished answers cost, and which are on the front of time and cost."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from manynode.errors import ManynodeError
from phase3_sst.explore.server.bodies import CostBody, body
from phase3_sst.explore.server.pricing import PricedAnswers, prices_of
from phase3_sst.explore.server.site import Site, worded
from phase3_sst.explore.server.wording import no, reply


def routes(site: Site) -> list[Route]:
    priced = PricedAnswers(site.explorer)

    async def costs(request: Request) -> Response:
        asked = await body(request, CostBody)
        try:
            return reply(priced.front(prices_of(site.explorer, asked.prices), asked.together))
        except ManynodeError as error:
            return no(error)

    return [Route("/api/costs", worded(costs), methods=["POST"])]
