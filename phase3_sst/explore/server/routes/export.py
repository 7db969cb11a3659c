"""What leaves the page: a question as an experiment, an answer as an offline page, a map as a study."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from phase3_sst.explore.question import question_of
from phase3_sst.explore.server.asked import axis_of
from phase3_sst.explore.server.bodies import Study, body
from phase3_sst.explore.server.routes.questions import digest_of
from phase3_sst.explore.server.site import Site, worded
from phase3_sst.explore.server.wording import missing

_YAML, _HTML = "application/yaml", "text/html"


def routes(site: Site) -> list[Route]:
    explorer = site.explorer

    async def experiment(request: Request) -> Response:
        answer = explorer.known_by(digest_of(request.path_params["digest"], "export"))
        if answer is None:
            return missing("this answer")
        return _file(explorer.exported(answer.question), _YAML, f"{answer.experiment}.yaml")

    async def page(request: Request) -> Response:
        answer = explorer.known_by(digest_of(request.path_params["digest"], "export"))
        given = request.query_params.get("baseline")
        other = explorer.known_by(digest_of(given, "baseline")) if given is not None else site.baseline()
        if answer is None or other is None:
            return missing("this answer")
        against = other.question if other.digest != answer.digest else None
        return _file(explorer.exported_page(answer.question, against), _HTML, f"{answer.experiment}.html")

    async def study(request: Request) -> Response:
        asked = await body(request, Study)
        axes = [(tuple(axis.keys), axis.written) for axis in (axis_of(asked.x), axis_of(asked.y))]
        return _file(explorer.exported_study(question_of(asked.question), axes), _YAML, f"{explorer.name}-map.yaml")

    return [
        Route("/api/export/{digest}/experiment.yaml", worded(experiment), methods=["GET"]),
        Route("/api/export/{digest}/page.html", worded(page), methods=["GET"]),
        Route("/api/export/study", worded(study), methods=["POST"]),
    ]


def _file(text: str, kind: str, name: str) -> Response:
    # Names of experiments have letters, digits, dots and dashes only.
    return Response(text, media_type=kind, headers={"content-disposition": f'attachment; filename="{name}"'})
