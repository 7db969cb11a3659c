"""Reads experiment files, adds their machine and network files, checks them and resolves them into one JSON.

In: a YAML file or Snakemake's mapping of it. Out: a :class:`Resolved` experiment (SI floats, all defaults filled in)
and its digests. A mistake is a :class:`UsageError` with the key, the value found and the values allowed. For a misspelt
key it suggests the nearest known one.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from manynode import input_file
from manynode.config import yaml_text
from manynode.config.application import read_application
from manynode.config.converge import iterations_of
from manynode.config.experiment import Experiment
from manynode.config.measured import with_tables
from manynode.config.resolved import Resolved, included, read_yaml, short_text, validation_error
from manynode.config.skeleton import resolve_skeleton
from manynode.config.studies import studies
from manynode.config.variation import with_value
from manynode.errors import UsageError
from manynode.launch import find_executable


def load_experiment(path: Path) -> Resolved:
    """Return the checked experiment of the YAML file ``path``."""
    return resolve(read_yaml(path, "the experiment"), where=str(path), base=path.resolve().parent)


def resolve(given: Mapping[str, Any], *, where: str, base: Path) -> Resolved:
    """Return the checked experiment; relative paths in it are relative to ``base``, then to the working directory."""
    content = dict(given)
    for key, folder in (("machine", "machines"), ("network", "networks")):
        if isinstance(content.get(key), str):
            content[key] = included(key, content[key], folder, base, where)
    if isinstance(content.get("validation"), dict):
        content["validation"] = with_tables(content["validation"], base)
    try:
        _check_texts(content, where)
        model = Experiment.model_validate(content)
    except ValidationError as error:
        raise validation_error(error, Experiment, where) from None
    except RecursionError:
        raise UsageError("the experiment is nested too deeply", where=where) from None
    resolved = model.model_dump(mode="json")
    application = resolved["application"]
    if model.application.name is not None:
        description = read_application(model.application.name, base=base)
        application["parameters"] = description.resolve(dict(model.application.parameters))
        application["executable"] = description.executable
        if model.simulate.converge is not None:
            iterations_of(resolved)
    if model.application.command is not None:
        application["command"] = find_executable(model.application.command, base)
        if model.application.guest is not None:
            (application["guest"],) = find_executable([model.application.guest], base)
    for index, job in enumerate(resolved["simulate"]["jobs"]):
        _resolve_job(job, f"simulate: jobs: {index}", base)
    for key, values in model.simulate.preflight.vary.items():
        for value in values:
            with_value(resolved, key, value, "simulate: preflight: vary")
    _place_network_files(resolved["sensitivity"], base)
    for study in studies():
        study.check(resolved)
    return Resolved(model, resolved)


def _check_texts(content: Any, where: str) -> None:
    """Refuse texts that no report can show; Snakemake's own reader does not check them."""
    entries = content.items() if isinstance(content, Mapping) else enumerate(content)
    for key, value in entries:
        for text in (key, value):
            if isinstance(text, str) and (character := yaml_text.unshowable(text)) is not None:
                raise UsageError(
                    "a text of the experiment has a control character",
                    where=f"{where}: {key}",
                    found=f"{character} in {short_text(text)}",
                    remedy="remove it",
                )
        if isinstance(value, (Mapping, list)):
            _check_texts(value, f"{where}: {key}")


def _place_network_files(study: dict[str, Any] | None, base: Path) -> None:
    """Make the paths of network files that a study varies absolute."""
    for parameter in (study or {"parameters": {}})["parameters"].values():
        if parameter["keys"] == ["network"]:
            found = [base / str(value) for value in parameter["values"]]
            parameter["values"] = [
                str(path.resolve()) if path.suffix in (".yaml", ".yml") and input_file.is_file(path) else value
                for path, value in zip(found, parameter["values"], strict=True)
            ]


def _resolve_job(job: dict[str, Any], where: str, base: Path) -> None:
    """Fill in the parameters of a further job and find its timing profile."""
    skeleton = job["application"]
    skeleton["parameters"] = resolve_skeleton(skeleton["name"], skeleton["parameters"], f"{where}: application")
    if job["timing_profile"] is None:
        return
    candidates = [base / job["timing_profile"], Path(job["timing_profile"])]
    found = next((path for path in candidates if input_file.is_file(path)), None)
    if found is None:
        raise UsageError(
            "the timing profile of a job does not exist",
            where=f"{where}: timing_profile",
            found=job["timing_profile"],
            allowed="a path, relative to the experiment's folder or to the working directory",
            remedy="correct the path, or leave it out: the job's computing then takes no time",
        )
    input_file.check(found, "the timing profile of a job", error=UsageError)
    job["timing_profile"] = str(found.resolve())
