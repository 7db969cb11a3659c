"""The part ``mapping``: ranks mapped to nodes from the network's counters (Brandt et al., 2014).

The first round simulates the job alone, the job beside other traffic, and that traffic's counters; the second, the job
with its ranks mapped by each method. Out: run times, the share of the time lost that each mapping recovers, and what
the mapping cost.
"""

from __future__ import annotations

from collections.abc import Sequence

from manynode.config.quantities import Section
from manynode.errors import EngineMissingError
from phase3_sst.studies.congestion.contract import Findings, Machine, check_counts_stalls, parts
from phase3_sst.studies.congestion.mapping.cases import CaseRuns, MappingSection, cases_of, workload_of
from phase3_sst.studies.congestion.mapping.geometric import grid_coordinates
from phase3_sst.studies.congestion.mapping.mapping_findings import conclusion
from phase3_sst.studies.congestion.mapping.plan import GEOMETRIC
from phase3_sst.studies.congestion.mapping.planning import plans_of
from phase3_sst.studies.congestion.mapping.scotch import available
from phase3_sst.studies.congestion.situation import Situation


class MappingPart:
    """Mapping against congestion."""

    title = "Mapping ranks to nodes around congestion"
    section: type[Section] = MappingSection

    def check(self, machine: Machine, settings: MappingSection) -> None:
        """Refuse cases that do not fit the machine, and methods that need Scotch if it is missing."""
        workload = workload_of(machine, settings)
        for case in cases_of(machine, settings):
            ranks = len(case.hosts) * workload.ranks_per_node
            if settings.grid is not None:
                grid_coordinates(settings.grid, ranks)
        by_scotch = [method for method in settings.methods if method != GEOMETRIC]
        if by_scotch and not available():
            raise EngineMissingError(
                "mapping by Scotch is not available",
                where=f"mapping: methods: {', '.join(by_scotch)}",
                found="the native build has no manynode-scotch",
                allowed=GEOMETRIC,
                remedy="install libscotch-dev (Scotch 7) and run 'make build', or choose methods: [geometric]",
            )
        if {"bw", "stalls"} & set(settings.methods):
            check_counts_stalls(machine, "mapping: methods")

    def situations(self, machine: Machine, settings: MappingSection, round_number: int) -> Sequence[Situation]:
        """Return the situations without mapping first, then the mapped jobs."""
        situations = []
        for case in cases_of(machine, settings):
            runs = CaseRuns(machine, settings, case)
            if round_number == 0:
                situations += [runs.alone(), runs.default(), runs.snapshot()]
            elif round_number == 1 and machine.failed(runs.snapshot()) is None:
                situations += [runs.mapped(plan) for plan in plans_of(runs)]
        return list({situation.name: situation for situation in situations}.values())

    def conclude(self, machine: Machine, settings: MappingSection) -> Findings:
        """Return run times, recovered shares and costs."""
        return conclusion([CaseRuns(machine, settings, case) for case in cases_of(machine, settings)])


parts.register("mapping")(MappingPart())
