"""``manynode calibrate-node``: measures this host with microbenchmarks and writes its machine file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def calibrate_node(
    output: Annotated[Path, typer.Argument(help="machine file to write (YAML)", metavar="OUT.yaml")],
    base: Annotated[
        str, typer.Option(help="machine that gives what is not measured: a name in configs/machines or a file")
    ] = "generic",
    rounds: Annotated[int, typer.Option(min=1, max=1000, help="repetitions; the fastest one counts")] = 7,
    name: Annotated[str | None, typer.Option(help="name of the machine [default: that of the file]")] = None,
    cores: Annotated[
        int | None, typer.Option(min=1, max=65536, help="cores of the node [default: all that this process may use]")
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="a trial of seconds: few, small and imprecise measurements")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="replace an existing file")] = False,
) -> None:
    """Measure this host with microbenchmarks, and write its machine file with the error of each figure."""
    from manynode import tables
    from manynode.cores import available_cores
    from phase2_nodesim.calibration import machine_file
    from phase2_nodesim.calibration.calibration import calibrate, check_request, command_line
    from phase2_nodesim.calibration.node_figures import cores_of_node

    host = check_request(output, name=name, cores=cores, force=force)
    content = machine_file.read_base(base)
    notes = list[str]()
    used = cores_of_node(host, cores, available_cores(), notes)
    result = calibrate(host, used, rounds=rounds, quick=quick, tell=typer.echo)
    result.notes.extend(notes)
    tree = machine_file.merged(result.base_for(content), result.figures, Path(base).name)
    if note := machine_file.prefetcher_note(tree, Path(base).name):
        result.notes.append(note)
    # Before the file is made: figures that contradict the base are refused, and were measured all the same.
    typer.echo(result.table())
    for note in result.notes:
        typer.echo(f"note: {note}")
    typer.echo(f"not measured, from {base}: {', '.join(machine_file.not_measured(tree))}")
    command = command_line(output, base=base, rounds=rounds, name=name, cores=cores, quick=quick)
    written = machine_file.text(
        tree, name=name or output.stem, description=result.description(), remarks=result.remarks(command)
    )
    with tables.replacing(output) as part:
        part.write_text(written, encoding="utf-8")
    typer.echo(str(output))
