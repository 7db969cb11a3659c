"""``manynode derive``: from runs of a program to its skeleton, or to what is missing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from manynode.errors import InputError

if TYPE_CHECKING:
    from phase2_nodesim.derive.campaign import Campaign, Run
    from phase2_nodesim.derive.derivation import Derivation
    from phase2_nodesim.derive.judging.level import Verdict
    from phase2_nodesim.derive.program import Program
    from phase2_nodesim.derive.recorded.recordings import NotDerivedError

# Numbers that tell the rules of grids of two to four dimensions apart, and have axes long enough to show neighbours.
RANKS, HELD_OUT, VARIED, _TARGETS = "4,8,12,18,24,27,32", "16,36", 12, "64,256,1024,4096"


def derive(
    words: Annotated[
        list[str],
        typer.Argument(
            help="an experiment's file, or the program and its arguments, with {nx} for a parameter nx",
            metavar="EXPERIMENT.yaml | -- PROGRAM [ARGS]...",
        ),
    ],
    output: Annotated[Path | None, typer.Option(help="skeleton to write [default: NAME.skeleton.yaml]")] = None,
    ranks: Annotated[str, typer.Option(help="numbers of ranks to learn from")] = RANKS,
    held_out: Annotated[str, typer.Option(help="numbers of ranks to compare with; empty for none")] = HELD_OUT,
    parameter: Annotated[
        list[str] | None, typer.Option(help="NAME=VALUE of a parameter in the command; may be repeated")
    ] = None,
    vary: Annotated[
        list[str] | None,
        typer.Option(help="NAME=VALUE,VALUE: further values of a parameter, each alone; at least two; may be repeated"),
    ] = None,
    varied_ranks: Annotated[
        int, typer.Option(min=1, help="number of ranks of the runs with varied parameters")
    ] = VARIED,
    target: Annotated[str, typer.Option(help="numbers of ranks to judge the skeleton at")] = _TARGETS,
    recordings: Annotated[
        Path | None, typer.Option(help="folder of the recordings, used again [default: NAME.recordings]")
    ] = None,
    grid: Annotated[
        str | None, typer.Option(help="grid of the ranks that {d0}, {d1} in the command are of: AXES[,RULE][,ORDER]")
    ] = None,
    inputs: Annotated[
        list[str] | None,
        typer.Option("--input", help="input file, or template NAME.j2 with {{ ranks }} or {{ nx }}; may be repeated"),
    ] = None,
    mpi: Annotated[Literal["auto", "mpich", "openmpi"], typer.Option(help="MPI of the program")] = "auto",
    threads: Annotated[int, typer.Option(min=1, max=4096, help="threads of each rank (OMP_NUM_THREADS)")] = 1,
    timeout: Annotated[float, typer.Option(min=1, help="seconds after which a run is ended")] = 3600.0,
    force: Annotated[
        bool, typer.Option("--force", help="replace a skeleton that was edited, or is of another command")
    ] = False,
) -> None:
    """Derive a program's skeleton for all numbers of ranks from runs of a few, and check it on others.

    Writes the skeleton and, beside it, a report. What the runs leave open is said, with the run that would decide it;
    a small one is recorded as well.
    The list 'assumptions' of a skeleton that is there already holds in the new one, too. A skeleton that was edited
    otherwise, or is of another command, is not overwritten without --force.
    """
    from phase2_nodesim.derive.accepted import record_all
    from phase2_nodesim.derive.campaign import Campaign, held_out_runs, planned
    from phase2_nodesim.derive.judging.verdict import verdict
    from phase2_nodesim.derive.program import named_numbers, numbers, program_of, stated_grid, with_parameters
    from phase2_nodesim.derive.recorded.recordings import NotDerivedError
    from phase2_nodesim.derive.settled import settled
    from phase2_nodesim.derive.written import check_replaceable

    given = {name: values[-1] for name, values in named_numbers(parameter or [], "--parameter").items()}
    program = with_parameters(
        program_of(words, mpi, threads, stated_grid(grid), inputs or []), dict(given), "--parameter"
    )
    varied = named_numbers(vary or [], "--vary")
    learned = planned(numbers(ranks, "--ranks"), program.parameters, varied, varied_ranks)
    others = held_out_runs(numbers(held_out, "--held-out"), program.parameters, varied)
    targets = numbers(target, "--target")
    campaign = Campaign(
        program.command,
        program.flavour,
        recordings or Path(f"{program.name}.recordings"),
        program.threads,
        timeout,
        typer.echo,
        program.grid,
        inputs=program.inputs,
    )
    output = Path(f"{program.name}.skeleton.yaml") if output is None else output
    if not force:
        check_replaceable(output, program)
    campaign.check([*learned, *others])
    learned, others, _, refused = record_all(campaign, learned, others)
    try:
        if refused is not None:
            raise refused
        found = settled(campaign, learned, others, program, output, targets)
        verdicts = {count: verdict(found.skeleton, count) for count in targets}
        verdicts |= lift(found, verdicts, campaign, [*learned, *others], program, output)
    except NotDerivedError as error:
        found = approximated(campaign, [*learned, *others], program, output, error)
        verdicts = {count: verdict(found.skeleton, count) for count in targets}
    text = write(output, program.name, found, verdicts)
    typer.echo(text)
    typer.echo(str(output))


def approximated(
    campaign: Campaign, runs: Sequence[Run], program: Program, output: Path, why: NotDerivedError
) -> Derivation:
    """Return the approximate skeleton of a program of which there is no exact one.

    Raises ``why``, with the reason in its details, if there is no approximate skeleton either.
    """
    from manynode.derived.skeleton_model import SCHEMA
    from phase2_nodesim.derive.derivation import Derivation, Report
    from phase2_nodesim.derive.recorded.recordings import OfTheNodeError
    from phase2_nodesim.derive.settled import of_program

    if isinstance(why, OfTheNodeError):
        raise why
    where = f", at {why.where}" if why.where else ""
    campaign.say(f"no exact skeleton: {why.what}{where}" + (f" ({why.found})" if why.found else ""))
    try:
        section = lifted(campaign, runs, program, output, why.what)
    except InputError as error:
        why.details = "\n".join(filter(None, (why.details, f"nor an approximate one: {error}")))
        raise why from None
    recorded = [{"ranks": run["ranks"], "parameters": {}, "role": "trained", "equal": True} for run in section["runs"]]
    facts = {"mpi": program.flavour, "fixed": dict(program.parameters)}
    content = {
        "schema": SCHEMA, "name": program.name, "program": facts, "approximate": section, "recorded": recorded,
    }  # fmt: skip
    return of_program(Derivation(content, Report()), program)


def lifted(campaign: Campaign, runs: Sequence[Run], program: Program, output: Path, why: str) -> dict[str, Any]:
    """Return the section ``approximate`` of a program's skeleton, from its runs with the usual parameters."""
    from phase2_nodesim.approximate.approximation import approximate

    usual = [run for run in runs if dict(run.parameters) == program.parameters]
    return approximate([campaign.recorded(run) for run in usual], why, output)


