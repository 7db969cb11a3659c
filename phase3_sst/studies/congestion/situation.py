"""A situation: jobs on given nodes of one machine, simulated once. Every congestion study consists of situations.

In: a :class:`Situation`, the network and the settings of phase 3. Out: a point of the engines' contract
(:mod:`phase3_sst.point.contract`), which every engine simulates alike. The name of a situation's folder has the digest
of everything that its result depends on. A finished situation is found by it, and a changed one gets another folder.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from manynode.input_file import file_digest
from phase3_sst.point.contract import Point
from phase3_sst.point.point_experiment import PointExperiment

DIGITS = 12
# Keys of the section simulate that do not change results.
_NO_RESULT = ("confidence", "time_limit", "preflight", "profile_bootstrap")


@dataclass(frozen=True)
class Member:
    """One job of a situation.

    ``hosts`` are nodes of the machine, one for each node of the job; ``slots``, if not empty, has a slot for each rank
    (slot s is on node s / ranks_per_node of the job), else ranks fill one node after the other. ``timing_profile``
    None: computing takes no time. A ``background`` job restarts until all others have ended. ``injection`` is its
    injection control (``simulate: jobs: injection``), None: none.
    """

    name: str
    application: str
    parameters: Mapping[str, Any]
    hosts: Sequence[int]
    ranks_per_node: int = 1
    timing_profile: Path | None = None
    background: bool = False
    start_s: float = 0.0
    injection: Mapping[str, Any] | None = None
    slots: Sequence[int] = ()


@dataclass(frozen=True)
class Situation:
    """Jobs side by side; the first is the one under study and runs once.

    ``seed`` is that of the draws: situations with the same seed draw the same compute times. ``counters`` is
    ``simulate: counters`` (interval [s], per class or link), None: sums over the run alone. ``network`` overrides the
    study's, in the engines' form.
    """

    name: str
    members: Sequence[Member]
    seed: int
    counters: Mapping[str, Any] | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    network: Mapping[str, Any] | None = None

    def content(self, network: Mapping[str, Any], simulate: Mapping[str, Any]) -> dict[str, Any]:
        """Return what the engines read of a resolved experiment: the situation on its own network, or else ``network``.

        ``settings`` are changes of the section ``simulate``; its jobs and placement are the situation's.
        """
        first, *others = self.members
        return {
            "application": {"name": first.application, "parameters": dict(first.parameters)},
            "ranks_per_node": first.ranks_per_node,
            "nodes": [len(first.hosts)],
            "seed": self.seed,
            "network": dict(network if self.network is None else self.network),
            "simulate": {
                **simulate,
                **self.settings,
                "replicas": 1,
                "counters": None if self.counters is None else dict(self.counters),
                "placement": _on(first),
                "injection": None if first.injection is None else dict(first.injection),
                "jobs": [_job(member) for member in others],
            },
        }

    def digest(self, network: Mapping[str, Any], simulate: Mapping[str, Any]) -> str:
        """Return the digest of everything that the result depends on: no limits, timing profiles by their bytes."""
        profiles = [
            None if member.timing_profile is None else file_digest(member.timing_profile) for member in self.members
        ]
        content = self.content(network, simulate)
        for job in content["simulate"]["jobs"]:
            job["timing_profile"] = None
        for key in _NO_RESULT:
            content["simulate"].pop(key, None)
        text = json.dumps([content, profiles], sort_keys=True, default=_plain)
        return hashlib.sha256(text.encode()).hexdigest()[:DIGITS]

    def point(self, network: Mapping[str, Any], simulate: Mapping[str, Any]) -> Point:
        """Return the situation as a point; ranks are of the timing profile's first class."""
        content, first = self.content(network, simulate), self.members[0]
        ranks = len(first.hosts) * first.ranks_per_node
        classes = ["0"] * ranks
        experiment = PointExperiment.read(json.loads(json.dumps(content, default=_plain)))
        profile = first.timing_profile
        return Point(experiment, len(first.hosts), "ext-var", profile, classes, self.seed, variant=self.name)


def _plain(value: Any) -> Any:
    """Return a number of numpy as the same number of Python, which has the same digest."""
    return value.tolist() if hasattr(value, "tolist") else str(value)


def _on(member: Member) -> dict[str, Any]:
    ranks = {"rank_order": "listed", "slots": list(member.slots)} if member.slots else {"rank_order": "block"}
    return {"nodes": "listed", "hosts": list(member.hosts), "stride": 1, "offset": 0, **ranks}


def _job(member: Member) -> dict[str, Any]:
    return {
        "name": member.name,
        "application": {"name": member.application, "parameters": dict(member.parameters)},
        "nodes": len(member.hosts),
        "ranks_per_node": member.ranks_per_node,
        "placement": _on(member),
        "start": member.start_s,
        "background": member.background,
        "timing_profile": None if member.timing_profile is None else str(member.timing_profile.resolve()),
        "injection": None if member.injection is None else dict(member.injection),
    }
