"""The section ``simulate: converge``: the number of projected iterations, and the parameter that gives it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from manynode.config.application import read_application
from manynode.config.converge import iterations_of
from manynode.config.loader import resolve
from manynode.config.resolved import Resolved
from manynode.errors import UsageError
from manynode.paths import ROOT, application_dirs


def experiment(application: str = "hpcg", parameters: dict[str, Any] | None = None, **converge: Any) -> Resolved:
    given = yaml.safe_load((ROOT / "configs" / "demo.yaml").read_text())
    given["application"] = {"name": application, "parameters": parameters or {}}
    given["simulate"]["converge"] = converge
    return resolve(given, where="test", base=ROOT / "configs")


def projected(found: Resolved) -> tuple[str, int]:
    application, converge = found.application, found.simulate.converge
    assert application.name is not None and converge is not None
    return iterations_of(application.name, application.parameters, converge)


def test_iterations_are_those_of_the_application_or_the_sections_own() -> None:
    assert projected(experiment(parameters={"iterations": 70})) == ("iterations", 70)
    assert projected(experiment(iterations=500)) == ("iterations", 500)
    assert projected(experiment("snap", {"outers": 3})) == ("outers", 3)


def test_every_application_names_its_counter() -> None:
    with_mini_app = [name for name in application_dirs() if read_application(name).executable is not None]
    assert "hpcg" in with_mini_app and "patterns" not in with_mini_app
    for name in with_mini_app:
        counter, count = projected(experiment(name))
        assert counter and count >= 1


def test_more_iterations_than_the_application_can_have_are_refused() -> None:
    with pytest.raises(UsageError, match="converge: iterations: application: parameters: outers"):
        experiment("snap", iterations=10_000_000)


def test_an_application_without_a_counter_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "odd"
    folder.mkdir()
    (folder / "application.yaml").write_text("name: odd\ndescription: none\nexecutable: odd\n")
    monkeypatch.setenv("MANYNODE_SKELETON_DIRS", str(folder))
    with pytest.raises(UsageError, match="does not name the parameter that counts its iterations"):
        experiment("odd")


@pytest.mark.parametrize(
    "wrong", [{"width": 0}, {"first": 4}, {"otherwise": "guess"}, {"confidence": 0.5}, {"widht": 1}]
)
def test_a_wrong_section_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="simulate: converge"):
        experiment(**wrong)
