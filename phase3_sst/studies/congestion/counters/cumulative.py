"""Samples of counters -> what was counted in each interval, with every fault of the source told or repaired.

In: samples in the order of their source: a row per sample, with its time, router and producer (who sampled it), and a
column per counter. Out: the table ``router-counters/1`` and a sentence for each kind of fault. The rules:

- A cumulative counter counts between two samples what it grew (Zhang et al.: a rolling difference). Values are whole
  numbers of up to 64 bits and are never made floats before they are subtracted.
- A row that is repeated is used once. Two different rows of one producer at the same time are an :class:`InputError`,
  because nobody can say which is right.
- A row whose time lies before that of the row above is put in its place by time, and told. Where it was the clock that
  went back, the counters then fall and are treated as such.
- A counter that falls has wrapped, if with 2^32, 2^48 or 2^64 added it has grown by no more than it can in that time
  (:data:`Counter.most_per_s`): repaired, and told. Otherwise it was reset: it starts anew, the interval is left out,
  and told.
- A counter that grows by more than it can is no counter for that interval: left out, and told.
- A cell that is empty or no number is a sample that is missing, and told. Where samples are missing (a time step of
  more than 1.5 times the router's median), the interval is as long as it is, and told: the difference is right, its
  place in time is not known.
- Several producers sample the same router (its nodes): of each file, the one with the most samples is used, the
  first by name of equals.
- A port whose flits (or stalls) are the sum of several counters has no value where one of them is missing.
"""

from __future__ import annotations

from collections import Counter as Tally
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pandas as pd

from manynode.errors import InputError
from phase3_sst.studies.congestion.counters.counter_table import COLUMNS, HOST, IN, Counters, check
from phase3_sst.studies.congestion.counters.names import FLITS, STALLS, Counter

WIDTHS = (32, 48, 64)
GAP = 1.5
_KEY = ["start_s", "end_s", "router", "port", "port_class", "direction", "link_class"]

Words = npt.NDArray[np.uint64]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Samples:
    """What a reader found in a file.

    ``frame`` has time_s, router, producer and, as text, a column for each of ``counters`` (column -> what it counts).
    ``unused`` are columns that look like counters but have no place in the table.
    """

    frame: pd.DataFrame
    counters: Mapping[str, Counter]
    source: str
    unused: Sequence[str] = ()
    notes: Sequence[str] = ()
    router_of_node: Mapping[str, str] = field(default_factory=dict)


def counters_of(samples: Sequence[Samples]) -> Counters:
    """Return the table of one or more files of samples; files with the same columns continue each other."""
    notes: list[str] = [note for part in samples for note in part.notes]
    parts: list[pd.DataFrame] = []
    taken: set[tuple[str, str]] = set()
    for columns in dict.fromkeys(tuple(sorted(part.counters)) for part in samples):
        same = [part for part in samples if tuple(sorted(part.counters)) == columns]
        tally: Tally[str] = Tally()
        source = ", ".join(dict.fromkeys(part.source for part in same))
        rows = _in_order(pd.concat([part.frame for part in same], ignore_index=True), list(columns), source, tally)
        long = _all_differences(rows, same[0].counters, tally)
        key = pd.MultiIndex.from_frame(long[["router", "counter"]])
        repeated = key.isin(list(taken))
        if repeated.any():
            tally["intervals of counters that another file tells as well were left out"] = int(repeated.sum())
        taken |= set(key[~repeated])
        parts.append(long[~repeated])
        notes += [f"{source}: {count} {what}" for what, count in tally.items()]
    unused = list(dict.fromkeys(name for part in samples for name in part.unused))
    if unused:
        notes.append(f"{len(unused)} counters are not used, such as {', '.join(unused[:5])}")
    router_of_node = {node: router for part in samples for node, router in part.router_of_node.items()}
    long = pd.concat(parts, ignore_index=True)
    table = long if long.empty else _ports(long, notes)
    if table.empty:
        raise InputError(
            "the counters have no interval",
            where=", ".join(part.source for part in samples),
            found="; ".join(notes) or "no two samples of a router",
            allowed="at least two samples of each router, one before the run and one after it",
        )
    return Counters(check(table, samples[0].source), notes, router_of_node)


def _in_order(frame: pd.DataFrame, columns: Sequence[str], source: str, tally: Tally[str]) -> pd.DataFrame:
    """Return one producer's samples of each router, by time, each once."""
    back = frame.groupby(["router", "producer"], sort=False)["time_s"].diff() < 0
    if back.any():
        tally["rows were earlier than the row before them and were put in their place by time"] = int(back.sum())
    whole = frame.duplicated(["router", "producer", "time_s", *columns])
    if whole.any():
        tally["repeated rows were used once"] = int(whole.sum())
    frame = frame[~whole]
    clash = frame.duplicated(["router", "producer", "time_s"], keep=False)
    if clash.any():
        row = frame[clash].iloc[0]
        raise InputError(
            "two samples of one time differ",
            where=source,
            found=f"router {row['router']}, sampled by {row['producer']}, at {row['time_s']:.6f} s",
            allowed="one row for each time, or the same row again",
            remedy="remove the wrong row",
        )
    count = frame.groupby(["router", "producer"]).size().reset_index(name="samples")
    best = count.sort_values(["samples", "producer"], ascending=[False, True]).drop_duplicates("router")
    if len(best) < len(count):
        tally["producers were left out, because another one sampled the same router"] = len(count) - len(best)
    chosen = frame.merge(best[["router", "producer"]], on=["router", "producer"])
    return chosen.sort_values(["router", "time_s"], kind="stable", ignore_index=True)


