"""One slow node: its ranks draw from a copy of their class whose times are longer.

In: a resolved experiment (``simulate: slow_node``), the timing profile and the class of each rank. Out: a timing
profile with a class ``NAME, slow`` beside each class of that node, and the ranks' classes with these. All engines
simulate it, because they know classes only; the draws stay the same numbers, so that runs with and without are paired.
"""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from manynode.errors import UsageError
from manynode.timing_profile import ClassTimes, TimingProfile, read_timing_profile, write_timing_profile


@contextlib.contextmanager
def slowed(
    content: Mapping[str, Any], nodes: int, profile: Path, class_of_rank: Sequence[str], folder: Path
) -> Iterator[tuple[Path, list[str]]]:
    """Yield the timing profile and the class of each rank with the slow node; a file of its own lives in ``folder``.

    A node that the job does not have is a :class:`UsageError`.
    """
    section = content["simulate"]["slow_node"]
    if section["factor"] == 1:
        yield profile, list(class_of_rank)
        return
    if section["node"] >= nodes:
        raise UsageError(
            "the slow node is none of the job's",
            where="simulate: slow_node: node",
            found=section["node"],
            allowed=f"0 to {nodes - 1}",
        )
    cyclic = content["simulate"]["placement"]["rank_order"] == "cyclic"
    each = content["ranks_per_node"]
    on_it = [(rank % nodes if cyclic else rank // each) == section["node"] for rank in range(nodes * each)]
    names = {name for name, slow in zip(class_of_rank, on_it, strict=True) if slow}
    assigned = [_slow(name) if slow else name for name, slow in zip(class_of_rank, on_it, strict=True)]
    read = read_timing_profile(profile)
    slow_classes = [longer(entry, section["factor"]) for entry in read.classes if entry.name in names]
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".slow-node.", dir=folder) as scratch:
        path = Path(scratch) / "timing-profile.json"
        write_timing_profile(
            path, TimingProfile.model_validate({**dict(read), "classes": [*read.classes, *slow_classes]})
        )
        yield path, assigned


def _slow(name: str) -> str:
    return f"{name}, slow"


def longer(entry: ClassTimes, factor: float) -> ClassTimes:
    """Return the class with all times ``factor`` times as long (and variances by its square), under its slow name."""
    phases = []
    for phase in entry.phases:
        clusters = [
            cluster.model_copy(
                update={
                    "mean_s": factor * cluster.mean_s,
                    "cdf": cluster.cdf.model_copy(update={"time_s": [factor * time for time in cluster.cdf.time_s]}),
                }
            )
            for cluster in phase.clusters
        ]
        variance = phase.variance.model_copy(
            update={name: factor**2 * value for name, value in phase.variance.model_dump().items()}
        )
        phases.append(
            phase.model_copy(update={"mean_s": factor * phase.mean_s, "clusters": clusters, "variance": variance})
        )
    return entry.model_copy(update={"name": _slow(entry.name), "phases": phases})
