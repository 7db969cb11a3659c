"""What commands print: the projected table, ``--json``, ``--quiet``, a dry run of alternatives, shell completion."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import report_fixture as fixture
import typer

from manynode.command_answer import answer_of, answering, run_result, say
from manynode.report import build_report

ROOT = Path(__file__).resolve().parent.parent.parent


def manynode(*words: object, **variables: str) -> str:
    """Return what the command prints to standard output."""
    command = [sys.executable, "-m", "manynode", *map(str, words)]
    done = subprocess.run(
        command, cwd=ROOT, env={**os.environ, **variables}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("manynode.report.page.vega_bundle", lambda: "window.vegaEmbed = undefined;")
    folder = fixture.write_results(tmp_path / "made-up")
    build_report(folder, folder / "report.html")
    return folder


def test_the_report_has_the_answer_for_terminal_and_programs(results: Path) -> None:
    (found,) = run_result([results])["experiments"]
    assert found["report"] == str(results / "report.html")
    answer = found["answer"]
    table = pd.read_parquet(results / "projection.parquet")
    keys = ["technique", "nodes"]
    given = pd.DataFrame(answer["points"]).sort_values(keys, ignore_index=True)
    pd.testing.assert_frame_equal(given, table.sort_values(keys, ignore_index=True)[list(given)])
    assert answer["known_errors"] is None, "the made-up machine has no records"
    headline = next(line for line in answer["said"] if line.startswith("projected: "))
    rows = answer["said"][answer["said"].index(headline) + 2 :]
    assert [int(row.split()[0]) for row in rows] == sorted(table["nodes"].unique())


def test_without_a_projection_there_is_no_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("manynode.report.page.vega_bundle", lambda: "window.vegaEmbed = undefined;")
    folder = fixture.write_results(tmp_path / "made-up", skeleton=False, parts=("1", "2"))
    build_report(folder, folder / "report.html")
    assert answer_of(folder / "report.html") is None
    assert answer_of(tmp_path / "no" / "report.html") is None


def speak(**options: bool) -> None:
    with answering(**options) as answer:
        print("1 of 2 steps done")
        typer.echo("more progress")
        print("warning: a busy host")
        say("the result")
        answer({"schema": "x/1", "time_s": 1.5})


def test_json_stands_alone_on_standard_output(capsys: pytest.CaptureFixture[str]) -> None:
    speak(as_json=True)
    shown = capsys.readouterr()
    assert json.loads(shown.out) == {"schema": "x/1", "time_s": 1.5}
    assert "more progress" in shown.err and "the result" in shown.err
    speak(as_json=True, quiet=True)
    shown = capsys.readouterr()
    assert json.loads(shown.out)["time_s"] == 1.5
    assert shown.err == "warning: a busy host\n"


def test_quiet_leaves_results_and_warnings(capsys: pytest.CaptureFixture[str]) -> None:
    speak(quiet=True)
    shown = capsys.readouterr()
    assert (shown.out, shown.err) == ("the result\n", "warning: a busy host\n")


def test_a_bill_as_json_is_the_bill_in_words() -> None:
    found = json.loads(manynode("bill", "opa100-fat-tree", "--nodes", 64, "--json"))
    assert found["cost"] == sum(item["cost"] for item in found["items"]) > 0
    assert f"{found['cost']:,.0f}" in manynode("bill", "opa100-fat-tree", "--nodes", 64)


def test_doctor_as_json_has_every_tool() -> None:
    found: dict[str, Any] = json.loads(manynode("doctor", "--json"))
    assert {"manynode", "MPICH", "simulate: fast"} <= {one["name"] for one in found["findings"]}


def test_a_dry_run_of_alternatives_runs_nothing(tmp_path: Path) -> None:
    output = tmp_path / "out"
    study = ROOT / "configs" / "studies" / "what-if.yaml"
    words = manynode("what-if", study, "--dry-run", "--output", output)
    assert "torus: 64 nodes of broadwell, 512 ranks, paper-torus; " in words
    assert "8 simulations by ext-var; 2 kinds of measured runs; nothing was run" in words
    plan = json.loads(manynode("what-if", study, "-n", "--json", "--output", output))
    assert [one["measured"] for one in plan["alternatives"]] == [0, 0, 0, 1]
    assert not output.exists()


@pytest.mark.parametrize(("line", "word"), [("manynode comp", "compare-engines"), ("manynode bill --no", "--nodes")])
def test_a_shell_completes_commands_and_their_options(line: str, word: str) -> None:
    count = str(len(line.split()) - 1)
    shown = manynode(_MANYNODE_COMPLETE="complete_bash", COMP_WORDS=line, COMP_CWORD=count)
    assert word in shown.split()
