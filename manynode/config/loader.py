"""Reads experiment files, adds their machine and network files, checks them and resolves them into one JSON.

In: a YAML file or Snakemake's mapping of it. Out: a :class:`Resolved` experiment (SI floats, all defaults filled in)
and its digests. A mistake is a :class:`UsageError` with the key, the value found and the values allowed. For a misspelt
key it suggests the nearest known one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from pydantic import ValidationError

from manynode import input_file
from manynode.config import yaml_text
from manynode.config.application import read_application
from manynode.config.converge import iterations_of
from manynode.config.engine_section import engine_sections
from manynode.config.experiment import Experiment, NodesimSection
from manynode.config.input_files import check_words, read_inputs
from manynode.config.measured import with_tables
from manynode.config.own_times import OwnTimesSection, with_own_times
from manynode.config.resolved import (
    Resolved,
    ResolvedApplication,
    included,
    read_yaml,
    short_text,
    validation_error,
)
from manynode.config.sensitivity import SensitivitySection
from manynode.config.simulate import JobSection
from manynode.config.skeleton import resolve_skeleton
from manynode.config.skeleton_files import derived_application, phases_of, recorded_application
from manynode.config.studies import studies
from manynode.config.variation import with_value
from manynode.errors import UsageError, nearest
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
    if isinstance(content.get("own_times"), dict):
        content["own_times"] = with_own_times(content["own_times"], base)
    try:
        _check_texts(content, where)
        model = Experiment.model_validate(content)
    except ValidationError as error:
        raise validation_error(error, Experiment, where) from None
    except RecursionError:
        raise UsageError("the experiment is nested too deeply", where=where) from None
    application = _resolved_application(model, base)
    jobs = [_resolved_job(job, f"simulate: jobs: {index}", base) for index, job in enumerate(model.simulate.jobs)]
    sections = {
        "application": application,
        "known_errors": [_record_table(name, base) for name in model.known_errors],
        "nodesim": _with_programs(model.nodesim, base),
        "simulate": model.simulate.model_copy(update={"jobs": jobs}),
        "sensitivity": _with_network_files(model.sensitivity, base),
    }
    resolved = cast(Resolved, Resolved.model_construct(model.model_fields_set, **{**dict(model), **sections}))
    for key, values in model.simulate.preflight.vary.items():
        for value in values:
            with_value(resolved, key, value, "simulate: preflight: vary")
    for study in studies():
        study.check(resolved)
    return resolved


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


def _resolved_application(model: Experiment, base: Path) -> ResolvedApplication:
    """Return the application of ``model`` with all parameters, and absolute paths of programs."""
    given = model.application
    filled: dict[str, Any] = dict(given)
    if given.recorded is not None:
        filled |= recorded_application(given.recorded, base)
    if given.derived is not None:
        filled |= derived_application(given, base)
    if given.name is not None:
        description = read_application(given.name, base=base)
        if description.executable is None and given.command is None and model.own_times is None:
            raise UsageError(
                "the application has no mini-app to measure",
                where="application: name",
                found=description.name,
                remedy="choose another application, or give the program as 'command'",
            )
        filled["parameters"] = description.resolve(dict(given.parameters))
        filled["executable"] = description.executable
        if model.simulate.converge is not None:
            iterations_of(given.name, filled["parameters"], model.simulate.converge)
    if model.own_times is not None and filled["name"] is not None:
        named = given.name or given.derived or given.recorded
        _check_own_phases(model.own_times, str(named), list(phases_of(filled["name"], filled["parameters"])))
    if given.command is not None:
        filled["command"] = find_executable(filled["command"], base)
        if given.inputs:
            filled["inputs"] = read_inputs(given.inputs, base, "application: inputs")
            check_words(given.command, filled["inputs"], "application: command")
        if given.guest is not None:
            (filled["guest"],) = find_executable([given.guest], base)
    return ResolvedApplication.model_construct(given.model_fields_set, **filled)


def _check_own_phases(own: OwnTimesSection, application: str, known: Sequence[str]) -> None:
    """Refuse phases that the application does not have, and gaps; ``known`` are those that it has, if it names them."""
    for key, external in (("phases", True), ("alone", False)):
        given = own.named_phases(external)
        where = f"own_times: {key}"
        for name in given if known else ():
            if name not in known:
                near = nearest(name, known)
                raise UsageError(
                    f"{application} has no such compute phase",
                    where=where,
                    found=repr(name),
                    allowed=", ".join(known),
                    remedy=f"did you mean {near!r}?" if near else None,
                )
        if given and (lacking := [name for name in known if name not in given]):
            raise UsageError(
                "a compute phase has no time",
                where=where,
                found=f"no row for {', '.join(lacking)}",
                allowed=f"a row for each phase of {application}: {', '.join(known)}",
                remedy="add the rows; 'mean: 0 s' for a phase that takes no time or does not occur. 'manynode config "
                "own-times' prints a table with all of them",
            )


def _record_table(name: str, base: Path) -> str:
    """Return the absolute path of a table of validations; the report's step reads and checks it."""
    found = input_file.existing(
        base,
        name,
        "a table of validations",
        where="known_errors",
        kind="a file of validation-record/1",
        remedy="correct the path; 'manynode simulate record' makes such a table",
    )
    return str(found.resolve())


def _with_programs(nodesim: NodesimSection, base: Path) -> NodesimSection:
    """Return the section with absolute paths of the engines' programs that are given as paths and exist."""
    found: dict[str, Any] = {}
    for name in engine_sections(NodesimSection):
        section = getattr(nodesim, name)
        program = base / (section.executable or "")
        if section.executable and "/" in section.executable and input_file.is_file(program):
            found[name] = section.model_copy(update={"executable": str(program.resolve())})
    return nodesim.model_copy(update=found)


def _with_network_files(study: SensitivitySection | None, base: Path) -> SensitivitySection | None:
    """Return the study with absolute paths of the network files that it varies."""
    if study is None:
        return None
    parameters = {}
    for name, parameter in study.parameters.items():
        parameters[name] = parameter
        if parameter.keys == ["network"]:
            found = [base / str(value) for value in parameter.values]
            values = [
                str(path.resolve()) if path.suffix in (".yaml", ".yml") and input_file.is_file(path) else value
                for path, value in zip(found, parameter.values, strict=True)
            ]
            parameters[name] = parameter.model_copy(update={"values": values})
    return study.model_copy(update={"parameters": parameters})


def _resolved_job(job: JobSection, where: str, base: Path) -> JobSection:
    """Return a further job with all parameters and the absolute path of its timing profile."""
    skeleton = job.application
    parameters = resolve_skeleton(skeleton.name, skeleton.parameters, f"{where}: application")
    filled: dict[str, Any] = {"application": skeleton.model_copy(update={"parameters": parameters})}
    if job.timing_profile is not None:
        found = input_file.existing(
            base,
            job.timing_profile,
            "the timing profile of a job",
            where=f"{where}: timing_profile",
            remedy="correct the path, or leave it out: the job's computing then takes no time",
        )
        input_file.check(found, "the timing profile of a job", error=UsageError)
        filled["timing_profile"] = str(found.resolve())
    return job.model_copy(update=filled)
