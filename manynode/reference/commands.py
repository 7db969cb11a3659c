"""The reference page of commands, made from the command line itself: every command, argument and option with its help.

The phases' commands are found through their entry points, as :mod:`manynode.cli` finds them.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from importlib.metadata import entry_points
from typing import Any

import typer

from manynode.command_help import add_command
from manynode.errors import UsageError
from manynode.paths import ROOT
from manynode.phase_commands import GROUP

# Defaults that are those of the host, not of the command.
_OF_THE_HOST = {"cores": "all of this host"}


def page(own: typer.Typer) -> str:
    """Return the reference page of commands (Markdown); ``own`` has the commands that belong to no phase."""
    _check_installed()
    lines = [
        "# Commands",
        "",
        "Generated from the command line by `manynode config generate`. Every command has `--help`.",
        "",
        "| command | purpose |",
        "|---|---|",
    ]
    commands = all_commands(own).items()
    lines += [f"| [`{name}`](#{_anchor(name)}) | {_first_sentence(command)} |" for name, command in commands]
    for name, command in commands:
        lines += ["", *_section(name, command)]
    return "\n".join(lines) + "\n"


def _check_installed() -> None:
    """Refuse a page without the checkout's newest commands: they are known only after an installation."""
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["entry-points"][GROUP]
    installed = {entry.name: entry.value for entry in entry_points(group=GROUP)}
    if differing := sorted(name for name, _ in declared.items() ^ installed.items()):
        raise UsageError(
            "the installed commands are not those of the checkout",
            where="pyproject.toml",
            found=", ".join(dict.fromkeys(differing)),
            remedy="install it again: make setup-test",
        )


def all_commands(own: typer.Typer) -> dict[str, Any]:
    """Return every command that does something, by its full name, in the order of the names."""
    phases = typer.Typer()
    for entry in entry_points(group=GROUP):
        add_command(phases, entry)
    leaves = (leaf for app in (own, phases) for leaf in _leaves("manynode", typer.main.get_command(app)))
    return dict(sorted(leaves, key=lambda leaf: leaf[0]))


def _leaves(name: str, command: Any) -> Iterator[tuple[str, Any]]:
    inner = getattr(command, "commands", None)
    if inner is None:
        yield name, command
        return
    if name != "manynode" and getattr(command, "invoke_without_command", False):
        yield name, command
    for word, member in inner.items():
        yield from _leaves(f"{name} {word}", member)


def _section(name: str, command: Any) -> Iterator[str]:
    arguments = [one for one in command.params if one.param_type_name == "argument" and not _hidden(one)]
    options = [one for one in command.params if one.param_type_name == "option" and not _hidden(one)]
    yield f"## {name}"
    yield ""
    yield _plain(command.help or "")
    yield ""
    yield "```text"
    yield " ".join([name, *(["[OPTIONS]"] if options else []), *(_shown(one) for one in arguments)])
    yield "```"
    if arguments or options:
        yield ""
        yield "| argument or option | default | meaning |"
        yield "|---|---|---|"
    for one in arguments:
        yield f"| `{_cell(_shown(one))}` | {_default(one)} | {_cell(one.help or '')} |"
    for one in options:
        if one.name in ("help", "install_completion", "show_completion"):
            continue
        yield f"| {_names(one)} | {_default(one)} | {_cell(one.help or '')} |"


def _hidden(parameter: Any) -> bool:
    return bool(getattr(parameter, "hidden", False))


def _shown(argument: Any) -> str:
    name = str(argument.metavar or argument.name.upper())
    if argument.nargs != 1 and not name.endswith("..."):
        name += "..."
    return name if argument.required else f"[{name}]"


def _names(option: Any) -> str:
    value = "" if getattr(option, "is_flag", False) else f" {_value(option)}"
    first, *others = sorted(option.opts, key=len, reverse=True)
    shown = [f"`{first}{value}`", *(f"`{other}`" for other in [*others, *option.secondary_opts])]
    return ", ".join(shown)


def _value(option: Any) -> str:
    return str(option.metavar or option.name.upper()).strip("[]<>")


def _default(parameter: Any) -> str:
    if parameter.required:
        return "required"
    if parameter.name in _OF_THE_HOST:
        return _OF_THE_HOST[parameter.name]
    value = parameter.default
    if value in (None, False, "", ()) or value == [] or callable(value):
        return ""
    if isinstance(value, (list, tuple)):
        value = " ".join(str(word) for word in value)
    return f"`{value}`"


def _plain(text: str) -> str:
    return re.sub(r"\s+", " ", text.split("\f")[0]).strip()


def _cell(text: str) -> str:
    return _plain(text).replace("|", "\\|")


def _first_sentence(command: Any) -> str:
    text = _plain(command.help or "")
    return _cell(re.split(r"(?<=[.;:]) ", text, maxsplit=1)[0].rstrip(".;:"))


def _anchor(name: str) -> str:
    return name.replace(" ", "-")
