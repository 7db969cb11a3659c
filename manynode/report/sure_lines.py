"""How sure, in a line each: the band of known errors and its parts, the scale, measurements, comparisons."""

from __future__ import annotations

import math
from dataclasses import dataclass

from manynode.report.band import Part, band, doublings_beyond
from manynode.report.load import Inputs
from manynode.report.validation import mean_error
from manynode.report.wording import count, listing, number, percent, signed


@dataclass(frozen=True)
class Line:
    """``what`` it is about, ``figure`` how far off the time may be, ``basis`` where that comes from."""

    what: str
    figure: str
    basis: str


def sure_lines(inputs: Inputs) -> list[Line]:
    """Return the table; empty without a projection."""
    found = band(inputs)
    if found is None:
        return []
    unknown = [part.name for part in found.parts if part.below is None]
    basis = "the parts below, as independent errors"
    if unknown:
        basis = f"{'without' if found.low_s is not None else 'needs'} {listing(unknown)}, not known"
    lines = [
        Line("all known errors", found.limits, basis),
        *(Line(part.name, _range(part), _basis(part, inputs)) for part in found.parts),
    ]
    beyond, reached = doublings_beyond(inputs, found)
    if reached is not None:
        basis = f"beyond the measured job; validated up to {number(round(reached, 1))}"
        lines.append(Line("scale", _doublings(beyond), basis))
    error = mean_error(inputs)
    measured = "not compared with a real machine" if error is None else f"{percent(error)} off on average"
    lines.append(Line("measurements", measured, "section 'validation' of the experiment"))
    if inputs.sensitivity is not None or inputs.losses is not None:
        lines.append(Line("comparisons", "better known than times", "variants share draws, samples and node model"))
    return lines


def _doublings(value: float) -> str:
    return f"{number(round(value, 1))} doubling{'' if round(value, 1) == 1 else 's'} of nodes"


def _range(part: Part) -> str:
    if not part.counted:
        return "not counted"
    if part.below is None or part.above is None:
        return "not known"
    low, high = math.expm1(part.bias - part.below), math.expm1(part.bias + part.above)
    return f"±{percent(high)}" if part.bias == 0 and part.below == part.above else f"{signed(low)} to {signed(high)}"


def _basis(part: Part, inputs: Inputs) -> str:
    """Return where a part comes from, in a few words."""
    if part.known is not None:
        groups = "machine" if part.known.level == "machine" else "application"
        return (
            f"{count(part.known.records, 'measurement')} of {count(part.known.groups, groups)}; "
            f"counts for {percent(part.share)} of the time"
        )
    # The whole reason is in the paragraph below.
    return part.why.partition(". ")[0] or {"draws": count(inputs.experiment.simulate.replicas, "replica")}.get(
        part.name, ""
    )
