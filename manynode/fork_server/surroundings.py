"""What a process inherits and cannot be given by another one: the reason to run a command by itself."""

from __future__ import annotations

import os
import sys

# Python reads them at its start, and the linker of shared libraries does.
_READ_AT_THE_START = ("PYTHON", "LD_", "LC_", "LANG", "MALLOC_")
_PROCESS = "/proc/self"
_SIGNALS = ("SigBlk:", "SigIgn:")
# The later ones are the C library's own and real-time signals, which no command uses.
_STANDARD_SIGNALS = (1 << 31) - 1


def surroundings() -> dict[str, object]:
    """Return what a command and its server must have in common: user, interpreter, namespaces, cgroup, limits."""
    status = _read("status").splitlines()
    root = os.stat("/")
    return {
        "user": [*os.getresuid(), *os.getresgid(), *sorted(os.getgroups())],
        "python": [sys.prefix, sys.version, sys.flags.optimize, sys.flags.dev_mode],
        "variables": sorted(f"{name}={os.environ[name]}" for name in os.environ if name.startswith(_READ_AT_THE_START)),
        "namespaces": sorted(f"{name} {os.readlink(f'{_PROCESS}/ns/{name}')}" for name in os.listdir(f"{_PROCESS}/ns")),
        "root": [root.st_dev, root.st_ino],
        "cgroup": _read("cgroup"),
        "limits": _read("limits"),
        "cores": sorted(os.sched_getaffinity(0)),
        "nice": os.getpriority(os.PRIO_PROCESS, 0),
        "signals": [int(line.split()[1], 16) & _STANDARD_SIGNALS for line in status if line.startswith(_SIGNALS)],
    }


def _read(name: str) -> str:
    with open(f"{_PROCESS}/{name}", encoding="utf-8") as source:
        return source.read()