def lift(
    exact: Derivation, verdicts: Mapping[int, Verdict], campaign: Campaign, runs: Sequence[Run], program: Program,
    output: Path,
) -> dict[int, Verdict]:  # fmt: skip
    """Let recorded runs stand for the jobs that an exact skeleton leaves open, where that is worth something.

    Returns the verdicts on these jobs.
    """
    from manynode.derived.skeleton_model import Approximate
    from phase2_nodesim.approximate.worth import worth

    open_ones = {ranks: one.reasons[0] for ranks, one in verdicts.items() if not one.usable}
    if not open_ones:
        return {}
    try:
        why = f"the recordings leave the exact skeleton open ({[*open_ones.values()][-1]})"
        section = lifted(campaign, runs, program, output, why)
    except InputError:
        return {}  # they are refused, each with its reason
    known = Approximate.model_validate(section)
    found = {ranks: one for ranks in open_ones if (one := worth(known, ranks)).usable}
    if found:
        exact.skeleton["approximate"] = {**section, "only": list(found)}
    return found


def write(output: Path, name: str, found: Derivation, verdicts: Mapping[int, Verdict]) -> str:
    """Write the skeleton and, beside it, the report; return the report."""
    from manynode import tables
    from manynode.config import yaml_text
    from phase2_nodesim.derive.summary import summary
    from phase2_nodesim.derive.written import skeleton_checksum

    found.skeleton["program"]["checksum"] = skeleton_checksum(yaml_text.parse(found.text()))
    text = summary(name, found, verdicts)
    for path, content in ((output, found.text()), (output.with_suffix(".md"), text)):
        with tables.replacing(path) as part:
            part.write_text(content, encoding="utf-8")
    return text
