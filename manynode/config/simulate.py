"""Phase 3 in an experiment: engine, replicas, collectives, further jobs, counters over time, the pre-flight check."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from manynode.config.converge import ConvergeSection
from manynode.config.injection import AimdInjectionControl, InjectionControl, StaticInjectionControl
from manynode.config.placement import Placement
from manynode.config.quantities import Duration, NotNegativeInt, PositiveInt, Seconds, Section, written
from manynode.config.sst import SstSection

# The application under study among the jobs of a machine.
MAIN_JOB = "main"


class CollectivesSection(Section):
    """Algorithms of the collectives, by name; auto chooses by size and ranks as the rules say."""

    rules: Literal["mpich", "openmpi"] = Field(default="mpich", description="whose choice auto follows")
    barrier: str = Field(default="auto", description="algorithm of MPI_Barrier")
    bcast: str = Field(default="auto", description="algorithm of MPI_Bcast")
    reduce: str = Field(default="auto", description="algorithm of MPI_Reduce")
    allreduce: str = Field(default="auto", description="algorithm of MPI_Allreduce")
    gather: str = Field(default="auto", description="algorithm of MPI_Gather")
    allgather: str = Field(default="auto", description="algorithm of MPI_Allgather")
    scatter: str = Field(default="auto", description="algorithm of MPI_Scatter")
    alltoall: str = Field(default="auto", description="algorithm of MPI_Alltoall and MPI_Alltoallv")
    reduce_scatter: str = Field(default="auto", description="algorithm of MPI_Reduce_scatter")


class CountersSection(Section):
    """The links' counters over time, beside their sums over the run."""

    interval: Duration = Field(
        default=written("100 us"), description="length of an interval; a hundred per run show enough"
    )
    per: Literal["class", "link"] = Field(
        default="class", description="link tells the busiest link of an interval too, and writes far more"
    )


class SkeletonChoice(Section):
    """A skeleton with its parameters."""

    name: str = Field(description="folder of the application in skeletons/")
    parameters: dict[str, int | float | str | bool] = Field(
        default_factory=dict, description="as the application declares them"
    )


class JobSection(Section):
    """Another job on the same machine: a skeleton on nodes of its own, whose messages share the links."""

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=80)] = Field(
        description="shown in tables and in the report"
    )
    application: SkeletonChoice = Field(description="what runs")
    nodes: PositiveInt = Field(description="of the machine, beside those of the application under study")
    ranks_per_node: Annotated[int, Field(ge=1, le=262_144)] = Field(default=1, description="MPI ranks on each node")
    placement: Placement = Field(
        default_factory=Placement, description="on nodes that the jobs before it have left free"
    )
    start: Seconds = Field(default=written("0 s"), description="after the application under study")
    background: bool = Field(
        default=True, description="begins again until all other jobs have ended; false: runs once and is waited for"
    )
    timing_profile: str | None = Field(
        default=None, description="a timing profile of this application; without one, computing takes no time"
    )
    injection: InjectionControl | None = Field(
        default=None, description="how its NICs are held back (engine fast); without it, not at all"
    )


class PreflightSection(Section):
    """Probes of the network before the first simulation: line rate, bisection, parameters that matter."""

    enabled: bool = Field(default=True, description="whether a network that fails its probes is refused")
    vary: dict[str, list[int | float | str | bool]] = Field(
        default_factory=dict,
        description="parameters that must move the result, each with the values it is to take, such as "
        "{network.link.bandwidth: [20 Gbit/s, 100 Gbit/s]}",
    )

    @model_validator(mode="after")
    def _several_values(self) -> PreflightSection:
        for key, values in self.vary.items():
            if len(set(map(str, values))) < 2:
                raise ValueError(f"vary: {key}: give at least two different values (found {values})")
        return self


class SlowNodeSection(Section):
    """One node of the application under study that computes more slowly than the others."""

    node: NotNegativeInt = Field(default=0, description="its number in the job")
    factor: Annotated[float, Field(ge=1e-3, le=1000)] = Field(
        default=1.0, description="by which its compute times are longer; 1: like the others"
    )


