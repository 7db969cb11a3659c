"""``manynode explore``: starts the local web application on a finished experiment."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer


def explore(
    base: Annotated[
        Path, typer.Argument(help="results folder of a finished experiment, or the experiment's file", metavar="BASE")
    ],
    directory: Annotated[
        Path | None, typer.Option(help="folder in which the experiment's file was run: it has results/NAME")
    ] = None,
    port: Annotated[int, typer.Option(min=0, max=65535, help="port on the loopback address; 0: any free one")] = 0,
    cores: Annotated[int, typer.Option(min=1, help="cores for simulations")] = os.cpu_count() or 1,
) -> None:
    """Ask the design space in a browser: what if the network, the nodes or the placement were others?"""
    from phase3_sst.explore.explorer import Explorer

    explorer = Explorer(results_of(base, directory), cores=cores)
    explorer.check_baseline()
    from phase3_sst.explore.server.serve import serve

    typer.echo("getting ready, which takes some seconds")
    serve(explorer, port, lambda link: typer.echo(f"open {link}"))


def results_of(base: Path, directory: Path | None) -> Path:
    """Return the results folder that the command names: itself, or that of an experiment's file which has been run."""
    from manynode.config.loader import load_experiment
    from manynode.config.resolved import read_resolved
    from manynode.errors import InputError, UsageError

    if base.suffix not in (".yaml", ".yml"):
        return base
    experiment = load_experiment(base)
    folders = [directory] if directory is not None else [Path(), base.resolve().parent]
    found = next((folder / "results" / experiment.name for folder in folders if
                  (folder / "results" / experiment.name / "experiment.json").is_file()), None)  # fmt: skip
    if found is None:
        raise InputError(
            "the experiment has not been run",
            where=str(base),
            found="no results in " + " or ".join(str(folder / "results" / experiment.name) for folder in folders),
            remedy="run it first: manynode run; or name the folder of that run by --directory",
        )
    if read_resolved(found / "experiment.json").projection_digest() != experiment.projection_digest():
        raise UsageError(
            "the experiment's file has changed since it was run",
            where=str(base),
            found=f"results of another experiment in {found}",
            remedy=f"run it again, or explore the old results: manynode explore {found}",
        )
    return found
