"""The server: ``python -m manynode.fork_server.server SOCKET``, with its owner at the other end of standard input.

It runs until the owner closes standard input and the last fork has ended. What a command has imported when it ends, the
server imports as well, so that the next one finds it: no list says what to import. Commands themselves run only in
forks, so nothing of one reaches another. The server has one thread, as forking needs.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import gc
import importlib
import json
import os
import selectors
import signal
import socket
import struct
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import IO, Any, NoReturn

from manynode.fork_server.client import STATUS, peer
from manynode.fork_server.surroundings import surroundings

_PR_SET_PDEATHSIG = 1
_LIBC = ctypes.CDLL(None, use_errno=True)
_REFUSED = STATUS.pack(1)
_OWNER = 0
# An end of a connection that sends nothing for so long is not a command.
_PATIENCE_S = 10.0


@dataclass
class _Fork:
    """A command that runs: its client, and the file in which it lists its imports at its end."""

    client: socket.socket
    imports: int


@dataclass
class _Call:
    """A command as its client sent it."""

    program: str
    package: str | None
    arguments: list[str]
    path: list[str]
    environment: dict[str, str]
    umask: int
    files: list[int]
    imports: int = -1

    def take_over(self) -> None:
        """Make this fork the command's process: its session, folder, environment, arguments and open files."""
        os.setsid()
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        *streams, folder = self.files
        for number, file in enumerate(streams):
            os.dup2(file, number)
        os.fchdir(folder)
        for file in self.files:
            os.close(file)
        os.umask(self.umask)
        os.environ.clear()
        os.environ.update(self.environment)
        sys.argv, sys.path = self.arguments, self.path
        # By which usage messages name the command.
        sys.modules["__main__"].__package__ = self.package
        sys.stdin, sys.stdout, sys.stderr = _stream(0, "r"), _stream(1, "w"), _stream(2, "w")
        gc.enable()

    def list_imports(self) -> None:
        """Write the names of all modules for the server."""
        with open(self.imports, "w", encoding="utf-8") as sink:
            sink.write("\n".join(name for name in sys.modules if not name.startswith("__")))


def _stream(number: int, mode: str) -> IO[str]:
    """Return a standard stream as Python opens it at its start."""
    errors = {0: sys.stdin, 1: sys.stdout, 2: sys.stderr}[number].errors
    by_line = number == 2 or os.isatty(number)
    return open(
        number, mode, buffering=1 if by_line else -1, encoding=sys.stdout.encoding, errors=errors, closefd=False
    )


