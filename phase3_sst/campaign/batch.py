"""A batch of situations as a file: written by the command, simulated by one step of the workflow, on any machine.

The file (``congestion-batch/1``, JSON) holds all that its situations are made of; timing profiles are absolute paths
on the file system that the machines share. Reading gives back situations with the same digest, hence the same folders.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from manynode import tables
from manynode.config.network import Network
from manynode.config.quantities import RESOLVED
from phase3_sst.campaign.runs import Runs
from phase3_sst.campaign.situation import Member, Situation
from phase3_sst.point import folders

BATCH_SCHEMA = "congestion-batch/1"


def write_batch(path: Path, runs: Runs, situations: Sequence[Situation]) -> None:
    """Write ``situations`` on the machine of ``runs`` to ``path``."""
    content = {
        "network": _plain(runs.network_content),
        "simulate": _plain(runs.simulate),
        "seed": runs.seed,
        "confidence": runs.confidence,
        "situations": [_plain(asdict(situation)) for situation in situations],
    }
    tables.write_json(path, BATCH_SCHEMA, content)


def read_batch(path: Path, output: Path) -> tuple[Runs, list[Situation]]:
    """Return the machine, with results below ``output``, and the situations of the batch at ``path``."""
    content = tables.read_json(path, BATCH_SCHEMA)
    runs = Runs(
        network=Network.model_validate(content["network"], context=RESOLVED),
        network_content=content["network"],
        simulate=content["simulate"],
        seed=int(content["seed"]),
        confidence=float(content["confidence"]),
        workloads={},
        output=output,
    )
    return runs, [_situation(entry) for entry in content["situations"]]


def simulate_batch(path: Path, output: Path) -> None:
    """Simulate the situations of the batch at ``path`` that have no result yet; a failure does not stop the others."""
    runs, situations = read_batch(path, output)
    with folders.bound(output):
        for number, situation in enumerate(runs.missing(situations), start=1):
            print(f"{number}: {situation.name}", flush=True)
            runs.run(situation)


def _situation(entry: Mapping[str, Any]) -> Situation:
    members = [Member(**{**member, "timing_profile": _path(member["timing_profile"])}) for member in entry["members"]]
    return Situation(**{**entry, "members": members})


def _path(text: str | None) -> Path | None:
    return None if text is None else Path(text)


def _plain(value: Any) -> Any:
    """Return ``value`` in JSON's types: paths absolute, numbers of numpy as Python's."""
    if isinstance(value, Mapping):
        return {str(key): _plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple | range):
        return [_plain(entry) for entry in value]
    if isinstance(value, Path):
        return str(value.resolve())
    if hasattr(value, "tolist"):  # numpy's scalars and arrays
        return _plain(value.tolist())
    return value
