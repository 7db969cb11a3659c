"""Maps and inverse questions: start, look up, cancel."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Literal, cast

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from manynode.errors import ManynodeError, UsageError
from phase3_sst.explore import cheapest_search, inverse_search, map_search
from phase3_sst.explore.goal import Goal
from phase3_sst.explore.inverse_search import Step
from phase3_sst.explore.iso_lines import iso_lines
from phase3_sst.explore.knees import knees
from phase3_sst.explore.parameter_map import Map
from phase3_sst.explore.question import question_of
from phase3_sst.explore.server import pricing
from phase3_sst.explore.server.asked import axis_of
from phase3_sst.explore.server.bodies import Inverse, MapBody, Search, body
from phase3_sst.explore.server.routes.questions import digest_of
from phase3_sst.explore.server.searching import Tell
from phase3_sst.explore.server.site import Site, worded
from phase3_sst.explore.server.wording import missing, no, reply

Work = Callable[[Tell], Awaitable[Mapping[str, Any]]]


def drawn(found: Map) -> dict[str, Any]:
    """Return a map with its lines and, once it is finished, with the knees along both axes."""
    along: tuple[Literal["x", "y"], ...] = ("x", "y") if found.finished else ()
    return {
        **found.as_json(),
        "lines": [line.as_json() for line in iso_lines(found)],
        "knees": [{**knee.as_json(), "along": axis} for axis in along for knee in knees(found, along=axis)],
    }


def filling(site: Site, asked: MapBody) -> Work:
    """Return the work of a map; raises ManynodeError for one that cannot be asked."""
    question, x, y = question_of(asked.question), axis_of(asked.x), axis_of(asked.y)

    async def work(tell: Tell) -> Mapping[str, Any]:
        def on_point(so_far: Map) -> None:
            tell(drawn(so_far))

        found = await map_search.fill(
            site.explorer,
            question,
            x,
            y,
            most=asked.most,
            target=asked.target,
            at_once=site.explorer.cores,
            on_point=on_point,
        )
        return drawn(found)

    return work


def seeking(site: Site, asked: Inverse) -> Work:
    """Return the work of an inverse question; raises ManynodeError for one that cannot be asked."""
    question, axis = question_of(asked.question), axis_of(asked.axis)
    baseline = site.explorer.known_by(asked.baseline) if asked.baseline is not None else site.baseline()
    if baseline is None:
        raise UsageError("the baseline has no answer", found=asked.baseline, remedy="pin another question")
    goal = Goal(time_s=asked.time_s, loss=asked.loss, baseline=baseline)
    about = {"goal": goal.words(), "allowed_s": goal.allowed_s, "baseline": baseline.digest, "sense": asked.sense}

    alternatives = None
    if asked.sense == "cheapest":
        alternatives = pricing.alternatives(
            site.explorer, question, axis, pricing.prices_of(site.explorer, asked.prices)
        )

    async def work(tell: Tell) -> Mapping[str, Any]:
        steps: list[dict[str, Any]] = []

        def on_step(step: Step) -> None:
            steps.append(step.as_json())
            tell({**about, "steps": list(steps)})

        if alternatives:
            cheapest = await cheapest_search.cheapest(
                site.explorer, alternatives[0], goal, most=asked.most, on_step=on_step
            )
            return {**cheapest.as_json(), **about, "unpriced": alternatives[1]}
        found = await inverse_search.seek(
            site.explorer,
            question,
            axis,
            goal,
            sense=cast(Literal["least", "greatest"], asked.sense),
            resolution=asked.resolution,
            most=asked.most,
            at_once=site.explorer.cores,
            on_step=on_step,
        )
        return {**found.as_json(), **about}

    return work


def routes(site: Site) -> list[Route]:
    async def start_map(request: Request) -> Response:
        asked = await body(request, MapBody)
        try:
            return reply(site.searching.start("map", asked.model_dump(mode="json"), filling(site, asked)))
        except ManynodeError as error:
            return no(error)

    async def start_inverse(request: Request) -> Response:
        asked = await body(request, Inverse)
        try:
            return reply(site.searching.start("inverse", asked.model_dump(mode="json"), seeking(site, asked)))
        except ManynodeError as error:
            return no(error)

    async def state(request: Request) -> Response:
        found = site.searching.state(digest_of(request.path_params["search"], "search"))
        return reply(found) if found is not None else missing("this search")

    async def cancel(request: Request) -> Response:
        return reply({"cancelled": site.searching.cancel((await body(request, Search)).search)})

    return [
        Route("/api/map", worded(start_map), methods=["POST"]),
        Route("/api/inverse", worded(start_inverse), methods=["POST"]),
        Route("/api/search/{search}", worded(state), methods=["GET"]),
        Route("/api/search/cancel", worded(cancel), methods=["POST"]),
    ]
