"""Starts the server of this process, which ends with it."""

from __future__ import annotations

import functools
import os
import secrets
import socket
import subprocess
import sys

from manynode.fork_server import ADDRESS

# The server's forks compute in one thread each, as Snakemake tells its steps.
_ONE_THREAD = {name: "1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")}


def environment() -> dict[str, str]:
    """Return what commands need in their environment to find a server: a given one, or that of this process.

    The server lives as long as this process. Whoever sets the variable to nothing wants none.
    """
    return {} if ADDRESS in os.environ else {ADDRESS: _start(os.getpid())}


@functools.cache
def _start(owner: int) -> str:
    """Start the server of the process ``owner``; return its address. A fork of the process starts its own."""
    address = f"manynode-{owner}-{secrets.token_hex(8)}"
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        listener.bind("\0" + address)
        # Commands wait here until the server has started.
        listener.listen(1024)
        server = subprocess.Popen(
            [sys.executable, "-m", "manynode.fork_server.server", str(listener.fileno())],
            stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env={**os.environ, **_ONE_THREAD}, pass_fds=[listener.fileno()], start_new_session=True,
        )  # fmt: skip
    # Kept open until this process ends: that is how the server knows.
    _kept.append(server)
    return address


_kept: list[subprocess.Popen[bytes]] = []
