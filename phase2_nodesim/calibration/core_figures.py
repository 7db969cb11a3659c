"""Figures of the core: clock, units, latencies of operations, width, mispredicted branches, buffers and queues."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence

from manynode.units import render
from phase2_nodesim.calibration.figures import Cycles, Figure, measured, percent, plural
from phase2_nodesim.calibration.host import Host
from phase2_nodesim.calibration.plan import WINDOWS, Plan, Task, task
from phase2_nodesim.calibration.plateaus import misses_in_flight, window

OF_THE_BRANCH = 2
"""Cycles from a branch's dispatch to its execution in the microbenchmark ``branch``: one shift, one test."""
_SUSTAINED = 0.95
"""A loop at this share or more of what width and units allow reaches it: its own ends take the rest."""

_NEIGHBOURS = 0.1
"""Noise of the units from which on it says something about neighbours."""
_OF_UNITS = ("dispatch_width", "load_ports", "integer_units")
_OF_CHAINS = ("multiply_latency", "divide_latency", "float_latency", "float_add_latency", "float_divide_latency")


def core_figures(cycles: Cycles, plan: Plan, host: Host, notes: list[str]) -> dict[str, Figure]:
    """Return the figures by key (``core.dispatch_width``); what was not found is added to ``notes``."""
    figures = {"frequency": _frequency(cycles, plan, notes), **_units(cycles, plan), **_latencies(cycles, plan)}
    figures |= {
        name: figure
        for name, figure in (
            *((f"core.{key}", entries(cycles, key, kind, notes)) for key, kind in WINDOWS.items()),
            ("core.frontend_depth", _frontend(cycles, plan, notes)),
            ("core.fetch_block", _fetch_block(cycles, plan, notes)),
            ("core.outstanding_misses", _outstanding(cycles, plan, notes)),
        )
        if figure is not None
    }
    _note_neighbours(figures, notes)
    if host.vector_bytes is not None:
        figures["core.vector_bytes"] = Figure(
            host.vector_bytes, "host: its widest vector instructions; a unit can be narrower"
        )
    return figures


def _note_neighbours(figures: Mapping[str, Figure], notes: list[str]) -> None:
    """Note that cores are threads of larger ones: a busy neighbour takes units of a core, but makes no chain longer."""

    def spread(names: Sequence[str]) -> float:
        return statistics.median(figures[f"core.{name}"].spread or 0.0 for name in names)

    units, chains = spread(_OF_UNITS), spread(_OF_CHAINS)
    if units > max(_NEIGHBOURS, 3 * chains):
        notes.append(
            f"rounds of independent operations are {percent(units)} apart, those of chains {percent(chains)}: other "
            "hardware threads, such as those of a virtual machine's neighbours, take units of these cores. The figures "
            "are those of cores without them: programs take longer on this host, while there are some"
        )


def _frequency(cycles: Cycles, plan: Plan, notes: list[str]) -> Figure:
    # Not the fastest round: programs do not get a clock that is higher now and then.
    together = cycles.series(task("integer", 1, kind="add", workers=plan.cores))
    alone, all_cores = 1 / cycles.clock.median, 1 / together.median
    if abs(alone / all_cores - 1) > 0.02:
        notes.append(f"one core alone runs at {alone / 1e9:.2f} GHz, all together at {all_cores / 1e9:.2f} GHz")
    words = f"additions that depend on each other on {plural(plan.cores)} at the same time, median round"
    return measured(render(all_cores, "frequency", 4), together.spread, words)


def _named(plan: Plan, name: str, **values: object) -> Task:
    """Return the task of the plan's core group with these values."""
    wanted = task(name, 1, **values).label()
    return next(one for one in plan.core() if one.label() == wanted)


