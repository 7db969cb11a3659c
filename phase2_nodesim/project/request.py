"""What ``manynode project`` is asked for, checked before anything runs.

In: the options of the command line (:class:`Options`). Out: a :class:`Request`: the program, the runs to learn from,
the node counts, and the experiment without its skeleton. Mistakes and missing answers are gathered in
:class:`~.questions.Questions`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, Literal

from manynode.checks import check_experiment
from manynode.config.command_words import names_in, of_the_job
from manynode.config.loader import resolve
from manynode.config.resolved import included
from manynode.errors import EngineMissingError, UsageError, nearest
from manynode.launch import launcher
from manynode.paths import ROOT, native_library, native_program
from phase2_nodesim.derive.campaign import Run, held_out_runs, planned
from phase2_nodesim.derive.program import Mpi, Program, named_numbers, numbers, program_of, stated_grid, with_parameters
from phase2_nodesim.derive.written import checksum
from phase2_nodesim.project.questions import Questions

Scaling = Literal["auto", "weak", "strong"]

# Recordings take a process per rank of this host.
MOST_RECORDED = 128


@dataclass(frozen=True)
class Options:
    """The command line; texts are as the user wrote them."""

    words: Sequence[str]
    nodes: str
    network: str | None
    machine: str
    ranks_per_node: int
    engine: str
    node_engine: str
    parameter: Sequence[str]
    vary: Sequence[str]
    projected: Sequence[str]
    ranks: str
    held_out: str
    varied_ranks: int
    mpi: Mpi
    threads: int
    timeout_s: float
    output: Path | None
    recordings: Path | None = None
    grid: str | None = None
    inputs: Sequence[str] = ()
    scaling: Scaling = "auto"


@dataclass(frozen=True)
class Request:
    """``experiment`` is its content without skeleton and job sizes to measure; ``projected`` are parameters' values."""

    program: Program
    learned: Sequence[Run]
    held_out: Sequence[Run]
    nodes: Sequence[int]
    ranks_per_node: int
    projected: Mapping[str, int]
    output: Path
    recordings: Path
    timeout_s: float
    mpi: Mpi
    experiment: Mapping[str, Any] = field(default_factory=dict)
    scaling: Scaling = "auto"

    @property
    def skeleton(self) -> Path:
        return self.output.with_name(f"{self.output.stem}.skeleton.yaml")

    @property
    def others(self) -> Path:
        """The experiment of the node counts that need a measured job of their own."""
        return self.output.with_name(f"{self.output.stem}-others.yaml")

    @property
    def study(self) -> Path:
        """The strong scaling study of a program that divides the whole problem."""
        return self.output.with_name(f"{self.output.stem}-strong.yaml")

    @property
    def kept(self) -> Path:
        """What this command wrote before (:mod:`.kept`)."""
        return self.recordings / f"{self.output.stem}.project.json"

    @property
    def question(self) -> str:
        """A checksum of what is asked, whatever it is learned from."""
        program = self.program
        files = [one.digest for one in program.inputs]
        return checksum([self.experiment, program.command, program.parameters, dict(self.projected), *files])


def node_counts(text: str) -> list[int]:
    """Return the node counts of a text: ``1..64`` doubles from 1 to 64, ``1,3,8`` lists them, both may be joined."""
    found: set[int] = set()
    for word in text.split(","):
        match = re.fullmatch(r"\s*(\d{1,9})(?:\s*\.\.\s*(\d{1,9}))?\s*", word)
        first, last = (int(match[1]), int(match[2] or match[1])) if match else (0, 0)
        if not 1 <= first <= last:
            raise UsageError(
                "node counts cannot be read",
                found=word,
                allowed="1..1024 (1, 2, 4 and so on to 1024), a list such as 1,3,8, or both: 1..64,100",
            )
        found.add(last)
        while first < last:
            found.add(first)
            first *= 2
    return sorted(found)


