"""``manynode conformance``: a skeleton against its program, call by call."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Annotated

import typer

_DIFFERENT = 1


def conformance(
    experiment: Annotated[Path, typer.Argument(help="experiment file (YAML)", metavar="EXPERIMENT")],
    ranks: Annotated[str, typer.Option(help="numbers of ranks to compare at")] = "4,8",
    keep: Annotated[
        Path | None,
        typer.Option(
            help="folder for the recordings of the program; those in it that fit are used again [default: those in "
            "EXPERIMENT's folder NAME.recordings are used, new ones are not kept]"
        ),
    ] = None,
) -> None:
    """Compare an experiment's skeleton with its program, call by call; the exit code is 1 if they differ.

    The program runs on this host at each number of ranks, unless a recording of this run is there. Compared are, for
    each rank in order: calls, peers, sizes, tags, communicators, the requests that a wait completes, labels of phases.
    Sizes that a derived skeleton draws are compared in their volume and distribution.
    """
    from manynode.config.loader import load_experiment
    from manynode.errors import UsageError
    from phase2_nodesim.conformance_job import check_comparable, compare
    from phase2_nodesim.derive.program import numbers

    counts = numbers(ranks, "--ranks")
    if not counts or min(counts) < 1:
        raise UsageError(
            "no numbers of ranks to compare at", where="--ranks", found=ranks, allowed="numbers above 0, such as 4,8"
        )
    resolved = load_experiment(experiment)
    check_comparable(resolved, str(experiment))
    different = []
    with tempfile.TemporaryDirectory() as temporary:
        for count in counts:
            others = experiment.with_suffix(".recordings")
            found = compare(resolved, count, keep or Path(temporary), others, typer.echo)
            if found.difference is None:
                drawn = f" but for drawn sizes ({found.drawn})" if found.drawn else ""
                typer.echo(f"{count} ranks: equal{drawn}, {found.calls} calls")
            else:
                different.append(count)
                typer.echo(f"{count} ranks: different\n  " + found.difference.replace("\n", "\n  "))
    if different:
        raise typer.Exit(_DIFFERENT)
