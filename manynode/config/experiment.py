"""The experiment: one file that names the application, the machine, the network, the engines and what is projected.

Each parameter is declared here once; the commented default, the JSON schema and the reference page are generated from
these declarations (``manynode config``).
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, field_validator, model_validator

from manynode.config.machine import Machine
from manynode.config.network import Network
from manynode.config.quantities import Duration, NotNegativeInt, PositiveInt, Section, written
from manynode.config.scaling import ScalingSection
from manynode.config.sensitivity import SensitivitySection
from manynode.config.simulate import SimulateSection
from manynode.config.validation import ValidationSection

Technique = Literal["no-ext-const", "no-ext-var", "ext-const", "ext-var"]
TECHNIQUES: tuple[Technique, ...] = ("no-ext-const", "no-ext-var", "ext-const", "ext-var")


class ApplicationSection(Section):
    """What runs: an application of this project by name, or any MPI program by its command."""

    name: str | None = Field(
        default=None,
        description="folder of the application in skeletons/: its mini-app is run in phases 1 and 2, its skeleton in "
        "phase 3",
    )
    parameters: dict[str, int | float | str | bool] = Field(
        default_factory=dict,
        description="problem size per rank and iterations, as the application's application.yaml declares them",
    )
    command: list[str] | None = Field(
        default=None,
        description="any other MPI program with its arguments (a list; no shell is involved); with a name as well, the "
        "program in place of the mini-app, with that skeleton",
        min_length=1,
    )
    mpi: Literal["auto", "mpich", "openmpi"] = Field(
        default="auto", description="the MPI the program uses; auto looks at the libraries it is linked with"
    )
    guest: str | None = Field(
        default=None,
        description="for the engine gem5: the program of 'command' built as a guest (docs/gem5.md); the mini-apps of "
        "this project have theirs",
    )
    threads: Annotated[int, Field(ge=1, le=4096)] = Field(
        default=1, description="threads of each rank (OMP_NUM_THREADS)"
    )
    timeout_s: Annotated[float, Field(gt=0, le=1e7)] = Field(
        default=3600.0, description="a run that takes longer is ended [s]"
    )

    @model_validator(mode="after")
    def _named(self) -> ApplicationSection:
        if self.name is None and self.command is None:
            raise ValueError("give a 'name' (an application of this project) or a 'command' (any MPI program)")
        if self.guest is not None and self.command is None:
            raise ValueError("guest: has no effect without a 'command': the mini-apps of this project have their own")
        return self


class ProfileSection(Section):
    """Phase 1: counters per rank, rank classes, representative nodes."""

    source: Literal["auto", "perf_event", "perf_stat", "callgrind"] = Field(
        default="auto",
        description="of the counters; auto takes hardware counters where the host gives them, else callgrind (exact "
        "instruction, branch and load counts, slower)",
    )
    nodes: list[PositiveInt] = Field(
        default=[1, 2], min_length=1, description="job sizes that are profiled, in nodes of ranks_per_node ranks"
    )
    repetitions: Annotated[int, Field(ge=1, le=1000)] = Field(
        default=2, description="runs per job size; they tell the run-to-run noise"
    )
    max_classes: Annotated[int, Field(ge=1, le=1000)] = Field(default=8, description="at most so many rank classes")
    noise_floor: Annotated[float, Field(ge=0, lt=1)] = Field(
        default=0.005, description="relative differences below this are noise whatever the repetitions say"
    )
    coverage: Annotated[float, Field(gt=0, le=1)] = Field(
        default=1.0, description="share of ranks whose class the representative nodes must cover"
    )


class Gem5Section(Section):
    """How gem5 is run; these keys matter to the engine gem5 only."""

    executable: str | None = Field(
        default=None, description="the simulator; without one, gem5.opt, gem5.fast or gem5 on PATH"
    )
    inject: Literal["none", "flush", "nic"] = Field(
        default="nic",
        description="memory operations of messages from and to other nodes: none, flush (what is received leaves the "
        "caches) or nic (a helper core reads and writes the buffers, as a network adapter does)",
    )
    statistics: bool = Field(
        default=True, description="counts of every compute phase, from which the report's CPI stacks are made"
    )
    progress: Duration = Field(default=written("10 s"), description="time between two lines of progress in the log")


class TailSection(Section):
    """A tail beyond the samples of each cluster of compute times, with its goodness of fit."""

    model: Literal["generalised-pareto"] = Field(
        default="generalised-pareto", description="of the times above the threshold (Pickands 1975)"
    )
    threshold: Annotated[float, Field(ge=0.5, lt=1)] = Field(
        default=0.95, description="share of a cluster's times below the threshold"
    )
    min_exceedances: Annotated[int, Field(ge=10, le=1_000_000)] = Field(
        default=30, description="a cluster with fewer times above the threshold has no tail"
    )


class NodesimSection(Section):
    """Phase 2: compute times between MPI calls on the target node."""

    engine: str = Field(default="valgrind", description="native, valgrind or gem5 (see 'manynode doctor')")
    nodes: PositiveInt = Field(
        default=2,
        description="size of the job with external ranks, in nodes: one of them simulated, the others native; one of "
        "the sizes that phase 1 profiles",
    )
    warmup: NotNegativeInt = Field(
        default=0, description="executions of each compute phase that are left out at the start, per rank"
    )
    separation: Annotated[float, Field(gt=0, le=10)] = Field(
        default=0.15, description="clusters whose mean times differ by less than this share are one"
    )
    turns: bool = Field(
        default=False,
        description="of the engine native: ranks compute only while no rank of another node does, and keep to as many "
        "cores as one node computes on, so that nodes which share this host do not share its way to memory",
    )
    clock: Literal["wall", "processor"] = Field(
        default="wall",
        description="of the engine native: by which compute phases are timed. Processor time leaves out that of other "
        "threads on the same core, for hosts with fewer cores than ranks; it counts the rank's main thread only",
    )
    tail: TailSection | None = Field(default=None, description="a model of the times beyond the samples")
    gem5: Gem5Section = Field(default_factory=Gem5Section, description="how the engine gem5 is run")

    @model_validator(mode="after")
    def _of_native_alone(self) -> NodesimSection:
        for key, neutral in (("turns", False), ("clock", "wall")):
            if getattr(self, key) != neutral and self.engine != "native":
                raise ValueError(
                    f"{key}: has no effect with engine: {self.engine}, whose times do not come from this host"
                )
        return self


class Experiment(Section):
    """An experiment file, ``configs/NAME.yaml``."""

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=80)] = Field(
        description="folder of the results, below results/"
    )
    title: str = Field(default="", description="headline of the report")
    application: ApplicationSection = Field(description="what runs")
    nodes: list[PositiveInt] = Field(
        default=[1, 2, 4, 8, 16, 32, 64], min_length=1, description="node counts that are projected"
    )
    ranks_per_node: PositiveInt = Field(default=2, description="MPI ranks on each node")
    techniques: list[Technique] = Field(
        default=list(TECHNIQUES),
        min_length=1,
        description="with (ext) or without (no-ext) external ranks, variable (var) or constant (const) compute times",
    )
    seed: Annotated[int, Field(ge=0, lt=2**63)] = Field(default=1, description="root seed of everything random")
    machine: Machine = Field(description="the node: a file of configs/machines/ by name, a path, or the text itself")
    network: Network = Field(description="the network: a file of configs/networks/ by name, a path, or the text itself")
    profile: ProfileSection = Field(default_factory=ProfileSection, description="phase 1")
    nodesim: NodesimSection = Field(default_factory=NodesimSection, description="phase 2")
    simulate: SimulateSection = Field(default_factory=SimulateSection, description="phase 3")
    sensitivity: SensitivitySection | None = Field(
        default=None, description="a study: how the projected time depends on parameters of the network"
    )
    scaling: ScalingSection | None = Field(
        default=None, description="a study: what the time is lost to at each node count"
    )
    validation: ValidationSection | None = Field(
        default=None, description="a study: how far the projection is from measurements of the real machine"
    )

    @field_validator("nodes", "techniques", mode="after")
    @classmethod
    def _no_repetition(cls, values: list[Any]) -> list[Any]:
        if len(set(values)) != len(values):
            raise ValueError(f"an entry is given twice: {values}")
        return values

    @model_validator(mode="after")
    def _fits(self) -> Experiment:
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
        for key, busy in wanted.items():
            if busy > self.machine.cores():
                threads = self.application.threads
                each = f" of {threads} threads" if key == "ranks_per_node" and threads > 1 else ""
                raise ValueError(
                    f"{key}: {busy // (threads if each else 1)} ranks{each} on a node of {self.machine.cores()} cores "
                    f"(machine {self.machine.name!r}); lower it, or take a machine with more cores"
                )
        if self.nodesim.clock == "processor" and self.application.threads > 1:
            raise ValueError(
                f"nodesim: clock: processor counts one thread of a rank, application: threads is "
                f"{self.application.threads}"
            )
        for name, control in self.simulate.injections().items():
            if control.kind == "aimd" and self.network.flow_control != "credits":
                raise ValueError(
                    f"simulate: injection: aimd of the job {name!r} follows stalls for want of credits, which the "
                    f"network {self.network.name!r} does not have; give it flow_control: credits, or choose static"
                )
            if self.network.host.receive != "in-call":
                raise ValueError(
                    f"simulate: injection: {control.kind} of the job {name!r} works in the NIC, chunk by chunk; it "
                    "needs network: host: receive: in-call"
                )
        if self.validation is not None:
            self.validation.check_nodes(self.nodes, room)
            if self.validation.measured and self.application.name is None:
                raise ValueError(
                    "validation: measured: without a skeleton (application: name) there is no projection to compare"
                )
        if self.simulate.tail and self.nodesim.tail is None:
            raise ValueError("simulate: tail: there are no tails to draw from; add 'tail: {}' to nodesim")
        if self.nodesim.nodes not in self.profile.nodes:
            raise ValueError(
                f"nodesim: nodes: {self.nodesim.nodes} is not among profile: nodes {self.profile.nodes}; the simulated "
                "nodes are chosen from the rank classes of a profiled job of that size"
            )
        if self.nodesim.nodes < 2 and any(technique.startswith("ext") for technique in self.techniques):
            raise ValueError("nodesim: nodes: the techniques ext-* need at least 2 nodes (one simulated, one external)")
        return self
