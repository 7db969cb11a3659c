"""Changes to an experiment from the command line: ``--set network.link.bandwidth="20 Gbit/s"``.

In: texts ``KEY=VALUE`` and an experiment file. Out: the changed experiment, which does not depend on its folder: it
contains its machine, network and tables, and its paths are absolute.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from manynode.config import yaml_text
from manynode.config.loader import resolve
from manynode.config.own_times import with_own_times
from manynode.config.resolved import included, read_yaml
from manynode.errors import UsageError
from manynode.launch import find_executable

_FILES = {"machine": "machines", "network": "networks"}


def read_changes(texts: Sequence[str]) -> dict[str, Any]:
    """Return key -> value of ``KEY=VALUE`` texts; values are read as YAML."""
    changes: dict[str, Any] = {}
    for text in texts:
        key, separator, value = text.partition("=")
        key = key.strip()
        if not separator or not all(key.split(".")):
            raise UsageError(
                "a change must have the form KEY=VALUE",
                where="--set",
                found=text,
                allowed="a dotted key of the experiment and a value: --set simulate.replicas=2",
            )
        if key in changes:
            raise UsageError("a key is changed twice", where="--set", found=key, remedy="give it once")
        try:
            changes[key] = yaml_text.parse(value)
        except ValueError as error:
            raise UsageError("a value is not valid YAML", where=f"--set {key}", found=str(error)) from None
    return changes


def changed(experiment: Path, changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return the file's experiment with ``changes``, checked and independent of the file's folder."""
    base = experiment.resolve().parent
    content = copy.deepcopy(read_yaml(experiment, "the experiment"))
    for section, folder in _FILES.items():
        if isinstance(content.get(section), str):
            content[section] = included(section, content[section], folder, base, str(experiment))
    apply(content, changes, base)
    where = f"{experiment} with {' '.join(f'--set {key}' for key in changes)}" if changes else str(experiment)
    resolved = resolve(content, where=where, base=base)
    if resolved.own_times is not None:
        _check_own_times(changes)
        content["own_times"] = with_own_times(content["own_times"], base)
    _name_files(content, resolved.content, base)
    return content


def _name_files(content: dict[str, Any], resolved: Mapping[str, Any], base: Path) -> None:
    """Give every file that ``content`` names relative to ``base`` its absolute path, or its content."""
    application = content["application"]
    if application.get("command"):
        application["command"] = find_executable(application["command"], base)
    if application.get("guest"):
        application["guest"] = resolved["application"]["guest"]
    for key in ("derived", "recorded"):
        if application.get(key) is not None:
            given = Path(application[key])
            application[key] = str((base / given if (base / given).exists() else given).resolve())
    if resolved["known_errors"]:
        content["known_errors"] = resolved["known_errors"]
    for name, section in resolved["nodesim"].items():
        if isinstance(section, dict) and section.get("executable") is not None:
            content["nodesim"][name]["executable"] = section["executable"]
    if resolved["validation"] is not None:
        content["validation"] |= {key: resolved["validation"][key] for key in ("measured", "collectives")}
        # A placement may be a file beside the experiment.
        if resolved["validation"]["placements"]:
            content["validation"]["placements"] = resolved["validation"]["placements"]
    for given, job in zip((content.get("simulate") or {}).get("jobs") or [], resolved["simulate"]["jobs"], strict=True):
        if job["timing_profile"] is not None:
            given["timing_profile"] = job["timing_profile"]
    study = resolved["sensitivity"]
    for name, parameter in (study or {"parameters": {}})["parameters"].items():
        if parameter["keys"] == ["network"]:
            content["sensitivity"]["parameters"][name]["values"] = parameter["values"]


def _check_own_times(changes: Mapping[str, Any]) -> None:
    """Refuse changes of what is measured where the compute times are the user's own: they would change nothing."""
    if any(key.partition(".")[0] == "own_times" for key in changes):
        return
    for key in changes:
        if key.partition(".")[0] in ("machine", "profile", "nodesim"):
            raise UsageError(
                "a change has no effect: the compute times are the user's own",
                where=f"--set {key}",
                found=f"{key} with own_times",
                allowed="keys of the network, of the simulation and of own_times",
                remedy="change own_times as well, such as own_times.phases: other.csv, or leave this key out",
            )


def apply(content: dict[str, Any], changes: Mapping[str, Any], base: Path) -> None:
    """Make ``changes`` in an experiment as its file has it; names of files are relative to ``base``."""
    # A change that names another file comes before changes inside that file, and a section before its keys.
    for key, value in sorted(changes.items(), key=lambda change: (change[0] not in _FILES, change[0].count("."))):
        _set(content, key, value)
        if key in _FILES and isinstance(value, str):
            content[key] = included(key, value, _FILES[key], base, f"--set {key}")


def _set(content: dict[str, Any], key: str, value: object) -> None:
    section: Any = content
    *way, last = key.split(".")
    for part in way:
        if isinstance(section, list):
            section = _entry(section, part, key)
        else:
            if section.get(part) is None:
                section[part] = {}
            section = section[part]
        if not isinstance(section, (dict, list)):
            raise UsageError(
                "no such parameter in the experiment",
                where=f"--set {key}",
                found=f"{part} is {section!r}, which has no keys",
                remedy="'manynode config default' prints every key",
            )
    if isinstance(section, list):
        _entry(section, last, key)
        section[int(last)] = value
    else:
        section[last] = value


def _entry(entries: list[Any], part: str, key: str) -> Any:
    if not part.isdecimal() or int(part) >= len(entries):
        raise UsageError(
            "a list of the experiment has no such entry",
            where=f"--set {key}",
            found=part,
            allowed=f"0 to {len(entries) - 1}" if entries else "nothing: the list is empty",
        )
    return entries[int(part)]
