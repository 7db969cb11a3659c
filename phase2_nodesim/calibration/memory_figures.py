"""Figures of caches, address translation and memory, from chases and streams."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from manynode.units import render
from phase2_nodesim.calibration.figures import Cycles, Figure, measured, plural, size_words
from phase2_nodesim.calibration.host import Host, HostCache
from phase2_nodesim.calibration.last_level_figures import (
    NEAR,
    Kept,
    kept_by_fast_loads,
    other_traffic,
    shared_with_others,
)
from phase2_nodesim.calibration.plan import BEYOND_CACHES, KIB, MIB, Plan, Task
from phase2_nodesim.calibration.plateaus import (
    SHARE_OF_RISE,
    Plateau,
    crossing,
    last_below,
    nearest_size,
    plateaus,
    steepest,
    without_spikes,
)

WORDS_MOVED = {"read": 1, "copy": 3, "triad": 4}
"""Words of eight bytes per element that move between caches and memory: a written line is read first."""
WORDS_FETCHED = {"read": 1, "copy": 2, "triad": 3}
"""Of these, the words that come from memory."""
_BUSY = 0.78
"""The share of the second level's fill buffers that the fastest stream keeps busy: 0.72 to 0.88 in the engine qemu."""
_UNLIMITED = 0.9
"""Cores that reach this share of as many times one core's rate are not limited by the memory."""
_FULLY_ASSOCIATIVE = 128
_WAYS_OF_LARGE = 16
_REACHED = 0.7
"""A plateau reaches the largest size if it ends at this share of it: one or two points of noise may follow."""
_SHORT = 2.0
"""A plateau over a range of sizes of less than this factor can be a bend."""
_KEYS = ("l1d", "l2", "last_level")


def memory_figures(cycles: Cycles, plan: Plan, host: Host, notes: list[str]) -> dict[str, Figure]:
    """Return the figures by key (``caches.l1d.latency``); what was not found is added to ``notes``."""
    sizes = [float(size) for size in plan.sizes()]
    curve = [cycles.of(one) for one in plan.chases()]
    levels = _levels(plan, host, plateaus(sizes, curve), notes)
    given = plan.chase(plan.largest)
    if cycles.series(given).large_page_bytes < plan.largest // 2:
        notes.append("the host gave no large pages: latencies beyond the TLB's reach include its misses")
    found = _by_level(plan, host, levels, notes)
    figures = _caches(cycles, plan, host, levels, found, notes)
    if "memory" in found:
        figures["memory.latency"] = _memory_latency(cycles, plan, found["memory"])
        if "l2" in host.caches and not plan.quick and plan.stream_size(1).from_memory:
            line, latency = host.caches["l2"].line_bytes, found["memory"].latency
            streams = {one.values[0][1]: one for one in plan.streams()[1:] if one.values[2][1] == "1"}
            figures["caches.l2.outstanding_misses"] = l2_outstanding(cycles, streams, line, latency)
    if plan.fills():
        figures["caches.l1d.line_fill"] = line_fill(cycles, plan, host.caches["l1d"].line_bytes)
    figures |= _line_intervals(cycles, plan)
    return figures | _tlbs(cycles, plan, sizes, curve, notes) | _bandwidth(cycles, plan, notes)


