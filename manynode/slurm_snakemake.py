"""Runs Snakemake with its Slurm executor, set to what the site has (``python -m manynode.slurm_snakemake``).

The executor plugin (2.8) asks ``sacct`` where that program is installed, although it knows nothing without accounting,
and forgets jobs after a query that fails. It asks less and less often, up to every three minutes, while ``squeue``
keeps finished jobs for ``MinJobAge`` only. It also removes ``SLURM_CONF``, by which commands find their cluster.
"""

from __future__ import annotations

import importlib
import os
import re
import shlex
import shutil
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from manynode import process
from manynode.errors import ManynodeError

EXECUTOR = "slurm"
_STATUS, _FIRST_CHECK = "slurm-status-command", "slurm-init-seconds-before-status-checks"
# A failed job is noticed within a minute; Slurm's controller answers a query in milliseconds.
_MOST_SECONDS = 40
# Checks of a finished job before squeue forgets it.
_CHECKS = 4
_CLIENTS = ("sbatch", "srun", "squeue", "sacct", "scancel", "scontrol", "sinfo", "sacctmgr", "sshare")


def site_options(profile: Mapping[str, Any]) -> list[str]:
    """Return Snakemake's options for the site's Slurm; none where Slurm does not answer, or ``profile`` says it all."""
    try:
        said = process.run(["scontrol", "show", "config"], what="Slurm's controller", timeout_s=60).output
    except ManynodeError:
        return []  # a dry run; a run that submits says it
    wanted = options_of(said)
    return [word for key, value in wanted.items() if key not in profile for word in (f"--{key}", value)]


def options_of(configuration: str) -> dict[str, str]:
    """Return option -> value from the output of ``scontrol show config``."""
    found = dict(re.findall(r"^(\w+)\s*=\s*(\S+)", configuration, re.MULTILINE))
    storage = found.get("AccountingStorageType", "").removeprefix("accounting_storage/")
    accounting = storage not in ("", "none", "(null)")
    kept_s = int(found.get("MinJobAge", 300))
    seconds = _MOST_SECONDS // 2 if accounting else max(1, min(_MOST_SECONDS // 2, kept_s // _CHECKS))
    return {_STATUS: "sacct" if accounting else "squeue", _FIRST_CHECK: str(seconds)}


def with_configuration(environment: Mapping[str, str], folder: Path) -> dict[str, str]:
    """Return ``environment`` with ``folder`` first in PATH, where commands are written that use its ``SLURM_CONF``."""
    configuration = environment.get("SLURM_CONF")
    if not configuration:
        return dict(environment)
    folder.mkdir(parents=True, exist_ok=True)
    path = environment.get("PATH", os.defpath)
    for name in _CLIENTS:
        program = shutil.which(name, path=path)
        if program and Path(program).parent != folder.resolve():
            wrapper = folder / name
            wrapper.write_text(f'#!/bin/sh\nSLURM_CONF={shlex.quote(configuration)} exec {shlex.quote(program)} "$@"\n')
            wrapper.chmod(0o755)
    return {**environment, "PATH": f"{folder.resolve()}:{path}"}


def executor(base: Any) -> Any:
    """Return the plugin's executor ``base`` without the faults that the module names."""

    class Executor(base):  # type: ignore[misc]
        async def check_active_jobs(self, active_jobs: Sequence[Any]) -> AsyncIterator[Any]:
            self._ended: set[int] = set()
            running = set()
            async for job in super().check_active_jobs(active_jobs):
                running.add(id(job))
                yield job
            for job in active_jobs:
                if id(job) not in running | self._ended:  # the query failed
                    yield job
            planned: int = super().next_seconds_between_status_checks
            self.next_seconds_between_status_checks = min(planned, self._most_seconds)

        @property
        def _most_seconds(self) -> int:
            first: int = self.workflow.executor_settings.init_seconds_before_status_checks
            return first if first < _MOST_SECONDS // 2 else max(first, _MOST_SECONDS)

        def report_job_success(self, job_info: Any) -> None:
            self._ended.add(id(job_info))
            super().report_job_success(job_info)

        def report_job_error(self, job_info: Any, *words: Any, **named: Any) -> None:
            self._ended.add(id(job_info))
            super().report_job_error(job_info, *words, **named)

    return Executor


def main() -> None:
    """Run Snakemake with this process's arguments."""
    plugin = importlib.import_module("snakemake_executor_plugin_slurm")
    plugin.Executor = executor(plugin.Executor)  # type: ignore[attr-defined]
    directory = Path(sys.argv[sys.argv.index("--directory") + 1])
    os.environ.update(with_configuration(os.environ, directory / ".snakemake" / "slurm-commands"))
    from snakemake.cli import main as snakemake

    snakemake()


if __name__ == "__main__":
    main()