def _all_differences(rows: pd.DataFrame, counters: Mapping[str, Counter], tally: Tally[str]) -> pd.DataFrame:
    """Return router, start_s, end_s, counter and value (in the table's unit) of every counter and interval."""
    _tell_gaps(rows, tally)
    found = [_differences(rows, column, counter, tally).assign(counter=column) for column, counter in counters.items()]
    long = pd.concat(found, ignore_index=True)
    about = {column: (c.port, c.port_class, c.direction, c.link_class, c.quantity) for column, c in counters.items()}
    for place, name in enumerate(["port", "port_class", "direction", "link_class", "quantity"]):
        long[name] = long["counter"].map({column: fields[place] for column, fields in about.items()})
    parts = Tally((c.port, c.direction, c.quantity) for c in counters.values())
    expected = {column: parts[c.port, c.direction, c.quantity] for column, c in counters.items()}
    long["expected"] = long["counter"].map(expected)
    return long


def _tell_gaps(rows: pd.DataFrame, tally: Tally[str]) -> None:
    step = rows.groupby("router")["time_s"].diff()
    usual = step.groupby(rows["router"]).transform("median")
    gap = step > GAP * usual
    if gap.any():
        missing = float((step - usual)[gap].sum())
        tally[f"gaps, {missing:.6g} s without samples in all, became longer intervals"] = int(gap.sum())


def _differences(rows: pd.DataFrame, column: str, counter: Counter, tally: Tally[str]) -> pd.DataFrame:
    text = rows[column].astype(str).str.strip()
    whole = (
        text.str.fullmatch(r"\d{1,20}(?:\.0*)?") if counter.cumulative else pd.to_numeric(text, errors="coerce") >= 0
    )
    whole = whole.fillna(False).astype(bool)
    if not whole.all():
        tally["cells have no value that a counter can have and count as missing samples"] += int((~whole).sum())
    kept, text = rows[whole], text[whole]
    router = kept["router"].to_numpy()
    time = kept["time_s"].to_numpy(dtype=np.float64)
    same = router[1:] == router[:-1]
    seconds = np.diff(time)
    if counter.cumulative:
        value, good = _growth(_words(text), seconds, same, counter.most_per_s, tally)
        # Time stalled in percent of the interval; flits and stalls are counts.
        if counter.quantity not in (FLITS, STALLS):
            value = value / np.where(seconds > 0, seconds, 1.0)
    else:
        value, good = text.to_numpy(dtype=np.float64)[1:], same
    return pd.DataFrame(
        {
            "router": router[1:][good],
            "start_s": time[:-1][good],
            "end_s": time[1:][good],
            "value": value[good] * counter.scale,
        }
    )


def _words(text: pd.Series[str]) -> Words:
    numbers = [int(cell.split(".")[0]) for cell in text]
    most = 2**64 - 1
    if any(number > most for number in numbers):
        number = max(numbers)
        raise InputError("a counter is larger than 64 bits", found=number, allowed=f"0 to {most}")
    return np.array(numbers, dtype=np.uint64)


def _growth(
    words: Words, seconds: Floats, same: npt.NDArray[np.bool_], most_per_s: float, tally: Tally[str]
) -> tuple[Floats, npt.NDArray[np.bool_]]:
    """Return what a counter gained from each sample to the next, and where that can be used."""
    before, after = words[:-1], words[1:]
    most = np.minimum(most_per_s * np.maximum(seconds, 0.0), 1.8e19).astype(np.uint64)
    # Modulo 2^64 by itself, so that this is right for a counter of 64 bits that wrapped as well.
    grown = after - before
    fell = after < before
    wrapped = np.zeros_like(fell)
    for width in WIDTHS:
        modulo = np.uint64(2**width - 1)
        candidate = grown & modulo
        fits = fell & ~wrapped & (before <= modulo) & (candidate <= most)
        grown = np.where(fits, candidate, grown)
        wrapped |= fits
    reset = fell & ~wrapped
    jump = ~fell & (grown > most)
    for what, wrong in (
        ("wraps of a counter were repaired", wrapped),
        ("resets of a counter: it starts anew, the interval is left out", reset),
        ("intervals in which a counter grew by more than it can were left out", jump),
    ):
        if int((wrong & same).sum()):
            tally[what] += int((wrong & same).sum())
    return grown.astype(np.float64), same & ~reset & ~jump


def _ports(long: pd.DataFrame, notes: list[str]) -> pd.DataFrame:
    """Return a row per port and interval, with the counters of each quantity added up."""
    long = _one_source_of_host_ports(long, notes)
    groups = long.groupby([*_KEY, "quantity"], sort=False)
    sums = groups.agg(sum=("value", "sum"), size=("value", "size"), expected=("expected", "max")).reset_index()
    partial = sums["size"] < sums["expected"]
    if partial.any():
        notes.append(f"{int(partial.sum())} values lack a counter that they are the sum of, and were left out")
    wide = sums[~partial].pivot_table(index=_KEY, columns="quantity", values="sum", aggfunc="first")
    return wide.reset_index().reindex(columns=list(COLUMNS)).assign(peer="")


def _one_source_of_host_ports(long: pd.DataFrame, notes: list[str]) -> pd.DataFrame:
    """Leave out what NICs sent where the processor tiles tell it, too: it is the same traffic."""
    incoming = (long["port_class"] == HOST) & (long["direction"] == IN)
    tiles = incoming & long["port"].str.startswith("pt_")
    double = incoming & ~tiles & long["router"].isin(set(long["router"][tiles]))
    if double.any():
        notes.append("NIC_TO_PTILES is not used where processor tiles (AR_RTR_PT) count the same traffic")
    return long[~double]
