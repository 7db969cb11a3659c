"""The work of ``manynode map``: turns files and options into a plan and the seats of the ranks."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from manynode import tables
from manynode.config.network import Network
from manynode.config.resolved import checked, included
from manynode.config.skeleton import resolve_skeleton
from manynode.errors import InputError, UsageError
from phase3_sst.point.contract import LINKS_SCHEMA, RESULT_SCHEMA
from phase3_sst.studies.congestion.counters.readers.interface import read_counters
from phase3_sst.studies.congestion.mapping.assignment import slots
from phase3_sst.studies.congestion.mapping.host_file import Host, equal_slots, read_hosts
from phase3_sst.studies.congestion.mapping.link_paths import Routes, routes_between
from phase3_sst.studies.congestion.mapping.machine_graph import BW, OF_COUNTERS, STALLS
from phase3_sst.studies.congestion.mapping.plan import METHODS, Plan, Question
from phase3_sst.studies.congestion.mapping.rank_files import Seat
from phase3_sst.studies.congestion.mapping.snapshot import Snapshot, of_counters, of_measured, of_simulation
from phase3_sst.studies.congestion.mapping.task_graph import TaskGraph, of_skeleton, read_matrix


@dataclass(frozen=True)
class Request:
    """The options of ``manynode map``."""

    hosts: Path
    machine: str
    tasks: Path | None
    app: str | None
    parameters: str
    ranks: int | None
    snapshot: Path | None
    counters: Sequence[Path]
    cables: Path | None
    metric: str
    grid: str | None
    keep: bool
    seed: int
    per_hop: float


def solve(request: Request) -> tuple[Plan, list[Seat], list[str]]:
    """Return the plan, the seat of each rank, and the remarks on the counters."""
    if request.metric not in METHODS:
        raise UsageError("unknown metric", where="--metric", found=request.metric, allowed=", ".join(METHODS))
    if request.snapshot is not None and request.counters:
        raise UsageError("give one source of counters", where="--snapshot, --counters", found="both")
    if request.cables is not None and not request.counters:
        raise UsageError(
            "a table of cables names the links of counters",
            where="--cables",
            found="no --counters",
            remedy="give the counters, or leave --cables out: a snapshot names its links itself",
        )
    if request.metric in OF_COUNTERS and request.snapshot is None and not request.counters:
        raise UsageError(
            f"the metric {request.metric} needs counters",
            where="--snapshot, --counters",
            found="none given",
            remedy="give a snapshot, or choose hops or geometric",
        )
    content = included("machine", request.machine, "networks", Path.cwd(), "--machine")
    network = checked(Network, content, request.machine, "the machine")
    hosts = read_hosts(request.hosts, network.room())
    capacity = equal_slots(request.hosts, hosts)
    resolved = network.model_dump(mode="json")
    tasks = _tasks(request)
    if tasks.ranks > len(hosts) * capacity:
        raise UsageError(
            "the task graph is larger than the machine",
            where=str(request.hosts),
            found=f"{tasks.ranks} ranks for {len(hosts)} hosts of {capacity} slots",
            allowed=f"at most {len(hosts) * capacity} ranks",
            remedy="add hosts or slots",
        )
    routes = routes_between(resolved, [host.node for host in hosts])
    snapshot, notes = _snapshot(request, routes)
    question = Question(tasks, routes, snapshot, capacity, resolved, request.seed, _grid(request.grid), request.per_hop)
    plan = question.answer(request.metric, guarded=request.keep)
    return plan, seats(plan, hosts, capacity), notes


def seats(plan: Plan, hosts: list[Host], capacity: int) -> list[Seat]:
    """Return the seat of each rank."""
    return [Seat(hosts[slot // capacity].name, slot % capacity, slot) for slot in slots(plan.nodes, capacity)]


def _tasks(request: Request) -> TaskGraph:
    if (request.tasks is None) == (request.app is None):
        raise UsageError(
            "give one source of the task graph",
            where="--tasks, --app",
            found="both" if request.tasks else "neither",
            allowed="a measured table of bytes (--tasks) or a skeleton (--app with --ranks)",
        )
    if request.tasks is not None:
        return read_matrix(request.tasks, request.ranks)
    assert request.app is not None
    if request.ranks is None:
        raise UsageError("a skeleton needs the number of ranks", where="--ranks", found="none given")
    parameters = resolve_skeleton(request.app, _parameters(request.parameters), "--app")
    return of_skeleton(request.app, parameters, request.ranks)


def _parameters(text: str) -> dict[str, Any]:
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UsageError("the parameters are not JSON", where="--parameters", found=str(error)) from None
    if not isinstance(content, dict):
        raise UsageError("the parameters are no JSON object", where="--parameters", found=text, allowed='{"nx": 16}')
    return content


def _grid(text: str | None) -> list[int] | None:
    if text is None:
        return None
    words = text.split("x")
    if not all(re.fullmatch("[0-9]{1,9}", word) and int(word) > 0 for word in words):
        raise UsageError("the grid cannot be read", where="--grid", found=text, allowed="extents such as 4x4x2")
    return [int(word) for word in words]


def _snapshot(request: Request, routes: Routes) -> tuple[Snapshot | None, list[str]]:
    """Return the snapshot of the counters, and remarks on them."""
    if request.counters:
        counters, where = read_counters(request.counters), str(request.counters[0])
        found, notes = of_counters(counters, where, routes.machine_links, request.cables)
        _check_told(found, request, where)
        return found, [*counters.notes, *notes]
    if request.snapshot is None:
        return None, []
    if request.snapshot.is_dir():
        return _simulated(request.snapshot, routes), []
    return of_measured(request.snapshot, routes.machine_links), []


def _check_told(found: Snapshot, request: Request, where: str) -> None:
    """Raise :class:`InputError` when the counters lack a quantity for the metric or for judging a mapping."""
    if request.metric not in OF_COUNTERS:
        return
    if request.metric == STALLS and np.isnan(found.percent_stalled).any():
        lacking, allowed = "no port tells its stalls", "credit_stalled_pct or stalled_pct"
    elif (request.metric == BW or request.keep) and np.isnan(found.percent_bandwidth).any():
        lacking, allowed = "no port tells its bandwidth", "used_pct"
    else:
        return
    raise InputError(
        f"the counters lack the columns that the metric {request.metric} needs",
        where=where,
        found=lacking,
        allowed=f"of a table router-counters/1: {allowed}",
        remedy="stalls alone are enough with --no-keep, which does not compare with the default mapping"
        if request.metric == STALLS
        else None,
    )


def _simulated(path: Path, routes: Routes) -> Snapshot:
    result = tables.read_json(path / "result.json", RESULT_SCHEMA)
    loads = tables.read_table(path / "links.parquet", LINKS_SCHEMA, ["replica", "link", "bytes", "stall_s"])
    loads = loads[loads["replica"] == result["replicas"][0]["replica"]]
    if len(loads) and int(loads["link"].max()) > int(routes.machine_links.index.max()):
        raise InputError(
            "the snapshot is from another machine",
            where=str(path),
            found=f"link {loads['link'].max()}",
            allowed=f"links up to {routes.machine_links.index.max()}",
        )
    return of_simulation(loads, float(result["replicas"][0]["makespan_s"]), routes.machine_links)
