"""What a question may change: the network and phase 3's settings, and nothing that names a file or a program.

A question may come from a browser. What was measured needs a measurement, not a question, and a path or a command in a
question would let a page read files or start programs.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from manynode.config.application import DERIVED, REPLAY
from manynode.config.resolved import OF_PAGES, Resolved
from manynode.config.study_section import section_keys
from manynode.errors import UsageError

MACHINE, NETWORK = "machine", "network"
_MEASURED = ("application", "ranks_per_node", "machine", "profile", "nodesim", "own_times", "seed")
_MEMBERS = {"nodes": "nodes", "techniques": "technique", "scaling": "losses"}
_FIXED = ("name", *OF_PAGES)
_PLAIN_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
# The rest of the section names programs and folders, or takes cores that are not the explorer's.
_OF_SST = ("collectives", "flit", "input_buffer", "output_buffer")


def check_changes(changes: Mapping[str, Any], base: Resolved) -> None:
    """Raise :class:`UsageError` for a change that no question may make."""
    for key, value in changes.items():
        section, _, rest = key.partition(".")
        if key == MACHINE:
            _check_name(key, value, "one of the measured machines (see the control)")
        elif section in _MEASURED:
            raise UsageError(
                "this key belongs to what was measured",
                where=key,
                found=repr(value)[:200],
                allowed="keys of network and simulate",
                remedy="change it in the experiment's file and run that: manynode run; then explore its results, or "
                "choose its machine here if only the machine differs",
            )
        elif section in _MEMBERS:
            member = _MEMBERS[section]
            raise UsageError("this key has a place of its own in a question", where=key, allowed=f"member {member!r}")
        elif section in section_keys() or section in _FIXED:
            raise UsageError(
                "a question cannot change this key",
                where=key,
                allowed="keys of network and simulate",
                remedy="export the experiment and add it there",
            )
        elif key == NETWORK and isinstance(value, str):
            _check_name(key, value, "a name of the catalogue (configs/networks/), without a path")
            if value.endswith((".yaml", ".yml")):
                raise UsageError("a question names no files", where=key, found=value, allowed="a name of the catalogue")
        elif section == "simulate":
            _check_simulate(key, rest, value, base)
        elif section != NETWORK:
            raise UsageError(
                "no such key can be changed",
                where=key,
                allowed="keys of network and simulate, such as network.link.bandwidth",
                remedy="'manynode config default' prints every key",
            )


def check_jobs(simulate: Mapping[str, Any], base: Resolved) -> None:
    """Raise :class:`UsageError` for other jobs that read files which the base does not read.

    ``simulate`` is the section as a file has it, with the changes.
    """
    given = simulate.get("jobs") or []
    known = {job.timing_profile for job in base.simulate.jobs}
    applications = [job.application.model_dump(mode="json") for job in base.simulate.jobs]
    for index, job in enumerate(given if isinstance(given, list) else []):
        if not isinstance(job, Mapping):
            continue
        where = f"simulate.jobs.{index}"
        if (profile := job.get("timing_profile")) is not None and profile not in known:
            raise UsageError(
                "a question names no files",
                where=f"{where}.timing_profile",
                found=repr(profile)[:200],
                allowed="none, or a timing profile of the base's jobs",
                remedy="add the job to the experiment's file and run that",
            )
        application = job.get("application")
        if application in applications or not isinstance(application, Mapping):
            continue
        name = application.get("name")
        if not isinstance(name, str) or not _PLAIN_NAME.fullmatch(name) or name in (REPLAY, DERIVED):
            raise UsageError(
                "a question names no files",
                where=f"{where}.application.name",
                found=repr(name)[:200],
                allowed="an application of skeletons/ that reads no file",
                remedy="add the job to the experiment's file and run that",
            )


def _check_simulate(key: str, rest: str, value: Any, base: Resolved) -> None:
    first, _, inner = rest.partition(".")
    if not rest or rest == "sst" or (first == "sst" and inner not in _OF_SST):
        allowed = f"simulate.sst.{', '.join(_OF_SST)}" if first == "sst" else "single keys, such as simulate.replicas"
        raise UsageError("a question cannot change this section as a whole", where=key, allowed=allowed)
    if first == "preflight" and inner != "enabled":
        raise UsageError("a question cannot change this key", where=key, allowed="simulate.preflight.enabled")
    resamples = base.simulate.profile_bootstrap
    if first == "profile_bootstrap" and value not in (0, resamples):
        raise UsageError(
            "the timing profile has no such resamples",
            where=key,
            found=repr(value),
            allowed=f"0 or {resamples}, as the base has" if resamples else "0: the base has none",
            remedy="set it in the base's file and run that again: finished steps are kept",
        )


def _check_name(key: str, value: Any, allowed: str) -> None:
    if not isinstance(value, str) or not _PLAIN_NAME.fullmatch(value) or len(value) > 100:
        raise UsageError("a question names no files", where=key, found=repr(value)[:200], allowed=allowed)
