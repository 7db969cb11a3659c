"""Records the MPI calls of a whole job: a native run of a program under the markers library.

In: the command of a program and a number of ranks. Out: a folder with the marker file of each rank. A run that fails
leaves no folder.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

from manynode.cores import available_cores
from manynode.errors import EngineFailedError, InputError, UsageError
from manynode.launch import Block, Flavour, run_job
from manynode.markers import not_followed, read_marker_directory
from manynode.paths import native_library
from manynode.process import render


def record_run(
    folder: Path,
    command: Sequence[str],
    flavour: Flavour,
    ranks: int,
    *,
    threads: int = 1,
    timeout_s: float = 3600.0,
    placed: Callable[[Path], Path] | None = None,
) -> None:
    """Run ``command`` on ``ranks`` ranks of this host, and leave their marker files in ``folder``.

    A folder that is there already is a :class:`UsageError`. A rank that fails, or an incomplete recording, is the
    error of the job or of its files; the log then stays beside the folder. A run that does what the markers do not
    follow is an :class:`InputError`. ``placed`` makes a folder with the program's input files, in which it runs.
    """
    if folder.exists():
        raise UsageError(
            "the folder of the recording exists already",
            where=str(folder),
            remedy="give another folder, or remove this one if its recording is not needed",
        )
    part = folder.with_name(f".{folder.name}.part")
    log = folder.with_name(f"{folder.name}.log")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    try:
        environment = {
            "LD_PRELOAD": str(native_library(f"libmanynode_markers_{flavour}.so")),
            "MANYNODE_MARKERS_DIR": str(part.resolve()),
            "MANYNODE_MARKERS_COUNTERS": "time",
            # A busy host interrupts ranks: by the clock, a loop that waits would seem to compute.
            "MANYNODE_MARKERS_CPU_TIME": "1",
            "OMP_NUM_THREADS": str(threads),
            # Ranks that look for messages without a pause would take the cores from those that compute.
            **({"MANYNODE_MARKERS_POLITE": "2"} if ranks * threads > available_cores() else {}),
        }
        block = Block(ranks, command, (), environment)
        failure = None
        files = part / "files"
        cwd = None if placed is None else placed(files)
        try:
            run_job(flavour, [block], what="the recorded run", log=log, cwd=cwd, timeout_s=timeout_s)
        except EngineFailedError as error:
            failure = error
        _check_followed(part, command, failure)
        if failure is not None:
            raise failure
        shutil.rmtree(files, ignore_errors=True)  # what the program wrote may be large
        read_marker_directory(part, resolve=False)
        os.rename(part, folder)
    finally:
        shutil.rmtree(part, ignore_errors=True)
    log.replace(folder / "run.log")
    log.with_suffix(".ends").unlink(missing_ok=True)


def _check_followed(folder: Path, command: Sequence[str], failure: EngineFailedError | None) -> None:
    """Refuse a run that the markers could not follow; ``failure`` is how the job ended, if it did so badly."""
    if found := not_followed(folder):
        raise InputError(
            "the program does what recordings do not follow",
            where=render(list(command)),
            found="; ".join(found),
            remedy="run it without that, if it has an option; docs/limits.md lists what recordings do not follow",
            details=None if failure is None else failure.render(),
        )
