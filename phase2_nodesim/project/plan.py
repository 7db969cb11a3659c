"""The steps of ``manynode project``: questions, recordings and skeleton, experiment, run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from manynode import tables
from manynode.announcement import announce_measurements
from manynode.config.loader import load_experiment
from manynode.report.wording import count
from manynode.run import run_experiment
from phase2_nodesim.project import experiment, skeleton
from phase2_nodesim.project.kept import Kept, check_experiment_unedited, check_skeleton_unedited, checksum
from phase2_nodesim.project.questions import Questions
from phase2_nodesim.project.request import Options, Request, request_of


def carry_out(
    options: Options, *, directory: Path, cores: int, force: bool, write_only: bool, say: Callable[[str], None]
) -> Path | None:
    """Project a program; see :func:`~phase2_nodesim.project.project_command.project`.

    Returns the folder of the results; None if the experiment was only written.

    Raises the open questions as one error before anything runs, the refusal of the derivation, and the error of the
    step that failed.
    """
    questions = Questions("manynode project")
    request = request_of(options, questions)
    kept = Kept()
    if request is not None:
        kept = Kept.read(request.kept)
        if not force:
            with questions.about("--force or --output"):
                check_skeleton_unedited(request.skeleton, request.output, kept)
            with questions.about("--force or --output"):
                check_experiment_unedited(request.output, kept)
    questions.ask()
    assert request is not None
    for line in plan_lines(request, directory):
        say(line)
    content, derived = skeleton.skeleton_of(request, kept, say)
    if derived != kept:
        derived.write(request.kept)
    nodes, refused = skeleton.judged(request, content)
    found = experiment.described(request, skeleton.values(request, content), nodes, refused)
    for number, reason in found.left_out.items():
        say(f"not projected: {count(number, 'node')}, {count(number * request.ranks_per_node, 'rank')}: {reason}")
    text = experiment.text_of(found, request)
    if not request.output.exists() or request.output.read_text(encoding="utf-8") != text:
        with tables.replacing(request.output) as part:
            part.write_text(text, encoding="utf-8")
    if (written := replace(derived, experiment=checksum(text))) != derived:
        written.write(request.kept)
    say(f"experiment: {request.output}")
    results = directory / "results" / request.output.stem
    if write_only:
        announce_measurements(request.output, load_experiment(request.output), results, may_run=False)
        say(f"run it: manynode run {request.output}")
        return None
    return run_experiment(request.output, cores=cores, directory=directory)


def plan_lines(request: Request, directory: Path) -> list[str]:
    """Return what is going to be done, with the choices that the user did not make."""
    content, program = request.experiment, request.program
    nodes = ", ".join([*map(str, request.nodes[:-1]), count(request.nodes[-1], "node")])
    runs = [*request.learned, *request.held_out]
    parameters = ", ".join(f"{name} {request.projected.get(name, value)}" for name, value in program.parameters.items())
    recorded, there = [run.ranks for run in runs], skeleton.recorded_before(request)
    return [
        f"program:    {' '.join(program.command)} ({'MPICH' if program.flavour == 'mpich' else 'Open MPI'})",
        f"project on: {nodes} of {content['machine']}, {count(request.ranks_per_node, 'rank')} each; network "
        f"{content['network']}",
        f"engines:    {content['nodesim']['engine']} for the node, {content['simulate']['engine']} for the network",
        f"arguments:  the same at every number of ranks{f'; {parameters}' if parameters else ''}",
        f"recordings: {len(runs)} runs of {min(recorded)} to {max(recorded)} ranks on this host, {there} of them there "
        f"already, in {request.recordings}",
        f"results:    {directory / 'results' / request.output.stem}",
    ]
