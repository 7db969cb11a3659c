"""A resolved experiment, written again as a file, is the same experiment."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from manynode.config import yaml_text
from manynode.config.loader import load_experiment, resolve
from manynode.config.quantities import BOUNDS
from manynode.config.resolved import Resolved, resolve_json
from manynode.config.written_form import text_of, written_experiment
from manynode.units import parse

ROOT = Path(__file__).resolve().parent.parent.parent


def experiments() -> list[Path]:
    files = sorted((ROOT / "configs").rglob("*.yaml"))
    return [path for path in files if "application" in (yaml.safe_load(path.read_text()) or {})]


def again(resolved: Resolved, folder: Path) -> Resolved:
    """The experiment written as YAML and read in another folder."""
    text = yaml.safe_dump(written_experiment(resolved), sort_keys=False)
    return resolve(yaml_text.parse(text), where="again", base=folder)


@pytest.mark.parametrize("path", experiments(), ids=lambda path: str(path.relative_to(ROOT)))
def test_every_shipped_experiment_reads_back_to_the_same_digest(path: Path, tmp_path: Path) -> None:
    resolved = load_experiment(path)
    found = again(resolved, tmp_path)
    assert found.content == resolved.content
    assert found.digest() == resolved.digest()


def test_many_experiments_are_shipped() -> None:
    assert len(experiments()) > 20


def demo(**changes: Any) -> Resolved:
    content = load_experiment(ROOT / "configs/demo.yaml").content
    for key, value in changes.items():
        section: Any = content
        *way, last = key.split("__")
        for part in way:
            section = section[part]
        section[last] = value
    return resolve_json(content, "demo")


@pytest.mark.parametrize(
    "changes",
    [
        {"network__link__latency": 1.2345678901234567e-07},
        {"network__host__overhead_send": [{"from": 0.0, "time": 1e-07, "per_byte": 1.1e-11}]},
        {"network__host__copy_bandwidth": [{"from": 0.0, "bandwidth": 12345678901.5}]},
        {"network__link_classes": {"host-up": {"bandwidth": 1e9 / 3, "latency": 0.0}}},
        {"network__input_buffer": 65537.0, "network__output_buffer": 65537.0},
        {"simulate__time_limit": 12.5, "simulate__counters": {"interval": 1e-05, "per": "link"}},
        {"nodesim__tail": {}, "simulate__tail": True},
        {"simulate__slow_node": {"node": 3, "factor": 1.0000000000000002}},
        {"scaling": {"nodes": [8]}},
        {"machine__memory__latency": 9.1e-08},
    ],
    ids=str,
)
def test_every_form_of_a_value_reads_back(changes: dict[str, Any], tmp_path: Path) -> None:
    resolved = demo(**changes)
    assert resolved.digest() != demo().digest()
    assert again(resolved, tmp_path).digest() == resolved.digest()


def test_other_jobs_read_back_with_their_parameters(tmp_path: Path) -> None:
    content = yaml.safe_load((ROOT / "configs/demo.yaml").read_text())
    job = {"name": "noise", "application": {"name": "patterns"}, "nodes": 2, "start": "0.25 ms", "background": False}
    content["simulate"]["jobs"] = [job]
    resolved = resolve(content, where="jobs", base=tmp_path)
    assert resolved.simulate.jobs[0].application.parameters
    assert again(resolved, tmp_path / "elsewhere").digest() == resolved.digest()


def test_quantities_are_short_where_they_read_back_and_exact_where_not() -> None:
    latency = 1e-7 / 0.81
    written = written_experiment(demo(network__link__latency=latency))
    assert written["network"]["host"]["overhead_send"] == "350 ns"
    assert written["network"]["link"] == {"latency": f"{latency!r} s"}
    assert written["machine"]["caches"]["l1d"]["size"] == "32 KiB"


def test_defaults_and_what_is_only_resolved_are_left_out() -> None:
    written = written_experiment(demo())
    assert "executable" not in written["application"] and "nodesim" in written
    assert "scaling" not in written and "sst" not in written["simulate"]
    # true is 1 to Python, and not to an experiment.
    assert demo(simulate__replicas=1).simulate.replicas == 1
    assert written_experiment(demo(simulate__replicas=1))["simulate"]["replicas"] == 1


@given(dimension=st.sampled_from(sorted(BOUNDS)), share=st.floats(0, 1))
def test_any_quantity_reads_back_to_the_same_number(dimension: str, share: float) -> None:
    least, most = BOUNDS[dimension]
    value = least + share * (most - least)
    assert parse(text_of(value, dimension), dimension) == value
