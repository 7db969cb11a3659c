"""mpiP's text reports (``NAME.RANKS.PID.1.mpiP``), as versions 3.4 and 3.5 write them by default.

AppTime of a task is its time from the end of MPI_Init to the start of MPI_Finalize; the longest is taken. The time of
an MPI operation is count x mean of the aggregate lines (rank ``*``) of its call sites in "Callsite Time statistics";
without that section (``-d``) it is the sum of "Aggregate Time", which lists twenty call sites. mpiP prints three
digits; ``MPIP="-e"`` makes it print more.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator

from manynode.errors import InputError
from phase3_sst.measured.readers.interface import Report, number, readers, report

_SECTION = re.compile(r"@--- (?P<title>.*?)\s*-*$")
_TASK = re.compile(r"@ MPI Task Assignment\s*:\s*(\d+)\s+(\S+)")
_MILLI = 1e-3
# Rounding of three digits in each call site and in the total.
_ROUNDING = 0.05
_TIMES, _SITES, _TOP = "MPI Time (seconds)", "Callsite Time statistics", "Aggregate Time"

Lines = list[tuple[int, list[str]]]


@readers.register("mpip")
class MpipReader:
    """Reads what mpiP writes at MPI_Finalize."""

    def recognises(self, text: str) -> bool:
        """Return whether there is a report; a job's output may stand before it."""
        return any(line.strip() == "@ mpiP" for line in text.splitlines())

    def read(self, text: str, source: str) -> list[Report]:
        """Return the one run of a report."""
        sections = dict(_sections(text))
        tasks = _tasks(sections, source)
        hosts = {match[2] for match in _TASK.finditer(text)}
        if not hosts:
            raise InputError(
                "the report does not name its nodes",
                where=source,
                found="no line '@ MPI Task Assignment'",
                remedy="give the whole report",
            )
        sums = _sums(sections, source)
        in_mpi = sum(spent for _, spent in tasks)
        if abs(sum(sums.values()) - in_mpi) > _ROUNDING * in_mpi:
            raise InputError(
                "the call sites do not add up to the time in MPI",
                where=source,
                found=f"{sum(sums.values()):.4g} s in the call sites, {in_mpi:.4g} s in '{_TIMES}'",
                allowed=f"the same within {_ROUNDING:.0%}",
                remedy="make the report without the options -c, -d and -t, over one scope of MPI_Pcontrol",
            )
        seconds = [app for app, _ in tasks]
        return [report(max(seconds), sum(seconds) / len(tasks), len(tasks), len(hosts), sums)]


def _sections(text: str) -> Iterator[tuple[str, Lines]]:
    """Yield title and rows (line number, words) of each section of the report."""
    title, rows = "", Lines()
    for index, line in enumerate(text.splitlines(), start=1):
        if match := _SECTION.match(line.strip()):
            yield title, rows
            title, rows = match["title"], Lines()
        elif line.strip() and set(line.strip()) != {"-"}:
            rows.append((index, line.split()))
    yield title, rows


def _named(sections: dict[str, Lines], title: str) -> Lines | None:
    return next((rows for name, rows in sections.items() if name.startswith(title)), None)


def _tasks(sections: dict[str, Lines], source: str) -> list[tuple[float, float]]:
    """Return AppTime and MPITime [s] of each task."""
    rows = _named(sections, _TIMES)
    tasks = []
    for line, words in rows or []:
        if words[0] not in ("Task", "*"):
            if len(words) != 4 or not words[0].isdigit():
                raise InputError(
                    "a task's times cannot be read",
                    where=f"{source}:{line}",
                    found=" ".join(words),
                    allowed="Task AppTime MPITime MPI%",
                )
            tasks.append((number(words[1], "AppTime", source, line), number(words[2], "MPITime", source, line)))
    if not tasks:
        raise InputError(
            "the report has no times of the tasks",
            where=source,
            found=f"no rows in a section '@--- {_TIMES}'",
            remedy="give a whole report of mpiP, made without the option -c",
        )
    return tasks


def _sums(sections: dict[str, Lines], source: str) -> dict[str, float]:
    """Return the seconds of all tasks by MPI operation."""
    sums: dict[str, float] = defaultdict(float)
    for line, words in _named(sections, _SITES) or []:
        if words[0] != "Name" and len(words) >= 5 and words[2] == "*":
            count, mean = number(words[3], "Count", source, line), number(words[5], "Mean", source, line)
            sums[f"MPI_{words[0]}"] += count * mean * _MILLI
    if not sums:
        for line, words in _named(sections, _TOP) or []:
            if words[0] != "Call" and len(words) >= 3:
                sums[f"MPI_{words[0]}"] += number(words[2], "Time", source, line) * _MILLI
    return dict(sums)
