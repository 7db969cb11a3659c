"""The variants of a sensitivity study: the resolved experiment with other values of the varied parameters.

In: a resolved experiment with a section ``sensitivity``. Out: :class:`Variant` in the order of the plan; the same
experiment gives the same variants. A value that the experiment does not allow is a :class:`UsageError`.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from manynode.config.sensitivity import SensitivityParameter, SensitivitySection, Value
from manynode.config.variation import value_of, with_value
from manynode.errors import UsageError

if TYPE_CHECKING:
    from manynode.config.experiment import Technique
    from manynode.config.resolved import Resolved

_WHERE = "sensitivity: parameters"


@dataclass(frozen=True)
class Variant:
    """One variant: its ``settings`` (parameter -> value as written) and its ``changes`` (key, value)."""

    name: str
    settings: dict[str, Value]
    changes: Sequence[tuple[str, Value | None]]

    def applied(self, base: Resolved) -> Resolved:
        """Return the experiment ``base`` with the changes; a network file is applied first."""
        for key, value in sorted(self.changes, key=lambda change: change[0] != "network"):
            base = with_value(base, key, value, _WHERE)
        return base


def variants(experiment: Resolved) -> list[Variant]:
    """Return the study's variants; without a section ``sensitivity`` there are none."""
    study = experiment.sensitivity
    if study is None:
        return []
    parameters = study.parameters
    planned: list[dict[str, Value]]
    if study.plan == "sobol":
        planned = list(_sobol(experiment, study))
    elif study.plan == "grid":
        values = [parameter.values for parameter in parameters.values()]
        planned = [dict(zip(parameters, combination, strict=True)) for combination in itertools.product(*values)]
    else:
        planned = [{name: value} for name, parameter in parameters.items() for value in parameter.values]
    found = []
    names: set[str] = set()
    for number, settings in enumerate(planned):
        name = f"sample-{number:05d}" if study.plan == "sobol" else _name(settings)
        if name in names:
            name = f"{name}-{number}"
        names.add(name)
        changes = [(key, value) for setting, value in settings.items() for key in parameters[setting].keys]
        found.append(Variant(name, settings, changes))
    return found


def confirmed(experiment: Resolved) -> list[Variant]:
    """Return the variants to simulate again with another engine; without ``confirm`` there are none."""
    study = experiment.sensitivity
    if study is None or study.confirm is None:
        return []
    planned = variants(experiment)
    if study.confirm.points == "all":
        return planned
    corners = {name: _ends(experiment, parameter) for name, parameter in study.parameters.items()}
    return [
        variant
        for variant in planned
        if all(any(value == end for end in corners[name]) for name, value in variant.settings.items())
    ]


def confirmed_points(experiment: Resolved) -> list[str]:
    """Return the folders of the points that are simulated again, relative to the experiment's results."""
    return [
        f"confirm/{variant.name}/{technique}/nodes-{nodes}"
        for variant in confirmed(experiment)
        for technique in study_techniques(experiment)
        for nodes in study_nodes(experiment)
    ]


def with_confirming_engine(experiment: Resolved) -> Resolved:
    """Return the experiment with the engine and the replicas of ``sensitivity: confirm``, which it must have."""
    study, simulate = experiment.sensitivity, experiment.simulate
    assert study is not None and study.confirm is not None
    # Replicas are numbered from 0 and draw by their number: the first ones equal those of the study.
    replicas = min(simulate.replicas, study.confirm.replicas or simulate.replicas)
    changed = simulate.model_copy(update={"engine": study.confirm.engine, "replicas": replicas})
    return experiment.model_copy(update={"simulate": changed})


def _ends(experiment: Resolved, parameter: SensitivityParameter) -> list[Value]:
    """Return the smallest and the largest value of a parameter as written; for texts, which have no order, all."""
    key, values = parameter.keys[0], list(parameter.values)
    if key == "network":
        return values
    sizes = [value_of(with_value(experiment, key, value, _WHERE), key) for value in values]
    if any(isinstance(size, (str, bool)) or size is None for size in sizes):
        return values
    return [values[sizes.index(min(sizes))], values[sizes.index(max(sizes))]]


