"""Which experiment file a results folder belongs to: two files of one name would overwrite each other's report."""

from __future__ import annotations

from pathlib import Path

import yaml

from manynode import tables
from manynode.config import yaml_text
from manynode.errors import ManynodeError, UsageError

_NOTE = Path("logs") / "experiment-file.txt"


def claim(results: Path, experiment: Path, name: str, *, keep: bool) -> None:
    """Refuse results of another file that still has this ``name``; note this file if ``keep``.

    A file that was moved, or that now names another experiment, has given its results up.
    """
    note, own = results / _NOTE, [str(results.resolve()), str(experiment.resolve())]
    if experiment.resolve().parent == results.resolve():
        return  # the changed experiment that a run with --set keeps there
    lines = note.read_text(encoding="utf-8").splitlines() if note.is_file() else []
    place, other = lines if len(lines) == 2 else ("", "")
    # A copied folder is nobody's yet.
    if place == own[0] and other != own[1] and _name(Path(other)) == name:
        raise UsageError(
            "the results are those of another experiment with the same name",
            where=str(results),
            found=f"made from {other}",
            allowed="one experiment file for each results folder",
            remedy=f"give {experiment} another name (key 'name'), or its results another place (--directory)",
        )
    if keep and [place, other] != own:
        with tables.replacing(note) as part:
            part.write_text("\n".join(own) + "\n", encoding="utf-8")


def _name(experiment: Path) -> str | None:
    """Return the name that an experiment file gives; None if it cannot be read."""
    try:
        content = yaml_text.parse(experiment.read_text(encoding="utf-8"))
    except (OSError, ValueError, yaml.YAMLError, ManynodeError):
        return None
    return content.get("name") if isinstance(content, dict) else None
