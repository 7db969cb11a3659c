"""The command line. Entry points supply the subcommands of the phases: this package imports no phase."""

from __future__ import annotations

import contextlib
import io
import itertools
import os
import signal
import stat
import sys
from importlib.metadata import entry_points
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

from manynode import __version__
from manynode.command_answer import Json, Quiet, answering, run_result
from manynode.command_help import add_command, help_of
from manynode.errors import EXIT_USAGE, InputError, ManynodeError, UsageError
from manynode.heartbeat import beating
from manynode.phase_commands import GROUP
from manynode.snakemake_run import ERROR_FILE

app = typer.Typer(
    name="manynode",
    help="Projects the run time of an MPI application on a cluster that does not exist yet, with its uncertainty.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
config_app = typer.Typer(help="Check experiment files, print the default or the JSON schema.", no_args_is_help=True)
app.add_typer(config_app, name="config")

ExperimentFile = Annotated[Path, typer.Argument(help="experiment file (YAML)", metavar="EXPERIMENT")]


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"manynode {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="print the version and exit")
    ] = False,
) -> None:
    pass


@app.command()
def run(
    experiments: Annotated[list[Path], typer.Argument(help="experiment files (YAML)", metavar="EXPERIMENT...")],
    cores: Annotated[int, typer.Option(min=1, help="cores to use")] = os.cpu_count() or 1,
    directory: Annotated[Path, typer.Option(help="results go to DIRECTORY/results/NAME")] = Path("."),
    dry_run: Annotated[bool, typer.Option("--dry-run", "-n", help="show what would run, without running it")] = False,
    until: Annotated[str | None, typer.Option(help="stop after this rule, such as phase1_classify_ranks")] = None,
    profile: Annotated[str | None, typer.Option(help="Snakemake profile: default, slurm or a folder")] = None,
    measurements_from: Annotated[
        Path | None,
        typer.Option(
            help="results folder whose measured runs are reused, such as results/demo, or a folder of such folders: "
            "each experiment reuses the runs that fit it"
        ),
    ] = None,
    changes: Annotated[
        list[str] | None, typer.Option("--set", help="KEY=VALUE: change a key of every experiment; repeatable")
    ] = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Run experiments end to end, one after the other; a stopped run continues where it ended."""
    from manynode.config.changes import read_changes
    from manynode.run import run_experiment
    from manynode.several import run_several

    if as_json and dry_run:
        raise UsageError("a run that only shows its steps has no result", found="--json and --dry-run")
    options: dict[str, Any] = {
        "cores": cores,
        "directory": directory,
        "dry_run": dry_run,
        "until": until,
        "profile": profile,
        "measurements_from": measurements_from,
        "changes": read_changes(changes or []),
    }
    with answering(as_json=as_json, quiet=quiet and not dry_run) as answer:
        if len(experiments) == 1:
            results = [run_experiment(experiments[0], **options)]
        else:
            results = run_several(experiments, **options)
        answer(run_result(results))


@app.command()
def demo(
    cores: Annotated[int, typer.Option(min=1, help="cores to use")] = os.cpu_count() or 1,
    directory: Annotated[Path, typer.Option(help="results go to DIRECTORY/results/demo")] = Path("."),
    changes: Annotated[
        list[str] | None, typer.Option("--set", help="KEY=VALUE: change a key of the experiment; repeatable")
    ] = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Run the demo experiment: HPCG from its profile to a projection on 1 to 64 nodes, with a report."""
    from manynode.config.changes import read_changes
    from manynode.paths import ROOT
    from manynode.run import run_experiment

    shipped = ROOT / "configs" / "demo.yaml"
    with answering(as_json=as_json, quiet=quiet) as answer:
        answer(
            run_result([run_experiment(shipped, cores=cores, directory=directory, changes=read_changes(changes or []))])
        )


@app.command()
def doctor(as_json: Json = False) -> None:
    """Show every tool and engine: path, version, purpose, and how to get a missing one."""
    from manynode.doctor import findings, print_report

    with answering(as_json=as_json) as answer:
        found = findings()
        if not as_json:
            print_report(found)
        answer({"schema": "doctor-result/1", "findings": [vars(finding) for finding in found]})


@app.command()
def report(
    directory: Annotated[
        Path, typer.Argument(help="an experiment's results, such as results/demo; or results, which holds several")
    ],
    output: Annotated[
        Path | None, typer.Option(help="HTML file [default: DIRECTORY/report.html; for several, DIRECTORY/index.html]")
    ] = None,
) -> None:
    """Build the offline HTML report of an experiment's results, or the front page of several experiments."""
    from manynode.report import build_report
    from manynode.report.overview import build_overview, experiments_in

    if names := experiments_in(directory):
        target = output or directory / "index.html"
        build_overview(directory, names, target)
        typer.echo(str(target))
        return
    target = output or directory / "report.html"
    build_report(directory, target)
    typer.echo(str(target))


@config_app.command("check")
def config_check(experiment: ExperimentFile) -> None:
    """Check an experiment file and show what it would run."""
    from manynode.checks import check_experiment
    from manynode.config.crowding import crowding_warning
    from manynode.config.loader import load_experiment

    resolved = load_experiment(experiment)
    missing = check_experiment(resolved, str(experiment))
    points = len(resolved.nodes) * len(resolved.techniques)
    projected = f"{points} points ({len(resolved.techniques)} techniques x nodes {resolved.nodes})"
    typer.echo(f"{experiment}: valid")
    typer.echo(f"  results:   results/{resolved.name}")
    reason = resolved.unprojected()
    typer.echo(f"  projects:  {projected if reason is None else f'nothing: {reason}'}")
    typer.echo(f"  digest:    {resolved.digest()}")
    if text := crowding_warning(resolved):
        typer.echo(f"  warning:   {text}")
    # The experiment is valid, but it cannot run here.
    for error in missing.values():
        raise error


@config_app.command("default")
def config_default() -> None:
    """Print an experiment file with every key, its unit, bounds and default."""
    from manynode.config.generate import default_yaml

    typer.echo(default_yaml(), nl=False)


@config_app.command("schema")
def config_schema() -> None:
    """Print the JSON schema of experiment files."""
    from manynode.config.generate import json_schema

    typer.echo(json_schema(), nl=False)


@config_app.command("generate")
def config_generate(
    check: Annotated[bool, typer.Option("--check", help="only compare; exit code 6 if a file is stale")] = False,
) -> None:
    """Write the generated files of a checkout: commented default, JSON schema, reference page."""
    from manynode.config.generate import generate
    from manynode.reference import commands

    generate(lambda: commands.page(app), check=check)


@config_app.command("new", context_settings={"ignore_unknown_options": True})
def config_new(
    command: Annotated[list[str], typer.Argument(help="an MPI program and its arguments, after --")],
    name: Annotated[str | None, typer.Option(help="name of the experiment [default: the program's]")] = None,
    ranks_per_node: Annotated[int, typer.Option(min=1, help="MPI ranks on each node")] = 2,
    nodes: Annotated[str, typer.Option(help="job sizes to profile, in nodes, such as 1,2")] = "1,2",
) -> None:
    """Print an experiment for your own MPI program: manynode config new -- ./program arguments > my.yaml"""
    from manynode.config.generate import experiment_for

    typer.echo(experiment_for(command, name=name, ranks_per_node=ranks_per_node, nodes=nodes), nl=False)


@config_app.command("machine")
def config_machine() -> None:
    """Print a machine file with every key and its meaning: manynode config machine > my-node.yaml"""
    from manynode.config.generate import machine_yaml

    typer.echo(machine_yaml(), nl=False)


@config_app.command("own-times")
def config_own_times(
    application: Annotated[str, typer.Argument(help="an application's name, or an experiment's file (.yaml)")],
) -> None:
    """Print a table for own compute times, a row for each phase: manynode config own-times hpcg > own-times.csv"""
    from manynode.config.own_times_template import template

    typer.echo(template(application), nl=False)


def _add_phases() -> None:
    # Without a command, or with --help before one, the commands are listed.
    words = _words()
    listed = not words or words[0].startswith("-")
    for entry in sorted(entry_points(group=GROUP), key=lambda item: item.name):
        # Loading a phase takes a second (numpy, scikit-learn): only the requested one is loaded.
        if words and words[0] == entry.name:
            add_command(app, entry)
        else:
            app.add_typer(typer.Typer(help=help_of(entry) if listed else None), name=entry.name)


def _words() -> list[str]:
    """Return the words after ``manynode``: of this command, or of the line that a shell wants to complete."""
    if "_MANYNODE_COMPLETE" not in os.environ:
        return sys.argv[1:]
    line = os.environ.get("COMP_WORDS") or os.environ.get("_TYPER_COMPLETE_ARGS", "")
    return line.split()[1:]


def main() -> NoReturn:
    """Run the command line; a :class:`ManynodeError` becomes a message and an exit code, never a traceback."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A path may contain bytes that are not text, and a terminal may lack some of our characters.
            stream.reconfigure(errors="backslashreplace")
    # Snakemake ends a step with SIGTERM. Raise, to end child processes and remove temporary files.
    signal.signal(signal.SIGTERM, _terminated)
    _add_phases()
    try:
        with beating(_step_words(), wanted=ERROR_FILE in os.environ):
            _run_and_flush()
        code = 0
    except ManynodeError as error:
        _show(error)
        code = error.exit_code
    except BrokenPipeError:
        # The reader of our output (head, less) has exited.
        _give_up_stdout()
        code = EXIT_USAGE
    except OSError as error:
        failure = _refused(error)
        if failure is None:
            raise
        _show(failure)
        code = failure.exit_code
    sys.exit(code)


def _step_words() -> str:
    """Return the name of this command for its log, such as ``manynode profile run``."""
    words = itertools.takewhile(lambda word: not word.startswith("-"), sys.argv[1:3])
    return " ".join(["manynode", *words])


def _run_and_flush() -> None:
    """Run the command and flush its output, even if it ends with ``SystemExit``; only then is it done."""
    try:
        app(prog_name="manynode")
    except SystemExit:
        sys.stdout.flush()
        raise
    sys.stdout.flush()


def _refused(error: OSError) -> ManynodeError | None:
    """Return the user's error for a file that the system refused, or None for any other error."""
    from manynode.refused_writes import REFUSALS, unnamed
    from manynode.tables import write_error

    # The error of a copy names its source first, but the target was refused.
    name = error.filename2 or error.filename
    if error.errno not in REFUSALS:
        if name is None:
            return None
        path, found = os.fsdecode(name), error.strerror or str(error)
        return InputError("a file cannot be used", where=path, found=found, remedy="check the path")
    if name is not None:
        return write_error(Path(os.fsdecode(name)), error)
    if _stdout_refuses():
        _give_up_stdout()
        return write_error(Path("standard output"), error)
    return unnamed(error, sys.argv[1:])


def _stdout_refuses() -> bool:
    """Return whether standard output is a full file or device; this tries to write an empty line."""
    kind = os.fstat(sys.stdout.fileno()).st_mode
    if not stat.S_ISREG(kind) and (not stat.S_ISCHR(kind) or sys.stdout.isatty()):
        return False
    try:
        print(flush=True)
    except OSError:
        return True
    return False


def _give_up_stdout() -> None:
    """Discard the remaining output: Python would try to write it again at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _show(error: ManynodeError) -> None:
    from manynode.snakemake_run import record_error

    # A full disk may refuse this message too; the exit code remains.
    with contextlib.suppress(OSError):
        print(f"manynode: {error.render()}", file=sys.stderr, flush=True)
    record_error(error)


def _terminated(_signum: int, _frame: object) -> None:
    raise KeyboardInterrupt
