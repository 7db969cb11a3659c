"""``manynode map``: writes a job's rank file for allocated hosts, from its communication and network counters."""

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
        Path | None, typer.Option(help="CSV file of the application's measured messages: sender, receiver, bytes")
    ] = None,
    app: Annotated[str | None, typer.Option(help="skeleton whose messages are counted, in place of --tasks")] = None,
    parameters: Annotated[str, typer.Option(help="JSON object: parameters of --app")] = "{}",
    ranks: Annotated[int | None, typer.Option(min=1, help="number of ranks [default: from --tasks]")] = None,
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
            help="router counters in place of --snapshot: a table router-counters/1, or files of LDMS or PAPI"
        ),
    ] = None,
    cables: Annotated[
        Path | None,
        typer.Option(help="CSV file: router, port, source, target; gives the links of --counters without peer names"),
    ] = None,
    metric: Annotated[str, typer.Option(help="cost metric: stalls, bw, hops, none or geometric")] = "stalls",
    grid: Annotated[str | None, typer.Option(help="grid of the ranks for geometric, such as 4x4x2")] = None,
    cores_per_rank: Annotated[int, typer.Option(min=1, help="cores to which openmpi binds each rank")] = 1,
    keep: Annotated[bool, typer.Option("--keep/--no-keep", help="keep the default mapping if none is better")] = True,
    per_hop: Annotated[
        float,
        typer.Option(min=0, help="cost of each link of a route in stalls and bw, added to its counters [percent]"),
    ] = 5.0,
    seed: Annotated[int, typer.Option(min=0, help="seed of Scotch")] = 1,
) -> None:
    """Map a job's ranks to its hosts so that they avoid congestion, and write the launcher's rank file."""
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
