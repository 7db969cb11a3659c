"""IPM's banner, as versions 0.98 and 2.0 print it at the end of a run, alone or within the output of a job.

The wall clock of the slowest rank is taken. With ``IPM_REPORT=full``, the banner has the seconds by MPI operation. The
short banner only has the share of communication, from which computation follows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from manynode.config.validation import COMPUTE
from manynode.errors import InputError
from phase3_sst.measured.readers.interface import Report, number, readers, report

_TITLE = re.compile(r"##\s*IPM")
_TASKS = re.compile(r"mpi_tasks\s*:\s*(\d+) on (\d+) nodes")
_WALL = re.compile(r"\bwallclock\s*:\s*([^\s]+)(?:\s+sec)?$")
_SHARE = re.compile(r"%comm\s*:\s*(\S+)")
# total, mean, least, most
_SPREAD = re.compile(r"wallclock\s*:?\s+(\S+)\s+(\S+)\s+(\S+)\s+(\S+)$")
_CALL = re.compile(r"(MPI_\w+)\s+(\S+)\s+(\d+)\s+\S+")

Lines = list[tuple[int, str]]


@readers.register("ipm")
class IpmReader:
    """Reads what IPM prints."""

    def recognises(self, text: str) -> bool:
        """Return whether there is a banner."""
        return any(_TITLE.match(line.strip()) for line in text.splitlines())

    def read(self, text: str, source: str) -> list[Report]:
        """Return the runs whose banners are in ``text``."""
        return [_run(lines, source) for lines in _banners(text)]


def _banners(text: str) -> Iterator[Lines]:
    """Yield the lines of each banner without their marks; the job's output between them is left out."""
    banner: Lines | None = None
    for index, line in enumerate(text.splitlines(), start=1):
        line = line.strip()
        if _TITLE.match(line):
            if banner:
                yield banner
            banner = [(index, "")]
        elif banner is not None and line.startswith("#"):
            banner.append((index, line.lstrip("#").strip()))
    if banner:
        yield banner


def _run(lines: Lines, source: str) -> Report:
    first = lines[0][0]
    tasks = _find(lines, _TASKS, "mpi_tasks : RANKS on NODES nodes", source)
    ranks, nodes = int(tasks[1]), int(tasks[2])
    if not ranks or not nodes:
        raise InputError("a run without ranks or nodes", where=f"{source}:{first}", found=tasks[0])
    wall = number(_find(lines, _WALL, "wallclock : SECONDS", source)[1], "the wall clock", source, first)
    if wall == 0:
        raise InputError(
            "a run without time", where=f"{source}:{first}", found="wallclock : 0", remedy="measure a longer run"
        )
    calls = {}
    # After the table of the whole run, regions of the code have their own tables; an operation counts once.
    for index, line in lines:
        if (match := _CALL.match(line)) and match[1] not in calls:
            calls[match[1]] = number(match[2], f"the time of {match[1]}", source, index)
    spread = next((match for _, line in lines if (match := _SPREAD.match(line))), None)
    if calls and spread:
        return report(wall, number(spread[1], "the wall clock", source, first) / ranks, ranks, nodes, calls)
    share = next((match for _, line in lines if (match := _SHARE.search(line))), None)
    if share is None:
        return Report(wall, ranks, nodes, {})
    computing = wall * (1 - min(100.0, number(share[1], "%comm", source, first)) / 100)
    return Report(wall, ranks, nodes, {COMPUTE: computing})


def _find(lines: Lines, pattern: re.Pattern[str], allowed: str, source: str) -> re.Match[str]:
    for _, line in lines:
        if match := pattern.search(line):
            return match
    raise InputError(
        "a banner of IPM is cut off",
        where=f"{source}:{lines[0][0]}",
        found=f"{len(lines)} lines, none with '{allowed}'",
        remedy="use a complete banner",
    )
