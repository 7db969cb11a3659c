"""The plans of a case of the part ``mapping``, from the results of its first round."""

from __future__ import annotations

from manynode import tables
from phase3_sst.point.contract import LINKS_SCHEMA
from phase3_sst.studies.congestion.mapping.cases import CaseRuns, workload_of
from phase3_sst.studies.congestion.mapping.link_paths import routes_between
from phase3_sst.studies.congestion.mapping.plan import Plan, Question, kept_plan
from phase3_sst.studies.congestion.mapping.snapshot import Snapshot, of_simulation
from phase3_sst.studies.congestion.mapping.task_graph import of_skeleton


def plans_of(runs: CaseRuns) -> list[Plan]:
    """Return the plan of each method of a case."""
    machine, settings, case = runs.machine, runs.settings, runs.case
    workload = workload_of(machine, settings)
    ranks = len(case.hosts) * workload.ranks_per_node
    routes = routes_between(machine.network_content, case.hosts)
    result = machine.result(runs.snapshot())
    loads = tables.read_table(result.folder / "links.parquet", LINKS_SCHEMA, ["link", "bytes", "stall_s"])
    duration_s = float(result.document["replicas"][0]["makespan_s"])
    snapshot: Snapshot = of_simulation(loads, duration_s, routes.machine_links)
    question = Question(
        tasks=of_skeleton(workload.application, workload.parameters, ranks, machine.simulate["collectives"]),
        routes=routes,
        snapshot=snapshot,
        capacity=workload.ranks_per_node,
        network=machine.network_content,
        seed=machine.seed,
        grid=settings.grid,
        per_hop=settings.per_hop,
    )
    return [kept_plan(question, method, machine.output / "mapping", case.name) for method in settings.methods]
