"""Skeletons of other jobs in an experiment, with their parameters filled in.

Every skeleton, also that of the traffic patterns, is described by its ``application.yaml``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from manynode import process
from manynode.config.application import DERIVED, REPLAY, read_application
from manynode.config.application_section import ApplicationSection
from manynode.errors import EngineFailedError
from manynode.native_errors import reported_error
from manynode.paths import native_program

_PROGRAM = "manynode-skeleton"


def resolve_skeleton(name: str, parameters: dict[str, Any], where: str) -> dict[str, Any]:
    """Return all parameters of the skeleton ``name``; an unknown name or parameter is a :class:`UsageError`."""
    return read_application(name, where).resolve(parameters, where)


def phases_of_ranks(application: ApplicationSection, ranks: int) -> dict[int, dict[str, int]]:
    """Return :func:`executions` of a recording or a derived skeleton.

    Empty for skeletons written by hand, in which all ranks execute the same phases.
    """
    return executions(application.name, application.parameters, ranks) if application.name in (REPLAY, DERIVED) else {}


def executions(application: str, parameters: Mapping[str, Any], ranks: int) -> dict[int, dict[str, int]]:
    """Return how often each rank of a job of ``ranks`` ranks executes each compute phase.

    Empty where the skeleton does not have this number of ranks: a recording has one.
    """
    words = ["stream", "--app", application, "--parameters", json.dumps(dict(parameters))]
    program = native_program(_PROGRAM)
    done = process.run([program, *words, "--ranks", str(ranks), "--sink", "phases"], what=_PROGRAM, check=False)
    if done.returncode != 0:
        return {}  # phase 3 names the mistake if the experiment projects this number of ranks
    found: dict[int, dict[str, int]] = {rank: {} for rank in range(ranks)}
    for line in done.output.splitlines():
        rank, times, phase = line.split(" ", 2)
        found[int(rank)][phase] = int(times)
    return found


def check_skeleton(application: str, parameters: Mapping[str, Any], ranks: Sequence[int], where: str) -> None:
    """Raise :class:`UsageError` at ``where`` if an application refuses its parameters on one of these rank counts.

    A missing native build is an :class:`EngineMissingError`.
    """
    options = ["--app", application, "--parameters", json.dumps(dict(parameters)), "--ranks", *map(str, ranks)]
    done = process.run([native_program(_PROGRAM), "check", *options], what=_PROGRAM, check=False)
    if done.returncode == 0:
        return
    accepted = set(done.output.splitlines())
    refused = next((count for count in ranks if str(count) not in accepted), ranks[-1])
    what = f"{where}: {application} on {refused} rank{'' if refused == 1 else 's'}"
    raise reported_error(done, what) or EngineFailedError(f"{what} cannot be checked", details=done.output)
