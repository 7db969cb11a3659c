"""The command that starts one simulation of SST, with and without MPI."""

from __future__ import annotations

import functools
import os
from collections.abc import Sequence
from pathlib import Path

from manynode import process
from manynode.config.sst import SstSection
from manynode.launch import detect_mpi, job_environment, launcher
from manynode.paths import place
from phase3_sst.engines.sst.run.sst_installation import Installation

# In a deadlock, SST's clock jumps to its end, and SST with several threads or processes crashes there. With a stop time
# long before, all of them end and leave their parts.
_STOP_AT = "1000000s"
MACHINE_SCRIPT = place("phase3_sst/engines/sst/machine/machine.py")


def sst_command(
    installation: Installation,
    settings: SstSection,
    run_file: Path,
    parts: Path,
    *,
    separator: bool | None = None,
) -> list[str]:
    """Return the command; ``separator`` says whether this SST takes the script's options after ``--``."""
    words = [*launch_words(installation, settings), installation.sst]
    if settings.threads > 1:
        words += ["-n", str(settings.threads)]
    # Not --lib-path, which would replace the folders of SST's own elements.
    words += [f"--add-lib-path={installation.library}", f"--stop-at={_STOP_AT}"]
    if settings.cores() > 1:
        words.append(f"--partitioner={partitioner(settings)}")
    if takes_separator(installation.sst) if separator is None else separator:
        return [*words, str(MACHINE_SCRIPT), "--", str(run_file), str(parts)]
    return [*words, f"--model-options={run_file} {parts}", str(MACHINE_SCRIPT)]


def partitioner(settings: SstSection) -> str:
    """Return the partitioner; resolves ``auto``."""
    return "sst.linear" if settings.partitioner == "auto" else settings.partitioner


def launch_words(installation: Installation, settings: SstSection) -> list[str]:
    """Return the command's prefix: empty for one process, else an MPI launcher."""
    if settings.processes == 1:
        return []
    given: Sequence[str] | None = settings.launcher
    words = list(given) if given is not None else launcher(detect_mpi(str(installation.simulator)))
    return [*words, "-n", str(settings.processes)]


def environment(installation: Installation, settings: SstSection) -> dict[str, str]:
    """Return the environment for SST and an MPI launcher."""
    # UCX, which comes with MPICH, answers a crash with a handler that may deadlock.
    found = {"UCX_HANDLE_ERRORS": "none"}
    if settings.processes == 1:
        return found
    if installation.mpi_preload is not None:
        others = os.environ.get("LD_PRELOAD")
        found["LD_PRELOAD"] = f"{installation.mpi_preload}" + (f":{others}" if others else "")
    if settings.launcher is None:
        found |= job_environment(detect_mpi(str(installation.simulator)))
    return found


@functools.cache
def takes_separator(sst: str) -> bool:
    """Return whether this SST takes a script's options after ``--``, from its help, since versions may have no number.

    Older versions only take ``--model-options``.
    """
    return "after a final" in process.run([sst, "-h"], what="sst -h", check=False, timeout_s=60).output
