"""MPI jobs of several blocks on this host: which MPI a program uses, and the command that starts it.

A job is a list of blocks, each a number of ranks with a command of its own (simulated ranks under an engine, external
ranks native). MPICH and Open MPI are told apart by the library that the program is linked with.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from manynode import process, slurm
from manynode.errors import EngineMissingError, InputError, UsageError
from manynode.paths import build_dir, native_program

Flavour = Literal["mpich", "openmpi"]

# Intel MPI and MPICH built from source share MPICH's ABI under the name libmpi.so.12.
_LIBRARIES: dict[str, Flavour] = {"libmpich.so": "mpich", "libmpi.so.12": "mpich", "libmpi.so.40": "openmpi"}


@dataclass(frozen=True)
class Block:
    """Ranks of one kind: ``prefix`` (an engine's command, may be empty) before ``command``, with ``env`` added."""

    ranks: int
    command: Sequence[str]
    prefix: Sequence[str] = ()
    env: Mapping[str, str] = field(default_factory=dict)


def find_executable(command: Sequence[str], base: Path | None = None) -> list[str]:
    """Return ``command`` with its program as an absolute path; a missing program is a :class:`UsageError`.

    A program with a slash is looked for relative to ``base`` (the experiment's folder), then to the working directory;
    one without is looked for on PATH.
    """
    program = command[0]
    candidates = [base / program] if base is not None and "/" in program else []
    candidates.append(Path(program))
    for candidate in candidates:
        if "/" in program and os.path.isfile(candidate) and os.access(candidate, os.X_OK):
            return [str(candidate.resolve()), *command[1:]]
    found = shutil.which(program) if "/" not in program else None
    if found:
        return [found, *command[1:]]
    exists = any("/" in program and os.path.exists(candidate) for candidate in candidates)
    raise UsageError(
        "the application's program cannot be run",
        where="application: command" if not exists else program,
        found="it is not an executable file" if exists else f"no program {program!r}",
        remedy="make it executable (chmod +x)" if exists else "build it first, or correct the path in the experiment",
    )


def detect_mpi(program: str) -> Flavour:
    """Return the MPI that ``program`` is dynamically linked with.

    A program that is not linked with MPI, or statically linked, is an :class:`InputError`: the markers library can only
    be preloaded into a dynamically linked MPI program.
    """
    listing = process.run(["ldd", program], what="reading the program's libraries", check=False).output
    for library, flavour in _LIBRARIES.items():
        if library in listing:
            return flavour
    static = "not a dynamic executable" in listing or "statically linked" in listing
    raise InputError(
        "the application is not a dynamically linked MPI program",
        where=program,
        found="a statically linked program or a script" if static else "no MPI library among those it is linked with",
        allowed="a program linked with MPICH (libmpich) or Open MPI (libmpi)",
        remedy="link it dynamically with mpicc or mpicxx; for a script or an interpreter that loads MPI later, say "
        "'mpi: mpich' or 'mpi: openmpi' under 'application'",
    )


def application_command(application: Mapping[str, Any]) -> tuple[list[str], Flavour]:
    """Return command and MPI of a resolved experiment's application.

    The mini-app of this project takes every parameter as the option of the same name; a program of the user's own is
    started as the experiment says.
    """
    wanted = application["mpi"]
    if application.get("command"):
        command = [str(word) for word in application["command"]]
    else:
        suffix = ".openmpi" if wanted == "openmpi" else ""
        command = [str(native_program(application["executable"] + suffix)), *_options(application)]
    return command, (detect_mpi(command[0]) if wanted == "auto" else wanted)


def application_guest(application: Mapping[str, Any]) -> list[str] | None:
    """Return the command of a resolved experiment's application as the guest of a simulator, or None.

    The mini-app of this project is built as one (``NAME.bridge``); a program of the user's own is named by ``guest``.
    """
    if application.get("command"):
        return [str(application["guest"]), *map(str, application["command"][1:])] if application.get("guest") else None
    program = build_dir() / "bin" / (application["executable"] + ".bridge")
    return [str(program), *_options(application)] if program.is_file() else None


def _options(application: Mapping[str, Any]) -> list[str]:
    """Return the options of a mini-app: every parameter is one of the same name."""
    words = []
    for name, value in application["parameters"].items():
        words += [f"--{name}", str(int(value) if isinstance(value, bool) else value)]
    return words


def launcher(flavour: Flavour) -> list[str]:
    """Return the launcher of ``flavour`` with the options that let it run more ranks than cores, also as root."""
    names = {
        "mpich": ["mpiexec.mpich", "mpiexec.hydra", "mpiexec"],
        "openmpi": ["mpiexec.openmpi", "mpirun.openmpi", "orterun", "mpiexec"],
    }
    packages = {"mpich": "mpich", "openmpi": "openmpi-bin"}
    for name in names[flavour]:
        if path := shutil.which(name):
            if flavour == "mpich":
                return [path]
            return [path, "--oversubscribe", "--bind-to", "none", "--mca", "mpi_yield_when_idle", "1"]
    raise EngineMissingError(
        f"no launcher for {flavour} was found",
        where="PATH",
        found="none of " + ", ".join(names[flavour]),
        remedy=f"install the package {packages[flavour]}",
    )


def job_command(flavour: Flavour, blocks: Sequence[Block]) -> list[str]:
    """Return the launcher's command for ``blocks``; blocks without ranks are left out.

    The environment of a block goes through ``env``, which both launchers treat alike.
    """
    command = launcher(flavour)
    first = True
    for block in blocks:
        if block.ranks == 0:
            continue
        if not first:
            command.append(":")
        first = False
        command += ["-n", str(block.ranks)]
        if block.env:
            command += ["env", *(f"{name}={value}" for name, value in sorted(block.env.items()))]
        command += [*map(str, block.prefix), *map(str, block.command)]
    return command


def job_environment(flavour: Flavour) -> dict[str, str]:
    """Return what the launcher itself needs in its environment."""
    environment = slurm.launcher_environment()
    if flavour == "openmpi" and os.geteuid() == 0:
        environment |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    return environment


def run_job(
    flavour: Flavour,
    blocks: Sequence[Block],
    *,
    what: str,
    log: Path,
    cwd: Path | None = None,
    timeout_s: float | None = None,
) -> process.Completed:
    """Run the job to its end; a crash of any rank is an :class:`EngineFailedError` with the job's last lines."""
    return process.run(
        job_command(flavour, blocks),
        what=what,
        log=log,
        env=job_environment(flavour),
        cwd=cwd,
        timeout_s=timeout_s,
        explain=_explain,
    )


def _explain(code: int, output: str) -> str | None:
    if "BAD TERMINATION" in output or "exited on signal" in output or "signal" in output.lower():
        return "the application crashed; run the command above by hand, and mend the application first"
    if code == 2:
        return "the application refused its arguments; see its message below"
    return None
