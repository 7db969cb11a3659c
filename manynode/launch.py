"""Starts MPI jobs of several blocks on this host, with the launcher of the program's MPI.

A job is a list of blocks. Each block is a number of ranks with its own command: simulated ranks run under an engine,
external ranks natively. The linked library shows whether a program uses MPICH or Open MPI.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from manynode import process, slurm
from manynode.config.resolved import ResolvedApplication
from manynode.errors import EngineFailedError, EngineMissingError, InputError, UsageError
from manynode.notices import warn
from manynode.paths import build_dir, native_program
from manynode.rank_ends import Death, culprits, deaths, end_words, ended, program_lines
from manynode.supervisor import END_ORPHANS, left_words

Flavour = Literal["mpich", "openmpi"]

_LOST_S = 10.0
"""How long a job may go on after a rank has ended badly; MPICH's launcher does not notice one that never called MPI."""
_ENDING_S = 3.0
"""How long a launcher has to end after its last rank."""

STARTED_IN = "MANYNODE_STARTED_IN"
"""The variable with the directory in which a command was started: programs find their files there."""

_PRELOAD = "LD_PRELOAD"
_PREFIX = "MANYNODE_MARKERS_PREFIX"
_BETWEEN = "\x1f"
"""Between the words in the variable."""

# Intel MPI and MPICH built from source share MPICH's ABI under the name libmpi.so.12.
_LIBRARIES: dict[str, Flavour] = {"libmpich.so": "mpich", "libmpi.so.12": "mpich", "libmpi.so.40": "openmpi"}


class ProgramFailedError(EngineFailedError):
    """A rank of the program itself ended with an error, or was ended by a signal."""


@dataclass(frozen=True)
class Block:
    """Ranks of one kind: ``command`` after an optional ``prefix`` (an engine's command), with ``env`` added."""

    ranks: int
    command: Sequence[str]
    prefix: Sequence[str] = ()
    env: Mapping[str, str] = field(default_factory=dict)


