"""Fits the network of an experiment to its measured collectives, by simulating them.

In: a resolved experiment with ``validation: collectives``, an engine, and which rows the fit may see. Out: a
:class:`CollectiveFit`: the solution, and the comparison of all rows, seen or not.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from manynode.config.network import Network
from manynode.config.quantities import RESOLVED
from manynode.config.resolved import Resolved
from manynode.errors import InputError
from phase3_sst.calibration.collective_fit.parameters import Parameter, parameters_of, with_values
from phase3_sst.calibration.collective_fit.solve import Solution, solve
from phase3_sst.point.contract import NetworkEngine
from phase3_sst.studies.validation.collectives import compare

if TYPE_CHECKING:
    import pandas as pd

# Fewer rows than parameters can still be fitted (the base network decides the rest), but not by a handful.
FEWEST = 12


@dataclass(frozen=True)
class CollectiveFit:
    """The result: the network in SI units, its parameters and solution, the comparison with a column ``held_out``."""

    network: dict[str, Any]
    parameters: tuple[Parameter, ...]
    solution: Solution
    comparison: pd.DataFrame


def fit_collectives(
    experiment: Resolved,
    engine: NetworkEngine,
    held: Sequence[bool],
    processes: int,
    progress: Callable[[str], None] = lambda _: None,
) -> CollectiveFit:
    """Return the network whose simulation takes the measured times of the rows that are not ``held`` out."""
    assert experiment.validation is not None
    rows = experiment.validation.collectives
    seen = [row for row, out in zip(rows, held, strict=True) if not out]
    if len(seen) < FEWEST:
        raise InputError(
            "too few measured collectives for a fit",
            found=f"{len(seen)} that the fit may see",
            allowed=f"at least {FEWEST}, of several algorithms and from a few bytes to some MiB",
        )
    network = experiment.network.model_dump(mode="json")
    parameters = parameters_of(network)
    measured = np.array([row.seconds for row in seen])

    def simulate(vectors: Sequence[NDArray[np.float64]]) -> list[NDArray[np.float64]]:
        found = []
        for vector in vectors:
            changed = _changed(experiment, with_values(network, parameters, [float(value) for value in vector]), seen)
            found.append(compare(changed, engine, processes)["simulated_s"].to_numpy(dtype=np.float64))
        progress(f"{len(vectors)} networks simulated, {len(seen)} collectives each")
        return found

    solution = solve(simulate, measured, parameters)
    best = with_values(network, parameters, [float(value) for value in solution.values])
    comparison = compare(_changed(experiment, best, rows), engine, processes)
    return CollectiveFit(best, parameters, solution, comparison.assign(held_out=list(held)))


def _changed(experiment: Resolved, network: dict[str, Any], rows: Sequence[Any]) -> Resolved:
    """Return the experiment with another network and only ``rows`` of the measurements."""
    assert experiment.validation is not None
    validation = experiment.validation.model_copy(update={"collectives": list(rows)})
    read = Network.model_validate(network, context=RESOLVED)
    return experiment.model_copy(update={"network": read, "validation": validation})
