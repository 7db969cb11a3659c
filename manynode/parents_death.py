"""Commands that end with their caller: the kernel sends them SIGTERM when it dies (prctl, PR_SET_PDEATHSIG).

Without this, a job of a killed pipeline would continue beside its successor. In: a command. Out: the command behind
``setpriv``, which sets the signal and becomes the command, or where that is not possible a function to call in the
child before it becomes the program. Such a function makes Python copy the tables of its memory for the child, which
takes longer than many commands: 15 ms of processor time with pandas and scikit-learn loaded, ``setpriv`` 1 ms.
"""

from __future__ import annotations

import ctypes
import functools
import os
import shutil
import signal
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

_PR_SET_PDEATHSIG = 1
_LIBC = ctypes.CDLL(None, use_errno=True)


def ended_with_caller(
    command: Sequence[str], environment: Mapping[str, str]
) -> tuple[list[str], Callable[[], None] | None]:
    """Return the command to start and the function for the child, if it needs one."""
    setpriv = _setpriv()
    # A program that cannot be started is started without setpriv: its error is the kernel's then.
    if setpriv is None or not _is_binary(shutil.which(command[0], path=environment.get("PATH", os.defpath))):
        return list(command), _die_with_parent
    return [setpriv, "--pdeathsig", "TERM", "--", *command], None


def _die_with_parent() -> None:
    _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)


@functools.cache
def _setpriv() -> str | None:
    """Return the path of util-linux' setpriv if it has the option, as it has since 2.33."""
    path = shutil.which("setpriv")
    try:
        # The names of its options are in the file; asking it would take longer than is saved.
        return path if path is not None and b"pdeathsig" in Path(path).read_bytes() else None
    except OSError:
        return None


def _is_binary(path: str | None) -> bool:
    """Return whether the file is a program itself, at an absolute path: relative ones depend on the child's folder."""
    if path is None or not os.path.isabs(path):
        return False
    try:
        with open(path, "rb") as source:
            return source.read(4) == b"\x7fELF"
    except OSError:
        return False