def find_executable(command: Sequence[str], base: Path | None = None) -> list[str]:
    """Return ``command`` with its program as an absolute path; a missing program is a :class:`UsageError`.

    A program with a slash is relative to ``base`` (the experiment's folder), or else to the working directory. One
    without a slash is searched on PATH.
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
    listing = _libraries(program)
    if (flavour := _flavour(listing)) is not None:
        return flavour
    static = "not a dynamic executable" in listing or "statically linked" in listing
    raise InputError(
        "the application is not a dynamically linked MPI program",
        where=program,
        found="a statically linked program or a script" if static else "no MPI library among those it is linked with",
        allowed="a program linked with MPICH (libmpich) or Open MPI (libmpi)",
        remedy="link it dynamically with mpicc or mpicxx; for a script or an interpreter that loads MPI later, say "
        "which MPI it is: 'mpi: mpich' or 'mpi: openmpi' under 'application', --mpi on the command line",
    )


def _libraries(program: str) -> str:
    return process.run(["ldd", program], what="reading the program's libraries", check=False).output


def _flavour(listing: str) -> Flavour | None:
    return next((flavour for library, flavour in _LIBRARIES.items() if library in listing), None)


def application_command(
    application: ResolvedApplication, ranks: int | None = None, ranks_per_node: int | None = None
) -> tuple[list[str], Flavour]:
    """Return command and MPI of a resolved experiment's application for a job of ``ranks``, or for none in particular.

    A mini-app of this project takes every parameter as the option of the same name. A user's program is started with
    the experiment's command, whose arguments may follow the job.
    """
    wanted = application.mpi
    if application.command is not None:
        command = _for_job(application.command, application, ranks, ranks_per_node)
    else:
        suffix = ".openmpi" if wanted == "openmpi" else ""
        command = [str(native_program(f"{application.executable}{suffix}")), *_options(application)]
    return command, (detect_mpi(command[0]) if wanted == "auto" else wanted)


@contextlib.contextmanager
def started_here() -> Iterator[None]:
    """Let programs find their files in the working directory, unless an outer command was started elsewhere."""
    if STARTED_IN in os.environ:
        yield
        return
    os.environ[STARTED_IN] = os.getcwd()
    try:
        yield
    finally:
        del os.environ[STARTED_IN]


def job_folder(application: ResolvedApplication, ranks: int, ranks_per_node: int, folder: Path) -> Path | None:
    """Return where a job of an application with input files runs: ``folder``, made anew.

    Without such files, it is where the command was started, since the steps run in the folder of the results.
    """
    if not application.inputs:
        return Path(started) if (started := os.environ.get(STARTED_IN)) else None
    from manynode.config.input_files import place, rendered

    texts = rendered(application.inputs, application.input_values, ranks, ranks_per_node, application.grid)
    return place(application.inputs, texts, folder)


def _for_job(
    words: Sequence[str], application: ResolvedApplication, ranks: int | None, ranks_per_node: int | None
) -> list[str]:
    from manynode.config.command_words import for_job  # what it needs takes long to load

    return list(words) if ranks is None else for_job(words, ranks, ranks_per_node, application.grid)


def application_guest(application: ResolvedApplication, ranks: int, ranks_per_node: int) -> list[str] | None:
    """Return the command of a resolved experiment's application as the guest of a simulator, or None.

    A mini-app of this project has a guest build (``NAME.bridge``); ``guest`` names that of a user's program.
    """
    if application.command is not None:
        words = _for_job(application.command[1:], application, ranks, ranks_per_node)
        return None if application.guest is None else [application.guest, *words]
    program = build_dir() / "bin" / f"{application.executable}.bridge"
    return [str(program), *_options(application)] if program.is_file() else None


def _options(application: ResolvedApplication) -> list[str]:
    """Return the options of a mini-app: every parameter is one of the same name."""
    words = []
    for name, value in application.parameters.items():
        words += [f"--{name}", str(int(value) if isinstance(value, bool) else value)]
    return words


def launcher(flavour: Flavour) -> list[str]:
    """Return the launcher of ``flavour`` with options that allow more ranks than cores, and running as root."""
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
    """Return the environment variables that the launcher needs."""
    environment = slurm.launcher_environment()
    if flavour == "openmpi" and os.geteuid() == 0:
        environment |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    return environment


def followed(block: Block) -> Block:
    """Return ``block``, whose command may be a script, with its prefix before the MPI program that the script starts.

    The script runs natively. The markers library in the program finds the prefix in a variable and puts it before the
    program (``phase2_nodesim/markers/prefix.c``). A wrapper such as ``env`` keeps the prefix, too, because it may load
    MPI later itself. Without the markers library the prefix follows by itself (``perf stat``).
    """
    program, prefix = str(block.command[0]), [str(word) for word in block.prefix]
    # QEMU loads the library into the program alone.
    inside = next((word.partition("=")[2] for word in prefix if word.startswith(f"{_PRELOAD}=")), None)
    if not prefix or not (inside or _PRELOAD in block.env) or _flavour(_libraries(program)) is not None:
        return block
    words = ["env", "-u", _PRELOAD, *prefix] if inside else prefix
    environment = {**block.env, _PREFIX: _BETWEEN.join(words)}
    with open(program, "rb") as file:
        if file.read(4) == b"\x7fELF":
            return replace(block, env=environment)
    return replace(block, prefix=(), env=environment | ({_PRELOAD: inside} if inside else {}))


def watched(blocks: Sequence[Block], ends: Path, errors: Path) -> list[Block]:
    """Return ``blocks`` with ``manynode-rank`` around each rank.

    ``ends`` receives the ends of ranks, ``errors`` their stderr. Both files must exist.
    """
    around = str(native_program("manynode-rank"))
    files = {"MANYNODE_RANK_ENDS": str(ends.resolve()), "MANYNODE_RANK_ERRORS": str(errors.resolve())}
    result = []
    for block in blocks:
        environment = {**block.env, **files}
        # Not for manynode-rank itself: loading an MPI library in vain took a fifth of the time of small recordings.
        preload = environment.pop(_PRELOAD, None)
        inside = ["env", f"{_PRELOAD}={preload}"] if preload else []
        result.append(replace(block, prefix=(around, *inside, *block.prefix), env=environment))
    return result


def run_job(
    flavour: Flavour,
    blocks: Sequence[Block],
    *,
    what: str,
    log: Path,
    cwd: Path | None = None,
    timeout_s: float | None = None,
) -> process.Completed:
    """Run the job to its end; no process of it survives, and a warning names processes that a rank had left.

    A rank that ends badly is an :class:`EngineFailedError` with its number, its end and the program's last lines.
    """
    blocks = [followed(block) for block in blocks]
    log.parent.mkdir(parents=True, exist_ok=True)
    log.write_bytes(b"")
    ends = log.with_suffix(".ends")
    ends.write_bytes(b"")
    shown = process.render(job_command(flavour, blocks))
    watch = _Watch(what, shown, log, ends, sum(block.ranks for block in blocks))
    (done,) = process.run_together(
        [job_command(flavour, watched(blocks, ends, log))],
        what=what,
        logs=[log],
        env=job_environment(flavour),
        cwd=cwd,
        timeout_s=timeout_s,
        watch=watch.look,
        failure=lambda broken: _failed(what, shown, broken, ends),
        emptied=True,
        shown=shown,
    )
    if done.left:
        warn(f"{what} ended, and {left_words(done.left)} {'were' if len(done.left) > 1 else 'was'} ended with it")
    return done


class _Watch:
    """Watches how the ranks of a running job end, in case its launcher misses it or waits for something else."""

    def __init__(self, what: str, shown: str, log: Path, ends: Path, ranks: int) -> None:
        self._what, self._shown, self._log, self._ends, self._ranks = what, shown, log, ends, ranks
        self._lost_since: float | None = None
        self._next_call: float | None = None

    def look(self, _index: int, supervisor: int) -> None:
        """Raise the error of a job that continues although a rank failed; help a waiting launcher to end."""
        text = self._ends.read_text(encoding="utf-8", errors="replace")
        if not text:
            return
        now = time.monotonic()
        if ended(text) == self._ranks:
            if self._next_call is None:
                self._next_call = now + _ENDING_S
            elif now > self._next_call:
                # Open MPI's launcher reads the output of a rank until nobody has it open any more.
                self._next_call = now + _ENDING_S
                os.kill(supervisor, END_ORPHANS)
        if noted := deaths(text):
            if self._lost_since is None:
                self._lost_since = now
            elif now - self._lost_since > _LOST_S:
                output = self._log.read_text("utf-8", "replace")
                raise ProgramFailedError(
                    f"{self._what} lost a rank but continued",
                    where=self._shown,
                    found=f"{culprits(noted, output)}; the job was ended {_LOST_S:g} s later",
                    remedy=_remedy(noted, None),
                    details=program_lines(output),
                )


def _failed(what: str, shown: str, left: process.Completed, ends: Path) -> EngineFailedError:
    """Return the error of a failed job: the failed rank, how it ended, and the program's last lines."""
    noted = deaths(ends.read_text(encoding="utf-8", errors="replace"))
    launcher = f"{end_words(left.returncode)} of the launcher"
    found = culprits(noted, left.output)
    return (ProgramFailedError if found else EngineFailedError)(
        f"{what} failed",
        where=shown,
        found=f"{found} ({launcher})" if found else launcher,
        remedy=_remedy(noted, left.returncode) + (f"; the whole output is in {left.log}" if left.log else ""),
        details=program_lines(left.output),
    )


def _remedy(noted: Sequence[Death], launcher_code: int | None) -> str:
    # A launcher's exit code may be the number of a signal: a rank's own says more.
    code = noted[0].code if noted else launcher_code
    if code == 2:
        return "the application refused its arguments; see its message below"
    how = "crashed" if code is not None and code < 0 else "failed"
    return f"the application {how}; run the command above by hand and repair the application"