def request_of(options: Options, questions: Questions) -> Request | None:
    """Return the checked request; None if it has open questions, which are then in ``questions``."""
    program, varied = _program(options, questions)
    name, output = _named(options, questions)
    nodes: list[int] = []
    with questions.about("--nodes"):
        nodes = node_counts(options.nodes)
    places = {
        "network": _place("network", options.network, options.words, questions),
        "machine": _place("machine", options.machine, options.words, questions),
    }
    _check_engine(options.engine, questions)
    learned: list[Run] = []
    held_out: list[Run] = []
    projected: dict[str, int] = {}
    if program is not None:
        with questions.about("--ranks, --held-out, --vary"):
            counts = numbers(options.ranks, "--ranks")
            # A job smaller than all recordings would be refused.
            small = {count * options.ranks_per_node for count in nodes}
            counts += [count for count in small if count < min(counts, default=0)]
            learned = planned(counts, program.parameters, varied, options.varied_ranks)
            held_out = held_out_runs(numbers(options.held_out, "--held-out"), program.parameters, varied)
            _check_recordable([*learned, *held_out])
        with questions.about("--projected"):
            projected = _projected(options.projected, program, varied)
    if program is None or not nodes or None in places.values():
        return None
    experiment = {
        "name": name,
        "title": "",
        "application": _application(program, options),
        "nodes": nodes,
        "ranks_per_node": options.ranks_per_node,
        "techniques": ["ext-var"],
        **places,
        "profile": {"nodes": [1, 2], **_native_counters(options.node_engine)},
        "nodesim": {"engine": options.node_engine, "nodes": 2},
        "simulate": {"engine": options.engine},
    }
    _check_experiment(experiment, output, questions)
    recordings = options.recordings or output.with_name(f"{program.name}.recordings")
    return Request(
        program, learned, held_out, nodes, options.ranks_per_node, projected, output, recordings, options.timeout_s,
        options.mpi, experiment, options.scaling,
    )  # fmt: skip


def _program(options: Options, questions: Questions) -> tuple[Program | None, dict[str, list[int]]]:
    """Return the program and the values of parameters to vary; the tools that record it are there."""
    found: Program | None = None
    varied: dict[str, list[int]] = {}
    with questions.about("-- PROGRAM"):
        if options.words[0].endswith((".yaml", ".yml")):
            raise UsageError(
                "an experiment is no program",
                found=options.words[0],
                allowed="a program and its arguments",
                remedy=f"run it: manynode run {options.words[0]}",
            )
        found = program_of(options.words, options.mpi, options.threads, stated_grid(options.grid), options.inputs)
    for name in names_in(options.words) if found is None else found.names:
        if not of_the_job(name) and not any(text.partition("=")[0].strip() == name for text in options.parameter):
            questions.add(
                f"--parameter {name}=VALUE",
                UsageError(f"which value has {{{name}}} in the command or the input files?", allowed="a whole number"),
            )
    with questions.about("--parameter"):
        given = {name: values[-1] for name, values in named_numbers(options.parameter, "--parameter").items()}
        if found is not None:
            found = with_parameters(found, dict(given), "--parameter")
    with questions.about("--vary"):
        varied = named_numbers(options.vary, "--vary")
    if found is not None:
        with questions.about("the tools that record"):
            launcher(found.flavour)
            native_library(f"libmanynode_markers_{found.flavour}.so")
            native_program("manynode-skeleton")
    return found, varied


def _named(options: Options, questions: Questions) -> tuple[str, Path]:
    """Return the experiment's name and the path of its file."""
    plain = re.sub(r"[^A-Za-z0-9_-]+", "-", Path(options.words[0]).stem).strip("-") or "program"
    output = Path(f"{plain}.yaml") if options.output is None else options.output
    if output.suffix != ".yaml" or not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_-]{0,79}", output.stem):
        questions.add(
            "--output",
            UsageError(
                "not a name of an experiment's file",
                found=str(output),
                allowed="letters, digits, _ and -, and .yaml at the end",
            ),
        )
    return output.stem, output


