"""Starts one rank under ``perf stat``. The MPI launcher runs it once per rank; it needs only the standard library.

Usage: python _perf_rank.py PERF FOLDER EVENTS SEPARATOR COMMAND...
Writes FOLDER/rank-NNNNNN.csv (perf's output) and FOLDER/rank-NNNNNN.json (rank, size, host); then becomes perf.
"""

from __future__ import annotations

import json
import os
import socket
import sys
from collections.abc import Mapping

# Set by MPICH's and Intel MPI's launcher, Open MPI's, PMIx, and srun, in this order.
RANK = ("PMI_RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "SLURM_PROCID")
SIZE = ("PMI_SIZE", "OMPI_COMM_WORLD_SIZE", "SLURM_NTASKS")


def number(environment: Mapping[str, str], names: tuple[str, ...]) -> int | None:
    """Return the first of the variables ``names`` that holds a number."""
    for name in names:
        if environment.get(name, "").isdigit():
            return int(environment[name])
    return None


def perf_command(perf: str, stem: str, events: str, separator: str, command: list[str]) -> list[str]:
    """Return the command that counts ``events`` of ``command`` into ``stem``.csv."""
    return [perf, "stat", "-x", separator, "-e", events, "-o", stem + ".csv", "--", *command]


def main(arguments: list[str]) -> int:
    """Record the identity of this rank and become perf."""
    if len(arguments) < 5:
        print("usage: _perf_rank.py PERF FOLDER EVENTS SEPARATOR COMMAND...", file=sys.stderr)
        return 2
    perf, folder, events, separator, *command = arguments
    rank = number(os.environ, RANK)
    if rank is None:
        print(f"manynode: none of {', '.join(RANK)} is set: start this by an MPI launcher", file=sys.stderr)
        return 2
    stem = os.path.join(folder, f"rank-{rank:06d}")
    with open(stem + ".json", "w", encoding="utf-8") as file:
        json.dump({"rank": rank, "size": number(os.environ, SIZE), "host": socket.gethostname()}, file)
    words = perf_command(perf, stem, events, separator, command)
    os.execv(words[0], words)  # noqa: S606 - an argument list, no shell


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
