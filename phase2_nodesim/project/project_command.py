"""``manynode project``: one command from a program to its projection."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Literal

import typer

from manynode.command_answer import Json, Quiet, answering, run_result
from phase2_nodesim.derive.derive_command import HELD_OUT, RANKS, VARIED


def project(
    words: Annotated[
        list[str],
        typer.Argument(
            help="the program and its arguments, with {nx} for a parameter nx", metavar="-- PROGRAM [ARGS]..."
        ),
    ],
    nodes: Annotated[str, typer.Option(help="node counts: 1..1024 doubles, 1,3,8 is a list")] = "1..64",
    network: Annotated[
        str | None, typer.Option(help="network: a name of configs/networks/ or a path; asked for if missing")
    ] = None,
    machine: Annotated[str, typer.Option(help="node: a name of configs/machines/ or a path")] = "broadwell",
    ranks_per_node: Annotated[int, typer.Option(min=1, help="MPI ranks on each node")] = 2,
    engine: Annotated[str, typer.Option(help="network engine: fast, sst or simgrid")] = "fast",
    node_engine: Annotated[
        str, typer.Option(help="node engine: auto (qemu or valgrind), native (the times of this host), or another one")
    ] = "auto",
    grid: Annotated[
        str | None, typer.Option(help="grid of the ranks that {d0}, {d1} in the command are of: AXES[,RULE][,ORDER]")
    ] = None,
    inputs: Annotated[
        list[str] | None,
        typer.Option("--input", help="input file, or template NAME.j2 with {{ ranks }} or {{ nx }}; may be repeated"),
    ] = None,
    scaling: Annotated[
        Literal["auto", "weak", "strong"],
        typer.Option(help="strong: the arguments state the whole problem, which the ranks divide; auto: as recorded"),
    ] = "auto",
    parameter: Annotated[
        list[str] | None, typer.Option(help="NAME=VALUE of a parameter in the command; may be repeated")
    ] = None,
    vary: Annotated[
        list[str] | None,
        typer.Option(help="NAME=VALUE,VALUE: further values to learn from, at least two; may be repeated"),
    ] = None,
    projected: Annotated[
        list[str] | None,
        typer.Option(help="NAME=VALUE to project with [default: that of --parameter]; may be repeated"),
    ] = None,
    ranks: Annotated[
        str, typer.Option(help="numbers of ranks to learn from; smaller projected ones are added")
    ] = RANKS,
    held_out: Annotated[str, typer.Option(help="numbers of ranks to compare with; empty for none")] = HELD_OUT,
    varied_ranks: Annotated[
        int, typer.Option(min=1, help="number of ranks of the runs with varied parameters")
    ] = VARIED,
    mpi: Annotated[
        Literal["auto", "mpich", "openmpi"], typer.Option(help="MPI of the program; auto: the one it is linked with")
    ] = "auto",
    threads: Annotated[int, typer.Option(min=1, max=4096, help="threads of each rank (OMP_NUM_THREADS)")] = 1,
    timeout: Annotated[float, typer.Option(min=1, help="seconds after which a run is ended")] = 3600.0,
    output: Annotated[
        Path | None,
        typer.Option(help="experiment to write, with the skeleton beside it [default: PROGRAM.yaml]"),
    ] = None,
    recordings: Annotated[
        Path | None,
        typer.Option(help="folder of the recordings, used again [default: PROGRAM.recordings beside the experiment]"),
    ] = None,
    directory: Annotated[Path, typer.Option(help="results go to DIRECTORY/results/NAME")] = Path("."),
    cores: Annotated[int, typer.Option(min=1, help="cores to use")] = os.cpu_count() or 1,
    force: Annotated[
        bool, typer.Option("--force", help="replace files that were edited, or that answer another question")
    ] = False,
    write_only: Annotated[
        bool, typer.Option("--write-only", help="record, derive and write the experiment, but do not run it")
    ] = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Project a program on a machine: record and derive its communication, write an experiment, run it.

    All questions come at once, before anything runs. A stopped command continues where it ended.
    """
    from manynode.snakemake_run import EXIT_INTERRUPTED, StepFailedError
    from phase2_nodesim.project.plan import carry_out
    from phase2_nodesim.project.request import Options

    options = Options(
        words, nodes, network, machine, ranks_per_node, engine, node_engine, parameter or [], vary or [],
        projected or [], ranks, held_out, varied_ranks, mpi, threads, timeout, output,
        recordings, grid, inputs or [], scaling,
    )  # fmt: skip
    try:
        with answering(as_json=as_json, quiet=quiet) as answer:
            results = carry_out(
                options, directory=directory, cores=cores, force=force, write_only=write_only, say=typer.echo
            )
            answer(run_result(results))
    except KeyboardInterrupt:
        message = "interrupted; finished recordings are kept, give the same command to continue"
        raise StepFailedError(message, EXIT_INTERRUPTED) from None
