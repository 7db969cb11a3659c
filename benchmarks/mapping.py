"""Measure what mapping by STALLS recovers, in the paper's case and in drawn ones (configs/congestion/mapping.yaml).

Targets: in the case of Brandt et al., STALLS recovers at least 40 % of the time lost to congestion, and more than HOPS.
In at least twenty drawn cases in which traffic costs 5 % or more, it is never more than 2 % slower than the default
mapping.

Usage on its own: ``python benchmarks/mapping.py [--verbose] [--folder DIR]``. Situations that DIR already has are not
simulated again.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import Any

import pandas as pd
from _agreement import need
from _figure import figure

from phase3_sst.studies.congestion.contract import Findings, Workload, parts
from phase3_sst.studies.congestion.situation_runs import Runs
from phase3_sst.studies.congestion.study_file import as_content, read_study

STUDY = Path(__file__).resolve().parent.parent / "configs" / "congestion" / "mapping.yaml"
LEAST_RECOVERED = 0.4
MOST_SLOWER = 0.02
LEAST_CASES = 20


def findings(folder: Path) -> Findings:
    """Return the findings of the part; situations are kept in ``folder``."""
    described = read_study(STUDY)
    network, simulate = as_content(described.study)
    workloads = {
        name: Workload(name, entry.application.name, entry.application.parameters, entry.ranks_per_node, None)
        for name, entry in described.study.workloads.items()
        if entry.application is not None
    }
    runs = Runs(described.study.network, network, simulate, described.study.seed, 0.95, workloads, folder)
    part, settings = parts.get("mapping"), described.settings["mapping"]
    part.check(runs, settings)
    number = 0
    while wanted := part.situations(runs, settings, number):
        for situation in runs.missing(wanted):
            runs.run(situation)
        number += 1
    return part.conclude(runs, settings)


def figures(folder: Path | None = None) -> list[dict[str, Any]]:
    """Return the figures of the targets."""
    need("fast")
    if folder is None:
        with tempfile.TemporaryDirectory(prefix="mapping.") as scratch:
            return figures(Path(scratch))
    return _figures(findings(folder))


def _figures(found: Findings) -> list[dict[str, Any]]:
    table = found.tables["mapping-runs"][1]
    paper = table[table["case"] == "paper"].set_index("method")
    everywhere = table[table["drawn"] & (table["method"] == "stalls")]
    drawn = everywhere[everywhere["recovered"].notna()]
    median = float(drawn["recovered"].median())
    recovered = {name: float(paper.loc[name, "recovered"]) for name in paper.index}
    others = [name for name in recovered if name != "stalls"]
    return [
        figure("congestion loss in the paper's case", float(paper["loss"].iloc[0]), "of the time", None, None),
        *(
            figure(f"recovered by {name}, the paper's case", recovered[name], "of the loss", None, None)
            for name in others
        ),
        figure("recovered by stalls, the paper's case", recovered["stalls"], "of the loss", LEAST_RECOVERED, ">="),
        figure("stalls recovers more than hops by", recovered["stalls"] - recovered["hops"], "of the loss", 0.0, ">="),
        figure("drawn cases with congestion", len(drawn), "cases", LEAST_CASES, ">="),
        figure("median recovered by stalls, congested cases", median, "of the loss", None, None),
        figure(
            "worst change by stalls, congested cases", float(drawn["change"].max()), "of the time", MOST_SLOWER, "<="
        ),
        figure("worst change by stalls, all drawn cases", float(everywhere["change"].max()), "of the time", None, None),
        figure("median time of finding a mapping", float(table["seconds"].median()), "s", None, None),
    ]


def main() -> None:
    """Print the figures; with --verbose also the table of all runs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("--folder", type=Path, default=None)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="mapping.") as scratch:
        found = findings(arguments.folder or Path(scratch))
    if arguments.verbose:
        with pd.option_context("display.width", 220, "display.max_columns", None, "display.max_rows", None):
            print(found.tables["mapping-runs"][1])
    for entry in _figures(found):
        print(f"{entry['name']:<50} {entry['value']:>10.4g} {entry['unit']:<12} {'' if entry['holds'] else 'FAILS'}")


if __name__ == "__main__":
    main()
