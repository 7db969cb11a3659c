"""Input files of a program whose content follows the problem and the job: Jinja templates, ``NAME.j2``.

In: paths of templates and of other files, and values of names: those of a job and of parameters, as in the words of a
command (:mod:`.command_words`). Out: a folder in which the program finds each file under its own name. A job with input
files runs in such a folder.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import Field

from manynode import input_file
from manynode.config.command_words import job_values
from manynode.config.quantities import Section
from manynode.derived.skeleton_model import GridSection
from manynode.errors import InputError, UsageError

if TYPE_CHECKING:
    from jinja2.sandbox import SandboxedEnvironment

_TEMPLATE = ".j2"


class InputFile(Section):
    """A file that a job has under ``name``; ``text`` is that of a template, None for a file that is the same always."""

    name: str = Field(description="Name in the job's folder")
    path: str = Field(description="Absolute path")
    digest: str = Field(description="Of its content, of which projections and recordings are")
    text: str | None = Field(default=None, description="Template, in which {{ ranks }} is a number of the job")


def read_inputs(names: Sequence[str], base: Path, where: str) -> list[InputFile]:
    """Return the files; one that cannot be read, or two of the same name, is a :class:`UsageError`."""
    found: dict[str, InputFile] = {}
    for given in names:
        made = _read(input_file.existing(base, given, "an input file", where=where, kind="a file").resolve())
        if made.name in found:
            raise UsageError(
                "two input files have the same name", where=where, found=f"{found[made.name].path}, {given}"
            )
        found[made.name] = made
    return list(found.values())


def digests(inputs: Sequence[InputFile]) -> dict[str, str]:
    """Return the digests of the files by name, of which skeletons are."""
    return {one.name: one.digest for one in inputs}


@input_file.kept_until_changed
def _read(path: Path) -> InputFile:
    if path.suffix != _TEMPLATE:
        return InputFile(name=path.name, path=str(path), digest=input_file.file_digest(path))
    text = input_file.read_text(path, "a template")
    made = InputFile(name=path.stem, path=str(path), digest=digest_of_text(text), text=text)
    names_in_inputs([made])  # refuses a template that cannot be parsed
    return made


def names_in_inputs(inputs: Sequence[InputFile]) -> list[str]:
    """Return the names that templates use and do not set themselves, sorted."""
    from jinja2 import TemplateSyntaxError, meta

    found: set[str] = set()
    for one in inputs:
        if one.text is None:
            continue
        try:
            found |= meta.find_undeclared_variables(_environment().parse(one.text)) - set(_environment().globals)
        except TemplateSyntaxError as error:
            raise InputError(
                "a template cannot be read",
                where=f"{one.path}: line {error.lineno}",
                found=error.message,
                allowed="text with {{ ranks }}, {{ nx * d0 }}, {% if ranks > 8 %} .. {% endif %}",
            ) from None
    return sorted(found)


def rendered(
    inputs: Sequence[InputFile], values: Mapping[str, int], ranks: int, ranks_per_node: int | None,
    grid: GridSection | None,
) -> dict[str, str]:  # fmt: skip
    """Return the texts of the templates for a job of ``ranks``, by name of the file.

    A name without a value is a :class:`UsageError`, or the error of :func:`~.command_words.job_values`.
    """
    from jinja2 import TemplateError

    texts: dict[str, str] = {}
    for one in inputs:
        if one.text is None:
            continue
        names = names_in_inputs([one])
        known = {**values, **job_values(names, ranks, ranks_per_node, grid)}
        if missing := [name for name in names if name not in known]:
            raise UsageError(
                "a template uses a name that has no value",
                where=one.path,
                found=", ".join(f"{{{{ {name} }}}}" for name in missing),
                allowed=", ".join(["ranks", "nodes", "root, d0, d1 of a stated grid", *values]),
                remedy=f"give it one: --parameter {missing[0]}=VALUE (in an experiment, application: input_values)",
            )
        try:
            texts[one.name] = _environment().from_string(one.text).render(known)
        except (TemplateError, ArithmeticError, TypeError, ValueError) as error:
            raise InputError("a template has no content", where=one.path, found=str(error)) from None
    return texts


def digest_of_text(text: str) -> str:
    """Return the digest of a file with this content."""
    return hashlib.sha256(text.encode()).hexdigest()


def place(inputs: Sequence[InputFile], texts: Mapping[str, str], folder: Path) -> Path:
    """Make ``folder`` anew with the input files of a job, whose templates have ``texts``; return it, absolute."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for one in inputs:
        if one.text is None:
            (folder / one.name).symlink_to(one.path)
        else:
            (folder / one.name).write_text(texts[one.name], encoding="utf-8")
    return folder.resolve()


def check_words(command: Sequence[str], inputs: Sequence[InputFile], where: str) -> None:
    """Raise :class:`UsageError` where an argument names a file that the job's folder does not have."""
    names = {one.name for one in inputs}
    for word in command[1:] if inputs else ():
        if not word.startswith("/") and word not in names and Path(word).is_file():
            raise UsageError(
                "a job with input files runs in a folder of its own, which lacks a file that the command names",
                where=where,
                found=word,
                allowed=", ".join(sorted(names)),
                remedy=f"give it as well (--input {word}; in an experiment, application: inputs), or its absolute path",
            )


@cache
def _environment() -> SandboxedEnvironment:
    from jinja2 import StrictUndefined
    from jinja2.sandbox import SandboxedEnvironment

    return SandboxedEnvironment(undefined=StrictUndefined, keep_trailing_newline=True)
