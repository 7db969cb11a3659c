"""The contract of a source of counters, and the choice between them.

A source gives the words before the application's command and the additional environment that count a rank's events.
Afterwards it reads the ranks' files in a folder. It starts nothing itself. To add a source, write a module in this
package with a class that implements :class:`CounterSource` and register it:

    @SOURCES.register("name")
    class Name(CounterSource): ...
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import pandas as pd

from manynode.config.resolved import ResolvedApplication
from manynode.errors import EngineFailedError, EngineMissingError, UsageError
from manynode.launch import Flavour
from manynode.measured_runs import SlowDown
from manynode.probe import Probe
from manynode.registry import Registry


@dataclass(frozen=True)
class CountedJob:
    """The job whose events are counted; its ranks write into the existing ``directory``.

    With ``ranks_per_node``, nodes are virtual: rank / ranks_per_node.
    """

    directory: Path
    flavour: Flavour
    ranks: int
    ranks_per_node: int | None = None
    threads: int = 1


class CounterSource(Protocol):
    """A way to count the events of each rank of an MPI job; ``slow_down`` is its typical cost."""

    slow_down: SlowDown

    def probe(self) -> Probe:
        """Return whether this host allows the source. Fast, and never raises."""

    def check(self, application: ResolvedApplication) -> None:
        """Refuse, as a :class:`~manynode.errors.UsageError`, a program whose events it cannot count."""

    def prefix(self, job: CountedJob) -> list[str]:
        """Return the words to put before the application's command.

        A missing program is an :class:`EngineMissingError`.
        """

    def environment(self, job: CountedJob) -> dict[str, str]:
        """Return what the ranks need in their environment; a library that is not built is an
        :class:`EngineMissingError`.
        """

    def explained(self, error: EngineFailedError, log: Path) -> EngineFailedError:
        """Return the error of a failed job, or a clearer one where its ``log`` tells the reason."""
        return error

    def read(self, directory: Path, ranks_per_node: int | None) -> pd.DataFrame:
        """Return rank, node, phase ("" for all compute phases together, then the named ones) and the counters it can
        tell.

        Counter columns are those of :data:`phase1_profile.counters.COUNTERS`, as floats, and further ones if the source
        has them; NaN is unknown. Output that is incomplete is an :class:`~manynode.errors.InputError`; output that
        shows that this host cannot count is an :class:`EngineMissingError`.
        """


SOURCES: Registry[Callable[[], CounterSource]] = Registry("source of counters", "phase1_profile.sources")

# What `auto` tries, best first. perf_stat is left out: it counts busy waiting as work.
AUTOMATIC = ("perf_event", "qemu", "callgrind")


def choose_source(wanted: str, application: ResolvedApplication | None = None) -> tuple[str, str]:
    """Return the name of the source to use and the reason, for ``wanted``: a source's name or ``auto``.

    A source asked for by name that this host does not allow, or no usable source at all, is an
    :class:`EngineMissingError`. One asked for by name that cannot count ``application`` is a :class:`UsageError`.
    """
    refused: list[str] = []
    remedy: str | None = None
    for name in AUTOMATIC if wanted == "auto" else (wanted,):
        source = SOURCES.get(name)()
        probe = source.probe()
        if probe.available:
            try:
                if application is not None:
                    source.check(application)
            except UsageError as error:
                if wanted != "auto":
                    raise
                refused.append(f"{name} cannot be used: {error.what}: {error.found}")
                remedy = error.remedy
                continue
            if wanted != "auto":
                return name, "asked for by name"
            return name, "; ".join([*refused, f"{name} can be used"])
        refused.append(f"{name} cannot be used: {probe.found}")
        remedy = probe.remedy
    raise EngineMissingError(
        "no source can count the ranks' events on this host"
        if wanted == "auto"
        else f"the source {wanted} cannot be used",
        where="profile: source",
        found="; ".join(refused),
        allowed="auto, " + ", ".join(SOURCES.names()),
        remedy=remedy,
    )
