"""The network file of a fit to collectives: the base file with the fitted host parameters, each with its origin.

The text has no date and no path. It is read back with the loader's own model, so an invalid file is never written.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from manynode.config import yaml_text
from manynode.units import render
from phase3_sst.calibration import network_file
from phase3_sst.calibration.collective_fit.parameters import (
    JUMP,
    LATENCY,
    OVERHEADS,
    RATES,
    SLOPE,
    Parameter,
    size_text,
    with_values,
)
from phase3_sst.calibration.collective_fit.solve import Solution

# What the data have to remove of the prior's variance for a value to count as fitted.
TOLD = 0.5
_DIGITS = 5
_TIED = 0.95


def text(
    base: Mapping[str, Any],
    resolved: Mapping[str, Any],
    parameters: Sequence[Parameter],
    solution: Solution,
    *,
    name: str,
    description: str,
    fitted_to: str,
    remarks: Sequence[str],
) -> str:
    """Return the file. ``base`` is the base file as written, ``resolved`` the same in SI units."""
    lines = network_file.comment(remarks)
    for key, value in (("name", name), ("description", description), ("fitted_to", fitted_to)):
        lines += network_file.block(key, value)
    for key, value in base.items():
        if key not in ("name", "description", "fitted_to", "host"):
            lines += network_file.block(key, value)
    lines.append("host:")
    host = with_values(resolved, parameters, [float(value) for value in solution.values])["host"]
    keys = ["message_latency" if parameter.key == LATENCY else parameter.key for parameter in parameters]
    fitted = set(keys)
    for key in dict.fromkeys(keys):
        if host.get(key) is not None:
            lines += network_file.comment([_origin(key, parameters, solution)], indent="  ")
            lines += _entry(key, host[key])
    for key, value in base.get("host", {}).items():
        if key not in fitted and key != "overhead_per_byte":
            lines += network_file.block(key, value, "  ")
    result = "\n".join(lines) + "\n"
    network_file.read(yaml_text.parse(result), "the calibrated network")
    return result


def _origin(key: str, parameters: Sequence[Parameter], solution: Solution) -> str:
    """Return where the values of ``key`` come from, with the standard error as a share of each."""
    parts = []
    for parameter, value, deviation, told in zip(
        parameters, solution.values, solution.deviations, solution.told, strict=True
    ):
        shared = key in OVERHEADS and parameter.key in (JUMP, SLOPE)
        if parameter.key not in (key, f"{key} from") and not shared:
            continue
        words = {JUMP: "jump at", LATENCY: "jump at", SLOPE: "per byte from"}.get(parameter.key, "at")
        at = "" if parameter.size is None else f"{words} {size_text(parameter.size)} "
        error = f"+- {deviation / value:.0%}" if value > deviation else f"below {_shown(parameter, value + deviation)}"
        parts.append(f"{at}{error}" if told >= TOLD else f"{at}hardly told")
    if all(part.endswith("hardly told") for part in parts):
        return "assumed, near the base network: the collectives hardly tell it"
    return "fitted to collectives: " + "; ".join(parts)


def _shown(parameter: Parameter, value: float) -> str:
    per_byte = parameter.key in (*RATES, "nic_bandwidth", SLOPE)
    return render(value, "time_per_size" if per_byte else "time", 3)


def _entry(key: str, value: Any) -> list[str]:
    if key in OVERHEADS or (key == "message_latency" and isinstance(value, list)):
        return [f"  {key}:", *[f"    - {_overhead(part)}" for part in value]]
    if key in RATES:
        return [f"  {key}:", *[f"    - {_rate(part)}" for part in value]]
    kind = "bandwidth" if key == "nic_bandwidth" else "time"
    return [f"  {key}: {render(value, kind, _DIGITS)}"]


def _overhead(part: Mapping[str, float]) -> str:
    time, slope = render(part["time"], "time", _DIGITS), render(part["per_byte"], "time_per_size", _DIGITS)
    return f"{{from: {size_text(round(part['from']))}, time: {time}, per_byte: {slope}}}"


def _rate(part: Mapping[str, float]) -> str:
    return f"{{from: {size_text(round(part['from']))}, bandwidth: {render(part['bandwidth'], 'bandwidth', _DIGITS)}}}"


def notes(parameters: Sequence[Parameter], solution: Solution) -> list[str]:
    """Return which parameters the data do not tell, and which they do not tell apart."""
    names = [parameter.name for parameter in parameters]
    unknown = [name for name, told in zip(names, solution.told, strict=True) if told < TOLD]
    found = [f"hardly told by the data, near the base network: {', '.join(unknown)}"] if unknown else []
    tied = [
        f"{names[row]} and {names[column]}"
        for row in range(len(names))
        for column in range(row)
        if solution.correlations[row, column] < -_TIED
    ]
    return found + ([f"only the sum of these is told: {'; '.join(tied)}"] if tied else [])
