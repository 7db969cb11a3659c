"""``manynode measured``: converts profiler reports and benchmark tables into a table for a validation study."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Files = Annotated[
    list[Path],
    typer.Argument(help="reports of mpiP or IPM, folders of marker files; or tables of collectives (OSU, IMB, pico)"),
]


def measured(
    files: Files,
    output: Annotated[Path, typer.Option(help="CSV file to write, for the section validation of an experiment")],
    nodes: Annotated[
        int | None,
        typer.Option(min=1, help="nodes of the runs [default: from the reports]; of a campaign, only its rows on them"),
    ] = None,
    ranks_per_node: Annotated[int, typer.Option(min=1, help="ranks on each node, for tables of collectives")] = 1,
    form: Annotated[
        str, typer.Option("--format", help="auto, mpip, ipm, markers, or one of imb, osu, pico, summary, table")
    ] = "auto",
    system: Annotated[str | None, typer.Option(help="of a campaign (pico): only the rows of this machine")] = None,
    campaign: Annotated[str | None, typer.Option(help="of a campaign (pico): only the rows with this name")] = None,
) -> None:
    """Convert measurements into a table for the section validation: runs of the application, or collectives."""
    from manynode.config import measured as table
    from manynode.errors import UsageError
    from phase3_sst.measured import collect
    from phase3_sst.measured.campaigns.interface import Wanted

    collect.check_format(form)
    of_campaigns = [collect.campaign_format(path, form) for path in files]
    forms = [None if one else collect.report_format(path, form) for path, one in zip(files, of_campaigns, strict=True)]
    kinds = [bool(one) - bool(name) for one, name in zip(of_campaigns, forms, strict=True)]
    if len(set(kinds)) > 1:
        odd = next(path for path, kind in zip(files, kinds, strict=True) if kind != kinds[0])
        raise UsageError(
            "reports of runs, tables of collectives and campaigns cannot be in one table",
            found=f"{odd} is of another kind than {files[0]}",
            remedy="convert them by two commands",
        )
    if (system or campaign) and not all(of_campaigns):
        raise UsageError(
            "only campaigns have systems and names",
            where="--system, --campaign",
            found=str(files[0]),
            remedy="leave the options out, or give a table of pico",
        )
    remark = f"Written by 'manynode measured' of {', '.join(path.name for path in files)}"
    if all(of_campaigns):
        wanted = Wanted(system, campaign, nodes)
        rows, notes = collect.campaign(files, [one for one in of_campaigns if one], wanted)
        table.write_collectives(output, rows, [remark])
        names = [f"{row['collective']} {row['algorithm']}" for row in rows]
        for name in dict.fromkeys(names):
            typer.echo(f"{name}: {names.count(name)} points")
        for note in notes:
            typer.echo(f"note: {note}")
        for text in collect.ignored_names(rows):
            typer.echo(f"warning: {text}")
    elif all(forms):
        runs = collect.runs(files, [name for name in forms if name], nodes)
        table.write_runs(output, runs, [remark])
        for run in runs:
            where = f"{run['nodes']} node{'' if run['nodes'] == 1 else 's'}, replica {run['replica']}"
            typer.echo(f"{where}: {run['seconds']:.6g} s")
    else:
        rows, notes = collect.collectives(files, form, nodes, ranks_per_node)
        table.write_collectives(output, rows, [remark])
        for name in dict.fromkeys(row["collective"] for row in rows):
            sizes = sum(row["collective"] == name for row in rows)
            typer.echo(f"{name}: {sizes} size{'' if sizes == 1 else 's'}")
        for note in notes:
            typer.echo(f"left out: {note}")
    typer.echo(str(output))
