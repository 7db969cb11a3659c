"""The page and its parts: a fixed table of names, read when the server starts. No name of a request becomes a path."""

from __future__ import annotations

from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from manynode.report.page import vega_bundle
from phase3_sst.explore.server.site import Endpoint, Site

_WEB = Path(__file__).resolve().parent.parent / "web"
_TYPES = {".html": "text/html", ".js": "text/javascript", ".css": "text/css"}


def parts() -> dict[str, tuple[str, bytes]]:
    """Return address -> type and content of everything that the page consists of."""
    found = {
        "/" if path.name == "index.html" else f"/{path.name}": (_TYPES[path.suffix], path.read_bytes())
        for path in sorted(_WEB.iterdir())
        if path.suffix in _TYPES
    }
    return {**found, "/vega.js": ("text/javascript", vega_bundle().encode())}


def routes(_site: Site) -> list[Route]:
    return [
        Route(address, _sending(kind, content), methods=["GET"], name=address)
        for address, (kind, content) in parts().items()
    ]


def _sending(kind: str, content: bytes) -> Endpoint:
    async def part(_request: Request) -> Response:
        return Response(content, media_type=kind)

    return part
