"""The variants of a sensitivity study: the resolved experiment with other values of the varied parameters.

In: a resolved experiment with a section ``sensitivity``. Out: :class:`Variant` in the order of the plan; the same
experiment gives the same variants. A value that the experiment does not allow is a :class:`UsageError`.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from manynode.config.variation import value_of, with_value
from manynode.errors import UsageError

_WHERE = "sensitivity: parameters"


@dataclass(frozen=True)
class Variant:
    """One variant: its ``settings`` (parameter -> value as written) and its ``changes`` (key, value)."""

    name: str
    settings: dict[str, Any]
    changes: list[tuple[str, Any]]

    def content(self, base: Mapping[str, Any]) -> dict[str, Any]:
        """Return the resolved experiment ``base`` with the changes."""
        return changed(base, self.changes)


def changed(base: Mapping[str, Any], changes: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """Return the resolved experiment ``base`` with ``changes``; a network file is applied first."""
    content = json.loads(json.dumps(base))
    for key, value in sorted(changes, key=lambda change: change[0] != "network"):
        content = with_value(content, key, value, _WHERE)
    return dict(content)


def variants(content: Mapping[str, Any]) -> list[Variant]:
    """Return the study's variants; without a section ``sensitivity`` there are none."""
    section = content.get("sensitivity")
    if not section:
        return []
    parameters: dict[str, dict[str, Any]] = section["parameters"]
    if section["plan"] == "sobol":
        planned = list(_sobol(content, parameters, section["samples"]))
    elif section["plan"] == "grid":
        values = [parameter["values"] for parameter in parameters.values()]
        planned = [dict(zip(parameters, combination, strict=True)) for combination in itertools.product(*values)]
    else:
        planned = [{name: value} for name, parameter in parameters.items() for value in parameter["values"]]
    found = []
    names: set[str] = set()
    for number, settings in enumerate(planned):
        name = f"sample-{number:05d}" if section["plan"] == "sobol" else _name(settings)
        if name in names:
            name = f"{name}-{number}"
        names.add(name)
        changes = [(key, value) for setting, value in settings.items() for key in parameters[setting]["keys"]]
        found.append(Variant(name, settings, changes))
    return found


def confirmed(content: Mapping[str, Any]) -> list[Variant]:
    """Return the variants to simulate again with another engine; without ``confirm`` there are none."""
    section = content.get("sensitivity")
    if not section or not section.get("confirm"):
        return []
    planned = variants(content)
    if section["confirm"]["points"] == "all":
        return planned
    corners = {name: _ends(content, parameter) for name, parameter in section["parameters"].items()}
    return [
        variant
        for variant in planned
        if all(any(value == end for end in corners[name]) for name, value in variant.settings.items())
    ]


def confirmed_points(content: Mapping[str, Any]) -> list[str]:
    """Return the folders of the points that are simulated again, relative to the experiment's results."""
    return [
        f"confirm/{variant.name}/{technique}/nodes-{nodes}"
        for variant in confirmed(content)
        for technique in study_techniques(content)
        for nodes in study_nodes(content)
    ]


