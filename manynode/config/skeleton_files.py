"""Applications whose communication is in a file: recorded runs and derived skeletons.

In: the section ``application`` of an experiment. Out: what its resolved form has in place of the file's name: the
application that reads the file (``skeletons/recorded``, ``skeletons/derived``) and its parameters.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from manynode import input_file
from manynode.config.application import DERIVED, REPLAY, read_application
from manynode.config.application_section import ApplicationSection
from manynode.config.command_words import with_values
from manynode.config.input_files import digests, read_inputs
from manynode.derived import skeleton_file
from manynode.derived.skeleton_model import DerivedSkeleton, GridSection
from manynode.errors import UsageError
from manynode.launch import find_executable
from manynode.phase_commands import ask as ask_phase

SUFFIX = ".yaml"


def recorded_application(folder: str, base: Path) -> dict[str, Any]:
    """Return the application that replays the recording in ``folder``, a path as those of programs are."""
    found = next((path for path in (base / folder, Path(folder)) if path.is_dir()), None)
    if found is None:
        raise UsageError(
            "the folder of the recording does not exist",
            where="application: recorded",
            found=folder,
            allowed="a path, relative to the experiment's folder or to the working directory",
            remedy="record a run: manynode record FOLDER --ranks N -- PROGRAM ...",
        )
    parameters = json.loads(ask_phase("nodesim", "stream", found.resolve()))
    return {"name": REPLAY, "parameters": parameters, "recorded": None}


def derived_application(given: ApplicationSection, base: Path) -> dict[str, Any]:
    """Return the application that interprets a derived skeleton, with its compiled file beside the skeleton's.

    Placeholders in the command have the values of the parameters.
    """
    path = _skeleton_path(str(given.derived), base)
    skeleton = skeleton_file.read(path)
    values = skeleton_file.values_of(skeleton, cast(Mapping[str, int], given.parameters))  # refuses others
    command = with_values(given.command or (), values)
    _check_command(skeleton, command, given, path, base, values)
    compiled = path.with_suffix(".json")
    digest = skeleton_file.write_compiled(compiled, skeleton)
    return {
        "name": DERIVED,
        "parameters": {"file": str(compiled), "digest": digest, "values": json.dumps(values)},
        "derived": None,
        "command": command,
        "input_values": {**given.input_values, **values} if given.inputs else {},
    }


def phases_of(name: str, parameters: Mapping[str, Any]) -> dict[str, str]:
    """Return the compute phases of a resolved application, each with what it does; files of skeletons do not say it."""
    if name in (DERIVED, REPLAY) and "file" in parameters:
        content = json.loads(Path(parameters["file"]).read_text(encoding="utf-8"))
        return dict.fromkeys([*content["phases"], *content.get("approximate", {}).get("phases", ())], "")
    return dict(read_application(name).phases)


def _check_command(
    skeleton: DerivedSkeleton, command: Sequence[str], given: ApplicationSection, path: Path, base: Path,
    values: Mapping[str, int],
) -> None:  # fmt: skip
    """Raise :class:`UsageError` unless ``command`` is what the skeleton was derived from, with the same arguments.

    The program may be in another folder. A skeleton that was written by hand names no command.
    """
    program = skeleton.program
    if not program.command and not skeleton.recorded:
        return
    recorded = with_values(program.command, {**program.fixed, **values})
    same = recorded and list(command[1:]) == recorded[1:] and _same_program(command[0], recorded[0], base)
    if not same or given.grid != program.grid:
        raise UsageError(
            "the skeleton is of another command, or of other arguments",
            where="application: command",
            found=" ".join(command) + _grid_words(given.grid),
            allowed=" ".join(recorded) + _grid_words(program.grid)
            or f"none: {path} does not say what it was derived from (program: command)",
            remedy="derive a skeleton of this command under a name of its own (manynode derive --output "
            f"NAME.skeleton.yaml), or correct command and parameters. If both communicate alike, write this command to "
            f"{path} (program: command)",
        )
    inputs = digests(read_inputs(given.inputs, base, "application: inputs"))
    constant = program.fixed if inputs else {}
    if inputs != program.inputs or any(given.input_values.get(name) != value for name, value in constant.items()):
        raise UsageError(
            "the skeleton is of other input files, or of other values in them",
            where="application: inputs, input_values",
            found=_input_words(inputs, given.input_values),
            allowed=_input_words(program.inputs, constant),
            remedy="derive a skeleton with these files under a name of its own (manynode derive --input FILE --output "
            "NAME.skeleton.yaml)",
        )


def _input_words(inputs: Mapping[str, str], values: Mapping[str, int]) -> str:
    files = [f"{name} ({digest[:16]})" for name, digest in inputs.items()]
    return ", ".join([*files, *(f"{name} {value}" for name, value in values.items())]) or "none"


def _grid_words(grid: GridSection | None) -> str:
    return "" if grid is None else f" (grid: {json.dumps(grid.stated)})"


def _same_program(given: str, recorded: str, base: Path) -> bool:
    """Return whether two programs have one name, or are one file under two names."""
    if Path(given).name == Path(recorded).name:
        return True
    (found,) = find_executable([given], base)
    return os.path.realpath(found) == os.path.realpath(recorded)


def _skeleton_path(name: str, base: Path) -> Path:
    if not name.endswith(SUFFIX):
        raise UsageError(
            "a derived skeleton is not a YAML file",
            where="application: derived",
            found=name,
            allowed=f"a path that ends in {SUFFIX}, as 'manynode derive' writes it",
        )
    found = input_file.existing(
        base,
        name,
        "the file of the derived skeleton",
        where="application: derived",
        remedy="derive it: manynode derive -- PROGRAM ...",
    )
    return found.resolve()
