"""Maps and inverse questions: start, look up, cancel."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from manynode.errors import ManynodeError
from phase3_sst.explore import map_search
from phase3_sst.explore.iso_lines import iso_lines
from phase3_sst.explore.knees import knees
from phase3_sst.explore.parameter_map import Map
from phase3_sst.explore.server.asked import axis_of, question_of
from phase3_sst.explore.server.bodies import MapBody, Search, body
from phase3_sst.explore.server.routes.questions import digest_of
from phase3_sst.explore.server.searching import Tell
from phase3_sst.explore.server.site import Site, worded
from phase3_sst.explore.server.wording import missing, no


def drawn(found: Map) -> dict[str, Any]:
    """Return a map with its lines and, once it is finished, with the knees along both axes."""
    corners = [
        {**knee.as_json(), "along": along} for along in ("x", "y") for knee in knees(found, along=along)
    ] if found.finished else []
    return {**found.as_json(), "lines": [line.as_json() for line in iso_lines(found)], "knees": corners}


def routes(site: Site) -> list[Route]:
    async def start_map(request: Request) -> Response:
        asked = await body(request, MapBody)
        try:
            question, x, y = question_of(asked.question), axis_of(asked.x), axis_of(asked.y)

            async def fill(tell: Tell) -> Mapping[str, Any]:
                found = await map_search.fill(
                    site.explorer,
                    question,
                    x,
                    y,
                    most=asked.most,
                    target=asked.target,
                    on_point=lambda so_far: tell(drawn(so_far)),
                )
                return drawn(found)

            return JSONResponse(site.searching.start("map", asked.model_dump(mode="json"), fill))
        except ManynodeError as error:
            return no(error)

    async def state(request: Request) -> Response:
        found = site.searching.state(digest_of(request.path_params["search"], "search"))
        return JSONResponse(found) if found is not None else missing("this search")

    async def cancel(request: Request) -> Response:
        return JSONResponse({"cancelled": site.searching.cancel((await body(request, Search)).search)})

    return [
        Route("/api/map", worded(start_map), methods=["POST"]),
        Route("/api/search/{search}", worded(state), methods=["GET"]),
        Route("/api/search/cancel", worded(cancel), methods=["POST"]),
    ]
