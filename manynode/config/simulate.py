"""Phase 3 of an experiment: engine, replicas, collectives, other jobs, counters over time, pre-flight check."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from manynode.config.converge import ConvergeSection
from manynode.config.engine_section import EngineSection, engine_sections
from manynode.config.injection import AimdInjectionControl, InjectionControl, StaticInjectionControl
from manynode.config.placement import Placement
from manynode.config.quantities import Duration, NotNegativeInt, PositiveBytes, PositiveInt, Seconds, Section, written
from manynode.config.sst import SstSection

# Name of the application under study among the jobs of a machine.
MAIN_JOB = "main"


class CollectivesSection(Section):
    """Algorithms of the collectives by name; auto chooses by size and ranks according to the rules."""

    rules: Literal["mpich", "openmpi"] = Field(
        default="mpich", description="MPI library whose rules auto follows, and whose local copies are counted"
    )
    barrier: str = Field(default="auto", description="Algorithm of MPI_Barrier")
    bcast: str = Field(default="auto", description="Algorithm of MPI_Bcast")
    reduce: str = Field(default="auto", description="Algorithm of MPI_Reduce")
    allreduce: str = Field(default="auto", description="Algorithm of MPI_Allreduce")
    gather: str = Field(default="auto", description="Algorithm of MPI_Gather")
    allgather: str = Field(default="auto", description="Algorithm of MPI_Allgather and MPI_Allgatherv")
    scatter: str = Field(default="auto", description="Algorithm of MPI_Scatter")
    alltoall: str = Field(default="auto", description="Algorithm of MPI_Alltoall, MPI_Alltoallv and MPI_Alltoallw")
    reduce_scatter: str = Field(default="auto", description="Algorithm of MPI_Reduce_scatter(_block)")
    scan: str = Field(default="auto", description="Algorithm of MPI_Scan and MPI_Exscan")
    segment: PositiveBytes | None = Field(
        default=None,
        description="Segments of algorithms that send in segments and are chosen by name (Open MPI's "
        "coll_tuned_*_algorithm_segmentsize). Default: the library's, for most one segment",
    )

    @model_validator(mode="after")
    def _a_segment_needs_an_algorithm(self) -> CollectivesSection:
        names = [value for key, value in self if key not in ("rules", "segment")]
        if self.segment is not None and all(name == "auto" for name in names):
            raise ValueError("segment: has no effect if every algorithm is auto; name an algorithm, or leave it out")
        return self


class CountersSection(Section):
    """Link counters over time, in addition to their sums over the run."""

    interval: Duration = Field(
        default=written("100 us"), description="Length of an interval; a hundred intervals per run are enough"
    )
    per: Literal["class", "link"] = Field(
        default="class",
        description="class: sums by link class; link: the busiest link of each interval too, with far more output",
    )


class SkeletonChoice(Section):
    """A skeleton with its parameters."""

    name: str = Field(description="Folder of the application in skeletons/")
    parameters: dict[str, int | float | str | bool] = Field(
        default_factory=dict, description="Parameters, as the application declares them"
    )


class JobSection(Section):
    """Another job on the same machine: a skeleton on its own nodes, whose messages share the links."""

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=80)] = Field(
        description="Name in tables and in the report"
    )
    application: SkeletonChoice = Field(description="Skeleton of the job")
    nodes: PositiveInt = Field(description="Nodes of the job, in addition to those of the application under study")
    ranks_per_node: Annotated[int, Field(ge=1, le=262_144)] = Field(default=1, description="MPI ranks on each node")
    placement: Placement = Field(
        default_factory=Placement, description="Placement on the nodes that earlier jobs have left free"
    )
    start: Seconds = Field(
        default=written("0 s"), description="Start time, counted from the start of the application under study"
    )
    background: bool = Field(
        default=True,
        description="true: the job repeats until all other jobs have ended; false: it runs once, and the simulation "
        "waits for it",
    )
    timing_profile: str | None = Field(
        default=None, description="Timing profile of the job's application; empty: computing takes no time"
    )
    injection: InjectionControl | None = Field(
        default=None, description="Injection control of the job's NICs (engine fast); empty: none"
    )


class PreflightSection(Section):
    """Probes of the network before the first simulation: line rate, bisection, effect of parameters."""

    enabled: bool = Field(default=True, description="Whether to refuse a network that fails its probes")
    vary: dict[str, list[int | float | str | bool]] = Field(
        default_factory=dict,
        description="Parameters that must change the result, with the values to try, such as "
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

    node: NotNegativeInt = Field(default=0, description="Number of the slow node in the job")
    factor: Annotated[float, Field(ge=1e-3, le=1000)] = Field(
        default=1.0, description="Factor on the slow node's compute times; 1: no slowdown"
    )


class SimulateSection(Section):
    """Phase 3: the skeleton on the network."""

    engine: str = Field(default="fast", description="fast, sst or simgrid (see 'manynode doctor')")
    replicas: Annotated[int, Field(ge=1, le=100_000)] = Field(
        default=5, description="Simulations of each point, with different random draws"
    )
    confidence: Annotated[float, Field(gt=0, lt=1)] = Field(
        default=0.95, description="Confidence level of the bootstrap interval over the replicas"
    )
    persistent: bool = Field(
        default=True,
        description="true: ranks and nodes keep the differences that phase 2 measured between them; false: every "
        "execution of every rank is drawn independently, as in the paper",
    )
    tail: bool = Field(
        default=False,
        description="true: times beyond the samples are drawn from the fitted tails (nodesim: tail); false: the "
        "longest sample is the longest time",
    )
    profile_bootstrap: Annotated[int, Field(ge=0, le=10_000)] = Field(
        default=0,
        description="Resamples of the timing profile, each simulated once per point; they add the profile's sampling "
        "error to the interval. 20 estimate that error to within a sixth; 0: none",
    )
    time_limit: Duration | None = Field(
        default=None, description="Wall-clock time after which the simulation of a point fails; empty: no limit"
    )
    converge: ConvergeSection | None = Field(
        default=None, description="Simulate iterations until their time has converged, and extrapolate the rest"
    )
    placement: Placement = Field(default_factory=Placement, description="Placement of the application under study")
    slow_node: SlowNodeSection = Field(
        default_factory=SlowNodeSection, description="One node that computes more slowly"
    )
    collectives: CollectivesSection = Field(
        default_factory=CollectivesSection, description="Algorithms of the collectives"
    )
    counters: CountersSection | None = Field(default=None, description="Link counters over time")
    injection: InjectionControl | None = Field(
        default=None, description="Injection control of the application under study (engine fast)"
    )
    jobs: list[JobSection] = Field(
        default_factory=list, description="Other jobs on the machine, beside the application under study"
    )
    preflight: PreflightSection = Field(
        default_factory=PreflightSection, description="Probes of the network before the first simulation"
    )
    sst: SstSection = Field(default_factory=SstSection, description="Settings of the engine sst")

    @model_validator(mode="after")
    def _jobs_have_names_of_their_own(self) -> SimulateSection:
        names = [job.name for job in self.jobs]
        for name in names:
            if name == MAIN_JOB or names.count(name) > 1:
                taken = "belongs to the application under study" if name == MAIN_JOB else "is given twice"
                raise ValueError(f"jobs: the name {name!r} {taken}")
        return self

    @model_validator(mode="after")
    def _collectives_have_one_owner(self) -> SimulateSection:
        if (own := self.own_section()) is not None and own.has_own_collectives():
            defaults = CollectivesSection()
            chosen = [name for name, value in self.collectives if value != getattr(defaults, name)]
            if chosen:
                raise ValueError(
                    f"collectives: {chosen[0]}: has no effect with '{self.engine}: collectives: {self.engine}'"
                )
        return self

    @model_validator(mode="after")
    def _a_variance_needs_two(self) -> SimulateSection:
        if self.profile_bootstrap == 1:
            raise ValueError("profile_bootstrap: one resample has no spread; give 0 (none) or at least 2")
        return self

    def injections(self) -> dict[str, StaticInjectionControl | AimdInjectionControl]:
        """Return the injection control of jobs by name; jobs without control are left out."""
        jobs = [(MAIN_JOB, self.injection), *((job.name, job.injection) for job in self.jobs)]
        return {name: control for name, control in jobs if control is not None and control.kind != "none"}

    def own_section(self) -> EngineSection | None:
        """Return the settings of the chosen engine, None if it has none of its own."""
        return getattr(self, self.engine) if self.engine in engine_sections(type(self)) else None

    def cores_of_replica(self) -> int:
        """Return the number of cores that one replica's simulation uses."""
        own = self.own_section()
        return 1 if own is None else own.cores()

    def job_nodes(self) -> int:
        """Return the number of nodes of the other jobs."""
        return sum(job.nodes for job in self.jobs)
