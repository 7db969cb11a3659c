"""The models' paired error of every two alternatives of a what-if study.

In: the alternatives' finished results. Out: the error of the ratio of two times, a share; None where it is not known.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from manynode.measurements import MEASURED_SECTIONS
from manynode.report.band import Band, band, paired_error
from manynode.report.load import load, opened
from phase3_sst.studies.what_if.alternatives import Case

_OF_NODE = (*MEASURED_SECTIONS, "own_times")


def model_errors(cases: Sequence[Case], output: Path) -> dict[tuple[str, str], float | None]:
    """Return the paired error by the names of two alternatives, in the order of ``cases``."""
    bands = [_band(case.results(output)) for case in cases]
    contents = [case.resolved.content for case in cases]
    found = {}
    for one, other in itertools.combinations(range(len(cases)), 2):
        first, second = bands[one], bands[other]
        shared = [_same(contents[one], contents[other], keys) for keys in (_OF_NODE, ("network",))]
        shared[1] = shared[1] and contents[one]["simulate"]["engine"] == contents[other]["simulate"]["engine"]
        known = None if first is None or second is None else paired_error(first.models, second.models, shared)
        found[cases[one].alternative, cases[other].alternative] = known
    return found


def _band(results: Path) -> Band | None:
    with opened(results):
        return band(load(results))


def _same(one: dict[str, Any], other: dict[str, Any], keys: Sequence[str]) -> bool:
    return all(one[key] == other[key] for key in keys)
