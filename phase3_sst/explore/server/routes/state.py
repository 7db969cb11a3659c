"""The whole state for a page that has just been opened, and the events from then on."""

from __future__ import annotations

import json

from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from phase3_sst.explore.server.site import Site, worded


def routes(site: Site) -> list[Route]:
    explorer = site.explorer

    async def state(_request: Request) -> Response:
        return JSONResponse(
            {
                "base": explorer.base.as_json(),
                "baseline": explorer.base.answer.as_json(),
                "controls": [control.as_json() for control in explorer.controls()],
                "catalogue": explorer.catalogue(),
                "questions": explorer.log.entries(),
                "running": site.asking.running(),
                "searches": site.searching.running(),
            }
        )

    async def questions(_request: Request) -> Response:
        return JSONResponse({"questions": explorer.log.entries()})

    async def events(_request: Request) -> Response:
        if site.hub.full:
            return PlainTextResponse("refused: too many pages are open\n", 503)
        first = f"event: running\ndata: {json.dumps(site.asking.running())}\n\n"
        return StreamingResponse(site.hub.stream(first), media_type="text/event-stream")

    return [
        Route("/api/state", worded(state), methods=["GET"]),
        Route("/api/questions", worded(questions), methods=["GET"]),
        Route("/api/events", events, methods=["GET"]),
    ]
