"""The whole state for a page that has just been opened, and the events from then on."""

from __future__ import annotations

import json
from typing import Any

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from manynode.config.own_times import machine_of
from manynode.errors import ManynodeError
from phase3_sst.explore.question import question_of
from phase3_sst.explore.server.described import described
from phase3_sst.explore.server.site import Site, worded
from phase3_sst.explore.server.wording import plain, reply


def base_of(site: Site) -> dict[str, Any]:
    """Return what the base experiment is."""
    experiment = site.explorer.resolved
    return {
        "name": experiment.name,
        "title": experiment.title or experiment.name,
        "application": experiment.application.name,
        "ranks_per_node": experiment.ranks_per_node,
        "machine": machine_of(experiment.content),
        "network": experiment.network.name,
        "engine": experiment.simulate.engine,
    }


def asked(site: Site) -> list[dict[str, Any]]:
    """Return the log of questions with the times of those that have an answer."""
    rows = []
    for entry in site.explorer.log():
        try:
            answer = site.explorer.known(question_of(entry["question"]))
        except ManynodeError:
            continue  # such as a machine whose results are gone
        times = {name: getattr(answer, name) if answer else None for name in ("time_s", "low_s", "high_s")}
        rows.append({**entry, **times})
    return rows


def routes(site: Site) -> list[Route]:
    explorer = site.explorer

    async def state(_request: Request) -> Response:
        pinned = explorer.pinned()
        against = explorer.known_by(pinned) if pinned is not None else None
        return reply(
            {
                "base": base_of(site),
                "baseline": site.baseline().as_json(),
                "pinned": against.question.as_json() if against is not None else None,
                "controls": [described(control) for control in explorer.controls()],
                "catalogue": explorer.catalogue(),
                "questions": asked(site),
                "running": site.asking.running(),
                "searches": site.searching.running(),
            }
        )

    async def questions(_request: Request) -> Response:
        return reply({"questions": asked(site)})

    async def events(_request: Request) -> Response:
        if site.hub.full:
            return PlainTextResponse("refused: too many pages are open\n", 503)
        first = f"event: running\ndata: {json.dumps(plain(site.asking.running()))}\n\n"
        return StreamingResponse(site.hub.stream(first), media_type="text/event-stream")

    return [
        Route("/api/state", worded(state), methods=["GET"]),
        Route("/api/questions", worded(questions), methods=["GET"]),
        Route("/api/events", events, methods=["GET"]),
    ]
