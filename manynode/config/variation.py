"""Changes one parameter of a resolved experiment, for probes and sweeps.

In: the resolved experiment, a key such as ``network.link.bandwidth`` and a value as in the file. The value of
``network`` itself is the name of a shipped file, or a path. Out: the resolved experiment with that value, checked as a
whole. A wrong key or value is a :class:`UsageError`. Keys are those of the experiment's JSON.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from manynode.config.application import read_application
from manynode.errors import UsageError, nearest

if TYPE_CHECKING:
    from manynode.config.resolved import Resolved


def with_value(experiment: Resolved, key: str, value: object, where: str) -> Resolved:
    """Return ``experiment`` with ``value`` at ``key``."""
    from manynode.config.resolved import included, resolve_json

    changed = experiment.content
    *_, last = key.split(".")
    section = _walk(changed, key, where)[-2]
    if key == "network" and isinstance(value, str):
        value = included(key, value, "networks", Path.cwd(), where)
    section[int(last) if isinstance(section, list) else last] = value
    resolved = resolve_json(changed, f"{where}: {key}")
    application = resolved.application
    if application.name is None:
        return resolved
    parameters = read_application(application.name).resolve(application.parameters)
    return resolved.model_copy(update={"application": application.model_copy(update={"parameters": parameters})})


def value_of(experiment: Resolved, key: str) -> Any:
    """Return the value of ``key`` in a resolved experiment, in SI units."""
    return _walk(experiment.content, key, "the experiment")[-1]


def _walk(content: dict[str, Any], key: str, where: str) -> list[Any]:
    """Return the sections on the way to ``key``, from the whole to its value."""
    sections: list[Any] = [content]
    parts = key.split(".")
    for depth, part in enumerate(parts):
        sections.append(_step(sections[-1], part, ".".join(parts[: depth + 1]), where))
    return sections


def _step(section: Any, part: str, key: str, where: str) -> Any:
    """Return the entry ``part`` of ``section``; one that does not exist is a :class:`UsageError` at ``key``."""
    entries = {str(index): entry for index, entry in enumerate(section)} if isinstance(section, list) else section
    if isinstance(entries, dict) and part in entries:
        return entries[part]
    known = list(entries) if isinstance(entries, dict) else []
    near = nearest(part, known)
    raise UsageError(
        "no such parameter in the experiment",
        where=f"{where}: {key}",
        found=part,
        allowed=", ".join(map(str, known)) or "nothing below a value",
        remedy=f"did you mean {near!r}?" if near else "'manynode config default' prints every key",
    )