def line_fill(cycles: Cycles, plan: Plan, line_bytes: int) -> Figure:
    """Return how long a line that comes to the first level keeps loads from starting.

    It is what a stream of loads takes longer where its lines come from the second level. In the first level each pass
    has an end, whose cost two sizes tell.
    """
    tasks = plan.fills()
    half, quarter, l2 = (line_bytes // 8 * cycles.of(tasks[name]) for name in ("half", "quarter", "l2"))
    without_end = 2 * half - quarter
    words = f"a stream takes {l2:.2f} cycles a line from the second level, {without_end:.2f} in the first"
    value = max(0.0, round(l2 - without_end, 1))
    return measured(value, cycles.spread(*tasks.values()), words)


def l2_outstanding(cycles: Cycles, streams: Mapping[str, Task], line_bytes: int, latency: float) -> Figure:
    """Return the misses of the second level in flight, prefetches among them, from ``streams`` of one core.

    By Little's law a stream has as many lines in flight as come while the ``latency`` [cycles] of one passes. More
    buffers than the fastest stream needs would not show.
    """
    lines = {name: words * 8 / line_bytes for name, words in WORDS_FETCHED.items()}
    flying = {name: latency * lines[name] / cycles.of(one) for name, one in streams.items()}
    most = max(flying, key=lambda name: flying[name])
    words = (
        f"{flying[most]:.0f} lines in flight in a {most} of one core, which keeps about {100 * _BUSY:.0f} % of all busy"
    )
    return measured(round(flying[most] / _BUSY), cycles.spread(streams[most]), words)


def _line_intervals(cycles: Cycles, plan: Plan) -> dict[str, Figure]:
    """Return how often a core gets a line from the caches beyond its first level, and gives one back."""
    figures = {
        f"caches.{name}.line_interval": measured(
            round(cycles.of(one), 1), cycles.spread(one), f"independent loads of the lines of {size_words(_bytes(one))}"
        )
        for name, one in plan.lines().items()
    }
    for one in plan.written_lines():
        read, written = cycles.of(plan.lines()["l2"]), cycles.of(one)
        words = f"stores to the lines of {size_words(_bytes(one))} take {written:.2f} cycles each, loads {read:.2f}"
        value = max(0.0, round(written - read, 1))
        figures["caches.l2.write_interval"] = measured(value, cycles.spread(one), words)
    return figures


def _bytes(one: Task) -> float:
    return float(dict(one.values)["bytes"])


def _names(host: Host) -> list[str]:
    return [name for name in _KEYS if name in host.caches] or list(_KEYS)


def _expected(plan: Plan, host: Host) -> list[str]:
    return [*_names(host), *([] if plan.quick else ["memory"])]


def _levels(plan: Plan, host: Host, found: list[Plateau], notes: list[str]) -> list[Plateau]:
    """Return the plateaus without short ones, if there are more than expected; another number than expected is noted.

    Noise and neighbours in a shared cache bend the curve between two levels; a bend looks like a short plateau.
    """
    expected, sizes = _expected(plan, host), plan.sizes()
    if len(found) == len(expected):
        return found
    words = f"caches: {len(found)} plateaus in the curve of latencies, {len(expected)} expected ({', '.join(expected)})"
    if len(found) < len(expected):
        notes.append(words)
        return found
    levels = [level for level in found if sizes[level.last] >= _SHORT * sizes[level.first]]
    notes.append(f"{words}; {len(found) - len(levels)} shorter than an octave left out")
    return levels


def _by_level(plan: Plan, host: Host, levels: list[Plateau], notes: list[str]) -> dict[str, Plateau]:
    """Return the plateaus by the level that they are certain to be: a key of the caches, or ``memory``.

    As many plateaus as expected are those levels in order. Otherwise a plateau belongs to the cache whose described
    size it lies below, if no other one does.
    """
    names = _names(host)
    memory = _memory(plan, host, levels)
    inner = levels[:-1] if memory else levels
    found: dict[str, Plateau] = {}
    if len(inner) == len(names) and (memory or plan.quick):
        found = dict(zip(names, inner, strict=True))
    else:
        for name, inside in _by_description(plan, host, inner).items():
            if len(inside) == 1:
                found[name] = inside[0]
    if memory:
        return found | {"memory": memory}
    notes.append(f"memory.latency: no plateau of the memory in chases of up to {size_words(plan.largest)}")
    return found


def _memory(plan: Plan, host: Host, levels: list[Plateau]) -> Plateau | None:
    """Return the last plateau if it is longer than any cache.

    It reaches the largest size of a full plan, or ends at twice the described last level or more: what rises beyond is
    the translation of addresses.
    """
    last_level = host.caches.get("last_level")
    if plan.quick or len(levels) < 2 or (last_level and plan.largest < 2 * last_level.size_bytes):
        return None
    end = plan.sizes()[levels[-1].last]
    beyond = last_level is not None and end >= 2 * last_level.size_bytes
    return levels[-1] if beyond or end >= _REACHED * plan.largest else None


def _by_description(plan: Plan, host: Host, levels: list[Plateau]) -> dict[str, list[Plateau]]:
    """Return for each cache that the host describes the plateaus whose middle is below its size, and below no other."""
    found: dict[str, list[Plateau]] = {name: [] for name in _KEYS if name in host.caches}
    sizes = plan.sizes()
    for level in levels:
        middle = math.sqrt(sizes[level.first] * sizes[level.last])
        name = next((name for name in found if middle <= host.caches[name].size_bytes), None)
        if name is not None:
            found[name].append(level)
    return found


def _caches(
    cycles: Cycles,
    plan: Plan,
    host: Host,
    levels: list[Plateau],
    found: dict[str, Plateau],
    notes: list[str],
) -> dict[str, Figure]:
    tasks = plan.chases()
    sizes = [float(size) for size in plan.sizes()]
    curve = [cycles.of(one) for one in tasks]
    names = _names(host)
    figures: dict[str, Figure] = {}
    for name, beyond in zip(names, [*names[1:], "memory"], strict=True):
        figures |= {f"caches.{name}.{key}": value for key, value in _described(host.caches.get(name)).items()}
        if name not in found:
            notes.append(f"caches.{name}: no plateau in the curve of latencies is certain to be this cache")
            continue
        level = found[name]
        spread = cycles.spread(*tasks[level.first : level.last + 1])
        ends = f"{size_words(sizes[level.first])} to {size_words(sizes[level.last])}"
        figures[f"caches.{name}.latency"] = measured(round(level.latency, 1), spread, f"loads over {ends}")
        # A step to a plateau that is not the next level says nothing of the size.
        if found.get(beyond) in levels[levels.index(level) + 1 :][:1]:
            step = crossing(sizes, curve, level.latency, found[beyond].latency)
            kept = Kept(step, level.latency + SHARE_OF_RISE * (found[beyond].latency - level.latency))
            figures |= _capacities(cycles, plan, name, kept, host.caches.get(name), spread, notes)
    if "l1i" in host.caches:
        figures |= {f"caches.l1i.{key}": value for key, value in _described(host.caches["l1i"]).items()}
    return figures


def _capacities(
    cycles: Cycles, plan: Plan, name: str, slow: Kept, cache: HostCache | None, spread: float, notes: list[str]
) -> dict[str, Figure]:
    """Return the capacity of a cache, of which a chase keeps ``slow``, and what others load into a last level."""
    size, words = f"caches.{name}.size", f"latency steps at {size_words(slow.bytes)}"
    fast = kept_by_fast_loads(cycles, plan) if name == "last_level" else None
    if fast is None or fast.bytes <= slow.bytes:
        return {size: _capacity(slow.bytes, words, cache, name, notes)}
    words = f"time of independent loads steps at {size_words(fast.bytes)}, {words}"
    if cache is None or not shared_with_others(slow, fast, cache):
        return {size: _capacity(fast.bytes, words, cache, name, notes)}
    kept = {"a chase": slow, "independent loads": fast}
    return {
        size: Figure(_exact(cache.size_bytes), f"host; measured, {words}"),
        f"caches.{name}.other_traffic": other_traffic(cache, kept, cycles.clock.best, spread, notes),
    }


def _described(cache: HostCache | None) -> dict[str, Figure]:
    if cache is None:
        return {}
    return {
        "size": Figure(_exact(cache.size_bytes), "host"),
        "line": Figure(_exact(cache.line_bytes), "host"),
        "associativity": Figure(min(256, cache.associativity), "host"),
        "shared_by": Figure(cache.shared_by, "host"),
    }


def _capacity(found: float, words: str, cache: HostCache | None, name: str, notes: list[str]) -> Figure:
    """Return the capacity: where loads take longer, or the host's exact size if that is near it."""
    if cache is None:
        return Figure(_exact(nearest_size(found)), f"measured, {words}; the host says nothing")
    difference = found / cache.size_bytes - 1
    words = f"{words}, {100 * difference:+.0f} %"
    if abs(difference) <= NEAR:
        return Figure(_exact(cache.size_bytes), f"host; measured, {words}")
    way = cache.line_bytes * cache.associativity
    # Private caches have a power of two of sets.
    sets = round(found / way) if name == "last_level" else 2 ** round(math.log2(found / way))
    size = max(1, sets) * way
    notes.append(
        f"caches.{name}.size: {words} from the {size_words(cache.size_bytes)} of the host's description; other "
        f"programs, or other guests of the host, may have the rest"
    )
    return Figure(_exact(size), f"measured, {words} from the host's {size_words(cache.size_bytes)}")


def _memory_latency(cycles: Cycles, plan: Plan, level: Plateau) -> Figure:
    tasks = plan.chases()[level.first : level.last + 1]
    seconds = level.latency * cycles.series(tasks[0]).clock_s
    ends = f"{size_words(plan.sizes()[level.first])} to {size_words(plan.sizes()[level.last])}"
    return measured(render(seconds, "time", 4), cycles.spread(*tasks), f"loads over {ends}, {level.latency:.0f} cycles")


def _tlbs(cycles: Cycles, plan: Plan, sizes: list[float], curve: list[float], notes: list[str]) -> dict[str, Figure]:
    """Return reach and cost of both levels: loads from page to page, less loads from as many neighbouring lines."""
    counts = np.asarray(plan.page_counts(), dtype=np.float64)
    times = np.asarray([cycles.of(one) for one in plan.pages()])
    lines = np.interp(np.log(np.maximum(counts * 64, sizes[0])), np.log(sizes), without_spikes(curve))
    added = without_spikes(np.maximum(0.0, times - lines))
    spread = cycles.spread(*plan.pages())
    hit = plateaus([*counts], [*(added + 1)])
    # One cycle was added for the logarithm. The first plateau is no miss at all.
    missed = [level for level in hit if level.latency > 3]
    if not missed or hit[0].latency > 2 or missed[0].first == 0:
        notes.append("tlbs: no step in the latency of loads from page to page")
        return {}
    second = missed[0].latency - 1
    first_reach = last_below(counts, added, 0.5 * second)
    figures = {
        "tlbs.page": Figure(_exact(plan.page_bytes), "host"),
        "tlbs.l2_latency": measured(round(second, 1), spread, "more than a load of the first level's pages"),
    }
    if first_reach is not None:
        figures |= _entries("l1d", first_reach, spread)
    # The second level ends where the cost grows fastest. Much farther on it grows because the page table leaves caches.
    about = last_below(counts, added, 2.5 * second) or 0.0
    beyond = [index for index in range(missed[0].last, len(counts)) if counts[index] <= 2.5 * about]
    place = steepest([counts[index] for index in beyond], [added[index] for index in beyond])
    if place is None or added[-1] < 2.5 * second:
        notes.append(f"tlbs.l2: no end of the second level up to {plan.most_pages} pages")
        return figures
    reach = float(counts[beyond[place]])
    figures |= _entries("l2", reach, spread)
    near = [added[index] for index in beyond if 1.1 * reach <= counts[index] <= 2 * reach] or [added[-1]]
    table = float(np.interp(np.log(reach * 8), np.log(sizes), without_spikes(curve)))
    walk = max(0.0, float(np.median(near)) - second - table)
    words = f"{float(np.median(near)):.0f} cycles per miss less {second:.0f} and {table:.0f} to load the entry"
    return figures | {"tlbs.walk_latency": measured(round(walk, 1), spread, words)}


def _entries(name: str, reach: float, spread: float) -> dict[str, Figure]:
    entries = nearest_size(reach)
    ways = entries if entries <= _FULLY_ASSOCIATIVE else _ways(entries)
    return {
        f"tlbs.{name}.entries": measured(entries, spread, f"reach of {reach:.0f} pages"),
        f"tlbs.{name}.associativity": Figure(ways, "assumed: ways of a TLB are not measured"),
    }


def _ways(entries: int) -> int:
    """Return a number of ways with which the sets are a power of two."""
    odd = entries
    while odd % 2 == 0:
        odd //= 2
    ways = odd
    while ways < _WAYS_OF_LARGE and ways * 2 <= entries and entries % (ways * 2) == 0:
        ways *= 2
    return ways


def _bandwidth(cycles: Cycles, plan: Plan, notes: list[str]) -> dict[str, Figure]:
    rates: dict[tuple[str, int], float] = {}
    spreads: dict[tuple[str, int], float] = {}
    for one in plan.streams()[1:]:
        kernel, workers = one.values[0][1], int(one.values[2][1])
        series = cycles.series(one)
        rates[kernel, workers] = 8 * WORDS_MOVED[kernel] * workers / series.best
        spreads[kernel, workers] = series.spread
    if plan.quick:
        notes.append("memory.bandwidth: streams of a quick trial stay in the caches")
        return {}
    for workers in plan.worker_counts():
        if plan.stream_size(workers).from_memory:
            words = ", ".join(f"{name} {rates[name, workers] / 1e9:.1f}" for name in WORDS_MOVED)
            notes.append(f"bandwidth of {plural(workers)} [GB/s]: {words}")
    size = plan.stream_size(plan.cores)
    if not size.from_memory:
        notes.append(
            f"memory.bandwidth: not measured, because the free memory allows streams of {size_words(size.timed)} on "
            f"each of {plural(plan.cores)}; {size_words(BEYOND_CACHES * size.cached)} are needed to exceed the caches"
        )
        return {}
    # Programs read and write. Where reading alone is slower, not the memory limits it.
    reached, alone = rates["triad", plan.cores], rates["triad", 1]
    if plan.cores > 1 and reached > _UNLIMITED * plan.cores * alone:
        notes.append(
            f"memory.bandwidth: a lower bound, because {plural(plan.cores)} reach {reached / alone:.2f} times the rate "
            "of one"
        )
    words = f"triad on {plural(plan.cores)}, lines that are written counted twice"
    return {"memory.bandwidth": measured(f"{reached / 1e9:.4g} GB/s", spreads["triad", plan.cores], words)}


def _exact(bytes_: int) -> str:
    """Return a size as a file has it: whole, with the largest unit that divides it."""
    if bytes_ % MIB == 0:
        return f"{bytes_ // MIB} MiB"
    return f"{bytes_ // KIB} KiB" if bytes_ % KIB == 0 else f"{bytes_} B"
