"""Finds the cause of a failure in SST's output, as one sentence. Pure text in, plain data out.

Recorded outputs of real failures, with SST's version, are in ``tests/golden/sst-errors``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from manynode.process import LAST_LINES


@dataclass(frozen=True)
class Finding:
    """A failure: its kind (the key of a remedy), the sentence, the location, and SST's own words."""

    kind: str
    found: str
    where: str | None = None
    details: str = ""


# Start of a backtrace, which is useless without SST's sources.
_FATAL = re.compile(
    r"^FATAL:\s*(?P<text>.*?)(?=^SST Fatal Backtrace|^Backtrace not available|^FATAL:|^Abort\(|\Z)", re.M | re.S
)
_PLACE = re.compile(r"^Rank: \S+ time: \S+ - called in file: (?P<file>.*?), line: (?P<line>\d+), function: \S+\s*")
_ELEMENT = re.compile(r"^Element name: (?P<name>\S+?),\s*type: (?P<type>\S+)[^\n]*\n", re.M)
_PREFIX = re.compile(r"^(?:#(?:\[\d+:\d+\])?\s*)?(?:SST ?\w+:\s*)?(?:[\w.]+:)*\s*(?:error:\s*)?", re.I)
_TRACEBACK = re.compile(r"^Traceback \(most recent call last\):\n(?P<frames>(?:[ \t].*\n)*)(?P<error>\S.*)?", re.M)
_FRAME = re.compile(r'File "(?P<file>[^"]+)", line (?P<line>\d+)')
_LOADING = re.compile(r"Loading failed for (?P<path>[^,\n]+), error: (?:(?P=path): )?(?P<error>.*)")
_NO_LIBRARY = re.compile(r'unable to find "(?P<name>\w+)" element library')
_NO_MOTIF = re.compile(r"Could not load the generator (?P<name>\S+)")
_SIGNAL = re.compile(r"Caught signal (?P<number>\d+) \((?P<words>[^:)]*)")
# Messages of the launchers of MPICH and Open MPI.
_KILLED_RANK = re.compile(r"(?:KILLED BY SIGNAL: |EXIT STRING: .*\(signal |exited on signal )(?P<number>\d+)")
_ALLOCATION = re.compile(r"std::bad_alloc|^MemoryError|Cannot allocate memory|out of memory", re.M | re.I)
_OPTION = re.compile(r"^sst\S*: (?P<words>(?:unrecognized|unknown|invalid) option.*)", re.M)
_SHUTDOWN = re.compile(r"EMERGENCY SHUTDOWN")
_SHUTDOWN_TIME = re.compile(r"Simulated time:\s+(?P<time>\S+ \S+)")
_SCRIPT = re.compile(r"^Failed to canonicalize path \[(?P<path>.*)\]:\s*(?P<error>.*)", re.M)


def read_failure(output: str, returncode: int) -> Finding:
    """Return the finding from the output of a run that failed or left no result."""
    for read in _READERS:
        found = read(output, returncode)
        if found is not None:
            return found
    code = f"exit code {returncode}" if returncode >= 0 else f"killed by signal {-returncode}"
    return Finding("unknown", code, details=last_lines(output))


def last_lines(output: str) -> str:
    """Return the last readable lines, without backtraces and motifs' progress."""
    plain = [line for line in output.splitlines() if line.strip() and not _noise(line)]
    return "\n".join(plain[-LAST_LINES:])


def _noise(line: str) -> bool:
    return bool(re.match(r"\s*\d+ :? ?\S+\(.*\[0x|=+|SST Fatal Backtrace|manynode-progress|WARNING: Building", line))


def _memory(output: str, returncode: int) -> Finding | None:
    match = _ALLOCATION.search(output)
    killed = returncode == -9 or any(found["number"] == "9" for found in _KILLED_RANK.finditer(output))
    if match is None and not killed:
        return None
    words = f"an allocation failed ({match[0]})" if match else "killed by signal 9, often the system out of memory"
    return Finding("memory" if match else "killed", words)


def _library(output: str, _returncode: int) -> Finding | None:
    if match := _LOADING.search(output):
        return Finding("other library", match["error"].strip(), match["path"])
    if match := _NO_LIBRARY.search(output):
        return Finding("no library", f"no element library {match['name']!r} in the folders that SST was given")
    if match := _NO_MOTIF.search(output):
        return Finding("no library", f"{match['name']} is in none of the element libraries that SST was given")
    return None


def _python(output: str, _returncode: int) -> Finding | None:
    matches = list(_TRACEBACK.finditer(output))
    if not matches:
        return None
    last = matches[-1]
    frames = list(_FRAME.finditer(last["frames"]))
    where = f"{frames[-1]['file']}, line {frames[-1]['line']}" if frames else None
    return Finding("script", (last["error"] or "a Python error that SST did not print to its end").strip(), where)


def _fatal(output: str, _returncode: int) -> Finding | None:
    match = _FATAL.search(output)
    if match is None:
        return None
    text, where = match["text"].strip(), None
    if place := _PLACE.match(text):
        text = text[place.end() :]
        where = f"{place['file']}, line {place['line']}"
    if element := _ELEMENT.match(text):
        text = text[element.end() :]
        where = f"element {element['name']} ({element['type']})"
    lines = [line for line in text.splitlines() if line.strip() and not _noise(line)]
    first = _PREFIX.sub("", lines[0]).strip() if lines else ""
    return Finding("fatal", first or "SST gave no reason", where, "\n".join(lines[1:]))


def _crash(output: str, returncode: int) -> Finding | None:
    match = _SIGNAL.search(output) or _KILLED_RANK.search(output)
    number = int(match["number"]) if match else -returncode
    if number <= 0:
        return None
    words = f" ({match['words'].strip()})" if match and "words" in match.groupdict() else ""
    return Finding("crash", f"ended by signal {number}{words}", details=last_lines(output))


def _stopped(output: str, _returncode: int) -> Finding | None:
    if not _SHUTDOWN.search(output):
        return None
    at = _SHUTDOWN_TIME.search(output)
    return Finding("stopped", "somebody ended it" + (f" after {at['time']} of simulated time" if at else ""))


def _usage(output: str, _returncode: int) -> Finding | None:
    if match := _OPTION.search(output):
        return Finding("option", match["words"])
    if match := _SCRIPT.search(output):
        return Finding("script", match["error"], match["path"])
    return None


# The order matters: the first printed cause often triggers the others.
_READERS: Sequence[Callable[[str, int], Finding | None]] = (
    *(_memory, _library, _python, _fatal, _stopped, _crash, _usage),
)
