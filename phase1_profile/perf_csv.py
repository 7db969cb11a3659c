"""Parser of ``perf stat -x`` output: text in, events out (perf 3.x to 6.x, one run, no -A, -I or -r)."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from manynode.errors import InputError

NOT_SUPPORTED = "<not supported>"
NOT_COUNTED = "<not counted>"
_TO_SECONDS = {"": 1e-3, "msec": 1e-3, "ns": 1e-9, "usec": 1e-6, "sec": 1.0, "s": 1.0}
# instructions:u, cpu_core/instructions/u, cpu_core/instructions:u/ and instructions are one event to us.
_EVENT = re.compile(r"^(?:cpu\w*/)?(?P<name>[^/:]+?)(?:[:/][a-zA-Z]*)*$")


@dataclass(frozen=True)
class PerfCount:
    """One event: its value (NaN when there is none), perf's unit, the share of the time that it was on a counter, and
    why there is no value ("" when there is one). A share below 1 means that the value is perf's extrapolation.
    """

    value: float
    unit: str
    counted_share: float
    absent: str


def parse_perf_stat(text: str, where: str, separator: str = ",") -> dict[str, PerfCount]:
    """Return the events in ``text`` by name without modifiers; on hybrid processors the sum over the kinds of core.

    ``where`` is named in errors. Text without any event, or a line that is none, is an :class:`InputError`.
    """
    events: dict[str, PerfCount] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        fields = line.split(separator)
        count = _count(fields)
        if count is None or (match := _EVENT.match(fields[2].strip())) is None:
            raise InputError(
                "perf's output cannot be read",
                where=f"{where}, line {number}",
                found=line[:120],
                allowed=f"value{separator}unit{separator}event{separator}run time{separator}percent",
                remedy="profile again; if it stays, report it with this file and the output of 'perf --version'",
            )
        name = match["name"]
        events[name] = _add(events[name], count) if name in events else count
    if not events:
        raise InputError(
            "perf's output holds no event",
            where=where,
            found="an empty file" if not text.strip() else "only comments",
            remedy="profile again; a rank that could not be started leaves such a file",
        )
    return events


def _count(fields: list[str]) -> PerfCount | None:
    if len(fields) < 3:
        return None
    raw, unit = fields[0].strip(), fields[1].strip()
    share = _number(fields[4]) / 100 if len(fields) > 4 else 1.0
    share = 1.0 if math.isnan(share) else min(1.0, max(0.0, share))
    if raw in (NOT_SUPPORTED, NOT_COUNTED):
        return PerfCount(math.nan, unit, 0.0, raw.strip("<>"))
    value = _number(raw)
    return None if not math.isfinite(value) or value < 0 else PerfCount(value, unit, share, "")


def _number(text: str) -> float:
    # A locale with a decimal comma reaches perf's numbers, too.
    cleaned = text.strip().replace(",", ".")
    return float(cleaned) if re.fullmatch(r"\d{1,30}(\.\d{1,30})?", cleaned, re.ASCII) else math.nan


def _add(a: PerfCount, b: PerfCount) -> PerfCount:
    if math.isnan(a.value) or math.isnan(b.value):
        return b if math.isnan(a.value) else a
    return PerfCount(a.value + b.value, a.unit, min(a.counted_share, b.counted_share), "")


def seconds(count: PerfCount) -> float:
    """Return the value of a time such as task-clock in seconds; NaN for an unknown unit."""
    return count.value * _TO_SECONDS.get(count.unit, math.nan)