def _units(cycles: Cycles, plan: Plan) -> dict[str, Figure]:
    kind = "fused" if plan.fused else "multiply"
    tasks = {
        "dispatch_width": (_named(plan, "width"), "operations of four kinds"),
        "load_ports": (_named(plan, "ports", kind="load"), "loads"),
        "store_ports": (_named(plan, "ports", kind="store"), "stores"),
        "vector_load_ports": (_named(plan, "ports", kind="vector-load"), "loads of doubles"),
        "vector_store_ports": (_named(plan, "ports", kind="vector-store"), "stores of doubles"),
        "integer_units": (_named(plan, "integer", kind="free", chains=8), "additions"),
        "float_units": (
            _named(plan, "float", kind=kind, chains=14),
            "fused multiply-adds" if plan.fused else "multiplications",
        ),
    }
    found: dict[str, Figure] = {}
    for name, (one, words) in tasks.items():
        rate = cycles.rate(one)
        # Vectors take some of the ports: what is more is noise.
        most = found[f"core.{name.removeprefix('vector_')}"].value if name.startswith("vector_") else 16
        value = min(int(most), max(1, round(rate)))
        found[f"core.{name}"] = measured(value, cycles.spread(one), f"{rate:.2f} {words} per cycle")
    # Where additions have units of their own, a mixture is faster than either.
    add, mix = (_named(plan, "float", kind=kind, chains=14) for kind in ("add", "mix"))
    both = cycles.rate(mix)
    own = both > 1.25 * max(cycles.rate(add), cycles.rate(_named(plan, "float", kind=kind, chains=14)))
    words = f"{cycles.rate(add):.2f} additions per cycle, {both:.2f} mixed with multiplications"
    found["core.float_add_units"] = measured(
        max(1, round(cycles.rate(add))) if own else 0, cycles.spread(add, mix), words
    )
    if own:
        found["core.float_issue"] = measured(
            round(both, 1), cycles.spread(mix), f"{both:.2f} mixed operations per cycle"
        )
    return found | _sustained(cycles, plan, {name: float(figure.value) for name, figure in found.items()})


def _sustained(cycles: Cycles, plan: Plan, found: dict[str, float]) -> dict[str, Figure]:
    """Return what a mixed loop sustains; nothing if it reaches the dispatch width, or what its units alone allow.

    A turn of six operations has two loads, a store, a multiplication and an addition.
    """
    float_units, adders = found["core.float_units"], found["core.float_add_units"]
    operations = [
        found["core.dispatch_width"],
        6 * found["core.vector_store_ports"],
        3 * found["core.vector_load_ports"],
    ]
    operations += [3 * found["core.float_issue"], 6 * float_units, 6 * adders] if adders else [3 * float_units]
    one = _named(plan, "mixed")
    rate = cycles.rate(one)
    if rate >= _SUSTAINED * min(operations):
        return {}
    words = f"{rate:.2f} operations per cycle of a loop that loads, computes and stores"
    return {"core.sustained_width": measured(round(rate, 1), cycles.spread(one), words)}


def _latencies(cycles: Cycles, plan: Plan) -> dict[str, Figure]:
    kinds = ("add", "multiply", "fused") if plan.fused else ("add", "multiply")
    chains = {kind: _named(plan, "float", kind=kind) for kind in kinds}
    each = {kind: cycles.of(one) for kind, one in chains.items()}
    slower = {kind: value for kind, value in each.items() if kind != "add"}
    words = ", ".join(f"{kind} {value:.2f}" for kind, value in slower.items())
    single = {
        "multiply_latency": (_named(plan, "integer", kind="multiply"), 0.0),
        "float_add_latency": (chains["add"], 0.0),
        # The or that keeps the quotient long takes one cycle.
        "divide_latency": (_named(plan, "integer", kind="divide"), 1.0),
        "divide_interval": (_named(plan, "integer", kind="divide", chains=8), 0.0),
        "float_divide_latency": (_named(plan, "float", kind="divide"), 0.0),
        "float_divide_interval": (_named(plan, "float", kind="divide", chains=14), 0.0),
    }
    found = {
        "core.float_latency": measured(
            max(1, round(min(slower.values()))), cycles.spread(*[chains[kind] for kind in slower]), f"{words} cycles"
        )
    }
    for name, (one, extra) in single.items():
        value = cycles.of(one) - extra
        found[f"core.{name}"] = measured(max(1, round(value)), cycles.spread(one), f"{value:.2f} cycles")
    round_ = _named(plan, "transfer", kind="round")
    transfer = cycles.of(round_) / 2
    found["core.transfer_latency"] = measured(
        round(transfer, 1), cycles.spread(round_), "half of a move and its way back"
    )
    loaded = _named(plan, "transfer", kind="load")
    value = max(1.0, cycles.of(loaded) - transfer)
    found["core.vector_load_latency"] = measured(round(value, 1), cycles.spread(loaded), "loads and moves, less a move")
    # The chain from store to load to store has an addition in it.
    for name, kind, addition in (
        ("forward_latency", "general", 1.0),
        ("vector_forward_latency", "vector", each["add"]),
    ):
        one = _named(plan, "forward", kind=kind)
        value = cycles.of(one) - addition
        found[f"core.{name}"] = measured(max(0, round(value)), cycles.spread(one), f"{value:.2f} cycles")
    return found


