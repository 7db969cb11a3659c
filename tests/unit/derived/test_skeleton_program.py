"""An experiment and its skeleton are of one command with one set of arguments, and no file of a user is overwritten."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from manynode.config.application_section import ApplicationSection
from manynode.config.skeleton_files import derived_application
from manynode.errors import OutputError, UsageError
from phase2_nodesim.derive.program import Program
from phase2_nodesim.derive.writing.rendering import rendered
from phase2_nodesim.derive.written import check_replaceable, skeleton_checksum

PROGRAM = Program("p", ["/there/p", "--nx={nx}", "{steps}", "7"], {"nx": 16, "steps": 5}, "mpich")


def skeleton(folder: Path, **changes: Any) -> Path:
    """Write a skeleton as a derivation of PROGRAM writes it: a checksum over all but its assumptions."""
    content: dict[str, Any] = {"schema": "derived-skeleton/1", "name": "p"}
    content["program"] = {"command": PROGRAM.command, "mpi": "mpich", "fixed": {"steps": 5}}
    content |= {"parameters": {"nx": {"default": 16}}, "body": [], "recorded": [{"ranks": 4, "parameters": {}}]}
    content |= changes
    path = folder / "p.skeleton.yaml"
    path.write_text(rendered(content))
    content["program"] = {**content["program"], "checksum": skeleton_checksum(yaml.safe_load(path.read_text()))}
    path.write_text(rendered(content))
    return path


def resolved(folder: Path, command: list[str], **parameters: int) -> list[str]:
    given = ApplicationSection(command=command, derived="p.skeleton.yaml", parameters=dict(parameters))
    return list(derived_application(given, folder)["command"])


def test_the_same_command_is_accepted_with_and_without_braces(tmp_path: Path) -> None:
    skeleton(tmp_path)
    assert resolved(tmp_path, ["./p", "--nx={nx}", "5", "7"], nx=64) == ["./p", "--nx=64", "5", "7"]
    assert resolved(tmp_path, ["./p", "--nx=16", "5", "7"]) == ["./p", "--nx=16", "5", "7"]


@pytest.mark.parametrize(
    "command",
    [
        ["/bin/true", "--nx={nx}", "5", "7"],
        ["./p", "--nx=20000", "5", "7"],
        ["./p", "--nx={nx}", "20", "7"],
        ["./p", "--nx={nx}", "{steps}", "7"],
        ["./p", "--nx={nx}", "5"],
        ["./p", "--nx={nx}", "5", "7", "8"],
    ],
)
def test_another_command_is_refused(command: list[str], tmp_path: Path) -> None:
    skeleton(tmp_path)
    with pytest.raises(UsageError, match="the skeleton is of another command, or of other arguments") as error:
        resolved(tmp_path, command)
    assert "--nx=16 5 7" in error.value.render()


def test_a_program_under_another_name_is_the_same_file(tmp_path: Path) -> None:
    (tmp_path / "q").symlink_to("/bin/true")
    skeleton(tmp_path, program={"command": ["/bin/true"]}, parameters={})
    assert resolved(tmp_path, ["./q"]) == ["./q"]


def test_a_skeleton_written_by_hand_names_no_command(tmp_path: Path) -> None:
    skeleton(tmp_path, program={}, recorded=[])
    assert resolved(tmp_path, ["./other", "{nx}"], nx=3) == ["./other", "3"]
    skeleton(tmp_path, program={})
    with pytest.raises(UsageError, match="does not say what it was derived from"):
        resolved(tmp_path, ["./other"])


def test_another_file_is_not_overwritten_by_the_compiled_skeleton(tmp_path: Path) -> None:
    path = skeleton(tmp_path)
    path.with_suffix(".json").write_text('{"my": "data"}')
    with pytest.raises(OutputError, match="would overwrite another file"):
        resolved(tmp_path, ["./p", "--nx={nx}", "5", "7"])
    assert path.with_suffix(".json").read_text() == '{"my": "data"}'


def test_a_skeleton_of_the_same_command_is_replaced_also_with_assumptions(tmp_path: Path) -> None:
    path = tmp_path / "p.skeleton.yaml"
    check_replaceable(path, PROGRAM)
    skeleton(tmp_path)
    check_replaceable(path, PROGRAM)
    path.write_text(path.read_text() + "assumptions: [{at: grid, says: mine}]\n")
    check_replaceable(path, PROGRAM)


@pytest.mark.parametrize(
    ("program", "said"),
    [
        (Program("p", ["/there/p", "16", "5"], {}, "mpich"), "of another command"),
        (Program("p", PROGRAM.command, {"nx": 2000, "steps": 5}, "mpich"), "of other arguments"),
        (Program("p", PROGRAM.command, {"nx": 16, "steps": 20}, "mpich"), "of other arguments"),
    ],
)
def test_a_skeleton_of_another_command_is_not_overwritten(program: Program, said: str, tmp_path: Path) -> None:
    path = skeleton(tmp_path)
    with pytest.raises(UsageError, match=f"{said}.*: it is not overwritten") as error:
        check_replaceable(path, program)
    assert "--force" in error.value.render() and "/there/p --nx=16 5 7" in error.value.render()


def test_an_edited_skeleton_and_a_file_of_the_user_are_not_overwritten(tmp_path: Path) -> None:
    path = skeleton(tmp_path)
    path.write_text(path.read_text().replace("body: []", "body: [{call: MPI_Barrier}]"))
    with pytest.raises(UsageError, match="was edited"):
        check_replaceable(path, PROGRAM)
    path.unlink()
    path.with_suffix(".md").write_text("# My notes\n")
    with pytest.raises(UsageError, match="not overwritten"):
        check_replaceable(path, PROGRAM)
