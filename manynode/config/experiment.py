"""The experiment: one file with the application, the machine, the network, the engines and the points to project.

Each parameter is declared once: here, or in the section of a study (:mod:`manynode.config.study_section`). ``manynode
config`` generates the commented default, the JSON schema and the reference page from these declarations.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import Field, create_model, field_validator, model_validator

from manynode.config.application_section import ApplicationSection
from manynode.config.engine_section import AUTO, CHANGES_NO_RESULT, EngineSection
from manynode.config.machine import Machine
from manynode.config.network import Network
from manynode.config.own_times import OwnTimesSection
from manynode.config.quantities import Duration, NotNegativeInt, PositiveInt, Quantity, Section, written
from manynode.config.scaling import ScalingSection
from manynode.config.sensitivity import SensitivitySection
from manynode.config.simulate import SimulateSection
from manynode.config.study_section import study_sections
from manynode.config.validation import ValidationSection

Technique = Literal["no-ext-const", "no-ext-var", "ext-const", "ext-var"]
TECHNIQUES: tuple[Technique, ...] = ("no-ext-const", "no-ext-var", "ext-const", "ext-var")


def most_complete(techniques: Sequence[str]) -> str:
    """Return the technique that leaves out least, in the order of the mean errors in Eyerman et al., Table 2."""
    return next(name for name in reversed(TECHNIQUES) if name in techniques)


def mode_of(technique: str) -> str:
    """Return the mode of phase 2 that measures the times of ``technique``: ``ext`` or ``no-ext``."""
    return "ext" if technique.startswith("ext") else "no-ext"


class ProfileSection(Section):
    """Phase 1: counters per rank, rank classes, representative nodes."""

    source: Literal["auto", "perf_event", "perf_stat", "qemu", "callgrind", "processor_time"] = Field(
        default="auto",
        description="Source of the counters. auto uses hardware counters where the host has them, else qemu where it "
        "is installed with plugins and can run the program, else callgrind. qemu and callgrind slow the program down, "
        "but count instructions, branches and loads exactly. processor_time runs it at its own speed on any host, and "
        "tells ranks apart by their times alone",
    )
    nodes: list[PositiveInt] = Field(
        default=[1, 2],
        min_length=1,
        description="Job sizes to profile, in nodes of ranks_per_node ranks; they must include 'nodesim: nodes'",
    )
    repetitions: Annotated[int, Field(ge=1, le=1000)] = Field(
        default=2, description="Runs per job size; at least 2 are needed to measure the run-to-run noise"
    )
    max_classes: Annotated[int, Field(ge=1, le=1000)] = Field(default=8, description="Largest number of rank classes")
    noise_floor: Annotated[float, Field(ge=0, lt=1)] = Field(
        default=0.005, description="Relative differences below this count as noise, even if the repetitions show less"
    )
    coverage: Annotated[float, Field(gt=0, le=1)] = Field(
        default=1.0, description="Share of the ranks whose class must run on a representative node"
    )


class Gem5Section(EngineSection):
    """Settings of the engine gem5; other engines ignore them."""

    executable: str | None = Field(default=None, description="gem5 program; empty: gem5.opt, gem5.fast or gem5 on PATH")
    inject: Literal["none", "flush", "nic"] = Field(
        default="nic",
        description="Memory traffic of messages to and from other nodes. none: no traffic; flush: received data "
        "leaves the caches; nic: a helper core reads and writes the buffers as a network adapter does",
    )
    statistics: bool = Field(
        default=True, description="Whether to count events in every compute phase; the report's CPI stacks need them"
    )
    progress: Annotated[Duration, CHANGES_NO_RESULT] = Field(
        default=written("10 s"), description="Time between two progress lines in the log"
    )


class QemuSection(EngineSection):
    """Settings of the engine qemu; other engines ignore them."""

    AUTOMATIC: ClassVar[bool] = True

    executable: str | None = Field(
        default=None, description="qemu-x86_64 with support for plugins; empty: the one on PATH"
    )
    sharing: Literal["shared", "private"] = Field(
        default="shared",
        description="shared: ranks share last-level caches and memory as the machine file says; private: each rank has "
        "its part of them for itself, as a control",
    )
    binding: Literal["balanced", "packed", "domains"] = Field(
        default="balanced",
        description="Cores of the ranks. balanced: equal blocks of ranks on all last-level caches; packed: the first "
        "cores in order (-bind-to core of MPICH and Open MPI); domains: the cores in order, cut into one domain per "
        "rank (the default of Intel MPI)",
    )
    control: Annotated[bool, CHANGES_NO_RESULT] = Field(
        default=False,
        description="Whether to simulate one node a second time with sharing: private. The report shows where the "
        "cycles of both go (Figure 7 of Eyerman et al.)",
    )
    inject: Literal["none", "nic"] = Field(
        default="nic",
        description="Memory traffic of messages to and from other nodes. none: no traffic; nic: sent data is read and "
        "received data is written as machine: memory: injection says, and leaves the private caches",
    )
    quantum: Annotated[float, Quantity("time", least=1e-8, most=1e-4)] = Field(
        default=written("4 us"),
        description="Simulated time within which the clocks of a node's cores stay; longer is faster and less exact",
    )
    frames: Literal["hashed", "virtual"] = Field(
        default="hashed",
        description="Physical addresses. hashed: pages lie in frames chosen by a seeded hash; virtual: physical "
        "addresses are the virtual ones, as in callgrind, for comparisons",
    )
    seed: Annotated[int, Field(ge=0, lt=2**32)] = Field(
        default=1, description="Seed of the hash that places virtual pages in physical memory"
    )
    releases: Annotated[float, Field(ge=0, le=1)] = Field(
        default=0.01,
        description="Largest share of clock synchronisations in which a rank that neither computes nor looks for its "
        "messages was passed after 5 s; beyond it the run fails",
    )


class TailSection(Section):
    """A model of the times beyond the samples of each cluster, with its goodness of fit."""

    model: Literal["generalised-pareto"] = Field(
        default="generalised-pareto", description="Distribution of the times above the threshold (Pickands 1975)"
    )
    threshold: Annotated[float, Field(ge=0.5, lt=1)] = Field(
        default=0.95, description="Share of a cluster's times below the threshold"
    )
    min_exceedances: Annotated[int, Field(ge=10, le=1_000_000)] = Field(
        default=30, description="Smallest number of times above the threshold for which a cluster gets a tail"
    )


class NodesimSection(Section):
    """Phase 2: compute times between MPI calls on the target node."""

    engine: str = Field(
        default=AUTO,
        description="native, valgrind, qemu or gem5 (see 'manynode doctor'). auto uses qemu where it is installed with "
        "plugins and can run the program, else valgrind",
    )
    nodes: PositiveInt = Field(
        default=2,
        description="Nodes of the job with external ranks: one is simulated, the others run natively. Must be one of "
        "the sizes that phase 1 profiles",
    )
    warmup: NotNegativeInt = Field(
        default=0, description="Executions of each compute phase that each rank skips at the start"
    )
    separation: Annotated[float, Field(gt=0, le=10)] = Field(
        default=0.15, description="Clusters are merged when their mean times differ relatively by less than this"
    )
    turns: bool = Field(
        default=False,
        description="Engine native: ranks compute only while no rank of another node computes, on as many cores as "
        "one node uses. Nodes that share this host then do not compete for its memory",
    )
    clock: Literal["wall", "processor"] = Field(
        default="wall",
        description="Engine native: clock that times the compute phases. processor excludes other threads on the "
        "same core, for hosts with fewer cores than ranks; it counts each rank's main thread only",
    )
    tail: TailSection | None = Field(default=None, description="Model of the compute times beyond the samples")
    gem5: Gem5Section = Field(default_factory=Gem5Section, description="Settings of the engine gem5")
    qemu: QemuSection = Field(default_factory=QemuSection, description="Settings of the engine qemu")

    @model_validator(mode="after")
    def _of_native_alone(self) -> NodesimSection:
        for key, neutral in (("turns", False), ("clock", "wall")):
            if getattr(self, key) != neutral and self.engine != "native":
                raise ValueError(
                    f"{key}: has no effect with engine: {self.engine}; only engine: native measures this host"
                )
        return self

    @model_validator(mode="after")
    def _control_of_what_is_shared(self) -> NodesimSection:
        if self.qemu.control and self.engine not in ("qemu", AUTO):
            raise ValueError(f"qemu: control: has no effect with engine: {self.engine}; only qemu's ranks share caches")
        if self.qemu.control and self.qemu.sharing == "private":
            raise ValueError("qemu: control: has no effect with sharing: private, which is what the control has")
        return self


class ExperimentWithoutStudies(Section):
    """An experiment file, ``configs/NAME.yaml``."""

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=80)] = Field(
        description="Name of the result folder in results/"
    )
    title: str = Field(default="", description="Headline of the report")
    application: ApplicationSection = Field(description="Program to study")
    nodes: list[PositiveInt] = Field(
        default=[1, 2, 4, 8, 16, 32, 64], min_length=1, description="Node counts to project"
    )
    ranks_per_node: PositiveInt = Field(default=2, description="MPI ranks on each node")
    techniques: list[Technique] = Field(
        default=list(TECHNIQUES),
        min_length=1,
        description="ext: with external ranks; no-ext: without. var: variable compute times; const: constant",
    )
    seed: Annotated[int, Field(ge=0, lt=2**63)] = Field(default=1, description="Root seed of all random numbers")
    machine: Machine = Field(
        description="Node model: the name of a file in configs/machines/, a path, or the content itself"
    )
    network: Network = Field(
        description="Network model: the name of a file in configs/networks/, a path, or the content itself"
    )
    known_errors: list[str] = Field(
        default_factory=list,
        description="Tables of own validations (validation-record/1, from 'manynode simulate record'), beside the "
        "shipped ones, for the report's band of known errors",
    )
    relevant_difference: Annotated[float, Field(ge=0, lt=1)] = Field(
        default=0.01,
        description="Share of the time up to which a difference does not matter: studies, pages and the explorer then "
        "say so, even if the draws settle its sign",
    )
    own_times: OwnTimesSection | None = Field(
        default=None, description="Compute times that are known already, in place of phases 1 and 2"
    )
    profile: ProfileSection = Field(default_factory=ProfileSection, description="Phase 1: profile of the ranks")
    nodesim: NodesimSection = Field(
        default_factory=NodesimSection, description="Phase 2: compute times on the target node"
    )
    simulate: SimulateSection = Field(
        default_factory=SimulateSection, description="Phase 3: simulation of the skeleton on the network"
    )
    if TYPE_CHECKING:  # the sections that other code reads by name; every study's is added below
        sensitivity: SensitivitySection | None = None
        scaling: ScalingSection | None = None
        validation: ValidationSection | None = None

    @field_validator("nodes", "techniques", mode="after")
    @classmethod
    def _no_repetition(cls, values: list[Any]) -> list[Any]:
        if len(set(values)) != len(values):
            raise ValueError(f"an entry is given twice: {values}")
        return values

    @model_validator(mode="after")
    def _fits(self) -> ExperimentWithoutStudies:
        room = self.network.room()
        others = self.simulate.job_nodes()
        if max(self.nodes) + others > room:
            beside = f" and {others} of simulate: jobs" if others else ""
            raise ValueError(
                f"nodes: {max(self.nodes)} nodes{beside} do not fit the network {self.network.name!r}, "
                f"which has room for {room}"
            )
        wanted = {"ranks_per_node": self.ranks_per_node * self.application.threads}
        wanted |= {f"simulate: jobs: {job.name}: ranks_per_node": job.ranks_per_node for job in self.simulate.jobs}
        # Times of another machine than the experiment's are of a node whose cores are not known here.
        other_machine = self.own_times is not None and self.own_times.machine is not None
        for key, busy in wanted.items():
            if busy > self.machine.cores() and not other_machine:
                threads = self.application.threads
                each = f" of {threads} threads" if key == "ranks_per_node" and threads > 1 else ""
                raise ValueError(
                    f"{key}: {busy // (threads if each else 1)} ranks{each} do not fit a node of "
                    f"{self.machine.cores()} cores (machine {self.machine.name!r}); lower it, or choose a machine "
                    "with more cores"
                )
        if self.nodesim.clock == "processor" and self.application.threads > 1:
            raise ValueError(
                f"nodesim: clock: processor counts one thread of a rank, but application: threads is "
                f"{self.application.threads}; choose clock: wall"
            )
        for name, control in self.simulate.injections().items():
            if control.kind == "aimd" and self.network.flow_control == "none":
                raise ValueError(
                    f"simulate: injection: aimd of the job {name!r} needs credits, which the network "
                    f"{self.network.name!r} does not have; set its flow_control: credits, or choose static"
                )
            if self.network.host.receive != "in-call":
                raise ValueError(
                    f"simulate: injection: {control.kind} of the job {name!r} controls the NIC chunk by chunk; set "
                    "network: host: receive: in-call"
                )
        for study in study_sections():
            if study.section is not None and (section := getattr(self, study.key)) is not None:
                study.fits(section, self)
        if self.simulate.tail and self.nodesim.tail is None:
            raise ValueError("simulate: tail: needs tails to draw from; add 'tail: {}' to nodesim")
        if self.own_times is not None:
            self._fits_own_times(self.own_times)
            return self
        if self.nodesim.nodes not in self.profile.nodes:
            raise ValueError(
                f"nodesim: nodes: {self.nodesim.nodes} is not among profile: nodes {self.profile.nodes}; phase 2 needs "
                "the rank classes of a profiled job of that size"
            )
        if self.nodesim.nodes < 2 and any(technique.startswith("ext") for technique in self.techniques):
            raise ValueError("nodesim: nodes: the techniques ext-* need at least 2 nodes (one simulated, one external)")
        return self

    def _fits_own_times(self, own: OwnTimesSection) -> None:
        own.check_techniques(list(self.techniques))
        if self.application.name is None and self.application.recorded is None and self.application.derived is None:
            raise ValueError("own_times: there are no compute phases without a skeleton (application: name)")
        if self.simulate.profile_bootstrap:
            raise ValueError(
                "simulate: profile_bootstrap: own_times are no samples that could be drawn again; leave it out"
            )
        if self.simulate.tail:
            raise ValueError("simulate: tail: own_times have no tails; leave it out")


def _with_studies() -> type[ExperimentWithoutStudies]:
    """Return the model with the section of every study, in the order of their ranks."""
    fields: dict[str, Any] = {
        study.key: (study.section | None, Field(default=None, description=study.description))
        for study in study_sections()
        if study.section is not None
    }
    return create_model(
        "Experiment",
        __base__=ExperimentWithoutStudies,
        __doc__=ExperimentWithoutStudies.__doc__,
        __module__=__name__,
        **fields,
    )


if TYPE_CHECKING:
    Experiment = ExperimentWithoutStudies
else:
    Experiment = _with_studies()
