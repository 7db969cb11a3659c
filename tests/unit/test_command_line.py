"""The command line for new users: the list of commands, and the message if there is nothing to project."""

from __future__ import annotations

import shlex
import subprocess
import sys
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path

import pytest
import typer

from manynode import cli, command_help, run
from manynode.config.generate import experiment_for
from manynode.errors import UsageError
from manynode.snakemake_run import cache_environment

ENTRIES = {entry.name: entry for entry in entry_points(group="manynode.commands")}


@pytest.mark.parametrize("name", sorted(ENTRIES))
def test_a_command_s_help_is_its_own_first_line(name: str) -> None:
    loaded = ENTRIES[name].load()
    own = loaded.info.help if isinstance(loaded, typer.Typer) else loaded.__doc__
    assert command_help.help_of(ENTRIES[name]) == own.strip().splitlines()[0]


def test_a_command_whose_source_is_not_found_is_named_by_its_package() -> None:
    entry = EntryPoint("x", "no_such_package.cli:app", "manynode.commands")
    assert command_help.help_of(entry) == "A command of no_such_package."


def test_the_list_of_commands_imports_no_phase(monkeypatch: pytest.MonkeyPatch) -> None:
    given: dict[str, str | None] = {}
    monkeypatch.setattr(cli.app, "add_typer", lambda group, name: given.update({name: group.info.help}))
    monkeypatch.setattr(EntryPoint, "load", lambda self: pytest.fail(f"{self.name} is loaded"))
    monkeypatch.setattr(sys, "argv", ["manynode", "--help"])
    cli._add_phases()
    assert given.keys() == ENTRIES.keys()
    assert len(set(given.values())) == len(ENTRIES), "each has a help of its own"


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """An experiment for a program without a skeleton."""
    path = tmp_path / "own.yaml"
    text = experiment_for(["/bin/true"], name="own", ranks_per_node=2, nodes="1,2")
    path.write_text(text.replace("application:", "application:\n  mpi: mpich"))
    return path


def test_check_says_that_nothing_is_projected_without_a_skeleton(own: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cli.config_check(own)
    text = capsys.readouterr().out
    assert "projects:  nothing: the experiment has no skeleton (application: name)" in text
    assert "points" not in text


def test_run_says_that_there_is_no_projection_without_a_skeleton(
    own: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(run, "run_snakemake", lambda *_, **__: None)
    monkeypatch.setattr(run, "announce_measurements", lambda *_, **__: None)
    run.run_experiment(own, cores=1, directory=tmp_path)
    text = capsys.readouterr().out
    assert "no projection: the experiment has no skeleton (application: name)" in text


def unknown(folder: Path, name: str) -> UsageError:
    path = folder / "x.yaml"
    path.write_text(f"name: x\napplication: {{name: {name}}}\nmachine: broadwell\nnetwork: opa100-fat-tree\n")
    with pytest.raises(UsageError) as caught:
        cli.config_check(path)
    return caught.value


def test_a_skeleton_that_is_not_known_names_the_variable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MANYNODE_SKELETON_DIRS", raising=False)
    monkeypatch.chdir(tmp_path)
    assert "MANYNODE_SKELETON_DIRS" in str(unknown(tmp_path, "zzzz").allowed)
    assert "MANYNODE_SKELETON_DIRS" in str(unknown(tmp_path, "zzzz").remedy)


@pytest.mark.parametrize("name", ["zzzz", "./zzzz"])
def test_a_skeleton_beside_the_experiment_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.delenv("MANYNODE_SKELETON_DIRS", raising=False)
    (tmp_path / "zzzz").mkdir()
    assert "zzzz has no application.yaml" in str(unknown(tmp_path, name).remedy)
    (tmp_path / "zzzz" / "application.yaml").touch()
    remedy = str(unknown(tmp_path, name).remedy)
    assert f"export MANYNODE_SKELETON_DIRS={tmp_path / 'zzzz'}" in remedy
    assert "name: zzzz" in remedy
    assert f"list a folder with an application.yaml in MANYNODE_SKELETON_DIRS: {tmp_path / 'zzzz'}" in str(
        unknown(tmp_path, "qqqq").remedy
    )


def test_a_folder_of_the_variable_without_an_application_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MANYNODE_SKELETON_DIRS", f"{tmp_path}:/no/such/folder")
    details = str(unknown(tmp_path, "zzzz").details)
    assert f"lists {tmp_path}, which has no application.yaml" in details and "/no/such/folder" in details


@pytest.mark.parametrize("closed", ["1>&-", "2>&-", "<&- 1>&- 2>&-"])
def test_closed_standard_streams_are_no_error(closed: str) -> None:
    words = f"{shlex.quote(sys.executable)} -m manynode config default {closed}"
    done = subprocess.run(["sh", "-c", words], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert bool(done.stdout) == (closed == "2>&-")


def test_snakemake_s_cache_is_in_the_run_s_folder_where_the_home_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache_environment(tmp_path / "run") == {}
    monkeypatch.setenv("HOME", "/proc/nobody")
    assert cache_environment(tmp_path / "run") == {"XDG_CACHE_HOME": f"{tmp_path}/run/cache"}
