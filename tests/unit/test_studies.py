"""Every study that lies in a folder is whole: its section, steps, files, command, part of the report and schemas."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer

from manynode.config import studies as contract
from manynode.config.experiment import Experiment
from manynode.config.loader import load_experiment
from manynode.config.studies import Study, StudyPoint, studies, variant_of
from manynode.config.study_section import section_keys
from manynode.config.variants import Variant
from manynode.errors import UsageError
from manynode.reference import schemas
from manynode.report.study_page import pages
from manynode.steps import SECTIONS, Steps
from phase3_sst.cli import app
from phase3_sst.explore import allowed_changes

ROOT = Path(__file__).resolve().parent.parent.parent
MODULES = sorted(path for path in (ROOT / "phase3_sst/studies").glob("*/study.py"))
DEMO = ROOT / "configs/demo.yaml"


@pytest.fixture(params=studies(), ids=lambda study: study.name)
def one(request: pytest.FixtureRequest) -> Study:
    return request.param


def test_every_folder_with_a_study_is_found() -> None:
    assert {study.folder for study in studies()} == {path.parent for path in MODULES}
    assert len(MODULES) >= 4


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.parent.name)
def test_the_model_is_whole_whichever_study_is_imported_first(path: Path) -> None:
    module = ".".join(path.relative_to(ROOT).with_suffix("").parts)
    script = f"import {module}; from manynode.config.experiment import Experiment; print(*Experiment.model_fields)"
    fields = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True, timeout=120
    ).stdout.split()
    assert fields == list(Experiment.model_fields)


def test_the_section_is_a_key_of_the_experiment(one: Study) -> None:
    field = Experiment.model_fields[one.key]
    if one.section is not None:
        assert field.description == one.description and not field.is_required()
        assert one.section.__doc__ in str(Experiment.model_json_schema()["$defs"])


def test_every_file_is_known_to_the_steps_and_to_the_reference(one: Study) -> None:
    steps = Steps(load_experiment(DEMO).content)
    described = schemas.registry()
    for file in one.files:
        identity = steps.identity_of(file.name)
        assert identity is not None and not identity.measured
        assert described[file.schema].file == file.name
        assert set(file.columns) <= described[file.schema].columns.keys()
    assert set(one.sections) <= set(Experiment.model_fields) and one.name in SECTIONS


def test_a_command_concludes_it(one: Study) -> None:
    commands: dict[str, Any] = typer.main.get_command(app).commands
    assert commands[one.command].help == one.help


def test_whoever_has_a_section_has_a_part_of_the_report(one: Study) -> None:
    assert one.section is None or one.name in pages.names()


def test_an_experiment_without_studies_asks_for_none(one: Study) -> None:
    experiment = load_experiment(DEMO).model_copy(update=dict.fromkeys(("sensitivity", "scaling", "validation")))
    assert not one.asked(experiment) and list(one.points(experiment)) == []


def test_two_studies_may_have_variants_of_one_name(monkeypatch: pytest.MonkeyPatch) -> None:
    class Made(Study):
        def __init__(self, name: str, value: str) -> None:
            self.made = [StudyPoint(name, Variant("same", {}, [("network.link.latency", value)]), "ext-var", 1)]

        def points(self, content: Any) -> list[StudyPoint]:
            return self.made

        def conclude(self, experiment: Any, results: Path) -> dict[str, Any]:
            return {}

    monkeypatch.setattr(contract, "studies", lambda: [Made("one", "1 us"), Made("other", "2 us")])
    assert variant_of(load_experiment(DEMO), "other/same").changes == [("network.link.latency", "2 us")]
    with pytest.raises(UsageError, match="several studies"):
        variant_of(load_experiment(DEMO), "same")


def test_every_section_of_an_experiment_makes_some_step_stale_and_is_known_to_the_explorer() -> None:
    """A new section belongs to a step, or changes no result; a question may change it, or may not."""
    sections, no_result = set(Experiment.model_fields), {"name", "title", "known_errors"}
    assert {section for of_step in SECTIONS.values() for section in of_step} == sections - no_result
    asked = {*allowed_changes._MEASURED, *allowed_changes._MEMBERS, *allowed_changes._FIXED, *section_keys()}
    assert asked | {"network", "simulate"} == sections
