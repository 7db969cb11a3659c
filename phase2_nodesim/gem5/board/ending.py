"""Ends the script on an error: one line, and a special exit code."""

from __future__ import annotations

import sys
from typing import NoReturn

CODE_BOARD = 88


def stop(message: str) -> NoReturn:
    """End gem5 with ``message``."""
    print(f"manynode board: {message}", file=sys.stderr, flush=True)
    sys.exit(CODE_BOARD)