def _frontend(cycles: Cycles, plan: Plan, notes: list[str]) -> Figure | None:
    known = _named(plan, "branch", pattern="alternating")
    random = _named(plan, "branch", pattern="random")
    # Half of the random ones are mispredicted.
    penalty = 2 * (cycles.of(random) - cycles.of(known))
    if penalty <= OF_THE_BRANCH:
        notes.append("frontend_depth: random branches took no longer than regular ones")
        return None
    words = f"{penalty:.1f} cycles per misprediction, less {OF_THE_BRANCH} to execute the branch"
    return measured(round(penalty - OF_THE_BRANCH, 1), cycles.spread(known, random), words)


def _fetch_block(cycles: Cycles, plan: Plan, notes: list[str]) -> Figure | None:
    """Return the smallest block whose end in a loop costs most of a cycle; None: a loop buffer hides it.

    On some cores it does so at times: a note says it.
    """
    inside = _named(plan, "fetch", place="inside")

    def typical(one: Task) -> float:
        return cycles.of(one) * (1 + cycles.spread(one))

    for size in (32, 64):
        across = _named(plan, "fetch", place=f"across-{size}")
        more = cycles.of(across) - cycles.of(inside)
        if more > 0.5:
            words = f"a short loop across {size} bytes takes {more:.2f} cycles more"
            return measured(f"{size} B", cycles.spread(inside, across), words)
        if typical(across) - typical(inside) > 0.5:
            notes.append(
                f"fetch_block: a short loop across {size} bytes took {cycles.of(across):.1f} cycles in its fastest "
                f"round and {typical(across):.1f} in the median one; the key is left out, as if all were the fastest"
            )
    return None


def _windows(cycles: Cycles, kind: str) -> list[tuple[int, str]]:
    """Return the measured numbers of instructions of a ``kind`` between two misses, with their labels."""
    start = f"window kind={kind} fillers="
    return sorted(
        (int(label.removeprefix(start).split()[0]), label) for label in cycles.measurements if label.startswith(start)
    )


def measured_window(cycles: Cycles, kind: str) -> tuple[int, int] | None:
    """Return the last number of instructions of a ``kind`` with which misses overlap, and the first without."""
    rows = _windows(cycles, kind)
    return window([count for count, _ in rows], [cycles.of(label) for _, label in rows])


def entries(cycles: Cycles, key: str, kind: str, notes: list[str]) -> Figure | None:
    """Return the entries of the reorder buffer or of a queue, which instructions of a ``kind`` fill."""
    rows = _windows(cycles, kind)
    found = measured_window(cycles, kind)
    if found is None:
        notes.append(f"{key}: no number of instructions ({kind}) keeps two misses from overlapping")
        return None
    overlap, apart = found
    words = f"two misses overlap with {overlap} instructions ({kind}) between them, not with {apart}"
    if apart - overlap > 64:
        notes.append(f"{key}: only known to be between {overlap} and {apart}")
    return measured(apart, cycles.spread(*[label for count, label in rows if count in found]), words)


def _outstanding(cycles: Cycles, plan: Plan, notes: list[str]) -> Figure | None:
    tasks = plan.parallel()
    gaps = [cycles.of(one) for one in tasks]
    most, growing = misses_in_flight(plan.counts, gaps)
    if most < 1.5:
        notes.append("outstanding_misses: chases at the same time were not faster than one after the other")
        return None
    words = f"latency over the gap between misses of up to {plan.counts[-1]} chases"
    if growing:
        notes.append(f"outstanding_misses: {round(most)} or more; it still grew with {plan.counts[-1]} chases")
        words += ", still growing"
    return measured(max(1, round(most)), cycles.spread(*tasks), words)
