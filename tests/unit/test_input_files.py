"""Input files whose content follows the problem and the job."""

from __future__ import annotations

from pathlib import Path

import pytest

from manynode.config.command_words import DoesNotFitError
from manynode.config.input_files import check_words, names_in_inputs, place, read_inputs, rendered
from manynode.config.loader import resolve
from manynode.config.resolved import resolve_json
from manynode.derived.skeleton_model import GridSection
from manynode.errors import ManynodeError, UsageError
from manynode.launch import job_folder

GRID = GridSection(rule="least-surface", dimensions=3)
TEXT = "{% set half = nx // 2 %}npey={{ d0 }}\nny={{ half * d0 }}{% if ranks > 8 %} big{% endif %}\n"


def written(folder: Path, text: str, name: str = "job.in.j2") -> list[str]:
    (folder / name).write_text(text)
    return [name]


def test_a_template_becomes_the_file_of_each_job(tmp_path: Path) -> None:
    inputs = read_inputs([*written(tmp_path, TEXT), *written(tmp_path, "{{ no template }}", "data.txt")], tmp_path, "")
    assert names_in_inputs(inputs) == ["d0", "nx", "ranks"]
    for ranks, text in ((8, "npey=2\nny=8\n"), (12, "npey=3\nny=12 big\n")):
        folder = place(inputs, rendered(inputs, {"nx": 8}, ranks, 2, GRID), tmp_path / "files")
        assert folder.is_absolute() and (folder / "job.in").read_text() == text
        assert (folder / "data.txt").read_text() == "{{ no template }}"
        assert sorted(path.name for path in folder.iterdir()) == ["data.txt", "job.in"]


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("{{ ny }}", "a name that has no value"),
        ("{{ d0", "cannot be read"),
        ("{{ d3 }}", "no such axis"),
        ("{{ ranks // 0 }}", "no content"),
        ("{{ ranks.real.x }}", "no content"),
        ("{{ ''.__class__.__mro__ }}", "no content"),
    ],
)
def test_a_template_without_a_content_is_refused(tmp_path: Path, text: str, what: str) -> None:
    with pytest.raises(ManynodeError, match=what):
        rendered(read_inputs(written(tmp_path, text), tmp_path, ""), {"nx": 8}, 8, None, GRID)


def test_a_job_that_does_not_fit_is_told_from_a_mistake(tmp_path: Path) -> None:
    inputs = read_inputs(written(tmp_path, "{{ root }}"), tmp_path, "")
    with pytest.raises(DoesNotFitError):
        rendered(inputs, {}, 12, None, GRID)


def test_files_that_are_missing_or_have_one_name_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="does not exist"):
        read_inputs(["none.j2"], tmp_path, "")
    names = [*written(tmp_path, "a"), *written(tmp_path, "b", "job.in")]
    with pytest.raises(UsageError, match="the same name"):
        read_inputs(names, tmp_path, "")


def test_a_file_that_the_folder_of_the_job_lacks_is_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    inputs = read_inputs(written(tmp_path, TEXT), tmp_path, "")
    written(tmp_path, "", "potential.eam")
    check_words(["p", "-in", "job.in", "new.out"], inputs, "")
    check_words(["p", "potential.eam"], [], "")
    with pytest.raises(UsageError, match="lacks a file") as caught:
        check_words(["p", "-in", "job.in", "potential.eam"], inputs, "")
    assert "--input potential.eam" in str(caught.value.remedy)


def test_an_experiment_has_the_content_of_its_templates(tmp_path: Path) -> None:
    application = {
        "command": ["/bin/true"], "mpi": "mpich", "inputs": written(tmp_path, TEXT), "input_values": {"nx": 4},
        "grid": {"rule": "least-surface", "dimensions": 1},
    }  # fmt: skip
    content = {
        "name": "x",
        "application": application,
        "nodes": [2],
        "machine": "broadwell",
        "network": "opa100-fat-tree",
    }
    first = resolve(content, where="x", base=tmp_path)
    folder = job_folder(first.application, 8, 4, tmp_path / "files")
    assert folder is not None and (folder / "job.in").read_text() == "npey=8\nny=16\n"
    again = resolve_json(first.content, "x")
    assert again.application.inputs == first.application.inputs
    written(tmp_path, TEXT + "more\n")
    assert resolve(content, where="x", base=tmp_path).digest("application") != first.digest("application")
    assert job_folder(first.application.model_copy(update={"inputs": []}), 8, 4, tmp_path / "none") is None
