"""Measure the band of known errors on the validations that it is made from: coverage and width, each group left out.

The records of a machine (an application, where machines are too few) are compared with the interval that all others
give. The share within it should be the band's 90 %; beside it stands the width, since a wide band covers everything.
Records of a group are alike: 75 sizes of one ping-pong are no 75 validations. The bar is for the mean over groups,
which count the same as in the method; the share of records stands beside it. Where machines are left out, each
application is left out of all of them, too.

The network model's records are predictions after a fit to other measurements of the machine. The last figures say how
many of pico's points lie in the band if the network was not fitted: host figures are then those of another machine of
the catalogue, or of ping-pongs (``pico_collectives.py``).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
from _agreement import need
from _figure import figure
from pico_collectives import CASES, without_fit

from manynode.known_errors.predictive import KnownError, known_error, left_out, level_of
from manynode.known_errors.records import NETWORK, read_records, shipped

CONFIDENCE = 0.9
BAR = [(0.85, ">="), (0.95, "<=")]


def figures() -> list[dict[str, Any]]:
    """Return coverage and half-width by component and engine, the coverage of all, and that of networks not fitted."""
    records = read_records(shipped())
    found: list[dict[str, Any]] = []
    whole, bands = [], {}
    for key, own in records.groupby(["component", "engine"], sort=True):
        component, engine = map(str, key)
        tried, band = left_out(own, CONFIDENCE), known_error(own, CONFIDENCE)
        if tried.empty or band is None:
            print(f"{component} {engine}: {len(own)} records of too few groups")
            continue
        whole.append(tried)
        bands[component, engine] = band
        found += covered(f"{component} model {engine}", f"{level_of(own)}s", tried, bounded=level_of(own) == "machine")
        if level_of(own) == "machine":
            by_application = left_out(own, CONFIDENCE, "application")
            found += covered(
                f"{component} model {engine}", "applications of all machines", by_application, bounded=True
            )
        half = 100 * band.half_width
        found.append(figure(f"{component} model {engine}: half-width with all records", half, "%", None, None))
    every = pd.concat(whole, ignore_index=True)
    groups = every.groupby("group")["covered"].mean()
    for bar, comparison in BAR:
        name = f"all {len(groups)} left-out groups: coverage, each the same weight"
        found.append(figure(name, float(groups.mean()), "", bar, comparison))
    found.append(figure(f"all {len(every)} left-out records: coverage", float(every["covered"].mean()), "", None, None))
    need("fast")
    return [*found, *not_fitted(bands[NETWORK, "fast"])]


def covered(name: str, what: str, tried: pd.DataFrame, *, bounded: bool) -> list[dict[str, Any]]:
    """Return coverage and half-width of left-out groups, and print them; ``bounded``: the coverage has a bar."""
    by_group = tried.groupby("group").agg(
        **{"records": ("error", "size"), "covered": ("covered", "mean"), "low": ("low", "first")},
        **{"high": ("high", "first")},
    )
    by_group["half_width"] = np.expm1((by_group["high"] - by_group["low"]) / 2)
    print(by_group[["records", "covered", "half_width"]].to_string(float_format="{:.0%}".format))
    share = float(by_group["covered"].mean())
    name = f"{name}, {len(by_group)} left-out {what}"
    bounds = BAR if bounded else [(None, None)]
    half = 100 * math.expm1(float((tried["high"] - tried["low"]).mean()) / 2)
    return [
        *[figure(f"{name}: coverage, each the same weight", share, "", bar, comparison) for bar, comparison in bounds],
        figure(f"{name}: coverage of {len(tried)} records", float(tried["covered"].mean()), "", None, None),
        figure(f"{name}: half-width, mean of the bands", half, "%", None, None),
    ]


def not_fitted(band: KnownError) -> list[dict[str, Any]]:
    """Return the share of pico's held-out points in ``band`` and their median error, by networks before their fit."""
    found = []
    for system in CASES:
        frame = without_fit(system, shipped=False)
        inside = np.log(frame["measured_s"] / frame["simulated_s"]).between(band.low, band.high)
        name = f"{system}, network not fitted, {len(frame)} points"
        found += [
            figure(f"{name}: share in the band", float(inside.mean()), "", None, None),
            figure(f"{name}: median error", 100 * float(frame["error"].abs().median()), "%", None, None),
        ]
    return found


if __name__ == "__main__":
    for row in figures():
        print(f"{row['name']}: {row['value']:.3g} {row['unit']}")
