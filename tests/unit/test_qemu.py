"""QEMU as phases 1 and 2 use it: recorded answers of real programs, programs that it can run, explained failures."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from manynode.config.resolved import ResolvedApplication
from manynode.errors import EngineFailedError, EngineMissingError, UsageError
from manynode.qemu.counting import counting_run_file
from manynode.qemu.failure import explanation
from manynode.qemu.guest import check_guest, check_program, elf_facts, for_program, qemu_command
from manynode.qemu.installation import Installation, find_qemu, interface_version, probed_version

# Answers of Debian 12's packages qemu-user and qemu-user-static, 1:7.2+dfsg-7+deb12u18.
DATA = Path(__file__).parent.parent / "data" / "qemu"
VERSION, HELP = (DATA / f"{name}-7.2-debian-12.txt" for name in ("version", "help"))


def test_debians_qemu_takes_plugins() -> None:
    assert probed_version(VERSION.read_text(), HELP.read_text(), "/usr/bin/qemu-x86_64") == "7.2.22"


def test_debians_static_qemu_takes_none() -> None:
    with pytest.raises(EngineMissingError, match="takes no plugins") as caught:
        probed_version(VERSION.read_text(), (DATA / "help-7.2-static.txt").read_text(), "/usr/bin/qemu-x86_64-static")
    assert caught.value.where == "/usr/bin/qemu-x86_64-static"
    assert "7.2.22" in str(caught.value.found) and "valgrind" in str(caught.value.remedy)


@pytest.mark.parametrize(
    "said", [(DATA / "version-7.2-aarch64.txt").read_text(), "", "QEMU emulator version 7.2.22\n", "a game of chess\n"]
)
def test_what_is_no_user_mode_for_x86_64_is_refused(said: str) -> None:
    with pytest.raises(EngineMissingError, match="not its user mode for x86-64") as caught:
        probed_version(said, HELP.read_text(), "/usr/bin/other")
    assert "apt-get install --no-install-recommends qemu-user" in str(caught.value.remedy)


@pytest.mark.parametrize("version", ["5.2.0", "6.2.0", "7.1.0"])
def test_a_qemu_that_emulates_no_avx_is_too_old(version: str) -> None:
    with pytest.raises(EngineMissingError, match="too old") as caught:
        probed_version(f"qemu-x86_64 version {version}\n", HELP.read_text(), "qemu-x86_64")
    assert caught.value.allowed == "7.2 or later"


@pytest.mark.parametrize(
    ("version", "interface"),
    [("7.2.22", 1), ("8.2.2", 1), ("9.0.0", 2), ("9.1.0", 3), ("9.2", 3), ("10.0.2", 3), ("11.0", 3)],
)
def test_each_release_gets_the_plugin_of_its_interface(version: str, interface: int) -> None:
    assert interface_version(version) == interface


def test_a_missing_qemu_names_where_it_was_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(EngineMissingError, match="was not found") as caught:
        find_qemu()
    assert caught.value.where == "PATH"
    with pytest.raises(EngineMissingError) as caught:
        find_qemu("/nonexistent/qemu-x86_64")
    assert caught.value.where == "nodesim: qemu: executable" and "/nonexistent" in str(caught.value.found)


def test_a_program_of_qemus_name_that_is_none_is_refused(tmp_path: Path) -> None:
    program = tmp_path / "qemu-x86_64"
    program.write_text("#!/bin/sh\necho a game of chess\n")
    program.chmod(0o755)
    with pytest.raises(EngineMissingError) as caught:
        find_qemu(str(program))
    assert caught.value.found == "a game of chess"


def test_the_markers_are_loaded_into_the_program_alone() -> None:
    found = Installation(Path("/usr/bin/qemu-x86_64"), "7.2", Path("/lib/plugin.so"))
    words = qemu_command(found)
    assert words[0] == "/usr/bin/qemu-x86_64" and words[-2:] == ["-plugin", "/lib/plugin.so"]
    assert "erms" in words[words.index("-cpu") + 1]
    assert for_program({"LD_PRELOAD": "/a.so", "B": "1=2"}) == ["-E", "LD_PRELOAD=/a.so", "-E", "B=1=2"]


def test_a_counting_run_file_has_no_node(tmp_path: Path) -> None:
    content = counting_run_file(ranks=4, threads=2, directory=tmp_path)
    assert content["node"] is None and (content["ranks"], content["threads"], content["first_rank"]) == (4, 2, 0)


def elf(machine: int = 62, kinds: tuple[int, ...] = (6, 3, 1), data: int = 1) -> bytes:
    """Return the begin of a 64-bit ELF file with program headers of these kinds."""
    ident = b"\x7fELF" + bytes([2, data, 1]) + bytes(9)
    header = ident + struct.pack("<HHIQQQIHHHHHH", 3, machine, 1, 0, 64, 0, 0, 64, 56, len(kinds), 0, 0, 0)
    return header + b"".join(struct.pack("<I", kind) + bytes(52) for kind in kinds)


def test_facts_of_elf_files() -> None:
    assert elf_facts(elf()) == (62, True)
    assert elf_facts(elf(kinds=(1, 1))) == (62, False)
    assert elf_facts(elf(machine=183)) == (183, True)


@pytest.mark.parametrize("data", [b"", b"\x7fELF", b"#!/bin/sh\n", elf(data=2), elf()[:63], elf()[:100]])
def test_what_is_no_elf_file_is_a_value_error(data: bytes) -> None:
    with pytest.raises(ValueError):
        elf_facts(data)


@pytest.mark.parametrize(
    ("content", "message", "words"),
    [
        (elf(kinds=(1, 2)), "linked statically", "without a dynamic linker"),
        (elf(machine=183), "not for x86-64", "machine 183"),
        (b"\x7fELF", "cannot run the program", "no 64-bit little-endian ELF file"),
    ],
)
def test_a_program_that_qemu_cannot_run_is_refused(tmp_path: Path, content: bytes, message: str, words: str) -> None:
    program = tmp_path / "app"
    program.write_bytes(content)
    with pytest.raises(UsageError, match=message) as caught:
        check_program(program)
    assert caught.value.where == str(program) and words in str(caught.value.found) and caught.value.remedy
    program.chmod(0o755)
    with pytest.raises(UsageError, match=message):
        check_guest(application(program))


def test_programs_of_this_host_are_accepted() -> None:
    check_program("/bin/sh")
    check_guest(application(Path("/bin/sh")))


def test_a_script_is_accepted_because_it_runs_natively(tmp_path: Path) -> None:
    (tmp_path / "run.sh").write_text("#!/bin/sh\nexec ./app\n")
    check_program(tmp_path / "run.sh")


def application(program: Path) -> ResolvedApplication:
    """Return an application whose MPI is named, so that nobody looks at its libraries."""
    fields = {"command": [str(program)], "mpi": "mpich", "threads": 1, "timeout_s": 60.0}
    return ResolvedApplication.model_construct(**fields)


# Recorded from QEMU 7.2 (Debian 12) and from the model.
LOGS = [
    (
        "qemu: uncaught target signal 4 (Illegal instruction) - core dumped\n",
        "instructions that QEMU does not emulate",
        "AVX-512",
        "x86-64-v3",
    ),
    (
        "qemu-x86_64: Could not load plugin /lib/libmanynode_node_v3.so: plugin requires API version 3, but this QEMU "
        "supports only up to version 1\n",
        "does not load the node model's plugin",
        "requires API version 3",
        "how-to/qemu.md",
    ),
    (
        "manynode node model: rank 9 is not one of the node's ranks 0 to 3\nqemu-x86_64: Could not load plugin x.so: "
        "qemu_plugin_install returned error code -1\n",
        "the node model stopped the run",
        "rank 9 is not one of",
        "run again",
    ),
]


@pytest.mark.parametrize(("text", "what", "found", "remedy"), LOGS)
def test_the_log_explains_a_failure(tmp_path: Path, text: str, what: str, found: str, remedy: str) -> None:
    log = tmp_path / "job.log"
    log.write_text("some output\n" + text + "more output\n")
    error = explanation(EngineFailedError("the application failed"), log)
    assert what in error.what and found in str(error.found) and remedy in str(error.remedy)
    assert error.where == str(log)


def test_a_failure_without_such_a_log_stays_as_it_is(tmp_path: Path) -> None:
    failed = EngineFailedError("the application failed")
    assert explanation(failed, tmp_path / "absent.log") is failed
    (tmp_path / "job.log").write_text("Segmentation fault\n")
    assert explanation(failed, tmp_path / "job.log") is failed