def _place(key: str, given: str | None, words: Sequence[str], questions: Questions) -> str | None:
    """Return the name or the absolute path of a network or a machine; None with a question."""
    if given is None:
        known = ", ".join(sorted(path.stem for path in (ROOT / "configs" / f"{key}s").glob("*.yaml")))
        behind = f"--{key}" in words or any(word.startswith(f"--{key}=") for word in words)
        questions.add(
            f"--{key}",
            UsageError(
                f"which {key}?",
                found=f"--{key} among the program's own arguments" if behind else None,
                allowed=f"{known}, or a path that ends in .yaml",
                remedy=f"write --{key} before the --" if behind else None,
            ),
        )
        return None
    with questions.about(f"--{key}"):
        included(key, given, f"{key}s", Path.cwd(), "--")
        return str(Path(given).resolve()) if given.endswith((".yaml", ".yml")) else given
    return None


def _check_engine(engine: str, questions: Questions) -> None:
    """Ask for an engine of phase 3 that is known and installed here."""
    (entry,) = entry_points(group="manynode.doctor", name="simulate")
    probes = entry.load()()
    if engine not in probes:
        near = nearest(engine, probes)
        questions.add(
            "--engine",
            UsageError(
                "unknown network engine",
                found=engine,
                allowed=", ".join(probes),
                remedy=f"did you mean {near!r}?" if near else None,
            ),
        )
    elif not probes[engine].available:
        missing = f"the engine {engine} cannot be used here"
        questions.add("--engine", EngineMissingError(missing, remedy=probes[engine].remedy))


def _native_counters(node_engine: str) -> dict[str, str]:
    """Return the source of counters with which the engine native's program runs at its own speed in phase 1, too."""
    (entry,) = entry_points(group="manynode.doctor", name="profile")
    if node_engine != "native" or entry.load()()["perf_event"].available:
        return {}
    return {"source": "processor_time"}


def _check_recordable(runs: Sequence[Run]) -> None:
    wrong = sorted({run.ranks for run in runs if not 1 <= run.ranks <= MOST_RECORDED})
    if wrong:
        raise UsageError(
            "numbers of ranks that this command does not record",
            found=", ".join(map(str, wrong)),
            allowed=f"1 to {MOST_RECORDED}",
        )


def _projected(texts: Sequence[str], program: Program, varied: Mapping[str, Sequence[int]]) -> dict[str, int]:
    """Return the values of parameters to project with; others keep the value that is recorded."""
    given = {name: values[-1] for name, values in named_numbers(texts, "--projected").items()}
    for name, value in given.items():
        if name not in varied and program.parameters.get(name) != value:
            raise UsageError(
                "a parameter is projected with another value than the recorded one, and was not varied",
                found=f"{name}={value}",
                allowed=", ".join(varied) or "none: no parameter is varied",
                remedy=f"vary it: --vary {name}=VALUE,VALUE",
            )
    return given


def _application(program: Program, options: Options) -> dict[str, Any]:
    optional = {
        "mpi": None if options.mpi == "auto" else options.mpi,
        "threads": None if options.threads == 1 else options.threads,
        "grid": program.grid and program.grid.stated,
        "inputs": [one.path for one in program.inputs] or None,
        "input_values": (program.inputs and program.parameters) or None,
        "timeout_s": None if options.timeout_s == 3600.0 else options.timeout_s,
    }
    return {"command": list(program.command), **{key: value for key, value in optional.items() if value is not None}}


def _check_experiment(experiment: Mapping[str, Any], output: Path, questions: Questions) -> None:
    """Ask about everything that the phases refuse or lack for the experiment without its skeleton."""
    with questions.about("the experiment"):
        resolved = resolve(experiment, where=str(output), base=output.resolve().parent)
        for error in check_experiment(resolved, str(output)).values():
            questions.add("the tools that measure", error)
