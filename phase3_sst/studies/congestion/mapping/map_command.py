"""``manynode map``: a rank file for a job on allocated hosts, from its communication and the network's counters."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def map_ranks(
    hosts: Annotated[Path, typer.Option(help="CSV file: host, node (number in the machine), slots")],
    machine: Annotated[str, typer.Option(help="network of the machine: a name in configs/networks, or a file")],
    output: Annotated[Path, typer.Option(help="rank file to write")],
    form: Annotated[str, typer.Option("--format", help="openmpi, mpich, slurm or cray")] = "openmpi",
    tasks: Annotated[
        Path | None, typer.Option(help="CSV file: sender, receiver, bytes, as measured of the application")
    ] = None,
    app: Annotated[str | None, typer.Option(help="in place of --tasks: a skeleton, whose messages are counted")] = None,
    parameters: Annotated[str, typer.Option(help="JSON object: parameters of --app")] = "{}",
    ranks: Annotated[int | None, typer.Option(min=1, help="number of ranks [default: of the --tasks]")] = None,
    snapshot: Annotated[
        Path | None,
        typer.Option(
            help="counters: a CSV file (source, target, percent_stalled, percent_bandwidth), or the folder of a "
            "simulated situation"
        ),
    ] = None,
    counters: Annotated[
        list[Path] | None,
        typer.Option(
            help="in place of --snapshot: counters of routers, a table router-counters/1 or files of LDMS, PAPI"
        ),
    ] = None,
    cables: Annotated[
        Path | None,
        typer.Option(
            help="CSV file: router, port, source, target; the links of --counters that do not name their peers"
        ),
    ] = None,
    metric: Annotated[str, typer.Option(help="stalls, bw, hops, none or geometric")] = "stalls",
    grid: Annotated[str | None, typer.Option(help="of the ranks, for geometric, such as 4x4x2")] = None,
    cores_per_rank: Annotated[int, typer.Option(min=1, help="to which openmpi binds a rank")] = 1,
    keep: Annotated[bool, typer.Option("--keep/--no-keep", help="keep the default mapping if none is better")] = True,
    per_hop: Annotated[
        float,
        typer.Option(min=0, help="percent that each link of a route counts in stalls and bw, beside its counters"),
    ] = 5.0,
    seed: Annotated[int, typer.Option(min=0, help="of Scotch's choices")] = 1,
) -> None:
    """Map the ranks of a job to its hosts, around congestion, and write the rank file that its launcher reads."""
    from manynode.tables import replacing
    from phase3_sst.studies.congestion.mapping.mapped_job import Request, solve
    from phase3_sst.studies.congestion.mapping.rank_files import format_of, rank_file, split_hosts

    chosen = format_of(form)
    request = Request(
        hosts=hosts,
        machine=machine,
        tasks=tasks,
        app=app,
        parameters=parameters,
        ranks=ranks,
        snapshot=snapshot,
        counters=counters or [],
        cables=cables,
        metric=metric,
        grid=grid,
        keep=keep,
        seed=seed,
        per_hop=per_hop,
    )
    plan, seats, notes = solve(request)
    for note in notes:
        typer.echo(f"counters: {note}")
    with replacing(output) as part:
        part.write_text(rank_file(form, seats, cores_per_rank), encoding="utf-8")
    typer.echo(f"{len(seats)} ranks on {len({seat.host for seat in seats})} hosts by {plan.method}: {output}")
    if plan.kept_default:
        typer.echo("no mapping was found that is expected to be better than the default, which is written")
    elif plan.default_cost_total > 0:
        typer.echo(f"estimated cost of communication: {plan.cost_total / plan.default_cost_total:.0%} of the default's")
    typer.echo(f"use: {chosen.command.format(file=output, ranks=len(seats))}")
    split = split_hosts(seats)
    if chosen.note and (form != "mpich" or split):
        typer.echo(f"note: {chosen.note}")
