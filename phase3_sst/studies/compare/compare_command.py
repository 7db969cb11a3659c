"""``manynode compare-engines``: runs one experiment with several engines and compares the results."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any

import typer

from manynode.command_answer import Json, Quiet, answering, finite, say
from phase3_sst.point.point_result import EngineResults
from phase3_sst.studies.compare.choice import Choice


def compare_engines(
    experiment: Annotated[Path, typer.Argument(help="experiment file (YAML)", metavar="EXPERIMENT")],
    engines: Annotated[str | None, typer.Option(help="engines, such as fast,sst (default: all installed ones)")] = None,
    output: Annotated[Path | None, typer.Option(help="folder to write (default: results/NAME-engines)")] = None,
    cores: Annotated[int, typer.Option(min=1, help="cores to use")] = os.cpu_count() or 1,
    changes: Annotated[
        list[str] | None, typer.Option("--set", help="KEY=VALUE: change a key of the experiment; repeatable")
    ] = None,
    measurements_from: Annotated[
        Path | None,
        typer.Option(
            help="results folder whose measured runs are reused, such as results/demo, or a folder of such folders"
        ),
    ] = None,
    profile: Annotated[str | None, typer.Option(help="Snakemake profile: default, slurm or a folder")] = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Run an experiment with each engine from the same measurements; compare makespan, breakdown, link load."""
    from manynode.config.changes import read_changes
    from manynode.hostlock import only_here
    from phase3_sst.studies.compare.choice import choose, named
    from phase3_sst.studies.compare.paired_runs import Runs

    given = Runs(experiment, Path(), read_changes(changes or []), cores, profile, measurements_from)
    given.check()
    chosen = choose(named(engines), given.resolved().simulate)
    target = output or Path("results") / f"{given.content()['name']}-engines"
    for name, probe in chosen.skipped.items():
        typer.echo(f"skipped: {name} is not installed ({probe.remedy})", err=as_json or quiet)
    with (
        answering(as_json=as_json, quiet=quiet) as answer,
        only_here(target, what="comparison", command="compare-engines", remedy="choose another --output"),
    ):
        runs = Runs(experiment, target, given.changes, cores, profile, measurements_from)
        answer(_compare(target, chosen, runs.all(chosen.names, typer.echo)))


def _compare(target: Path, chosen: Choice, results: dict[str, EngineResults]) -> dict[str, Any]:
    """Compare finished results, write all files, and print the findings; return them as a document."""
    from manynode import tables
    from manynode.config.resolved import read_resolved
    from manynode.errors import CheckFailedError
    from manynode.report.comparison import build_comparison
    from phase3_sst.studies.compare import choice, comparison_files, comparison_summary, markdown
    from phase3_sst.studies.compare.tables_of_pairs import compare

    first = results[chosen.names[0]]
    resolved = read_resolved(first.folder / "experiment.json")
    content = resolved.content
    points = [(technique, nodes) for technique in content["techniques"] for nodes in content["nodes"]]
    pairs = choice.pairs(chosen.names)
    found = compare(results, pairs, points, confidence=content["simulate"]["confidence"], seed=content["seed"])
    summaries = comparison_summary.summaries(found, pairs)
    # All engines replay the timing profiles of the first one's measurements.
    modes = sorted({"ext" if technique.startswith("ext") else "no-ext" for technique in content["techniques"]})
    profiles = {mode: first.folder / f"nodesim/timing-profile-{mode}.json" for mode in modes}
    document: dict[str, Any] = {
        **comparison_files.heading(content, resolved.digest(), profiles),
        "engines": [{"name": name, "version": results[name].version(*points[0])} for name in chosen.names],
        "skipped": [{"name": name, "remedy": probe.remedy} for name, probe in chosen.skipped.items()],
        "pairs": [comparison_files.finite(vars(pair) | {"sentences": pair.sentences()}) for pair in summaries],
    }
    comparison_files.write(target, found, document)
    with tables.replacing(target / "comparison.md") as part:
        part.write_text(markdown.text(document, found, summaries), encoding="utf-8")
    build_comparison(target, target / "comparison.html")
    if document["oversubscribed"]:
        say(document["oversubscribed"])
    for pair in summaries:
        for sentence in pair.sentences():
            say(sentence)
    say(f"comparison: {target / 'comparison.html'}")
    unequal = [pair for pair in summaries if not pair.same_compute]
    if unequal:
        raise CheckFailedError(
            "the engines did not compute for the same time",
            where=unequal[0].compute_where,
            found="; ".join(f"{p.engine} and {p.reference}: {p.compute_s:.3g} s apart" for p in unequal),
            allowed="less than 1 ns for every rank: all engines draw the same compute times",
            remedy="this is a defect of an engine; the comparison was written",
        )
    rows = found.makespans.to_dict("records")
    page = str(target / "comparison.html")
    return dict(finite({"schema": "comparison-result/1", "page": page, **document, "makespans": rows}))
