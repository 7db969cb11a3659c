"""An experiment that measures more threads than there are cores is warned of before it is run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from manynode import cli
from manynode.config import crowding
from manynode.config.crowding import computing_threads, crowding_warning
from manynode.config.loader import resolve


def experiment(demo: dict[str, Any], ranks: int = 2, threads: int = 1, **nodesim: Any) -> dict[str, Any]:
    demo["ranks_per_node"] = ranks
    demo["application"]["threads"] = threads
    demo["nodesim"] = {"engine": "native", "nodes": 2, **nodesim}
    demo["profile"] = {"nodes": [1, 2]}
    demo["techniques"] = ["no-ext-var", "ext-var"]
    demo.pop("sensitivity", None)
    demo.pop("scaling", None)
    return demo


def threads(content: dict[str, Any]) -> int:
    return computing_threads(resolve(content, where="x", base=Path(".")))


def test_all_ranks_of_the_job_with_external_ranks_compute_at_once(demo: dict[str, Any]) -> None:
    assert threads(experiment(demo, ranks=4, threads=2)) == 16


def test_a_node_alone_has_its_own_ranks_only(demo: dict[str, Any]) -> None:
    assert threads(experiment(demo, ranks=4, threads=2) | {"techniques": ["no-ext-var"]}) == 8


def test_nodes_that_take_turns_compute_one_after_the_other(demo: dict[str, Any]) -> None:
    assert threads(experiment(demo, ranks=4, threads=2, turns=True)) == 8


@pytest.mark.parametrize("nodesim", [{"clock": "processor"}, {"engine": "valgrind"}])
def test_times_that_contain_no_waiting_need_no_cores(demo: dict[str, Any], nodesim: dict[str, Any]) -> None:
    assert threads(experiment(demo, ranks=4, **nodesim)) == 0


@pytest.mark.parametrize(
    ("ranks", "cores", "words", "not_words"),
    [
        (2, 4, None, ""),
        (2, 3, ["4 threads", "3 cores are", "turns: true", "clock: processor"], "x"),
        (4, 1, ["8 threads", "1 core is", "clock: processor"], "turns"),
    ],
)
def test_the_warning_says_what_helps(
    demo: dict[str, Any], ranks: int, cores: int, words: list[str] | None, not_words: str
) -> None:
    text = crowding_warning(resolve(experiment(demo, ranks=ranks), where="x", base=Path(".")), cores)
    if words is None:
        assert text is None
    else:
        assert text is not None and all(word in text for word in words) and f"{not_words}:" not in text


@pytest.mark.parametrize(("cores", "warned"), [(2, True), (16, False)])
def test_config_check_warns(
    demo: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cores: int, warned: bool
) -> None:
    monkeypatch.setattr(crowding, "available_cores", lambda: cores)
    (tmp_path / "x.yaml").write_text(yaml.safe_dump(experiment(demo, ranks=4, threads=2)))
    done = CliRunner().invoke(cli.app, ["config", "check", str(tmp_path / "x.yaml")])
    assert done.exit_code == 0
    assert ("warning" in done.output and "16 threads at once, and 2 cores" in done.output) == warned
