"""What ``manynode project`` wrote before, so that it repeats nothing and overwrites nothing that a user needs.

The file ``NAME.project.json`` in the folder of the recordings (``project/1``) has checksums: of what the skeleton was
derived from, of the skeleton and the experiments as they were written, and of the question that they answer.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path

from manynode import input_file, tables
from phase2_nodesim.derive.written import checksum, not_overwritten

SCHEMA = "project/1"


@dataclass(frozen=True)
class Kept:
    """Checksums of the last call; empty if there was none. ``others`` is of the second experiment."""

    derived_from: str = ""
    skeleton: str = ""
    question: str = ""
    experiment: str = ""
    others: str = ""
    study: str = ""

    @classmethod
    def read(cls, path: Path) -> Kept:
        if not input_file.is_file(path):
            return cls()
        content = tables.read_json(path, SCHEMA)
        return cls(**{key: str(content.get(key, "")) for key in cls.__dataclass_fields__})

    def write(self, path: Path) -> None:
        tables.write_json(path, SCHEMA, asdict(self))


def check_experiment_replaceable(path: Path, written: str, asked: str, question: str) -> None:
    """Raise :class:`UsageError` if an experiment is there that was edited, or that answers another question.

    ``written`` is the checksum of the file that answered the question ``asked``; ``question`` is the one to answer now.
    """
    if not input_file.is_file(path):
        return
    keep = f"to run it as it is, 'manynode run {path}'"
    if checksum(path.read_text(encoding="utf-8")) != written:
        raise not_overwritten("the file was edited, or another command wrote it", path, keep=keep)
    if asked != question:
        raise not_overwritten("the experiment answers another question, and has its results", path, keep=keep)
