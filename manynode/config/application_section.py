"""The section ``application`` of an experiment: the program to study, and where its communication is described."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from manynode.config.quantities import Section
from manynode.derived.skeleton_model import GridSection


class ApplicationSection(Section):
    """The program to study: an application of this project by name, or any MPI program by its command.

    Phase 3 needs its communication: that of ``name``'s skeleton, of a ``derived`` one, or of a ``recorded`` run.
    """

    name: str | None = Field(
        default=None,
        description="Folder of the application in skeletons/; phases 1 and 2 run its mini-app, phase 3 its skeleton",
    )
    parameters: dict[str, int | float | str | bool] = Field(
        default_factory=dict,
        description="Problem size per rank and iterations, as application.yaml or the derived skeleton declares them",
    )
    command: list[str] | None = Field(
        default=None,
        description="Any MPI program with its arguments, as a list; no shell is involved. Together with 'name', it "
        "replaces the mini-app and keeps the skeleton. Braces have numbers of the job: {ranks}, {nodes}, {root}, {d0} "
        "of 'grid', {ranks // 2}; with 'derived', {nx} is the parameter nx",
        min_length=1,
    )
    grid: GridSection | None = Field(default=None, description="Grid of the ranks for {d0}, {d1} in 'command'")
    inputs: list[str] = Field(
        default_factory=list,
        description="Input files of 'command', which then runs in a folder with them alone. NAME.j2 is a template of "
        "NAME: {{ ranks }}, {{ nx * d0 }} are numbers of the job and of 'parameters'",
    )
    input_values: dict[str, Annotated[int, Field(ge=-(10**15), le=10**15)]] = Field(
        default_factory=dict, description="Values of names in 'inputs' that are no 'parameters' of the skeleton"
    )
    recorded: str | None = Field(
        default=None,
        description="Folder of a run of 'command' that 'manynode record' wrote: phase 3 replays its MPI calls, at its "
        "number of ranks. In place of 'name'",
    )
    derived: str | None = Field(
        default=None,
        description="Skeleton of 'command' that 'manynode derive' wrote (NAME.skeleton.yaml). In place of 'name'",
    )
    mpi: Literal["auto", "mpich", "openmpi"] = Field(
        default="auto", description="MPI library of the program; auto detects it from the linked libraries"
    )
    guest: str | None = Field(
        default=None,
        description="Engine gem5: the program of 'command', built as a guest (docs/how-to/gem5.md). The mini-apps of "
        "this project have their own guests",
    )
    threads: Annotated[int, Field(ge=1, le=4096)] = Field(
        default=1, description="Threads of each rank (OMP_NUM_THREADS)"
    )
    timeout_s: Annotated[float, Field(gt=0, le=1e7)] = Field(
        default=3600.0, description="Wall-clock time after which a run of the program is ended [s]"
    )

    @model_validator(mode="after")
    def _named(self) -> ApplicationSection:
        if self.name is None and self.command is None:
            raise ValueError("give a 'name' (an application of this project) or a 'command' (any MPI program)")
        given = [key for key in ("name", "recorded", "derived") if getattr(self, key) is not None]
        if len(given) > 1:
            raise ValueError(f"{given[0]} and {given[1]} both state the communication: give one of them")
        if self.recorded is not None and self.parameters:
            raise ValueError("parameters: a recording has none that could be changed; leave them out")
        if self.inputs and self.command is None:
            raise ValueError("inputs: have no effect without a 'command': the mini-apps read none")
        if self.input_values and not self.inputs:
            raise ValueError("input_values: have no effect without 'inputs', whose names they are of")
        if self.inputs and self.guest is not None:
            raise ValueError("guest: the engine gem5 runs no program with 'inputs'")
        if self.guest is not None and self.command is None:
            raise ValueError("guest: has no effect without a 'command': the mini-apps have their own guests")
        return self
