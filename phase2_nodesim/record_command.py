"""``manynode record``: records the MPI calls of a program's run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer


def record(
    folder: Annotated[Path, typer.Argument(help="folder to write: a marker file of each rank", metavar="FOLDER")],
    command: Annotated[list[str], typer.Argument(help="the program and its arguments", metavar="-- PROGRAM [ARGS]...")],
    ranks: Annotated[int, typer.Option(min=1, max=1_000_000, help="number of ranks, all on this host")],
    mpi: Annotated[
        Literal["auto", "mpich", "openmpi"], typer.Option(help="MPI of the program; auto: the one it is linked with")
    ] = "auto",
    threads: Annotated[int, typer.Option(min=1, max=4096, help="threads of each rank (OMP_NUM_THREADS)")] = 1,
    timeout: Annotated[float, typer.Option(min=1, help="seconds after which the run is ended")] = 3600.0,
) -> None:
    """Run an MPI program on this host and record its MPI calls, to replay them or to derive a skeleton."""
    from manynode.launch import detect_mpi, find_executable
    from phase2_nodesim.record import record_run

    found = find_executable(command)
    flavour = detect_mpi(found[0]) if mpi == "auto" else mpi
    record_run(folder, found, flavour, ranks, threads=threads, timeout_s=timeout)
    typer.echo(str(folder))
