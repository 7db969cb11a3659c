"""Mini-apps run as programs: natively, under valgrind and as guests of the bridge; and their output."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from phase2_nodesim.bridge.job import BridgedJob, run_bridged_job

MPIEXEC = shutil.which("mpiexec.mpich") or shutil.which("mpiexec")
LIMIT_S = 300.0


def program(build_dir: Path, name: str) -> Path:
    """Return a program of the native build; if it is not built, skip the test by the program's name."""
    path = build_dir / "bin" / name
    if not path.is_file():
        pytest.skip(f"{path} is not built")
    return path


def polite(build_dir: Path) -> list[str]:
    """Return the variables with which ranks that wait sleep: else more ranks than cores take many times as long."""
    library = build_dir / "lib" / "libmanynode_markers_mpich.so"
    return [f"LD_PRELOAD={library}", "MANYNODE_MARKERS_POLITE=2"] if library.is_file() else []


def options(parameters: dict[str, int]) -> list[str]:
    """Return the parameters as a mini-app's command line."""
    return [word for name, value in parameters.items() for word in (f"--{name}", str(value))]


def start(
    build_dir: Path, name: str, ranks: int, words: list[str], tool: Sequence[str] = (), threads: int = 1
) -> subprocess.CompletedProcess:
    """Run a mini-app with MPICH under ``tool``, if given, with this number of threads per rank."""
    if MPIEXEC is None:
        pytest.skip("MPICH's mpiexec is not installed")
    command = [MPIEXEC, "-n", str(ranks), "env", *polite(build_dir), *tool, str(program(build_dir, name)), *words]
    environment = os.environ | {"UCX_TLS": "self,sm", "OMP_NUM_THREADS": str(threads)}
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=LIMIT_S, check=False)


def values(output: str) -> dict[str, str]:
    """Return the values of the lines ``name: value``."""
    return dict(line.split(": ", 1) for line in output.splitlines() if ": " in line)


def result(
    build_dir: Path,
    name: str,
    ranks: int,
    parameters: dict[str, int],
    *switches: str,
    tool: Sequence[str] = (),
    threads: int = 1,
) -> dict[str, str]:
    """Return the output of a run that must succeed."""
    done = start(build_dir, name, ranks, [*options(parameters), *switches], tool, threads)
    assert done.returncode == 0, done.stdout + done.stderr
    return values(done.stdout)


def error_of(build_dir: Path, name: str, words: list[str], ranks: int = 2) -> dict[str, str]:
    """Return the error of a run with a wrong option, which says it once and exits with 2."""
    done = start(build_dir, name, ranks, words)
    assert done.returncode == 2
    lines = [line for line in done.stderr.splitlines() if line.startswith("{")]
    assert len(lines) == 1
    error: dict[str, str] = json.loads(lines[0])["error"]
    return error


def under_callgrind(build_dir: Path, name: str, ranks: int, parameters: dict[str, int], folder: Path) -> dict[str, str]:
    """Return the output of a run under callgrind, which computes the same whether it counts or not."""
    valgrind = shutil.which("valgrind")
    if valgrind is None:
        pytest.skip("valgrind is not installed")
    tool = [valgrind, "-q", "--tool=callgrind", "--instr-atstart=no", f"--callgrind-out-file={folder}/callgrind.%p"]
    return result(build_dir, name, ranks, parameters, tool=tool)


def as_guests(build_dir: Path, name: str, ranks: int, parameters: dict[str, int], folder: Path) -> dict[str, str]:
    """Return the output of a run whose first half are guests of the bridge, and whose others are native ranks."""
    guest, native = (str(program(build_dir, which)) for which in (f"{name}.bridge", name))
    words = options(parameters)
    job = BridgedJob("mpich", [guest, *words], [native, *words], 0, ranks // 2, ranks, folder / "bridged")
    done = run_bridged_job(job, what=name, timeout_s=LIMIT_S)
    return values("".join(completed.output for completed in done))
