"""The command line, as ``manynode`` or ``python -m manynode``."""

from __future__ import annotations

import gc

from manynode.fork_server.client import run_there

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn


def main() -> NoReturn:
    """Run the command line, in a fork of the server that the environment names or else here."""
    run_there("manynode")
    run_here()


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
