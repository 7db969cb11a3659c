"""Reads the user's hosts: names, nodes of the machine, slots for ranks.

In: a CSV file with the columns host, node and, if they differ from the rest, slots. Out: a list of :class:`Host`. Every
invalid line is an :class:`InputError` that names the line.
"""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from manynode import input_file
from manynode.errors import InputError

COLUMNS = ["host", "node", "slots"]
_NUMBER = re.compile(r"[0-9]{1,18}")


@dataclass(frozen=True)
class Host:
    """A host: its name, its node of the machine, its slots for ranks."""

    name: str
    node: int
    slots: int


def read_hosts(path: Path, room: int) -> list[Host]:
    """Return the hosts of the file; ``room`` is the number of nodes of the machine."""
    text = io.StringIO(input_file.read_text(path, "the host file"))
    try:
        frame = pd.read_csv(text, dtype=str, skipinitialspace=True, comment="#", keep_default_na=False)
    except ValueError as error:
        raise InputError("the host file cannot be read", where=str(path), found=str(error)) from None
    if list(frame.columns) not in (COLUMNS, COLUMNS[:2]):
        raise _wrong(path, 1, ", ".join(frame.columns), "host, node, and slots if need be")
    hosts = [_host(path, line, row) for line, row in enumerate(frame.to_dict("records"), start=2)]
    if not hosts:
        raise _wrong(path, 2, "nothing", "a line for each allocated host")
    for line, host in enumerate(hosts, start=2):
        if host.node >= room:
            raise _wrong(path, line, f"node {host.node}", f"a node of the machine: 0 to {room - 1}")
    for key in ("name", "node"):
        seen = [getattr(host, key) for host in hosts]
        for line, value in enumerate(seen, start=2):
            if seen.count(value) > 1:
                raise _wrong(path, line, f"{key} {value}, which another line has, too", "each host and each node once")
    return hosts


def _host(path: Path, line: int, row: dict[str, object]) -> Host:
    name, node, slots = str(row["host"]).strip(), str(row["node"]).strip(), str(row.get("slots", "1")).strip()
    if not name or any(letter in name for letter in " :=,"):
        raise _wrong(path, line, row["host"], "the name of a host, without blanks and ':', '=', ','")
    if not _NUMBER.fullmatch(node):
        raise _wrong(path, line, row["node"], "the number of a node of the machine: 0, 1, 2, ...")
    if not _NUMBER.fullmatch(slots) or int(slots) < 1:
        raise _wrong(path, line, row.get("slots"), "slots: 1 or more")
    return Host(name, int(node), int(slots))


def _wrong(path: Path, line: int, found: object, allowed: str) -> InputError:
    return InputError("the host file cannot be used", where=f"{path}: line {line}", found=found, allowed=allowed)


def equal_slots(path: Path, hosts: Sequence[Host]) -> int:
    """Return the slots of every host; different numbers of slots are an :class:`InputError`."""
    different = sorted({host.slots for host in hosts})
    if len(different) > 1:
        raise InputError(
            "the hosts have different numbers of slots",
            where=str(path),
            found=", ".join(map(str, different)),
            allowed="the same number for all: a mapping needs equal nodes",
            remedy=f"lower them all to {different[0]}",
        )
    return different[0]
