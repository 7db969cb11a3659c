"""Several experiments in one command: refusals before the start, and the measurements that each takes over."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from manynode import several, tables
from manynode.config.loader import load_experiment
from manynode.errors import EngineFailedError, InputError, UsageError
from manynode.snakemake_run import EXIT_INTERRUPTED, StepFailedError


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, Any]]:
    """What was started, in order; nothing is run."""
    calls: list[tuple[str, Any]] = []

    def run(path: Path, **options: Any) -> None:
        calls.append((path.stem, options))
        if path.stem == "fails":
            raise EngineFailedError("the engine failed", where="somewhere")
        if path.stem == "stopped":
            raise StepFailedError("interrupted", EXIT_INTERRUPTED)

    monkeypatch.setattr(several, "run_experiment", run)
    monkeypatch.setattr("manynode.report.page.vega_bundle", lambda: "window.vegaEmbed = undefined;")
    return calls


@pytest.fixture
def write(tmp_path: Path, demo: dict[str, Any]) -> Any:
    def experiment(file: str, **changes: Any) -> Path:
        path = tmp_path / f"{file}.yaml"
        path.write_text(yaml.safe_dump({**demo, "name": file, **changes}))
        return path

    return experiment


def test_two_of_the_same_name_are_refused_before_anything_starts(write: Any, started: list[Any]) -> None:
    with pytest.raises(UsageError, match=r"two experiments have the same name[^$]*a\.yaml and .*b\.yaml"):
        several.run_several([write("a"), write("b", name="a")], cores=2, directory=Path())
    with pytest.raises(UsageError, match="same name"):
        several.run_several([write("a"), write("a")], cores=2, directory=Path())
    assert started == []


def test_all_are_checked_before_the_first_starts(write: Any, started: list[Any], tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"wrong\.yaml"):
        several.run_several([write("a"), write("wrong", nodes=[0])], cores=2, directory=tmp_path)
    with pytest.raises(UsageError, match="replicas"):
        changes = {"simulate.replicas": -1}
        several.run_several([write("a"), write("b")], cores=2, directory=tmp_path, changes=changes)
    assert started == []


def test_one_that_fails_is_named_at_the_end_and_the_others_run(write: Any, started: list[Any], tmp_path: Path) -> None:
    with pytest.raises(StepFailedError, match=r"1 of 3 experiments failed\nexperiment 'fails': the engine") as caught:
        several.run_several([write("a"), write("fails"), write("b")], cores=2, directory=tmp_path)
    assert caught.value.exit_code == EngineFailedError.exit_code
    assert [name for name, _ in started] == ["a", "fails", "b"]
    assert "fails: the engine failed" in (tmp_path / "results/index.html").read_text()


def test_an_interruption_stops_all(write: Any, started: list[Any], tmp_path: Path) -> None:
    with pytest.raises(StepFailedError, match="interrupted"):
        several.run_several([write("stopped"), write("b")], cores=2, directory=tmp_path)
    assert [name for name, _ in started] == ["stopped"]


def test_each_takes_over_the_measurements_that_fit_it(
    write: Any, started: list[Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one, two = write("one", ranks_per_node=1), write("two", ranks_per_node=2)
    earlier = tmp_path / "earlier"
    for path in (one, two):
        results = earlier / f"was-{path.stem}"
        tables.write_json(results / "experiment.json", "experiment/1", {"experiment": load_experiment(path).content})
        (results / "profile/nodes-1").mkdir(parents=True)
        (results / "profile/nodes-1/counters.parquet").touch()
    other = write("other", ranks_per_node=3)
    several.run_several([two, other, one], cores=2, directory=tmp_path, measurements_from=earlier)
    assert [options["measurements_from"] for _, options in started] == [earlier / "was-two", None, earlier / "was-one"]
    assert "fit other: measuring it" in capsys.readouterr().out
    started.clear()
    several.run_several([one, two], cores=2, directory=tmp_path, measurements_from=earlier / "was-one")
    assert [options["measurements_from"] for _, options in started] == [earlier / "was-one", None]
    with pytest.raises(InputError, match="no measurements"):
        several.run_several([one, two], cores=2, directory=tmp_path, measurements_from=tmp_path / "results")
