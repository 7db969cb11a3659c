"""The section ``variability`` of a congestion study: the campaign of runs and the learned model."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from manynode.config.quantities import MOST_RUNS, Bytes, PositiveInt, Seconds, Section, written
from manynode.config.simulate import SkeletonChoice

Share = Annotated[float, Field(ge=0, le=1)]


class BackgroundSection(Section):
    """The jobs beside the application under study, drawn for every run: from none to a full machine."""

    most_share: Share = Field(
        default=1.0,
        description="largest share of the free nodes that the jobs take, drawn uniformly from 0 to this",
    )
    nodes: tuple[PositiveInt, PositiveInt] = Field(
        default=(2, 16),
        strict=False,
        description="minimum and maximum nodes of a job, drawn log-uniformly",
    )
    congestors: list[SkeletonChoice] = Field(
        default_factory=lambda: [
            SkeletonChoice(name="patterns", parameters={"pattern": f"congestor-{name}", "iterations": 1000})
            for name in ("alltoall", "incast-p2p", "incast-rma", "bcast-rma")
        ],
        description="skeletons of the jobs, equally likely; parameters bytes and pause_us are drawn if they have them",
    )
    workloads: bool | list[str] = Field(
        default=True, description="whether the study's workloads also run as background jobs; a list: only these"
    )
    bytes: tuple[Annotated[Bytes, Field(ge=1)], Annotated[Bytes, Field(ge=1)]] = Field(
        default=(written("1 KiB"), written("128 KiB")),
        strict=False,
        description="shortest and longest message of a congestor, drawn log-uniformly",
    )
    most_pause: Annotated[Seconds, Field(ge=0)] = Field(
        default=written("100 us"), description="longest pause of a congestor between iterations, drawn uniformly from 0"
    )

    @model_validator(mode="after")
    def _in_order(self) -> BackgroundSection:
        for name, (least, most) in (("nodes", self.nodes), ("bytes", self.bytes)):
            if least > most:
                raise ValueError(f"background: {name}: the smaller value comes first (found {least:g} and {most:g})")
        if not self.congestors and not self.workloads and self.most_share > 0:
            raise ValueError("background: name congestors, enable workloads, or set most_share to 0")
        return self


class VariabilitySection(Section):
    """Chunduri et al.: a campaign of runs under changing conditions, and a model of their run times."""

    workloads: list[str] = Field(default_factory=list, description="workloads of the study by name; empty: all")
    nodes: list[PositiveInt] = Field(default=[16], min_length=1, description="node counts of each workload")
    runs: Annotated[int, Field(ge=1, le=MOST_RUNS)] = Field(default=300, description="runs of each workload and size")
    draws: Literal["same", "each"] = Field(
        default="same",
        description="compute times of a workload: the same in all runs (only the network differs), or new in each run",
    )
    background: BackgroundSection = Field(default_factory=BackgroundSection, description="jobs beside the workload")
    features: Literal["paper", "auto"] = Field(
        default="paper",
        description="the seven of the paper, or the seven of all statistics that a random forest finds most important",
    )
    trees: Annotated[int, Field(ge=1, le=10_000)] = Field(default=200, description="trees of the random forest")
    confidence: Annotated[float, Field(gt=0.5, lt=1)] = Field(
        default=0.95, description="share of the training runs within the error bounds of the estimate"
    )
    flit: Annotated[Bytes, Field(gt=0)] = Field(default=written("8 B"), description="size of a flit")

    @model_validator(mode="after")
    def _once(self) -> VariabilitySection:
        for name, given in (("workloads", self.workloads), ("nodes", self.nodes)):
            if len(set(given)) != len(given):
                raise ValueError(f"{name}: an entry is given twice")
        return self
