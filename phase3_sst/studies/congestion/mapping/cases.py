"""The cases of the part ``mapping``: a job on given nodes, and pairs of other nodes whose traffic fills links.

In: the part's section and the machine. Out: for each case its situations: the job alone, beside the traffic, the
traffic alone for a snapshot of the counters, and the job beside the traffic with its ranks mapped.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field, model_validator

from manynode.config.quantities import MOST_COUNT, Bytes, NotNegativeInt, PositiveInt, Seconds, Section, written
from manynode.errors import UsageError
from manynode.seeds import generator
from phase3_sst.studies.congestion.contract import Machine, Workload, check_workloads
from phase3_sst.studies.congestion.mapping.assignment import slots
from phase3_sst.studies.congestion.mapping.machine_graph import PER_HOP
from phase3_sst.studies.congestion.mapping.plan import Plan
from phase3_sst.studies.congestion.situation import Member, Situation

Node = NotNegativeInt
Method = Literal["none", "hops", "bw", "stalls", "geometric"]


class CaseSection(Section):
    """A job and the traffic beside it."""

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=60)] = Field(
        description="name in tables"
    )
    hosts: list[Node] = Field(min_length=2, description="the machine's node for each node of the job, in rank order")
    traffic: list[Annotated[list[Node], Field(min_length=2, max_length=2)]] = Field(
        min_length=1, max_length=30, description="pairs of nodes that exchange messages endlessly"
    )

    @model_validator(mode="after")
    def _apart(self) -> CaseSection:
        nodes = [*self.hosts, *(node for pair in self.traffic for node in pair)]
        if len(set(nodes)) < len(nodes):
            twice = next(node for node in nodes if nodes.count(node) > 1)
            raise ValueError(f"{self.name}: node {twice} is given twice; jobs have nodes of their own")
        return self


class MappingSection(Section):
    """Ranks mapped to nodes from the counters."""

    workload: str | None = Field(default=None, description="the job, one of workloads; empty: the first of them")
    methods: list[Method] = Field(
        default=["none", "hops", "bw", "stalls", "geometric"],
        min_length=1,
        description="machine graphs for Scotch: none (all the same), hops, bw, stalls; and geometric, without Scotch",
    )
    per_hop: Annotated[float, Field(ge=0, le=100)] = Field(
        default=PER_HOP,
        description="percent added per link of a route in bw and stalls; 0 is Brandt et al.'s metric",
    )
    grid: list[PositiveInt] | None = Field(
        default=None, description="grid of the ranks, for geometric; empty: three extents as equal as possible"
    )
    cases: list[CaseSection] = Field(default_factory=list, description="given cases")
    random_cases: Annotated[int, Field(ge=0, le=1000)] = Field(
        default=0, description="number of additional cases, drawn from the seed"
    )
    nodes: Annotated[int, Field(ge=2, le=MOST_COUNT)] = Field(default=16, description="nodes of the job in drawn cases")
    traffic_pairs: Annotated[int, Field(ge=1, le=30)] = Field(
        default=6, description="pairs of nodes with traffic in drawn cases"
    )
    traffic_bytes: Bytes = Field(default=written("1 MiB"), gt=0, description="size of each message of the traffic")
    window: Seconds = Field(
        default=written("5 ms"), gt=0, description="time of counting the traffic before the job is mapped"
    )
    snapshot: Literal["alone", "together"] = Field(
        default="alone",
        description="counters of the traffic alone, or of traffic and job in its default mapping; the latter also "
        "avoids the job's own stalls",
    )

    @model_validator(mode="after")
    def _some_case(self) -> MappingSection:
        if not self.cases and not self.random_cases:
            raise ValueError("there is no case; give cases, or random_cases")
        if len({case.name for case in self.cases}) < len(self.cases):
            raise ValueError("cases: two have the same name")
        return self


@dataclass(frozen=True)
class Case:
    """``hosts`` of the job, ``traffic`` as pairs of nodes; ``drawn`` from the seed or given."""

    name: str
    hosts: Sequence[int]
    traffic: Sequence[Sequence[int]]
    drawn: bool


def workload_of(machine: Machine, settings: MappingSection) -> Workload:
    """Return the job under study."""
    name = settings.workload or next(iter(machine.workloads))
    check_workloads(machine, [name], "mapping: workload")
    return machine.workloads[name]


def cases_of(machine: Machine, settings: MappingSection) -> list[Case]:
    """Return the given cases, then the drawn ones; a case that does not fit the machine is a :class:`UsageError`."""
    room = machine.network.room()
    for case in settings.cases:
        most = max(*case.hosts, *(node for pair in case.traffic for node in pair))
        if most >= room:
            raise UsageError(
                "a case has a node that the machine does not have",
                where=f"mapping: cases: {case.name}",
                found=most,
                allowed=f"0 to {room - 1}",
            )
    taken = settings.nodes + 2 * settings.traffic_pairs
    if settings.random_cases and taken > room:
        raise UsageError(
            "the drawn cases do not fit the machine",
            where="mapping: nodes, traffic_pairs",
            found=f"{settings.nodes} nodes and {settings.traffic_pairs} pairs on a machine of {room} nodes",
            remedy="lower nodes or traffic_pairs",
        )
    given = [Case(case.name, case.hosts, case.traffic, False) for case in settings.cases]
    drawn = []
    for number in range(settings.random_cases):
        nodes = generator(machine.seed, "mapping", number).permutation(room)[:taken].tolist()
        hosts, others = sorted(nodes[: settings.nodes]), nodes[settings.nodes :]
        pairs = list(zip(others[::2], others[1::2], strict=True))
        drawn.append(Case(f"random-{number + 1}", hosts, pairs, True))
    return [*given, *drawn]


@dataclass(frozen=True)
class CaseRuns:
    """The situations of a case."""

    machine: Machine
    settings: MappingSection
    case: Case

    def alone(self) -> Situation:
        """Return the job without traffic."""
        return self._situation("alone", self._job(), traffic=False)

    def default(self) -> Situation:
        """Return the job beside the traffic, its ranks node by node."""
        return self._situation("default", self._job(), traffic=True)

    def snapshot(self) -> Situation:
        """Return the situation with the counters for a mapping."""
        if self.settings.snapshot == "together":
            return self.default()
        # The run ends with its last foreground job, which starts at the end of the window. Its message, and that of the
        # situation's first job, stay within a node.
        parameters = {"pattern": "ping-pong", "bytes": 8, "iterations": 1}
        first, second = self.case.hosts[:2]
        begin = Member("begin", "patterns", parameters, [first], ranks_per_node=2)
        end = Member("end", "patterns", parameters, [second], ranks_per_node=2, start_s=self.settings.window)
        return self._situation("traffic", begin, end, traffic=True)

    def mapped(self, plan: Plan) -> Situation:
        """Return the job beside the traffic with the mapping of ``plan``; with the default mapping if that was kept."""
        if plan.kept_default:
            return self.default()
        workload = workload_of(self.machine, self.settings)
        chosen = slots(plan.nodes, workload.ranks_per_node)
        return self._situation(plan.method, workload.on(self.case.hosts, slots=chosen), traffic=True)

    def _job(self) -> Member:
        return workload_of(self.machine, self.settings).on(self.case.hosts)

    def _situation(self, name: str, *jobs: Member, traffic: bool) -> Situation:
        parameters = {"pattern": "bisection", "bytes": round(self.settings.traffic_bytes), "iterations": 1}
        others = [
            Member(f"traffic-{number + 1}", "patterns", parameters, pair, background=True)
            for number, pair in enumerate(self.case.traffic)
        ]
        return Situation(f"mapping-{self.case.name}-{name}", [*jobs, *(others if traffic else [])], self.machine.seed)
