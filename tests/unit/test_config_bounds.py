"""Bounds of numbers in experiments: every number has them, they hold, and their messages say the unit."""

from __future__ import annotations

import importlib
import math
import pkgutil
from collections.abc import Iterator
from typing import Any

import pytest
import yaml

import manynode.config
import phase3_sst.studies
from manynode.config.loader import resolve
from manynode.config.quantities import BOUNDS, Section
from manynode.errors import UsageError
from manynode.paths import ROOT
from manynode.units import DIMENSIONS

# Numbers with bounds elsewhere: those of the application, of the key that takes the value, of SST's element.
ELSEWHERE = {
    ("ApplicationSection", "parameters"),
    ("SkeletonChoice", "parameters"),
    ("ResolvedApplication", "parameters"),
    ("PreflightSection", "vary"),
    ("SensitivityParameter", "values"),
    ("SensitivityParameter", "low"),
    ("SensitivityParameter", "high"),
    ("SstSection", "extra_parameters"),
    *(("Congestor", "parameters"), ("Canary", "parameters"), ("Intensity", "levels")),
    ("Parameter", "default"),
    ("Parameter", "minimum"),
    ("Parameter", "maximum"),
}


def models() -> list[type[Section]]:
    """Every section that is declared in manynode/config, and every one of a study's own file."""
    found: list[type[Section]] = []
    for package in (manynode.config, phase3_sst.studies):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            loaded = importlib.import_module(module.name)
            found += [
                entry
                for entry in vars(loaded).values()
                if isinstance(entry, type) and issubclass(entry, Section) and entry.__module__ == loaded.__name__
            ]
    return found


def unbounded(schema: Any, path: tuple[str, ...]) -> Iterator[str]:
    """Yield the places of numbers in a JSON schema that lack a least or a largest value."""
    if isinstance(schema, list):
        for entry in schema:
            yield from unbounded(entry, path)
    elif isinstance(schema, dict):
        lower = schema.keys() & {"minimum", "exclusiveMinimum"}
        upper = schema.keys() & {"maximum", "exclusiveMaximum"}
        if schema.get("type") in ("integer", "number") and not (lower and upper):
            yield ": ".join(path)
        for key, entry in schema.items():
            if key == "properties":
                for name, field in entry.items():
                    yield from unbounded(field, (*path, name))
            elif key != "$defs":
                yield from unbounded(entry, path)


@pytest.mark.parametrize("model", models(), ids=lambda model: model.__name__)
def test_every_number_has_a_least_and_a_largest_value(model: type[Section]) -> None:
    # Sections within it are models of their own.
    schema = model.model_json_schema()
    assert set(unbounded(schema, (model.__name__,))) <= {": ".join(place) for place in ELSEWHERE}


def test_the_search_for_unbounded_numbers_finds_them() -> None:
    class Careless(Section):
        count: int
        shares: list[float]

    assert set(unbounded(Careless.model_json_schema(), ("Careless",))) == {"Careless: count", "Careless: shares"}


@pytest.mark.parametrize("model", models(), ids=lambda model: model.__name__)
def test_every_section_is_strict(model: type[Section]) -> None:
    assert model.model_config["strict"] and model.model_config["allow_inf_nan"] is False


def test_every_dimension_has_bounds() -> None:
    assert set(BOUNDS) == set(DIMENSIONS)
    assert all(0 <= low < high < math.inf for low, high in BOUNDS.values())


def changed(key: str, value: Any) -> dict[str, Any]:
    """The demo with its machine and network in it, and one value changed."""
    content: dict[str, Any] = yaml.safe_load((ROOT / "configs" / "demo.yaml").read_text())
    for name, folder in (("machine", "machines"), ("network", "networks")):
        content[name] = yaml.safe_load((ROOT / "configs" / folder / f"{content[name]}.yaml").read_text())
    section = content
    *way, last = key.split(".")
    for part in way:
        section = section.setdefault(part, {})
    section[last] = value
    return content


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("network.chunk", "0.1 B", "0.1 B is not a whole number of bytes"),
        ("network.chunk", "1e30 B", "less than or equal to 1 GiB"),
        ("network.chunk", "0 B", "greater than or equal to 1 B"),
        ("network.host.eager_limit", "1e30 B", "less than or equal to 1 PiB"),
        ("network.host.eager_limit", "0.5 B", "whole number of bytes"),
        ("network.input_buffer", "8 GiB", "less than or equal to 4 GiB"),
        ("network.link.bandwidth", "1 bit/s", "greater than or equal to 1 Mbit/s"),
        ("network.link.latency", "2 s", "less than or equal to 1 s"),
        ("network.host.overhead_send", "-1 ns", "greater than or equal to 0 ns"),
        ("network.host.overhead_per_byte", "1 s/B", "less than or equal to 1000 ns/B"),
        ("machine.frequency", "1e-30 Hz", "greater than or equal to 1 MHz"),
        ("machine.frequency", "1e30 Hz", "less than or equal to 100 GHz"),
        ("simulate.replicas", 10**12, "less than or equal to 100000"),
        ("simulate.replicas", True, "valid integer"),
        ("simulate.replicas", 2.0, "valid integer"),
        ("simulate.slow_node", {"factor": math.inf}, "finite"),
        ("simulate.slow_node", {"factor": math.nan}, "finite"),
        ("simulate.slow_node", {"factor": 1e300}, "less than or equal to 1000"),
        ("simulate.slow_node", {"factor": True}, "valid number"),
        ("simulate.confidence", math.nan, "finite"),
        ("application.timeout_s", math.inf, "finite"),
        ("application.parameters", {"nx": math.nan}, "finite"),
        ("seed", True, "valid integer"),
        ("seed", 2.0, "valid integer"),
        ("seed", 2**63, "less than"),
        ("nodes", [True], "valid integer"),
        ("network.contention", 1, "valid boolean"),
        ("simulate.persistent", "yes", "valid boolean"),
    ],
)
def test_a_value_out_of_bounds_is_refused_at_its_key(key: str, value: Any, message: str) -> None:
    with pytest.raises(UsageError, match="mistake") as caught:
        resolve(changed(key, value), where="the file", base=ROOT)
    assert ": ".join(key.split(".")) in caught.value.render()
    assert message in caught.value.render()


@pytest.mark.parametrize(("text", "size"), [("8.3 kB", 8300.0), ("0.5 KiB", 512.0), ("2048 B", 2048.0)])
def test_sizes_are_whole_bytes_however_they_are_written(text: str, size: float) -> None:
    assert resolve(changed("network.chunk", text), where="the file", base=ROOT).content["network"]["chunk"] == size


def test_samples_of_a_range_of_sizes_are_whole_bytes() -> None:
    from manynode.config.variants import setting_value, variants

    study = {"plan": "sobol", "samples": 2, "parameters": {"eager": {"keys": ["network.host.eager_limit"]}}}
    study["parameters"]["eager"] |= {"low": "1 KiB", "high": "64 KiB"}
    experiment = resolve(changed("sensitivity", study), where="the file", base=ROOT)
    for variant in variants(experiment):
        size = variant.applied(experiment).network.host.eager_limit
        assert size == round(size) and setting_value(experiment, variant, "eager") == size
