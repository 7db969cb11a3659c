"""Descriptions of applications: one file for the command line and for the table that the native build generates."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest
import yaml

from manynode.config.application import read_application, read_folder
from manynode.config.loader import resolve
from manynode.errors import InputError, UsageError
from manynode.paths import ROOT, application_dirs

_SPEC = importlib.util.spec_from_file_location(
    "declare_applications", ROOT / "skeletons" / "cmake" / "declare_applications.py"
)
assert _SPEC is not None and _SPEC.loader is not None
declare = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(declare)


def folder_of(tmp_path: Path, **changes: Any) -> Path:
    folder = tmp_path / "toy"
    folder.mkdir(exist_ok=True)
    parameters = {"nx": {"type": "int", "default": 4, "minimum": 2, "multiple_of": 2, "description": "points"}}
    phases = {"inner_change": "what changed", "along-x": "a transform"}
    content = {"name": "toy", "description": "a toy", "parameters": parameters, "phases": phases} | changes
    (folder / "application.yaml").write_text(yaml.safe_dump(content, sort_keys=False))
    return folder


def parameter(**changes: Any) -> dict[str, Any]:
    return {"nx": {"type": "int", "default": 4, "description": "points"} | changes}


@pytest.mark.parametrize(
    ("changes", "found"),
    [
        ({"parametres": {}}, "parametres: unknown key; did you mean 'parameters'?"),
        ({"parameters": parameter(minimun=1)}, "parameters: nx: minimun: unknown key; did you mean 'minimum'?"),
        ({"parameters": {"nx": {"type": "int", "default": 4}}}, "parameters: nx: description: this key is missing"),
        ({"parameters": parameter(default=2.5)}, "parameters: nx: the default 2.5 is not allowed: int"),
        ({"parameters": parameter(default=True)}, "the default True is not allowed: int"),
        ({"parameters": parameter(minimum=5)}, "the default 4 is not allowed: int, at least 5"),
        ({"parameters": parameter(maximum=3)}, "the default 4 is not allowed: int, at most 3"),
        ({"parameters": parameter(multiple_of=3)}, "the default 4 is not allowed: int, a multiple of 3"),
        ({"parameters": parameter(minimum=1.5)}, "must be whole numbers"),
        ({"parameters": parameter(maximum=2**60)}, "a number is beyond 2^53"),
        ({"parameters": parameter(type="str", default="x", minimum=1)}, "type str has no minimum or maximum"),
        ({"parameters": parameter(type="float", default=4.0, multiple_of=2)}, "only a parameter of type int"),
        ({"parameters": {"n x": parameter()["nx"]}}, "parameters: n x: String should match pattern"),
        ({"phases": {"2nd": "a sweep"}}, "phases: 2nd: String should match pattern"),
        ({"name": "other"}, "name: 'other' is not the folder's name, 'toy'"),
        ({"iterations": "steps"}, "iterations: 'steps' must name a parameter of type int"),
    ],
)
def test_a_mistake_is_named_with_its_key(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], changes: dict[str, Any], found: str
) -> None:
    folder = folder_of(tmp_path, **changes)
    with pytest.raises(InputError) as error:
        read_folder(folder)
    assert found in str(error.value)
    # The build reads the file with the same code, says the same and leaves no stamp.
    assert declare.main(tmp_path / "stamp", [folder]) == InputError.exit_code
    assert found in capsys.readouterr().err
    assert not (tmp_path / "stamp").exists()


def test_the_header_has_the_bounds_the_default_and_the_phases(tmp_path: Path) -> None:
    assert declare.main(tmp_path / "stamp", [folder_of(tmp_path)]) == 0
    header = (tmp_path / "toy.hpp").read_text()
    assert '{"nx", std::int64_t{4}, "points", 2.0, std::numeric_limits<double>::infinity(), 2},' in header
    assert "enum class Work : std::uint8_t { InnerChange, AlongX };" in header
    assert 'kWorkNames = {"inner_change", "along-x"};' in header


def test_a_header_that_stays_the_same_is_not_written_again(tmp_path: Path) -> None:
    folder = folder_of(tmp_path)
    declare.main(tmp_path / "stamp", [folder])
    written = (tmp_path / "toy.hpp").stat().st_mtime_ns
    declare.main(tmp_path / "stamp", [folder])
    assert (tmp_path / "toy.hpp").stat().st_mtime_ns == written
    folder_of(tmp_path, description="another toy", phases={})
    declare.main(tmp_path / "stamp", [folder])
    assert (tmp_path / "toy.hpp").stat().st_mtime_ns > written


def test_two_phases_with_one_name_in_cpp_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = folder_of(tmp_path, phases={"along-x": "", "along_x": ""})
    assert declare.main(tmp_path / "stamp", [folder]) == InputError.exit_code
    assert "along-x, along_x" in capsys.readouterr().err


@pytest.mark.parametrize("name", sorted(application_dirs()))
def test_texts_of_a_shipped_application_are_cpp_literals(name: str) -> None:
    header = declare.header(read_application(name))
    assert f'kName[] = "{name}";' in header
    assert header.isascii()


@pytest.mark.parametrize("name", ["patterns", "derived", "recorded"])
def test_what_has_no_mini_app_is_no_application_to_measure(name: str) -> None:
    given = yaml.safe_load((ROOT / "configs" / "demo.yaml").read_text())
    given["application"] = {"name": name}
    with pytest.raises(UsageError, match="no mini-app to measure"):
        resolve(given, where="test", base=ROOT / "configs")
