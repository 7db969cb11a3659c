"""``manynode strong``: one problem on an increasing number of nodes."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any

import typer


def strong_file() -> dict[str, Any]:
    """Return the model of a strong scaling study's file, for the reference."""
    from phase3_sst.studies.strong.strong_file import Strong

    return {"": Strong}


def strong(
    study: Annotated[Path, typer.Argument(help="strong scaling study (YAML)", metavar="STUDY")],
    output: Annotated[Path | None, typer.Option(help="folder to write (default: results/NAME)")] = None,
    cores: Annotated[int, typer.Option(min=1, help="cores to use")] = os.cpu_count() or 1,
    profile: Annotated[str | None, typer.Option(help="Snakemake profile: default, slurm or a folder")] = None,
) -> None:
    """Project strong scaling, with compute times interpolated between a few sizes per rank."""
    from manynode import tables
    from manynode.hostlock import only_here
    from manynode.report.strong import build_strong
    from manynode.report.waiting import oversubscribed_study
    from phase3_sst.campaign.experiments import ExperimentRunner
    from phase3_sst.point import folders
    from phase3_sst.studies.strong import strong_points, strong_sentences
    from phase3_sst.studies.strong.interpolate import ERRORS_SCHEMA
    from phase3_sst.studies.strong.strong_file import read_study

    described = read_study(study)
    target = output or Path("results") / described.name
    here = only_here(target, what="strong scaling study", command="strong", remedy="choose another --output")
    with here, folders.bound(target):
        sizes, points = strong_points.experiments(described, study, target)
        ExperimentRunner(cores, profile, None, typer.echo).run(size.experiment for size in sizes)
        planned = strong_points.plan(described, sizes, points, target)
        strong_points.simulate(planned, target, cores=cores, profile=profile, say=typer.echo)
        table = strong_points.conclude(planned, target)
        errors = strong_points.interpolation_errors(described, sizes)
        tables.write_table(target / "strong.parquet", strong_points.STRONG_SCHEMA, table)
        tables.write_table(target / "interpolation.parquet", ERRORS_SCHEMA, errors)
        said = strong_sentences.sentences(table, errors, strong_points.classes_by_size(described, sizes))
        warning = oversubscribed_study(strong_points.profiles(described, sizes))
        first: Any = next(iter(points.values()))
        tables.write_json(
            target / "strong.json",
            "strong-study/1",
            {
                "name": described.name,
                "title": described.title or described.name,
                "application": first.content["application"]["name"],
                "network": first.content["network"]["name"],
                "confidence": first.content["simulate"]["confidence"],
                "seed": first.content["seed"],
                "sentences": said,
                "oversubscribed": warning,
                **_provenance({str(nodes): resolved.digest() for nodes, resolved in points.items()}),
            },
        )
        build_strong(target, target / "strong.html")
        for sentence in [warning, *said] if warning else said:
            typer.echo(sentence)
        typer.echo(f"strong scaling: {target / 'strong.html'}")


def _provenance(digests: dict[str, str]) -> dict[str, Any]:
    from manynode import __version__
    from manynode.provenance import code_digest

    return {"manynode": __version__, "code": code_digest(), "digests": digests}
