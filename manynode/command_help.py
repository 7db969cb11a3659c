"""The command of an entry point: its help, read from its source, or the command itself.

In: an entry point (``phase3_sst.calibration.calibrate_command:calibrate``). The help is the first line of the
function's docstring, or of the ``help=`` of a :class:`typer.Typer`; importing the command would take a second.
"""

from __future__ import annotations

import ast
import importlib.util
from importlib.metadata import EntryPoint
from pathlib import Path

import typer


def add_command(app: typer.Typer, entry: EntryPoint) -> None:
    """Import the command of ``entry`` and add it to ``app`` under its name."""
    loaded = entry.load()
    if isinstance(loaded, typer.Typer):
        app.add_typer(loaded, name=entry.name)
    else:  # a function: a command without subcommands
        app.command(entry.name)(loaded)


def help_of(entry: EntryPoint) -> str:
    """Return the first line of the command's help, or the name of its package if there is none."""
    source = _source(entry.module)
    text = None if source is None else _declared(ast.parse(source.read_bytes()), entry.attr)
    return (text or f"A command of {entry.module.split('.')[0]}.").strip().splitlines()[0]


def _source(module: str) -> Path | None:
    """Return the file of a module without importing its packages."""
    package, *inner = module.split(".")
    spec = importlib.util.find_spec(package)
    folders = [] if spec is None else spec.submodule_search_locations or []
    return next((path for folder in folders if (path := Path(folder, *inner).with_suffix(".py")).is_file()), None)


def _declared(module: ast.Module, name: str) -> str | None:
    for statement in module.body:
        if isinstance(statement, ast.FunctionDef) and statement.name == name:
            return ast.get_docstring(statement)
        if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Call):
            if any(isinstance(target, ast.Name) and target.id == name for target in statement.targets):
                given = {keyword.arg: keyword.value for keyword in statement.value.keywords}
                text = given.get("help")
                return text.value if isinstance(text, ast.Constant) and isinstance(text.value, str) else None
    return None
