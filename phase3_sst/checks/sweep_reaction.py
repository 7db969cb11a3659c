"""Checks that the simulated network reacts to a parameter before a sweep over it is run.

In: a resolved experiment, an engine, a key such as ``network.link.bandwidth`` and its values. Out: a :class:`Check`: a
probe that depends on the parameter runs at each value, and its result must change at every step.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence

from manynode.config import yaml_text
from manynode.config.resolved import Resolved
from manynode.config.variation import value_of, with_value
from manynode.errors import UsageError
from phase3_sst.checks.line_rate import OVERHEAD, line_rate
from phase3_sst.checks.preflight import Check
from phase3_sst.checks.probes import SMALL_BYTES, Prober, large_message
from phase3_sst.point.contract import NetworkEngine

# A probe's time counts as unchanged below this relative change.
MOVES = 1e-3
# ... or, if the parameter is a rate, below this part of the parameter's own change.
RATE_PART = 0.05

_VARIED = ("network.", "application.parameters.", "simulate.collectives.", "simulate.placement.", "ranks_per_node")
# What every large or every small message shows; anything else shows in the application's own iterations.
_LARGE = ("bandwidth", "nic_bandwidth", "overhead_per_byte", "per_byte")
_SMALL = ("latency", "nic_latency", "message_latency", "switch_latency", "gap", "overhead_send", "overhead_recv")


def check_varied(key: str) -> None:
    """Raise an error for a parameter that the pre-flight check cannot vary."""
    if not key.startswith(_VARIED):
        raise UsageError(
            "the pre-flight check cannot vary this parameter",
            where=key,
            found="no part of phase 3",
            allowed=", ".join(f"{prefix}*" if prefix.endswith(".") else prefix for prefix in _VARIED),
            remedy="vary it in the experiment itself",
        )


def check_vary(experiment: Resolved, engine: NetworkEngine, key: str, values: Sequence[object]) -> Check:
    """Return the check that each value of ``key`` changes a probe's result compared with the previous value."""
    check_varied(key)
    variants = [Prober(with_value(experiment, key, value, "--vary"), engine) for value in values]
    what, probe = _probe_for(key)
    if probe is not _own and any(variant.room < 2 for variant in variants):
        raise UsageError(
            "a machine of one node has no network to vary",
            where=key,
            found="network.topology with room for one node",
            allowed="at least two nodes",
            remedy="enlarge network.topology, or leave this parameter out",
        )
    times = [probe(variant) for variant in variants]
    for step, (before, after) in enumerate(itertools.pairwise(times)):
        moved = _largest_change(before, after)
        answer = f"from {values[step]} to {values[step + 1]} {what} changes by {moved:.2%}"
        least = _least_change(variants[step], variants[step + 1], key) if probe is _large else MOVES
        if moved < least:
            return _unmoved(key, f"{answer}, less than {least:.1%}", variants[step + 1], probe is _large)
    return Check(f"{key} moves the result", True, answer, key, "")


def written_values(text: str) -> list[object]:
    """Return the values of a command line such as ``20 Gbit/s,100 Gbit/s``: integers and floats are converted."""
    try:
        values = [yaml_text.parse(word) for word in text.split(",") if word.strip()]
    except ValueError as error:
        raise UsageError("a value is not valid YAML", where="--values", found=str(error)) from None
    if len(values) < 2 or not all(isinstance(value, (int, float, str, bool)) for value in values):
        raise UsageError(
            "wrong list of values",
            where="--values",
            found=repr(text),
            allowed='at least two, with commas between them, such as "20 Gbit/s,100 Gbit/s"',
        )
    return values


def _probe_for(key: str) -> tuple[str, Callable[[Prober], list[float]]]:
    """Return the probe that shows the effect of ``key``: its name and its measured times [s]."""
    *section, last = key.split(".")
    # A host's rate in segments is one of the processor's own work.
    within = section[1:2] == ["intranode"] or (section[1:2] == ["host"] and last == "bandwidth")
    on_the_way = section[:1] == ["network"] and not within
    if on_the_way and last in _LARGE:
        return "a large message and the exchange of the halves", _large
    if on_the_way and last in _SMALL:
        return "a small message", _small
    return "the communication of the application's first iterations", _own


def _large(prober: Prober) -> list[float]:
    size = large_message(prober.network)
    far = prober.room - 1
    # Times per byte: the size follows the line rate.
    exchange = prober.exchange()
    return [prober.timed_ping_pong(far, size).makespan_s / size, exchange.makespan_s / exchange.size_bytes]


def _small(prober: Prober) -> list[float]:
    return [prober.ping_pong(prober.room - 1, SMALL_BYTES).makespan_s]


def _own(prober: Prober) -> list[float]:
    return [prober.own().makespan_s]


def _largest_change(before: Sequence[float], after: Sequence[float]) -> float:
    """Return the largest relative change of any of the times."""
    return max(abs(b - a) / max(a, b) if max(a, b) > 0 else 0.0 for a, b in zip(before, after, strict=True))


def _least_change(before: Prober, after: Prober, key: str) -> float:
    """Return the smallest change that shows that a rate matters: a part of the parameter's own change.

    A faster link speeds up the last chunk of a message even if another part of the path limits all earlier chunks.
    """
    values = [float(value_of(prober.experiment, key)) for prober in (before, after)]
    return max(MOVES, RATE_PART * _largest_change(values[:1], values[1:]))


def _unmoved(key: str, answer: str, prober: Prober, rate: bool) -> Check:
    """Return the failed check; for a rate, with the actual limit."""
    name = f"{key} moves the result"
    if not rate:
        return Check(name, False, f"{answer}: it does not depend on this parameter", "", "leave the parameter out")
    line = line_rate(prober.network, ())
    limit, words = (OVERHEAD, OVERHEAD) if line.key == key else (line.key, line.words())
    remedy = f"scale {limit} with it, or leave these values out"
    return Check(name, False, f"{answer}: {words} limits", limit, remedy)
