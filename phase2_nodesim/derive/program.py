"""The program to derive a skeleton of: an experiment's, or any command.

In: the words of the command line. Out: a :class:`Program`: its command with ``{name}`` in place of parameters, and the
parameters' values. Mistakes are :class:`UsageError`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, get_args

from manynode.config.application import read_application
from manynode.config.application_section import ApplicationSection
from manynode.config.command_words import names_in, of_the_job
from manynode.config.input_files import InputFile, check_words, names_in_inputs, read_inputs
from manynode.config.resolved import checked, read_yaml
from manynode.derived.expression import may_name
from manynode.derived.grids import Order
from manynode.derived.skeleton_model import GridSection
from manynode.errors import UsageError
from manynode.launch import Flavour, detect_mpi, find_executable
from manynode.paths import native_program

Mpi = Literal["auto", "mpich", "openmpi"]


@dataclass(frozen=True)
class Program:
    """``command`` starts with the path of the program; ``threads`` are those of each rank.

    ``grid`` is that of the ranks, where the command or the input files use its extents.
    """

    name: str
    command: list[str]
    parameters: dict[str, int]
    flavour: Flavour
    threads: int = 1
    grid: GridSection | None = None
    inputs: Sequence[InputFile] = ()

    @property
    def names(self) -> list[str]:
        """Names in braces: those of parameters and of the job."""
        return list(dict.fromkeys([*names_in(self.command), *names_in_inputs(self.inputs)]))


def program_of(
    words: Sequence[str], mpi: Mpi = "auto", threads: int = 1, grid: GridSection | None = None,
    inputs: Sequence[str] = (),
) -> Program:  # fmt: skip
    """Return the program of an experiment (one word that ends in .yaml) or of a command."""
    if len(words) == 1 and words[0].endswith((".yaml", ".yml")):
        return _of_experiment(Path(words[0]))
    command = find_executable(words)
    name = re.sub(r"[^A-Za-z0-9_-]", "-", Path(command[0]).stem)
    files = read_inputs(inputs, Path.cwd(), "--input")
    check_words(command, files, "-- PROGRAM")
    return Program(name, command, {}, detect_mpi(command[0]) if mpi == "auto" else mpi, threads, grid, files)


def _of_experiment(path: Path) -> Program:
    content = read_yaml(path, "the experiment")
    section = checked(ApplicationSection, content.get("application") or {}, str(path), "the section application")
    base = path.resolve().parent
    parameters = {**section.parameters, **section.input_values}
    if section.command is not None:
        name, command = str(content.get("name", path.stem)), find_executable(section.command, base)
    else:
        described = read_application(str(section.name), base=base)
        if described.executable is None:
            raise UsageError(
                "the application has no program to record", where=f"{path}: application: name", found=described.name
            )
        suffix = ".openmpi" if section.mpi == "openmpi" else ""
        parameters = described.resolve(parameters)
        options = [word for key in parameters for word in (f"--{key}", f"{{{key}}}")]
        name, command = described.name, [str(native_program(f"{described.executable}{suffix}")), *options]
    found = Program(name, command, {}, detect_mpi(command[0]) if section.mpi == "auto" else section.mpi)
    files = read_inputs(section.inputs, base, f"{path}: application: inputs")
    found = replace(found, threads=section.threads, grid=section.grid, inputs=files)
    return with_parameters(found, parameters, f"{path}: application: parameters")


def with_parameters(program: Program, values: Mapping[str, object], where: str) -> Program:
    """Return the program with values of parameters; each has a name that expressions may use, and a whole number."""
    whole: dict[str, int] = {}
    for name, value in values.items():
        if isinstance(value, bool) or not isinstance(value, int) or not may_name(name) or of_the_job(name):
            raise UsageError(
                "a parameter cannot be one of a derived skeleton",
                where=f"{where}: {name}",
                found=repr(value),
                allowed="a whole number; the name has letters, digits and _, and none of expressions or jobs",
                remedy="write its value into the command",
            )
        if name not in program.names:
            raise UsageError(
                "a parameter is not in the command, and not in an input file",
                where=f"{where}: {name}",
                found=" ".join(program.command),
                allowed=f"{{{name}}} in one of the arguments",
            )
        whole[name] = value
    return replace(program, parameters={**program.parameters, **whole})


def stated_grid(text: str | None) -> GridSection | None:
    """Return the grid of ``--grid``: the number of axes, a rule and an order, such as ``3`` or ``2,squarest``."""
    if text is None:
        return None
    content: dict[str, object] = {"rule": "least-surface"}
    for word in filter(None, map(str.strip, text.split(","))):
        content["dimensions" if word.isdigit() else "order" if word in get_args(Order) else "rule"] = word
    if "dimensions" in content:
        content["dimensions"] = int(str(content["dimensions"]))
    return checked(GridSection, content, f"--grid {text}", "the grid")


def numbers(text: str, where: str) -> list[int]:
    """Return the whole numbers of a text such as ``2,4,8``."""
    try:
        return [int(word) for word in text.split(",") if word.strip()]
    except ValueError:
        raise UsageError(
            "a list of whole numbers cannot be read", where=where, found=text, allowed="numbers such as 2,4,8"
        ) from None


def named_numbers(texts: Sequence[str], where: str) -> dict[str, list[int]]:
    """Return name -> numbers of texts such as ``nx=8,12``."""
    found: dict[str, list[int]] = {}
    for text in texts:
        name, equals, values = text.partition("=")
        if not equals or not (listed := numbers(values, f"{where} {text}")):
            raise UsageError("a parameter cannot be read", where=where, found=text, allowed="NAME=VALUE,VALUE")
        found[name.strip()] = [*found.get(name.strip(), []), *listed]
    return found
