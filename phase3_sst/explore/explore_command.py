"""``manynode explore``: starts the local web application on a finished experiment."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer


def explore(
    results: Annotated[Path, typer.Argument(help="results folder, or the experiment's file (YAML)", metavar="RESULTS")],
    directory: Annotated[Path, typer.Option(help="folder with results/NAME of an experiment's file")] = Path(),
    port: Annotated[int, typer.Option(min=0, max=65535, help="port on the loopback address; 0: any free one")] = 0,
    cores: Annotated[int, typer.Option(min=1, help="cores for simulations")] = os.cpu_count() or 1,
) -> None:
    """Ask the design space in a browser: what if the network, the nodes or the placement were others?"""
    from phase3_sst.explore.explorer import Explorer
    from phase3_sst.explore.server.serve import serve

    serve(Explorer(results, cores=cores), port, lambda link: print(f"open {link}", flush=True))
