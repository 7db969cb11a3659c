"""``manynode calibrate``: turns measured tables into a network file."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

Files = Annotated[list[Path], typer.Argument(help="tables of ping-pongs, calls or message rates between two nodes")]


def calibrate(
    files: Files,
    base: Annotated[
        str, typer.Option(help="network that gives topology, links and latencies: a name in configs/networks or a file")
    ],
    name: Annotated[str, typer.Option(help="name of the calibrated network")],
    output: Annotated[Path, typer.Option(help="network file to write")],
    form: Annotated[
        str, typer.Option("--format", help="auto, or one of calls, copy, imb, osu, summary, table")
    ] = "auto",
    cluster: Annotated[str | None, typer.Option(help="cluster to use, if a file has several")] = None,
    figure: Annotated[Path | None, typer.Option(help="also draw fit and error: .html, .png or .svg")] = None,
    intranode: Annotated[
        Path | None, typer.Option(help="ping-pong within a node, or memory copies: fits the path within a node")
    ] = None,
    eager_limit: Annotated[str | None, typer.Option(help="such as '64 KiB' [default: found in the data]")] = None,
    links: Annotated[
        int | None, typer.Option(min=2, help="links between the two nodes [default: those of the nearest two]")
    ] = None,
    pieces: Annotated[int, typer.Option(min=1, max=8, help="largest number of pieces of an overhead")] = 6,
    description: Annotated[
        str | None, typer.Option(help="description in the file: the machine and the source of the data")
    ] = None,
) -> None:
    """Fit a network's host parameters (LogGPS) to measured messages between two nodes, and write its file."""
    from manynode import tables
    from manynode.errors import UsageError
    from manynode.units import parse
    from phase3_sst.calibration import fit_figure as drawing
    from phase3_sst.calibration import network_file, quality
    from phase3_sst.calibration.base_network import read_base
    from phase3_sst.calibration.fit import fit
    from phase3_sst.calibration.fit import intranode as fit_intranode
    from phase3_sst.calibration.measurements import read_measurements

    if figure is not None:
        drawing.check_format(figure)
    try:
        limit = None if eager_limit is None else round(parse(eager_limit, "size"))
    except ValueError as error:
        raise UsageError("the eager limit is not a size", where="--eager-limit", found=str(error)) from None
    content = read_base(base)
    resolved = network_file.read(content, base)
    hops = links or network_file.links_between(resolved)
    table = read_measurements(files, form, cluster)
    fitted = fit(table, network_file.base_of(resolved, hops), eager_limit=limit, most_pieces=pieces)
    within = None
    if intranode is not None:
        within = fit_intranode(read_measurements([intranode]), resolved["intranode"]["latency"])
    rows = quality.residuals(table, fitted)
    ranges = quality.as_text(quality.by_range(rows))
    shares = ", ".join(f"{share:.1%} within {bound:.0%}" for bound, share in quality.shares_within(rows).items())
    command = ["manynode", "calibrate", *[path.name for path in files], "--base", Path(base).name]
    for option, value in (("--cluster", cluster), ("--links", links), ("--eager-limit", eager_limit)):
        command += [] if value is None else [option, str(value)]
    command += [] if intranode is None else ["--intranode", intranode.name]
    command += ["--name", name, "--output", output.name]
    remarks = [
        "Written by: " + shlex.join(command),
        f"Half round trips between two nodes with {hops} links between them; of the measured ones, the model meets "
        f"{shares}. Error of the model by size:",
        ranges,
        *[f"Note: {note}." for note in fitted.notes],
    ]
    tables_of_fit = ", ".join(path.name for path in files)
    written = network_file.text(
        content,
        fitted,
        name=name,
        description=description or f"Host parameters fitted to {tables_of_fit}.",
        fitted_to=f"messages between two nodes ({tables_of_fit})",
        remarks=remarks,
        intranode=within,
    )
    with tables.replacing(output) as part:
        part.write_text(written, encoding="utf-8")
    if figure is not None:
        drawing.write(figure, rows, fitted, f"{name}: half round trip")
    typer.echo(ranges)
    typer.echo(f"{len(rows)} half round trips: {shares}")
    for parameter, origin in sorted(fitted.origin.items()):
        typer.echo(f"{parameter}: {origin}")
    for note in fitted.notes:
        typer.echo(f"note: {note}")
    typer.echo(str(output))
