"""The command's side: gives the command to the server and becomes its shadow, in signals and in how it ends."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import struct
import sys

from manynode.fork_server import ADDRESS
from manynode.fork_server.surroundings import surroundings

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing itself takes a third of this command's start
    from collections.abc import MutableMapping
    from typing import NoReturn

STATUS = struct.Struct("!i")
"""A message of the server: 0 when the fork has started, later its status as waitpid has it."""
FORWARDED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2)
_PEER = struct.Struct("3i")


def run_there(program: str, environment: MutableMapping[str, str] = os.environ) -> None:
    """Run ``program`` with this process's arguments in a fork of the server and end as it ends.

    Returns, with nothing done, if no server is named or it does not take the command; then the caller runs it, and the
    server is no longer in the environment: it would take no command that this one starts.
    """
    address = environment.get(ADDRESS)
    if not address:
        return
    try:
        connection = connected(address)
        _send(connection, program)
        started = connection.recv(STATUS.size, socket.MSG_WAITALL)
    except OSError:
        started = b""
    if started != STATUS.pack(0):
        del environment[ADDRESS]
        return
    _shadow(connection)


def connected(address: str) -> socket.socket:
    """Return a connection to a server of this user; raises OSError if there is none."""
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.connect("\0" + address)
    if peer(connection) != os.getuid():
        raise ConnectionRefusedError("the server is another user's")
    return connection


def peer(connection: socket.socket) -> int:
    """Return the user at the other end."""
    raw = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _PEER.size)
    return int(_PEER.unpack(raw)[1])


def _send(connection: socket.socket, program: str) -> None:
    folder = os.open(".", os.O_PATH | os.O_DIRECTORY)
    mask = os.umask(0)
    os.umask(mask)
    call = {
        "program": program,
        "package": sys.modules["__main__"].__package__,
        "arguments": sys.argv,
        "path": sys.path,
        "environment": dict(os.environ),
        "umask": mask,
        "surroundings": surroundings(),
    }
    text = json.dumps(call).encode()
    socket.send_fds(connection, [struct.pack("!Q", len(text))], [0, 1, 2, folder])
    connection.sendall(text)
    os.close(folder)


def _shadow(connection: socket.socket) -> NoReturn:
    """Forward signals until the fork has ended, then end in the same way."""

    def forward(number: int, _frame: object) -> None:
        with contextlib.suppress(OSError):
            connection.send(bytes([number]))

    for number in FORWARDED:
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, forward)
    ended = connection.recv(STATUS.size, socket.MSG_WAITALL)
    # A server that was killed has taken its forks along.
    code = os.waitstatus_to_exitcode(STATUS.unpack(ended)[0]) if len(ended) == STATUS.size else -signal.SIGKILL
    if code < 0:
        with contextlib.suppress(OSError):  # SIGKILL has no handler
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    # Nothing here needs Python's orderly end.
    os._exit(code)
