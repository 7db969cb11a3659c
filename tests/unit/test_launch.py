"""The command of an MPI job, and the message for programs that cannot be one."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from manynode.config.resolved import ResolvedApplication
from manynode.errors import InputError, UsageError
from manynode.launch import Block, application_command, detect_mpi, find_executable, followed, job_command

needs_mpich = pytest.mark.skipif(shutil.which("mpiexec.mpich") is None, reason="MPICH is not installed")


@needs_mpich
def test_blocks_are_separated_and_empty_ones_left_out() -> None:
    simulated = Block(2, ["app", "--n", "4"], ["valgrind", "-q"], {"B": "2", "A": "1"})
    command = job_command("mpich", [Block(0, ["app"]), simulated, Block(6, ["app", "--n", "4"])])
    assert command[1:] == [
        *("-n", "2", "env", "A=1", "B=2", "valgrind", "-q", "app", "--n", "4"),
        *(":", "-n", "6", "app", "--n", "4"),
    ]


def test_parameters_become_options_of_the_mini_app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "bin").mkdir()
    for name in ("hpcg", "hpcg.openmpi"):
        (tmp_path / "bin" / name).touch()
    monkeypatch.setenv("MANYNODE_BUILD_DIR", str(tmp_path))
    parameters = {"nx": 16, "fast": True}
    application = ResolvedApplication(name="hpcg", executable="hpcg", parameters=parameters, mpi="openmpi")
    command, flavour = application_command(application)
    assert command == [str(tmp_path / "bin" / "hpcg.openmpi"), "--nx", "16", "--fast", "1"]
    assert flavour == "openmpi"


@pytest.mark.parametrize(("program", "words"), [("/bin/true", "no MPI library"), ("script.sh", "script")])
def test_a_program_without_mpi_is_refused(tmp_path: Path, program: str, words: str) -> None:
    if not program.startswith("/"):
        (tmp_path / program).write_text("#!/bin/sh\n")
        (tmp_path / program).chmod(0o755)
        program = str(tmp_path / program)
    with pytest.raises(InputError, match=words):
        detect_mpi(program)


def test_a_program_is_looked_for_beside_the_experiment(tmp_path: Path) -> None:
    (tmp_path / "app").write_text("#!/bin/sh\n")
    with pytest.raises(UsageError, match="not an executable file"):
        find_executable(["./app"], tmp_path)
    (tmp_path / "app").chmod(0o755)
    assert find_executable(["./app", "x"], tmp_path) == [str(tmp_path / "app"), "x"]


def test_a_prefix_goes_before_the_program_that_a_script_starts(tmp_path: Path) -> None:
    script = tmp_path / "run.sh"
    script.write_text("#!/bin/sh\nexec ./app\n")
    valgrind = Block(2, [str(script), "x"], ["valgrind", "-q"], {"LD_PRELOAD": "/m.so"})
    block = followed(valgrind)
    assert not block.prefix and list(block.command) == [str(script), "x"]
    assert block.env == {"LD_PRELOAD": "/m.so", "MANYNODE_MARKERS_PREFIX": "valgrind\x1f-q"}
    # QEMU itself must not load the library; the script and its program do.
    qemu = followed(Block(2, [str(script)], ["qemu", "-E", "LD_PRELOAD=/m.so"], {"A": "1"}))
    words = "env -u LD_PRELOAD qemu -E LD_PRELOAD=/m.so".replace(" ", "\x1f")
    assert qemu.env == {"A": "1", "LD_PRELOAD": "/m.so", "MANYNODE_MARKERS_PREFIX": words} and not qemu.prefix


def test_a_program_that_is_not_linked_with_mpi_keeps_its_prefix_and_hands_it_on() -> None:
    block = Block(2, ["/usr/bin/env", "A=1", "./app"], ["valgrind"], {"LD_PRELOAD": "/m.so"})
    assert followed(block) == replace(block, env={**block.env, "MANYNODE_MARKERS_PREFIX": "valgrind"})
    counted_by_perf = replace(block, env={})
    assert followed(counted_by_perf) is counted_by_perf
