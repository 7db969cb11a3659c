"""Measure the band of known errors on the validations that it is made from: coverage and width, each group left out.

The records of a machine (an application, where machines are too few) are compared with the interval that all others
give. The share within it should be the band's 90 %; beside it stands the width, since a wide band covers everything.
Records of a group are alike: 75 sizes of one ping-pong are no 75 validations. The bar is for the mean over groups,
which count the same as in the method; the share of records stands beside it.
"""

from __future__ import annotations

import math
from typing import Any

import pandas as pd
from _figure import figure

from manynode.known_errors.predictive import known_error, left_out, level_of
from manynode.known_errors.records import read_records, shipped

CONFIDENCE = 0.9
LEAST, MOST = 0.85, 0.95


def figures() -> list[dict[str, Any]]:
    """Return coverage and half-width by component and engine, and the coverage of all."""
    records = read_records(shipped())
    found: list[dict[str, Any]] = []
    whole = []
    for (component, engine), own in records.groupby(["component", "engine"], sort=True):
        tried, band = left_out(own, CONFIDENCE), known_error(own, CONFIDENCE)
        if tried.empty or band is None:
            print(f"{component} {engine}: {len(own)} records of too few groups")
            continue
        whole.append(tried)
        by_group = tried.groupby("group").agg(records=("error", "size"), covered=("covered", "mean"))
        print(by_group.to_string(float_format="{:.0%}".format))
        name = f"{component} model {engine}, {tried['group'].nunique()} left-out groups ({level_of(own)})"
        half = math.expm1(float((tried["high"] - tried["low"]).mean()) / 2)
        found += [
            figure(f"{name}: coverage", float(tried["covered"].mean()), "", None, None),
            figure(f"{name}: half-width, mean of the left-out bands", 100 * half, "%", None, None),
            figure(f"{name}: half-width of the band with all records", 100 * band.half_width, "%", None, None),
        ]
    every = pd.concat(whole, ignore_index=True)
    groups = every.groupby("group")["covered"].mean()
    share = float(groups.mean())
    return [
        *found,
        figure(f"all {len(groups)} left-out groups, each the same weight: coverage", share, "", LEAST, ">="),
        figure("the same", share, "", MOST, "<="),
        figure(f"all {len(every)} left-out records: coverage", float(every["covered"].mean()), "", None, None),
    ]


if __name__ == "__main__":
    for row in figures():
        print(f"{row['name']}: {row['value']:.3g} {row['unit']}")
