"""The steps of ``manynode project``: questions, recordings and skeleton, experiment, run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from manynode import tables
from manynode.announcement import announce_measurements
from manynode.config.command_words import of_the_job
from manynode.config.loader import load_experiment
from manynode.phase_commands import run_study
from manynode.report.wording import count
from manynode.run import run_experiment
from phase2_nodesim.derive.program import Program
from phase2_nodesim.derive.written import check_replaceable, checksum
from phase2_nodesim.project import experiment, skeleton
from phase2_nodesim.project.kept import Kept, check_experiment_replaceable
from phase2_nodesim.project.questions import Questions
from phase2_nodesim.project.request import Options, Request, request_of


def carry_out(
    options: Options, *, directory: Path, cores: int, force: bool, write_only: bool, say: Callable[[str], None]
) -> list[Path]:
    """Project a program; see :func:`~phase2_nodesim.project.project_command.project`.

    Returns the folders of the results; none if the experiments were only written.

    Raises the open questions as one error before anything runs, the refusal of the derivation, and the error of the
    step that failed.
    """
    questions = Questions("manynode project")
    request = request_of(options, questions)
    kept = Kept()
    if request is not None:
        kept = Kept.read(request.kept)
        if not force:
            keep = f"to project with it, 'manynode run {request.output}'"
            with questions.about("--force or --output"):
                check_replaceable(request.skeleton, request.program, keep=keep)
            before = {request.output: kept.experiment, request.others: kept.others, request.study: kept.study}
            for path, there in before.items():
                with questions.about("--force or --output"):
                    check_experiment_replaceable(path, there, kept.question, request.question)
        with questions.about("--recordings"):
            skeleton.campaign_of(request, say).check([*request.learned, *request.held_out])
    questions.ask()
    assert request is not None
    for line in plan_lines(request, directory):
        say(line)
    request, accepted, content, derived = skeleton.skeleton_of(request, kept, say)
    if derived != kept:
        derived.write(request.kept)
    nodes, refused = skeleton.judged(request, content, accepted)
    strong = skeleton.strong_scaling(request)
    values = skeleton.values(request, content)

    def known(number: int) -> bool:
        # A run that stands for a larger job has other phases than that: it cannot say which ones are measured.
        one = skeleton.verdict_on(request, content, accepted, number)
        return one.usable and one.level != "approximate"

    found = experiment.described(request, values, nodes, refused, accepted, studied=known if strong else None)
    for number, reason in found.left_out.items():
        say(f"not projected: {count(number, 'node')}, {count(number * request.ranks_per_node, 'rank')}: {reason}")
    texts = {path: experiment.text_of(found, path) for path in found.experiments}
    if found.study is not None:
        say("strong scaling: a rank has less to do in larger jobs; compute times are measured in jobs of several sizes")
        texts[request.study] = experiment.study_text(found.study, request.study)
    elif strong and len(nodes) > 1:
        say("strong scaling: no jobs of several sizes that this host measures have the phases of the projected ones;")
        say("compute times are those of one size, as the report warns")
    for path, text in texts.items():
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            with tables.replacing(path) as part:
                part.write_text(text, encoding="utf-8")
        say(f"experiment: {path}")
    written = replace(
        derived, question=request.question, experiment=checksum(texts[request.output]),
        others=checksum(texts[request.others]) if request.others in texts else "",
        study=checksum(texts[request.study]) if request.study in texts else "",
    )  # fmt: skip
    if written != derived:
        written.write(request.kept)
    if found.study is not None:
        results = directory / "results" / request.study.stem
        if write_only:
            say(f"run it: manynode strong {request.study} --output {results}")
            return []
        run_study("strong", request.study, output=results, cores=cores)
        return [results]
    if not write_only:
        return [run_experiment(path, cores=cores, directory=directory) for path in texts]
    for path in texts:
        announce_measurements(path, load_experiment(path), directory / "results" / path.stem, may_run=False)
        say(f"run it: manynode run {path}")
    return []


def _following(program: Program) -> str:
    names = ", ".join(filter(of_the_job, program.names))
    return f"follow the job: {names}" if names else "the same at every number of ranks"


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
        f"arguments:  {_following(program)}{f'; {parameters}' if parameters else ''}",
        f"recordings: {len(runs)} runs of {min(recorded)} to {max(recorded)} ranks on this host, {there} of them there "
        f"already, in {request.recordings}",
        f"results:    {directory / 'results' / request.output.stem}",
    ]