class SimulateSection(Section):
    """Phase 3: the skeleton on the network."""

    engine: str = Field(default="fast", description="fast, sst or simgrid (see 'manynode doctor')")
    replicas: Annotated[int, Field(ge=1, le=100_000)] = Field(
        default=5, description="simulations with different draws, for each point"
    )
    confidence: Annotated[float, Field(gt=0, lt=1)] = Field(
        default=0.95, description="of the bootstrap interval over the replicas"
    )
    persistent: bool = Field(
        default=True,
        description="ranks and nodes keep the differences that phase 2 measured between them; false: every execution "
        "of every rank is drawn independently, as in the paper",
    )
    tail: bool = Field(
        default=False,
        description="times beyond the samples are drawn from the fitted tails (nodesim: tail); false: none is longer "
        "than the longest sample",
    )
    profile_bootstrap: Annotated[int, Field(ge=0, le=10_000)] = Field(
        default=0,
        description="resamples of the timing profile, each simulated once for each point: what its limited samples add "
        "to the interval; 20 tell it within a sixth",
    )
    time_limit: Duration | None = Field(
        default=None, description="a point whose simulation takes longer is ended with an error"
    )
    converge: ConvergeSection | None = Field(
        default=None, description="simulate iterations until their time has converged, and extrapolate the others"
    )
    placement: Placement = Field(default_factory=Placement, description="of the application under study")
    slow_node: SlowNodeSection = Field(default_factory=SlowNodeSection, description="what if one node were slow")
    collectives: CollectivesSection = Field(default_factory=CollectivesSection, description="collective algorithms")
    counters: CountersSection | None = Field(default=None, description="the links' counters over time")
    injection: InjectionControl | None = Field(
        default=None, description="how the NICs of the application under study are held back (engine fast)"
    )
    jobs: list[JobSection] = Field(
        default_factory=list, description="further jobs on the machine, beside the application under study"
    )
    preflight: PreflightSection = Field(
        default_factory=PreflightSection, description="probes of the network before the first simulation"
    )
    sst: SstSection = Field(default_factory=SstSection, description="how the engine sst is run")

    @model_validator(mode="after")
    def _jobs_have_names_of_their_own(self) -> SimulateSection:
        names = [job.name for job in self.jobs]
        for name in names:
            if name == MAIN_JOB or names.count(name) > 1:
                taken = "is the application under study" if name == MAIN_JOB else "is given twice"
                raise ValueError(f"jobs: the name {name!r} {taken}")
        return self

    @model_validator(mode="after")
    def _only_fast_controls_injection(self) -> SimulateSection:
        if self.engine != "fast":
            for name in self.injections():
                raise ValueError(
                    f"injection: the engine {self.engine} has no injection control (job {name!r}); choose engine: fast"
                )
        return self

    @model_validator(mode="after")
    def _collectives_have_one_owner(self) -> SimulateSection:
        if self.engine == "sst" and self.sst.collectives == "sst":
            defaults = CollectivesSection()
            chosen = [name for name, value in self.collectives if value != getattr(defaults, name)]
            if chosen:
                raise ValueError(f"collectives: {chosen[0]}: has no effect with 'sst: collectives: sst'")
        return self

    @model_validator(mode="after")
    def _a_variance_needs_two(self) -> SimulateSection:
        if self.profile_bootstrap == 1:
            raise ValueError("profile_bootstrap: one resample tells no spread; give 0 (none) or at least 2")
        return self

    def injections(self) -> dict[str, StaticInjectionControl | AimdInjectionControl]:
        """Return how the NICs of jobs are held back, by the jobs' names; jobs without control are left out."""
        jobs = [(MAIN_JOB, self.injection), *((job.name, job.injection) for job in self.jobs)]
        return {name: control for name, control in jobs if control is not None and control.kind != "none"}

    def job_nodes(self) -> int:
        """Return the number of nodes that the further jobs take."""
        return sum(job.nodes for job in self.jobs)