def check_variants(experiment: Resolved) -> None:
    """Check every value of a study and whether its nodes fit the network; a mistake is a :class:`UsageError`."""
    study = experiment.sensitivity
    if study is None:
        return
    nodes = max(study_nodes(experiment)) + experiment.simulate.job_nodes()
    for technique in study.techniques:
        if technique not in experiment.techniques:
            raise UsageError(
                "a study's technique is not among the experiment's",
                where="sensitivity: techniques",
                found=technique,
                allowed=", ".join(experiment.techniques),
            )
    for name, parameter in study.parameters.items():
        ends = [end for end in (parameter.low, parameter.high) if end is not None]
        for value in parameter.values or ends:
            room = Variant(name, {}, [(key, value) for key in parameter.keys]).applied(experiment).network.room()
            if nodes > room:
                raise UsageError(
                    "a study's nodes do not fit the network",
                    where=f"{_WHERE}: {name}: {value}",
                    found=f"{nodes} nodes",
                    allowed=f"{room} nodes",
                    remedy="lower sensitivity: nodes, or leave this value out",
                )
        if not parameter.values:
            low, high = _bounds(experiment, parameter)
            if not 0 <= low < high or (low == 0 and parameter.scale == "log"):
                raise UsageError(
                    "a range is empty or not positive",
                    where=f"{_WHERE}: {name}",
                    found=f"{parameter.low} to {parameter.high}",
                    allowed="low < high, and above 0 on a logarithmic scale",
                )


def study_nodes(experiment: Resolved) -> list[int]:
    """Return the node counts of the study: its own, or the largest of the experiment."""
    assert experiment.sensitivity is not None
    return list(experiment.sensitivity.nodes or [max(experiment.nodes)])


def study_techniques(experiment: Resolved) -> list[Technique]:
    """Return the techniques of the study: its own, or all of the experiment."""
    assert experiment.sensitivity is not None
    return list(experiment.sensitivity.techniques or experiment.techniques)


def setting_value(experiment: Resolved, variant: Variant, parameter: str) -> float | str:
    """Return the value of a parameter in a variant: a quantity in SI units, anything else as text."""
    assert experiment.sensitivity is not None
    key = experiment.sensitivity.parameters[parameter].keys[0]
    if key == "network":
        given = variant.settings.get(parameter)
        return str(experiment.network.name if given is None else given)
    # The first key is enough: reading it in its section converts its unit.
    own = Variant(variant.name, {}, [(k, v) for k, v in variant.changes if k in ("network", key)])
    value = value_of(own.applied(experiment), key)
    return str(value) if isinstance(value, (str, bool)) or value is None else float(value)


def problem(experiment: Resolved) -> dict[str, Any]:
    """Return the ranges of a Sobol study for SALib; a list of values becomes a range of positions in it."""
    assert experiment.sensitivity is not None
    names, bounds = [], []
    for name, parameter in experiment.sensitivity.parameters.items():
        names.append(name)
        if parameter.values:
            bounds.append([0.0, float(len(parameter.values))])
        elif parameter.scale == "log":
            bounds.append([math.log(value) for value in _bounds(experiment, parameter)])
        else:
            bounds.append(list(_bounds(experiment, parameter)))
    return {"num_vars": len(names), "names": names, "bounds": bounds}


def _sobol(experiment: Resolved, study: SensitivitySection) -> Iterator[dict[str, Value]]:
    """Yield Saltelli's sample (first and total order): ``samples`` times (parameters + 2) settings, in SI units."""
    from SALib.sample import sobol

    rows = sobol.sample(problem(experiment), study.samples, calc_second_order=False, seed=experiment.seed % 2**32)
    for row in rows:
        settings: dict[str, Value] = {}
        for (name, parameter), position in zip(study.parameters.items(), row, strict=True):
            values = parameter.values
            if values:
                settings[name] = values[min(int(position), len(values) - 1)]
            else:
                settings[name] = float(math.exp(position) if parameter.scale == "log" else position)
        yield settings


def _bounds(experiment: Resolved, parameter: SensitivityParameter) -> tuple[float, float]:
    """Return the range of a parameter in SI units."""
    key = parameter.keys[0]
    low, high = (value_of(with_value(experiment, key, end, _WHERE), key) for end in (parameter.low, parameter.high))
    return float(low), float(high)


def _name(settings: Mapping[str, Any]) -> str:
    """Return a folder name that shows the settings."""
    text = ",".join(f"{name}={value}" for name, value in settings.items())
    return re.sub(r"[^A-Za-z0-9.,=+-]+", "_", text)[:150]
