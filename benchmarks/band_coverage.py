"""Measure the band of known errors on the validations that it is made from: coverage and width, each group left out.

The records of a machine (an application, where machines are too few) are compared with the interval that all others
give. The share within it should be the band's 90 %; beside it stands the width, since a wide band covers everything.
Records of a group are alike: 75 sizes of one ping-pong are no 75 validations. The bar is for the mean over groups,
which count the same as in the method; the share of records stands beside it. Where machines are left out, each
application is left out of all of them, too.

Networks that were fitted to measurements of their machine, and those that were not, have bands of their own. Host
figures of the latter are those of another machine of the catalogue, or of ping-pongs (``pico_collectives.py``).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
from _figure import figure

from manynode.known_errors.predictive import LEAST, known_error, left_out, level_of
from manynode.known_errors.records import NETWORK, NOTHING, read_records, shipped

CONFIDENCE = 0.9
BAR = [(0.85, ">="), (0.95, "<=")]


def figures() -> list[dict[str, Any]]:
    """Return coverage and half-width by component and engine, the coverage of all, and that of networks not fitted."""
    records = read_records(shipped())
    found: list[dict[str, Any]] = []
    records["fitted"] = np.where(
        (records["component"] == NETWORK) & (records["fitted_to"] == NOTHING), ", network not fitted", ""
    )
    whole = []
    for key, own in records.groupby(["component", "engine", "fitted"], sort=True):
        component, engine, fitted = map(str, key)
        tried, band = left_out(own, CONFIDENCE), known_error(own, CONFIDENCE)
        if tried.empty or band is None:
            print(f"{component} {engine}{fitted}: {len(own)} records of too few groups")
            continue
        name = f"{component} model {engine}{fitted}"
        whole.append(tried)
        # Of three machines, two are left: how much these differ says nearly nothing, and the band is very wide.
        bounded = level_of(own) == "machine" and own["machine"].nunique() > LEAST
        found += covered(name, f"{level_of(own)}s", tried, bounded=bounded)
        if level_of(own) == "machine":
            by_application = left_out(own, CONFIDENCE, "application")
            found += covered(name, "applications of all machines", by_application, bounded=True)
        half = 100 * band.half_width
        found.append(figure(f"{name}: half-width with all records", half, "%", None, None))
    every = pd.concat(whole, ignore_index=True)
    groups = every.groupby("group")["covered"].mean()
    for bar, comparison in BAR:
        name = f"all {len(groups)} left-out groups: coverage, each the same weight"
        found.append(figure(name, float(groups.mean()), "", bar, comparison))
    found.append(figure(f"all {len(every)} left-out records: coverage", float(every["covered"].mean()), "", None, None))
    return found


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


if __name__ == "__main__":
    for row in figures():
        print(f"{row['name']}: {row['value']:.3g} {row['unit']}")
