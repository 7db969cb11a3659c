"""A process and its descendants from ``/proc``, and the memory that they use together."""

from __future__ import annotations

from pathlib import Path

_PROC = Path("/proc")


def descendants(pid: int) -> list[int]:
    """Return ``pid`` and all its descendants, including those of an MPI launcher.

    Parents count, not process groups: launchers give the ranks their own groups.
    """
    children: dict[int, list[int]] = {}
    for entry in _PROC.iterdir():
        if entry.name.isdigit() and (parent := _parent(entry)) is not None:
            children.setdefault(parent, []).append(int(entry.name))
    found, pending = [], [pid]
    while pending:
        current = pending.pop()
        found.append(current)
        pending += children.get(current, [])
    return found


def command_line(pid: int) -> str | None:
    """Return the command line of a process in one line, or None if it has ended."""
    entry = _PROC / str(pid)
    try:
        state = (entry / "stat").read_text(encoding="utf-8", errors="replace").rsplit(")", 1)[1].split()[0]
        words = (entry / "cmdline").read_bytes().split(b"\0")
    except (OSError, IndexError):
        return None
    text = " ".join(word.decode("utf-8", "replace") for word in words).strip()
    return None if state in "ZX" else text.replace("\n", " ") or f"process {pid}"


def memory_bytes(pid: int) -> int:
    """Return the memory [B] of ``pid`` and its descendants, without pages that the system may drop at any time."""
    return sum(_anonymous_bytes(_PROC / str(process)) for process in descendants(pid))


def host_memory_bytes() -> int:
    """Return the memory [B] of this host."""
    return _field(_PROC / "meminfo", "MemTotal:")


def _parent(entry: Path) -> int | None:
    try:
        # The name of the program, in parentheses, may hold anything.
        return int((entry / "stat").read_text(encoding="utf-8", errors="replace").rsplit(")", 1)[1].split()[1])
    except (OSError, IndexError, ValueError):
        return None


def _anonymous_bytes(entry: Path) -> int:
    return _field(entry / "status", "RssAnon:")


def _field(path: Path, name: str) -> int:
    """Return a field of ``path`` given in kB, or 0 if the process has just ended."""
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return 0
    return next((1024 * int(line.split()[1]) for line in lines if line.startswith(name)), 0)
