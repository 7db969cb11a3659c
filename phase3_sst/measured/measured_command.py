"""``manynode measured``: converts profiler reports and benchmark tables into a table for a validation study."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Files = Annotated[
    list[Path],
    typer.Argument(help="reports of mpiP or IPM, folders of marker files; or tables of collectives (OSU, IMB)"),
]


def measured(
    files: Files,
    output: Annotated[Path, typer.Option(help="CSV file to write, for the section validation of an experiment")],
    nodes: Annotated[int | None, typer.Option(min=1, help="nodes of the runs [default: from the reports]")] = None,
    ranks_per_node: Annotated[int, typer.Option(min=1, help="ranks on each node, for tables of collectives")] = 1,
    form: Annotated[
        str, typer.Option("--format", help="auto, mpip, ipm, markers, or one of imb, osu, summary, table")
    ] = "auto",
) -> None:
    """Convert measurements into a table for the section validation: runs of the application, or collectives."""
    from manynode.config import measured as table
    from manynode.errors import UsageError
    from phase3_sst.measured import collect

    collect.check_format(form)
    forms = [collect.report_format(path, form) for path in files]
    reports = [name for name in forms if name is not None]
    if reports and len(reports) != len(files):
        odd = next(path for path, name in zip(files, forms, strict=True) if name is None)
        raise UsageError(
            "reports of runs and tables of collectives cannot be in one table",
            found=f"{odd} is no report",
            remedy="convert them by two commands",
        )
    remark = f"Written by 'manynode measured' of {', '.join(path.name for path in files)}"
    if reports:
        runs = collect.runs(files, reports, nodes)
        table.write_runs(output, runs, [remark])
        for run in runs:
            where = f"{run['nodes']} node{'' if run['nodes'] == 1 else 's'}, replica {run['replica']}"
            typer.echo(f"{where}: {run['seconds']:.6g} s")
    else:
        rows, notes = collect.collectives(files, form, nodes, ranks_per_node)
        table.write_collectives(output, rows, [remark])
        for name in dict.fromkeys(row["collective"] for row in rows):
            typer.echo(f"{name}: {sum(row['collective'] == name for row in rows)} sizes")
        for note in notes:
            typer.echo(f"left out: {note}")
    typer.echo(str(output))
