"""Quantities with units in files and messages ("100 Gbit/s", "90 ns", "64 KiB"), SI floats inside.

Only this module parses and renders quantities, with the units of :mod:`pint`. ``GB`` is 10^9 bytes, ``GiB`` is 2^30.
"""

from __future__ import annotations

import functools
import math
import re
from typing import Any

# dimension -> (unit of the float inside, examples for messages)
DIMENSIONS: dict[str, tuple[str, str]] = {
    "time": ("second", "'90 ns', '1.5 us', '2 s'"),
    "bandwidth": ("byte / second", "'100 Gbit/s', '12.5 GB/s'"),
    "size": ("byte", "'64 KiB', '2 MB', '800 B'"),
    "frequency": ("hertz", "'2.3 GHz', '100 MHz'"),
    "time_per_size": ("second / byte", "'0.1 ns/B'"),
}

# One number and one unit: "1 ns + 2 ns" is an expression, and expressions are not quantities.
_MOST_CHARACTERS = 100
_QUANTITY = re.compile(r"\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*([A-Za-zµμ]+(?:\s*/\s*[A-Za-z]+)?)\s*")
# "Gb/s" means bits in networking (pint reads gilbert); "KB" is spelt "kB" in pint.
_SPELLINGS = [
    (re.compile(r"\b([kKMGT]?)b\b"), r"\1bit"),
    (re.compile(r"\bK(B|bit)\b"), r"k\1"),
    (re.compile("^[µμ]"), "u"),
]


# Reading all of pint's units takes longer than most commands have to do.
_UNITS = """
pico- = 1e-12 = p-
nano- = 1e-9 = n-
micro- = 1e-6 = u-
milli- = 1e-3 = m-
kilo- = 1e3 = k-
mega- = 1e6 = M-
giga- = 1e9 = G-
tera- = 1e12 = T-
peta- = 1e15 = P-
exa- = 1e18 = E-
kibi- = 2**10 = Ki-
mebi- = 2**20 = Mi-
gibi- = 2**30 = Gi-
tebi- = 2**40 = Ti-
pebi- = 2**50 = Pi-
exbi- = 2**60 = Ei-
second = [time] = s = sec
minute = 60 * second = min
hour = 60 * minute = h = hr
day = 24 * hour = d
week = 7 * day
bit = []
byte = 8 * bit = B = octet
hertz = 1 / second = Hz
"""


@functools.cache
def _registry() -> Any:
    import pint

    registry: Any = pint.UnitRegistry(None, cache_folder=None)
    registry.load_definitions(_UNITS.strip().splitlines())
    return registry


def parse(text: str, dimension: str) -> float:
    """Return the quantity in the SI unit of ``dimension``; a :class:`ValueError` names the mistake and a right form."""
    unit, examples = DIMENSIONS[dimension]
    # The pattern takes quadratic time for many digits.
    match = _QUANTITY.fullmatch(text) if isinstance(text, str) and len(text) <= _MOST_CHARACTERS else None
    if match is None:
        raise ValueError(f"{text!r} is not a quantity: write a number and a unit, such as {examples}")
    try:
        given = match[2]
        for pattern, spelling in _SPELLINGS:
            given = pattern.sub(spelling, given)
        value = float(_registry().Quantity(float(match[1]), given).to(unit).magnitude)
    except Exception as error:  # pint raises many unrelated classes
        raise ValueError(
            f"{text!r} is not a {dimension.replace('_', ' ')} ({error}); write such as {examples}"
        ) from None
    if not math.isfinite(value):
        raise ValueError(f"{text!r} is not finite")
    return value


_STEPS = {
    "time": [("s", 1.0), ("ms", 1e-3), ("us", 1e-6), ("ns", 1e-9)],
    "bandwidth": [("Tbit/s", 1.25e11), ("Gbit/s", 1.25e8), ("Mbit/s", 1.25e5)],
    "size": [("PiB", 2.0**50), ("TiB", 2.0**40), ("GiB", 2.0**30), ("MiB", 2.0**20), ("KiB", 1024.0), ("B", 1.0)],
    "frequency": [("GHz", 1e9), ("MHz", 1e6), ("Hz", 1.0)],
    "time_per_size": [("ns/B", 1e-9)],
}


def render(value: float, dimension: str, digits: int = 4) -> str:
    """Return the SI ``value`` with a unit; ``parse`` reads it back to the shown precision."""
    steps = _STEPS[dimension]
    if not math.isfinite(value):
        return str(value)
    for unit, size in steps:
        if abs(value) >= size or (unit, size) == steps[-1]:
            return f"{value / size:.{digits}g} {unit}"
    raise AssertionError("unreachable")
