"""The file of a congestion study: machine, workloads, and a section for each part to run.

In: a YAML file. Out: a checked :class:`Study` and the settings of its parts; an invalid file is a :class:`UsageError`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, model_validator

from manynode import input_file
from manynode.config.network import Network
from manynode.config.quantities import PositiveInt, Section
from manynode.config.resolved import checked, included, read_yaml
from manynode.config.simulate import SimulateSection, SkeletonChoice
from manynode.config.skeleton import resolve_skeleton
from manynode.errors import UsageError, nearest
from phase3_sst.studies.congestion.contract import parts

# The keys of the section simulate in use; the others only apply to an experiment.
_SIMULATE = ("engine", "collectives", "persistent", "tail", "confidence", "time_limit", "sst")

Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=80)]


class WorkloadSection(Section):
    """An application of the study: an experiment that measures it, or a skeleton with given times."""

    experiment: str | None = Field(
        default=None,
        description="file of an experiment, relative to the study's; it runs first and measures the compute times "
        "between MPI calls (with its machine and techniques; its network and node counts are ignored)",
    )
    application: SkeletonChoice | None = Field(default=None, description="a skeleton, if there is no experiment")
    ranks_per_node: PositiveInt = Field(
        default=1, description="ranks per node of a skeleton; an experiment has its own"
    )
    timing_profile: str | None = Field(
        default=None, description="timing profile of a skeleton; without one, computing takes no time"
    )

    @model_validator(mode="after")
    def _one_source(self) -> WorkloadSection:
        if (self.experiment is None) == (self.application is None):
            raise ValueError("give either an experiment, which is measured first, or an application (a skeleton)")
        if self.experiment is not None and self.timing_profile is not None:
            raise ValueError("timing_profile: an experiment has its own; leave it out")
        return self


class Study(Section):
    """A congestion study's file, without the sections of its parts."""

    name: Name = Field(description="name of the results folder")
    title: str = Field(default="", description="headline of the page")
    network: Network = Field(description="a file of configs/networks/ by name, a path, or the text itself")
    seed: Annotated[int, Field(ge=0, lt=2**63)] = Field(default=1, description="root seed of everything random")
    simulate: SimulateSection = Field(
        default_factory=SimulateSection, description="engine, collectives and engine settings of every situation"
    )
    batch: PositiveInt = Field(default=20, description="situations per workflow step")
    workloads: dict[Name, WorkloadSection] = Field(min_length=1, description="applications by name")


class OwnMachine(Section):
    """Keys of any part's section, in addition to the part's own."""

    network: Network = Field(description="machine of this part, instead of the study's; same form as there")


@dataclass(frozen=True)
class Described:
    """A study: the shared keys, and the settings of each part in the file's order.

    ``networks`` are those of parts that name one of their own.
    """

    path: Path
    study: Study
    settings: Mapping[str, Section]
    networks: Mapping[str, Network] = field(default_factory=dict)


def read_study(path: Path) -> Described:
    """Return the study of the YAML file ``path``."""
    content = read_yaml(path, "the study")
    base = path.resolve().parent
    if isinstance(content.get("network"), str):
        content["network"] = included("network", content["network"], "networks", base, str(path))
    chosen = {key: content.pop(key) for key in list(content) if key in parts.names()}
    _check_part_names(content, path)
    study = checked(Study, content, str(path), "the study")
    _check_simulate(study.simulate, path)
    if not chosen:
        raise UsageError(
            "the study has no part",
            where=str(path),
            allowed=", ".join(parts.names()),
            remedy="add one of these sections",
        )
    networks = _own_networks(chosen, base, path)
    settings = {
        name: checked(parts.get(name).section, values or {}, f"{path}: {name}", "this part of the study")
        for name, values in chosen.items()
    }
    workloads = {}
    for name, workload in study.workloads.items():
        workloads[name] = workload
        if workload.experiment is not None and not input_file.is_file(base / workload.experiment):
            raise UsageError(
                "the experiment of a workload does not exist",
                where=f"{path}: workloads: {name}: experiment",
                found=workload.experiment,
                allowed="a path relative to the study's file",
            )
        if workload.application is not None:
            where = f"{path}: workloads: {name}: application"
            full = resolve_skeleton(workload.application.name, workload.application.parameters, where)
            skeleton = workload.application.model_copy(update={"parameters": full})
            workloads[name] = workload.model_copy(update={"application": skeleton})
    return Described(path, study.model_copy(update={"workloads": workloads}), settings, networks)


def _own_networks(chosen: dict[str, Any], base: Path, path: Path) -> dict[str, Network]:
    """Take the key ``network`` out of the sections of parts; return the networks of those that have it."""
    networks = {}
    for name, values in chosen.items():
        if not isinstance(values, Mapping) or "network" not in values:
            continue
        where = f"{path}: {name}"
        own = {key: value for key, value in values.items() if key == "network"}
        if isinstance(own["network"], str):
            own["network"] = included("network", own["network"], "networks", base, where)
        networks[name] = checked(OwnMachine, own, where, "this part of the study").network
        chosen[name] = {key: value for key, value in values.items() if key != "network"}
    return networks


def _check_part_names(content: Mapping[str, Any], path: Path) -> None:
    """Refuse an unknown key that resembles the name of a part."""
    for key in content:
        near = None if key in Study.model_fields else nearest(key, parts.names())
        if near:
            raise UsageError(
                "unknown key of the study",
                where=str(path),
                found=key,
                allowed=", ".join([*Study.model_fields, *parts.names()]),
                remedy=f"did you mean {near!r}?",
            )


def _check_simulate(simulate: SimulateSection, path: Path) -> None:
    """Refuse keys without effect: situations define these settings themselves."""
    idle = sorted(simulate.model_fields_set - set(_SIMULATE))
    if idle:
        raise UsageError(
            "a key has no effect in a congestion study",
            where=f"{path}: simulate: {idle[0]}",
            found=", ".join(idle),
            allowed=", ".join(_SIMULATE),
            remedy="leave it out; the study's parts decide which jobs run where, and how often",
        )


def as_content(study: Study) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the network and the section ``simulate`` in the engines' form."""
    return study.network.model_dump(mode="json"), study.simulate.model_dump(mode="json")
