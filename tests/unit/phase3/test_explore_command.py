"""Which results ``manynode explore`` opens."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from explored_base import base_folder, content

from manynode.errors import InputError, UsageError
from phase3_sst.explore.explore_command import explore, results_of


def written(folder: Path) -> Path:
    path = folder / "own.yaml"
    path.write_text(yaml.safe_dump(content()))
    return path


def test_a_results_folder_is_the_base_itself(tmp_path: Path) -> None:
    assert results_of(tmp_path / "results/own", None) == tmp_path / "results/own"


def test_an_experiment_s_file_is_found_where_it_was_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path)
    with pytest.raises(InputError, match="has not been run") as refused:
        results_of(path, None)
    assert "--directory" in str(refused.value)
    beside = base_folder(tmp_path)
    assert results_of(path, None).resolve() == beside
    other = base_folder(tmp_path / "elsewhere")
    assert results_of(path, tmp_path / "elsewhere") == other
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert results_of(path, None).resolve() == other, "as manynode run: below the working folder first"


def test_a_file_that_has_changed_since_is_refused(tmp_path: Path) -> None:
    base_folder(tmp_path)
    path = tmp_path / "own.yaml"
    path.write_text(yaml.safe_dump(content(simulate={"replicas": 7})))
    with pytest.raises(UsageError, match="has changed since it was run"):
        results_of(path, None)
    path.write_text(yaml.safe_dump(content(title="another headline")))
    assert results_of(path, None).name == "own", "a headline changes no number"


def test_a_base_without_a_projection_is_refused_before_anything_is_served(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="has not finished"):
        explore(base_folder(tmp_path), None, 0, 1)
