"""``manynode calibrate-collectives`` on the fast engine: it finds a machine again from collectives simulated on it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import typer
import yaml
from typer.testing import CliRunner, Result

from manynode.config.loader import load_experiment
from manynode.config.measured import write_collectives
from manynode.errors import InputError, UsageError
from phase3_sst.calibration.collective_fit.command import calibrate_collectives
from phase3_sst.point.contract import engines
from phase3_sst.studies.validation.collectives import compare

app = typer.Typer(pretty_exceptions_enable=False)
app.command()(calibrate_collectives)

# Sizes from descriptors to long messages, on few nodes: the fit simulates each row some hundred times.
SIZES = (8, 2048, 524288)
ALGORITHMS = {"bcast": ("binomial",), "allreduce": ("recursive_doubling", "ring"), "alltoall": ("pairwise",)}
NODES = (4, 8)
TRUTH = {
    "overhead_send": "900 ns",
    "overhead_recv": "700 ns",
    "nic_latency": "400 ns",
    "nic_bandwidth": "70 Gbit/s",
    "reduce_bandwidth": "12 GB/s",
    "collective_step": "600 ns",
}
BASE = {
    "overhead_send": "300 ns",
    "overhead_recv": "300 ns",
    "gap": "10 ns",
    "eager_limit": "8 KiB",
    "nic_bandwidth": "100 Gbit/s",
    "nic_latency": "200 ns",
    "reduce_bandwidth": "5 GB/s",
}


def network(host: dict[str, str]) -> dict[str, Any]:
    return {
        "name": "small-tree",
        "topology": {"kind": "fat-tree", "children": [4, 2], "parents": [1, 4], "parallel_links": [1, 1]},
        "link": {"bandwidth": "100 Gbit/s", "latency": "90 ns"},
        "switch_latency": "110 ns",
        "flow_control": "none",
        "host": host,
    }


def experiment(folder: Path, host: dict[str, str], table: Path) -> Path:
    content = {
        "name": "fit",
        "application": {"name": "hpcg"},
        "nodes": [8],
        "ranks_per_node": 1,
        "machine": "generic",
        "network": network(host),
        "simulate": {"engine": "fast"},
        "validation": {"collectives": table.name, "start": "together"},
    }
    path = folder / f"{table.stem}-experiment.yaml"
    path.write_text(yaml.safe_dump(content, sort_keys=False), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory, build_dir: Path) -> Path:
    """A table of collectives as a machine with the host figures of ``TRUTH`` would show them."""
    folder = tmp_path_factory.mktemp("collectives")
    table = folder / "measured.csv"
    rows = [
        {"collective": name, "algorithm": algorithm, "bytes": size, "nodes": nodes, "ranks_per_node": 1, "seconds": 1.0}
        for nodes in NODES
        for name, algorithms in ALGORITHMS.items()
        for algorithm in algorithms
        for size in SIZES
    ]
    write_collectives(table, rows)
    truth = load_experiment(experiment(folder, {**BASE, **TRUTH}, table))
    found = compare(truth, engines.get("fast").with_settings(truth.simulate))
    write_collectives(table, [{**row, "seconds": time} for row, time in zip(rows, found["simulated_s"], strict=True)])
    return table


def run(*arguments: object) -> Result:
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result


@pytest.mark.long
def test_predicts_more_nodes_than_it_saw_and_its_file_can_be_used(measured: Path) -> None:
    folder = measured.parent
    given = experiment(folder, BASE, measured)
    output, table, figure = folder / "fitted.yaml", folder / "errors.csv", folder / "errors.svg"
    arguments = ("--name", "fitted", "--output", output, "--table", table, "--figure", figure)
    printed = run(given, "--hold-out", "nodes", *arguments).output
    frame = pd.read_csv(table)
    assert set(frame.loc[frame["held_out"], "nodes"]) == {8}
    assert set(frame.loc[~frame["held_out"], "nodes"]) == {4}
    error = frame.groupby("held_out")["error"].agg(lambda values: values.abs().median())
    assert error[False] < 0.02
    assert error[True] < 0.03
    # The base, without the fit, is far off.
    untouched = load_experiment(given)
    before = compare(untouched, engines.get("fast").with_settings(untouched.simulate))["error"].abs().median()
    assert before > 0.2
    lines = output.read_text().splitlines()
    assert lines[0].startswith("# Written by: manynode calibrate-collectives measured-experiment.yaml")
    assert "more ranks than the fit saw" in printed
    assert figure.read_text().startswith("<svg")
    # The file serves as a network of the same experiment.
    again = yaml.safe_load(given.read_text())
    again["network"] = output.name
    given.with_name("again.yaml").write_text(yaml.safe_dump(again), encoding="utf-8")
    used = load_experiment(given.with_name("again.yaml"))
    found = compare(used, engines.get("fast").with_settings(used.simulate))
    assert found["simulated_s"].to_numpy() == pytest.approx(frame["simulated_s"].to_numpy(), rel=1e-3)


def test_an_experiment_without_collectives_is_refused(tmp_path: Path, measured: Path) -> None:
    content = yaml.safe_load(experiment(measured.parent, BASE, measured).read_text())
    del content["validation"]
    path = tmp_path / "none.yaml"
    path.write_text(yaml.safe_dump(content), encoding="utf-8")
    with pytest.raises(UsageError, match="no measured collectives"):
        run(path, "--name", "x", "--output", tmp_path / "x.yaml")
    assert not (tmp_path / "x.yaml").exists()


def test_too_few_rows_are_refused(measured: Path) -> None:
    folder = measured.parent
    few = folder / "few.csv"
    few.write_text("\n".join(measured.read_text().splitlines()[:9]) + "\n", encoding="utf-8")
    with pytest.raises(InputError, match="too few measured collectives"):
        run(experiment(folder, BASE, few), "--name", "x", "--output", folder / "x.yaml")


def test_the_experiment_is_not_overwritten(measured: Path) -> None:
    given = experiment(measured.parent, BASE, measured)
    before = given.read_text()
    with pytest.raises(UsageError, match="would replace the experiment"):
        run(given, "--name", "x", "--output", given)
    assert given.read_text() == before
