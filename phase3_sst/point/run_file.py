"""The run file, schema ``network-run/2``: one point of an experiment, as the native engines read it (SI units).

In: a :class:`Point` and the numbers of the replicas. Out: a mapping to write as JSON. ``manynode-fast`` and
``manynode-simgrid`` read it with the same code (``phase3_sst/machine/run_config.hpp``), and every engine simulates the
same jobs on the same nodes. Its members are listed in ``phase3_sst/engines/fast/README.md``.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from manynode.config.injection import InjectionControl
from manynode.config.network import Link, LinkClass, Network
from manynode.config.placement import Placement
from manynode.config.resolved import Resolved
from manynode.config.simulate import CollectivesSection, CountersSection
from manynode.errors import UsageError
from phase3_sst.point.contract import Point, engines
from phase3_sst.point.host_costs import host_description
from phase3_sst.point.placement import hosts, rank_order_of
from phase3_sst.point.point_experiment import PointExperiment

RUN_SCHEMA = "network-run/2"


def run_text(run: Mapping[str, Any]) -> str:
    """Return the run file as JSON; an infinite number or a NaN is an error that names its key."""
    _check_finite(run, "")
    return json.dumps(run, allow_nan=False)


def _check_finite(value: Any, place: str) -> None:
    if isinstance(value, Mapping):
        for key, entry in value.items():
            _check_finite(entry, f"{place}.{key}" if place else str(key))
    elif isinstance(value, list | tuple):
        for index, entry in enumerate(value):
            _check_finite(entry, f"{place}[{index}]")
    elif isinstance(value, float) and not math.isfinite(value):
        raise UsageError(
            "a number of the run is not finite",
            where=place,
            found=value,
            allowed="a finite number",
            remedy="correct the experiment's key that gives it",
        )


def run_description(point: Point, replicas: Sequence[int] | None = None) -> dict[str, Any]:
    """Return the run file of ``point`` for the given replicas (all of the point's when None)."""
    simulate = point.experiment.simulate
    chosen = point.chosen_replicas if replicas is None else replicas
    jobs = [main_job(point), *further_jobs(point)]
    _place(jobs, [simulate.placement, *(job.placement for job in simulate.jobs)], point.experiment)
    if not point.experiment.network.contention:
        # Jobs do not meet there. Where their messages cost nothing either, one in the background would hardly ever end.
        jobs = [job for job in jobs if not job.get("background")]
    return {
        **run_of(network_of(point.experiment), simulate.collectives, jobs, seed=point.seed, replicas=chosen),
        **_counters(simulate.counters),
    }


def network_of(experiment: PointExperiment | Resolved) -> Network:
    """Return the network of an experiment's points; an undecided ``flow_control: auto`` becomes the costlier choice.

    :mod:`phase3_sst.checks.flow_control` decides with trials. Where there were none, credits are never wrong.
    """
    network = experiment.network
    if network.flow_control != "auto":
        return network
    chooses = engines.get(experiment.simulate.engine).capabilities.chooses_flow_control
    return network.model_copy(update={"flow_control": "credits" if chooses and network.can_have_credits() else "none"})


def run_of(
    network: Network,
    collectives: CollectivesSection,
    jobs: Sequence[Mapping[str, Any]],
    *,
    seed: int,
    replicas: Sequence[int],
) -> dict[str, Any]:
    """Return the run file of ``jobs`` on ``network`` with ``collectives``."""
    return {
        "schema": RUN_SCHEMA,
        "jobs": [dict(job) for job in jobs],
        "network": network_description(network),
        "collectives": _collectives(collectives),
        "seed": seed,
        "replicas": list(replicas),
    }


def main_job(point: Point) -> dict[str, Any]:
    """Return the application under study as a job."""
    experiment = point.experiment
    return {
        "name": "main",
        "application": {
            "name": experiment.application.name,
            "parameters": experiment.application.parameters,
        },
        "nodes": point.nodes,
        "ranks_per_node": experiment.ranks_per_node,
        "timing_profile": None if point.timing_profile is None else str(point.timing_profile.resolve()),
        # A node that ran alone never executed the phases that only external communication triggers. They take no time
        # there.
        "missing_is_zero": point.technique.startswith("no-ext"),
        "class_of_rank": list(point.class_of_rank),
        "constant": point.technique.endswith("const"),
        **_draws(point),
        **_injection(experiment.simulate.injection),
    }


def _draws(point: Point) -> dict[str, bool]:
    """Return the settings for drawing the compute times of all jobs."""
    simulate = point.experiment.simulate
    return {"persistent": simulate.persistent, "tail": simulate.tail}


def further_jobs(point: Point) -> list[dict[str, Any]]:
    """Return the other jobs of the machine; their compute times are variable or constant like the point's."""
    return [
        {
            "name": job.name,
            "application": job.application.model_dump(mode="json"),
            "nodes": job.nodes,
            "ranks_per_node": job.ranks_per_node,
            "start_s": job.start,
            "background": job.background,
            "constant": point.technique.endswith("const"),
            **_draws(point),
            **({} if job.timing_profile is None else {"timing_profile": job.timing_profile}),
            **_injection(job.injection),
        }
        for job in point.experiment.simulate.jobs
    ]


def _injection(control: InjectionControl | None) -> dict[str, Any]:
    """Return the injection control of a job's NICs; empty without one."""
    if control is None or control.kind == "none":
        return {}
    return {"injection": {"window_s" if key == "window" else key: value for key, value in control}}


def refuse_injection(run: Mapping[str, Any], engine: str) -> None:
    """Refuse a run with injection control, for an engine that does not model it."""
    for job in run["jobs"]:
        if "injection" in job:
            raise UsageError(
                f"the engine {engine} has no injection control",
                where=f"job {job['name']}: injection",
                found=job["injection"]["kind"],
                allowed="none",
                remedy="choose engine: fast, or leave injection out",
            )


def _place(jobs: Sequence[dict[str, Any]], placements: Sequence[Placement], experiment: PointExperiment) -> None:
    """Assign nodes to the jobs, one job after the other."""
    room = experiment.network.room()
    taken: set[int] = set()
    for job, placement in zip(jobs, placements, strict=True):
        job["hosts"] = hosts(placement, job["nodes"], room, experiment.seed, taken, experiment.network)
        job.update(rank_order_of(placement, job["nodes"], job["ranks_per_node"]))
        taken.update(job["hosts"])


def _collectives(collectives: CollectivesSection) -> dict[str, Any]:
    segment = {} if collectives.segment is None else {"segment_bytes": round(collectives.segment)}
    return {**collectives.model_dump(mode="json", exclude={"segment"}), **segment}


def _counters(counters: CountersSection | None) -> dict[str, Any]:
    if counters is None:
        return {}
    return {"counters": {"interval_s": counters.interval, "per": counters.per}}


def network_description(network: Network) -> dict[str, Any]:
    """Return the run file's ``network``."""
    intranode = network.intranode
    return {
        "topology": network.topology.model_dump(mode="json"),
        "link": _link(network.link),
        "link_classes": {name: _link(link) for name, link in network.link_classes.items()},
        **({"slow_links": [link.model_dump(mode="json") for link in network.slow_links]} if network.slow_links else {}),
        "switch_latency_s": network.switch_latency,
        "chunk_bytes": round(network.chunk),
        "contention": network.contention,
        # Probes have no trials, and their closed formulas hold without credits.
        "flow_control": "none" if network.flow_control == "auto" else network.flow_control,
        **({} if network.most_chunks is None else {"most_chunks": network.most_chunks}),
        **{
            f"{key}_bytes": round(size)
            for key, size in (("input_buffer", network.input_buffer), ("output_buffer", network.output_buffer))
            if size is not None
        },
        "host": host_description(network.host),
        "intranode": {"latency_s": intranode.latency, "bandwidth_Bps": intranode.bandwidth},
    }


def _link(link: Link | LinkClass) -> dict[str, float]:
    return {"bandwidth_Bps": link.bandwidth, "latency_s": link.latency}
