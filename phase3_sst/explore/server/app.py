"""The application: all routes behind the gate."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp

from phase3_sst.explore.server.asking import Asking
from phase3_sst.explore.server.events import Hub
from phase3_sst.explore.server.routes import costs, export, pages, questions, searches, state
from phase3_sst.explore.server.searching import Searching
from phase3_sst.explore.server.security import Gate, Keys
from phase3_sst.explore.server.site import Site
from phase3_sst.explore.server.wording import failure, reply

if TYPE_CHECKING:
    from phase3_sst.explore.explorer import Explorer


def application(explorer: Explorer, hub: Hub | None = None) -> Starlette:
    """Return the application without its gate; only :func:`guarded` is ever served."""
    hub = hub or Hub()
    site = Site(explorer, hub, Asking(explorer, hub), Searching(hub))

    @contextlib.asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        yield
        hub.close()
        await site.close()

    async def defect(_request: Request, error: Exception) -> Response:
        return reply({"error": failure(error)}, 500)

    subjects = (pages, state, questions, searches, costs, export)
    routes = [route for subject in subjects for route in subject.routes(site)]
    return Starlette(routes=routes, lifespan=lifespan, exception_handlers={Exception: defect})


def guarded(app: ASGIApp, keys: Keys) -> ASGIApp:
    """Return the application behind the gate."""
    return Gate(app, keys)