class _Server:
    """Takes calls, forks, forwards signals, and tells how forks ended."""

    def __init__(self, listener: socket.socket) -> None:
        self._listener = listener
        self._surroundings = json.loads(json.dumps(surroundings()))
        self._forks: dict[int, _Fork] = {}
        self._imports: list[str] = []
        self._selector = selectors.DefaultSelector()
        awake, wake = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        signal.signal(signal.SIGCHLD, lambda _number, _frame: None)
        signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
        self._own = [awake, wake]
        self._selector.register(listener, selectors.EVENT_READ, self._accept)
        self._selector.register(awake, selectors.EVENT_READ, lambda: os.read(awake, 1024) and None)
        self._selector.register(_OWNER, selectors.EVENT_READ, self._leave)

    def serve(self) -> _Call | None:
        """Return the call in each fork, and None in the server at its end."""
        owned = True
        while owned or self._forks:
            for key, _ in self._selector.select():
                action: Callable[[], _Call | None] = key.data
                call = action()
                if call is not None:
                    return call
            self._collect()
            owned = _OWNER in self._selector.get_map()
        return None

    def _leave(self) -> None:
        """Take no further command once the owner has ended."""
        if not os.read(_OWNER, 1024):
            self._selector.unregister(_OWNER)
            self._selector.unregister(self._listener)
            self._listener.close()

    def _accept(self) -> _Call | None:
        client, _ = self._listener.accept()
        client.settimeout(_PATIENCE_S)
        try:
            call = self._received(client)
        except (OSError, ValueError, KeyError):
            call = None
        if call is None:
            with contextlib.suppress(OSError):
                client.sendall(_REFUSED)
            client.close()
            return None
        self._import()
        call.imports = os.memfd_create("imports")
        server = os.getpid()
        child = os.fork()
        if child == 0:
            _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
            if os.getppid() != server:
                os._exit(1)
            self._close_in_fork(client)
            return call
        for file in call.files:
            os.close(file)
        client.settimeout(None)
        self._forks[child] = _Fork(client, call.imports)
        self._selector.register(client, selectors.EVENT_READ, lambda: self._forward(child))
        with contextlib.suppress(OSError):
            client.sendall(STATUS.pack(0))
        return None

    def _received(self, client: socket.socket) -> _Call | None:
        """Return the call, or None if the command must run by itself."""
        if peer(client) != os.getuid():
            return None
        head, files, _, _ = socket.recv_fds(client, 8, 4, socket.MSG_WAITALL)
        try:
            (length,) = struct.unpack("!Q", head)
            text = b""
            while len(text) < length and (part := client.recv(length - len(text))):
                text += part
            content: dict[str, Any] = json.loads(text)
            if content.pop("surroundings") != self._surroundings or len(files) != 4:
                raise ValueError("the command's surroundings are not the server's")
            return _Call(files=files, **content)
        except (OSError, ValueError, TypeError, struct.error):
            for file in files:
                os.close(file)
            return None

    def _forward(self, child: int) -> None:
        """Send the client's signals to the fork and its process group; a client that is gone ends it."""
        client = self._forks[child].client
        try:
            numbers = client.recv(64)
        except OSError:
            numbers = b""
        if not numbers:
            self._selector.unregister(client)
        for number in numbers or [signal.SIGKILL]:
            try:
                os.killpg(child, number)
            except ProcessLookupError:
                # It has no group of its own yet. Until it is collected, its number is not another process's.
                with contextlib.suppress(ProcessLookupError):
                    os.kill(child, number)

    def _collect(self) -> None:
        """Tell the clients of forks that have ended."""
        while self._forks:
            child, status = os.waitpid(-1, os.WNOHANG)
            if child == 0:
                return
            fork = self._forks.pop(child)
            with contextlib.suppress(KeyError):
                self._selector.unregister(fork.client)
            with contextlib.suppress(OSError):
                fork.client.sendall(STATUS.pack(status))
            fork.client.close()
            with open(fork.imports, encoding="utf-8") as source:
                source.seek(0)
                self._imports += [name for name in source.read().split("\n") if name and name not in sys.modules]

    def _import(self) -> None:
        """Import what commands have imported, as late as possible: after the last command, in vain."""
        for name in self._imports:
            # A module that cannot be imported here will be imported, or not, by the command that needs it.
            with contextlib.suppress(Exception):
                importlib.import_module(name)
        if self._imports:
            self._imports.clear()
            gc.freeze()  # a collection in a fork would copy every page that it looks at

    def _close_in_fork(self, client: socket.socket) -> None:
        signal.set_wakeup_fd(-1)
        self._selector.close()
        self._listener.close()
        client.close()
        for fork in self._forks.values():
            fork.client.close()
            os.close(fork.imports)
        for file in self._own:
            os.close(file)


def main() -> None:
    """Serve; in a fork, run the command."""
    gc.disable()
    os.set_inheritable(_OWNER, False)
    call = _Server(socket.socket(fileno=int(sys.argv[1]))).serve()
    if call is None:
        return
    call.take_over()
    code = 0
    try:
        _run(call.program)
    except SystemExit as ended:
        if ended.code is not None and not isinstance(ended.code, int):
            raise
        code = ended.code or 0
    call.list_imports()
    if call.program == "snakemake":
        # It leaves one behind that wakes a scheduler of which nothing is left, and would wait a second for it.
        for thread in threading.enumerate():
            if isinstance(thread, threading.Timer):
                thread.cancel()
    _leave(code)


def _leave(code: int) -> NoReturn:
    """End this fork in order, but without taking apart all modules, which would take longer than many commands."""
    threading._shutdown()  # type: ignore[attr-defined] # as multiprocessing ends its forks
    atexit._run_exitfuncs()
    sys.stdout.flush()
    os._exit(code)


def _run(program: str) -> None:
    if program == "snakemake":
        from snakemake.cli import main as command
    else:
        from manynode.__main__ import run_here as command
    command()


if __name__ == "__main__":
    main()
