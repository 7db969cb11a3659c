"""The command line, as ``manynode`` or ``python -m manynode``."""

from __future__ import annotations

import gc
import os
import sys

from manynode.fork_server.client import run_there

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn


def main() -> NoReturn:
    """Run the command line, in a fork of the server that the environment names or else here."""
    _open_streams()
    run_there("manynode")
    run_here()


def _open_streams() -> None:
    """Open the null device in place of closed standard streams, whose numbers the next files would get."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest free number
    # Python has no objects for streams that were closed.
    sys.stdout = sys.stdout or open(1, "w", closefd=False)
    sys.stderr = sys.stderr or open(2, "w", closefd=False)


def run_here() -> NoReturn:
    """Run the command line in this process.

    Most steps are short, and what they import stays until they end: a collector of garbage with its usual thresholds
    would take a third of their processor time.
    """
    gc.set_threshold(100_000, 20, 20)
    from manynode.cli import main as command_line

    try:
        command_line()
    finally:
        gc.freeze()  # what is left is not searched for garbage at the end


if __name__ == "__main__":
    main()
