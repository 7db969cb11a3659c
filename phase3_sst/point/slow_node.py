"""One slow node: its ranks draw from a slower copy of their class.

In: a :class:`Point` of an experiment with ``simulate: slow_node``. Out: the point with a timing profile that has a
class ``NAME, slow`` beside each class of that node, and with matching rank classes. Every engine can simulate it, since
engines only know classes. The draws keep their numbers, and runs with and without the slow node are paired.
"""

from __future__ import annotations

import contextlib
import dataclasses
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from manynode.config.simulate import SlowNodeSection
from manynode.errors import UsageError
from manynode.timing_profile import ClassTimes, read_timing_profile, write_timing_profile
from phase3_sst.point.contract import Point
from phase3_sst.point.placement import own_node


@contextlib.contextmanager
def slowed(point: Point, folder: Path) -> Iterator[Point]:
    """Yield the point with its slow node, if any; its modified timing profile is in ``folder`` during the context.

    A slow node outside the job is a :class:`UsageError`.
    """
    simulate = point.experiment.simulate
    node, factor = simulate.slow_node.node, simulate.slow_node.factor
    check_slow_node(simulate.slow_node, point.nodes)
    if factor == 1 or point.timing_profile is None:
        yield point
        return
    each = point.experiment.ranks_per_node
    on_it = [own_node(simulate.placement, rank, point.nodes, each) == node for rank in range(point.ranks)]
    classes = list(zip(point.class_of_rank, on_it, strict=True))
    names = {name for name, slow in classes if slow}
    read = read_timing_profile(point.timing_profile)
    slow_classes = [longer(entry, factor) for entry in read.classes if entry.name in names]
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".slow-node.", dir=folder) as scratch:
        path = Path(scratch) / "timing-profile.json"
        write_timing_profile(path, read.model_copy(update={"classes": [*read.classes, *slow_classes]}))
        assigned = [_slow(name) if slow else name for name, slow in classes]
        yield dataclasses.replace(point, timing_profile=path, class_of_rank=assigned)


def check_slow_node(section: SlowNodeSection, nodes: int) -> None:
    """Refuse a slow node outside a job of ``nodes`` nodes, whatever its factor."""
    node = section.node
    if node >= nodes:
        raise UsageError(
            "the slow node does not belong to the job",
            where="simulate: slow_node: node",
            found=node,
            allowed=f"0 to {nodes - 1}, for the job of {nodes} nodes",
            remedy="choose a node that exists at every entry of 'nodes', or leave out the small ones",
        )


def _slow(name: str) -> str:
    return f"{name}, slow"


def longer(entry: ClassTimes, factor: float) -> ClassTimes:
    """Return the class under its slow name, with times multiplied by ``factor`` and variances by its square."""
    return ClassTimes.model_validate({**_scaled(entry.model_dump(), factor), "name": _slow(entry.name)})


def _scaled(value: Any, factor: float, name: str = "") -> Any:
    """Return the part of a profile with scaled times (names ending in _s) and variances (names ending in _s2)."""
    if isinstance(value, dict):
        return {key: _scaled(entry, factor, key) for key, entry in value.items()}
    if isinstance(value, list):
        return [_scaled(entry, factor, name) for entry in value]
    if value is None:  # not known
        return None
    if name.endswith("_s2"):
        return factor**2 * value
    return factor * value if name.endswith("_s") else value
