"""Serves the application on the loopback address until it is told to stop."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import socket
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import uvicorn

from manynode.errors import UsageError
from phase3_sst.explore.server.app import application, guarded
from phase3_sst.explore.server.events import Hub
from phase3_sst.explore.server.security import Keys

if TYPE_CHECKING:
    from phase3_sst.explore.explorer import Explorer

ADDRESS = "127.0.0.1"
MOST_CONNECTIONS = 128
# The link waits so long for the page's first answer.
MOST_FORESEEN_S = 5.0


class _Server(uvicorn.Server):
    """Ends the streams of events first: they would keep the server from ending."""

    def __init__(self, config: uvicorn.Config, hub: Hub) -> None:
        super().__init__(config)
        self._hub = hub

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave the signals to :func:`_until_stopped`: uvicorn's own would end the process before its children have."""
        yield

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._hub.close()
        await super().shutdown(sockets)


def serve(explorer: Explorer, port: int, announce: Callable[[str], None]) -> None:
    """Serve ``explorer`` on ``port`` (0: any that is free) of the loopback address until SIGINT or SIGTERM.

    ``announce`` gets the link with the token once the server is ready to answer. Requests are not logged: a link has
    the token.
    """
    with _listening(port) as listener:
        keys = Keys(listener.getsockname()[1])
        hub = Hub()
        config = uvicorn.Config(
            guarded(application(explorer, hub), keys),
            log_level="warning",
            access_log=False,
            server_header=False,
            proxy_headers=False,
            ws="none",
            lifespan="on",
            limit_concurrency=MOST_CONNECTIONS,
            # A page that asks again after a while finds its connection open.
            timeout_keep_alive=75,
            timeout_graceful_shutdown=5,
        )
        asyncio.run(_until_stopped(explorer, _Server(config, hub), listener, lambda: announce(keys.link)))


async def _until_stopped(
    explorer: Explorer, server: uvicorn.Server, listener: socket.socket, announce: Callable[[], None]
) -> None:
    """Serve until a signal; a second one does not wait for open requests. Simulations are ended in any case."""
    loop = asyncio.get_running_loop()
    for signum in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(signum, server.handle_exit, signum, None)
    try:
        async with asyncio.TaskGroup() as tasks:
            opening = tasks.create_task(_open(explorer, announce))
            await server.serve([listener])
            opening.cancel()
    finally:
        await explorer.close()


async def _open(explorer: Explorer, announce: Callable[[], None]) -> None:
    """Give out the link once answers no longer wait for imports, and the page's first one is there or takes long."""
    await explorer.rehearse()
    foreseen = asyncio.create_task(explorer.foresee())
    try:
        await asyncio.wait([foreseen], timeout=MOST_FORESEEN_S)
        announce()
        await foreseen
    finally:
        foreseen.cancel()


def _listening(port: int) -> socket.socket:
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((ADDRESS, port))
        listener.listen(MOST_CONNECTIONS)
    except OSError as error:
        listener.close()
        raise UsageError(
            "the server cannot listen",
            where=f"{ADDRESS}, port {port}",
            found=error.strerror,
            remedy="another program may use this port: choose another --port, or 0 for any that is free",
        ) from None
    return listener