def with_confirming_engine(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return the resolved experiment with the engine and the replicas of ``sensitivity: confirm``."""
    confirm = content["sensitivity"]["confirm"]
    simulate = {**content["simulate"], "engine": confirm["engine"]}
    # Replicas are numbered from 0 and draw by their number: the first ones equal those of the study.
    simulate["replicas"] = min(simulate["replicas"], confirm["replicas"] or simulate["replicas"])
    return {**content, "simulate": simulate}


def _ends(content: Mapping[str, Any], parameter: Mapping[str, Any]) -> list[Any]:
    """Return the smallest and the largest value of a parameter as written; for texts, which have no order, all."""
    key, values = parameter["keys"][0], list(parameter["values"])
    if key == "network":
        return values
    sizes = [value_of(changed(content, [(key, value)]), key) for value in values]
    if any(isinstance(size, (str, bool)) or size is None for size in sizes):
        return values
    return [values[sizes.index(min(sizes))], values[sizes.index(max(sizes))]]


def check_variants(content: dict[str, Any]) -> None:
    """Check every value of a study and whether its nodes fit the network; a mistake is a :class:`UsageError`."""
    from manynode.config.resolved import resolve_json

    section = content.get("sensitivity")
    if not section:
        return
    nodes = max(study_nodes(content)) + sum(job["nodes"] for job in content["simulate"]["jobs"])
    for technique in section["techniques"]:
        if technique not in content["techniques"]:
            raise UsageError(
                "a study's technique is not among the experiment's",
                where="sensitivity: techniques",
                found=technique,
                allowed=", ".join(content["techniques"]),
            )
    for name, parameter in section["parameters"].items():
        for value in parameter["values"] or [parameter["low"], parameter["high"]]:
            varied = changed(content, [(key, value) for key in parameter["keys"]])
            room = resolve_json(varied, _WHERE).model.network.room()
            if nodes > room:
                raise UsageError(
                    "a study's nodes do not fit the network",
                    where=f"{_WHERE}: {name}: {value}",
                    found=f"{nodes} nodes",
                    allowed=f"{room} nodes",
                    remedy="lower sensitivity: nodes, or leave this value out",
                )
        if not parameter["values"]:
            low, high = _bounds(content, parameter)
            if not 0 <= low < high or (low == 0 and parameter["scale"] == "log"):
                raise UsageError(
                    "a range is empty or not positive",
                    where=f"{_WHERE}: {name}",
                    found=f"{parameter['low']} to {parameter['high']}",
                    allowed="low < high, and above 0 on a logarithmic scale",
                )


def study_nodes(content: Mapping[str, Any]) -> list[int]:
    """Return the node counts of the study: its own, or the largest of the experiment."""
    return list(content["sensitivity"]["nodes"] or [max(content["nodes"])])


def study_techniques(content: Mapping[str, Any]) -> list[str]:
    """Return the techniques of the study: its own, or all of the experiment."""
    return list(content["sensitivity"]["techniques"] or content["techniques"])


def setting_value(content: Mapping[str, Any], variant: Variant, parameter: str) -> float | str:
    """Return the value of a parameter in a variant: a quantity in SI units, anything else as text."""
    section = content["sensitivity"]["parameters"][parameter]
    key = section["keys"][0]
    if key == "network":
        given = variant.settings.get(parameter)
        return str(content["network"]["name"] if given is None else given)
    # The first key is enough: reading it in its section converts its unit.
    varied = changed(content, [(k, v) for k, v in variant.changes if k in ("network", key)])
    value = value_of(varied, key)
    return str(value) if isinstance(value, (str, bool)) or value is None else float(value)


def problem(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return the ranges of a Sobol study for SALib; a list of values becomes a range of positions in it."""
    import math

    names, bounds = [], []
    for name, parameter in content["sensitivity"]["parameters"].items():
        names.append(name)
        if parameter["values"]:
            bounds.append([0.0, float(len(parameter["values"]))])
        elif parameter["scale"] == "log":
            bounds.append([math.log(value) for value in _bounds(content, parameter)])
        else:
            bounds.append(list(_bounds(content, parameter)))
    return {"num_vars": len(names), "names": names, "bounds": bounds}


def _sobol(
    content: Mapping[str, Any], parameters: Mapping[str, Mapping[str, Any]], samples: int
) -> Iterator[dict[str, Any]]:
    """Yield Saltelli's sample (first and total order): ``samples`` times (parameters + 2) settings, in SI units."""
    import math

    from SALib.sample import sobol

    rows = sobol.sample(problem(content), samples, calc_second_order=False, seed=content["seed"] % 2**32)
    for row in rows:
        settings: dict[str, Any] = {}
        for (name, parameter), position in zip(parameters.items(), row, strict=True):
            values = parameter["values"]
            if values:
                settings[name] = values[min(int(position), len(values) - 1)]
            else:
                settings[name] = float(math.exp(position) if parameter["scale"] == "log" else position)
        yield settings


def _bounds(content: Mapping[str, Any], parameter: Mapping[str, Any]) -> tuple[float, float]:
    """Return the range of a parameter in SI units."""
    key = parameter["keys"][0]
    low, high = (value_of(with_value(dict(content), key, parameter[end], _WHERE), key) for end in ("low", "high"))
    return float(low), float(high)


def _name(settings: Mapping[str, Any]) -> str:
    """Return a folder name that shows the settings."""
    text = ",".join(f"{name}={value}" for name, value in settings.items())
    return re.sub(r"[^A-Za-z0-9.,=+-]+", "_", text)[:150]
