"""Phases in the report: one short label each, the same everywhere; the folded set-up; the bases of the two shares."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import report_fixture as fixture

from manynode.report.figures import timing_figures
from manynode.report.load import Inputs, load
from manynode.report.page import render
from manynode.report.persistence import persistence_words, variance_split
from manynode.report.slowest import slowest_rows
from manynode.report.sureness import sureness
from manynode.tables import read_table, write_table

CLASS = "particle_dynamics_framework::decomposition::Communicator<double, 3>"
SET_UP = [
    f"MPI_Bcast@{CLASS}::Communicator(int)+{16 * n:#x} -> MPI_Bcast@{CLASS}::Communicator(int)+{16 * n + 16:#x}"
    for n in range(5)
]
STEP = f"MPI_Barrier@{CLASS}::exchange()+0x10 -> MPI_Allreduce@{CLASS}::exchange()+0x40"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Made-up results with the phases of a program without labels beside the labelled ones."""
    monkeypatch.setattr("manynode.report.page.vega_bundle", lambda: "")
    fixture.write_results(tmp_path)
    path = tmp_path / "nodesim/ext/segments.parquet"
    segments = read_table(path, "segments/1", ())
    like = segments[segments["phase"] == "smoother"]
    rows = [segments]
    for rank in (0, 1):
        own = like[like["rank"] == rank]
        rows += [own.head(1).assign(phase=name, compute_s=2.0) for name in SET_UP]
        rows.append(own.head(30).assign(phase=STEP, compute_s=1e-3))
    write_table(path, "segments/1", pd.concat(rows, ignore_index=True))
    change_profile(tmp_path, lambda phases: phases.extend(set_up_phases(phases[0])))
    return tmp_path


def change_profile(folder: Path, change: Any) -> None:
    path = folder / "nodesim/timing-profile-ext.json"
    profile = json.loads(path.read_text())
    for part in profile["classes"]:
        change(part["phases"])
    path.write_text(json.dumps(profile))
    fixture.sign(folder)


def set_up_phases(like: dict[str, Any]) -> list[dict[str, Any]]:
    weights = {"pattern": {"kind": "weights"}, "clusters": [{**like["clusters"][0], "weight": 1.0}]}
    once = [{**like, **weights, "name": name, "count": 1, "mean_s": 2.0} for name in SET_UP]
    return [*once, {**like, **weights, "name": STEP, "count": 30, "mean_s": 1e-3}]


def figure(inputs: Inputs, name: str) -> pd.DataFrame:
    return next(figure.data for figure in timing_figures(inputs) if figure.name == name)


@pytest.mark.parametrize("segments", [True, False], ids=["segments", "profile alone"])
def test_the_set_up_is_one_folded_group(folder: Path, segments: bool) -> None:
    if not segments:
        (folder / "nodesim/ext/segments.parquet").unlink()
    inputs = load(folder)
    assert inputs.phase_labels.set_up == frozenset(SET_UP)
    group = "set-up: 5 phases that ran once"
    bars = figure(inputs, "phases")
    (bar,) = bars[bars["label"].str.replace("\n", " ").str.endswith(group)].itertuples()
    assert bar.executions_per_rank == 5 and bar.total_s == pytest.approx(10)
    assert not set(SET_UP) & set(bars["phase"]) and STEP in set(bars["phase"])
    for name in ("distributions", "patterns"):
        drawn = figure(inputs, name)
        assert not set(SET_UP) & set(drawn["name"]) and STEP in set(drawn["name"])
    assert not set(SET_UP) & {row.name for row in slowest_rows(inputs)}
    html = render(inputs)
    table, folded = html.split('id="table-phases"')[1].split("<details", 1)
    folded = folded.split("</details>")[0]
    assert f"<summary>{group}, 10 s per rank together</summary>" in folded
    assert folded.count("<tr><td") == 5 and "Communicator: " not in table


def test_a_label_is_the_same_everywhere_and_the_whole_name_is_at_hand(folder: Path) -> None:
    inputs = load(folder)
    label = inputs.phase_labels.of(STEP)
    assert label == "Communicator::exchange: Barrier+0x10 → Allreduce+0x40"
    assert "exchange" in label and "particle_dynamics" not in label
    assert f'title="{STEP.replace("<", "&lt;").replace(">", "&gt;")}">{label}</td>' in render(inputs)
    stacks = figure(inputs, "cpi-stacks")
    for drawn in (figure(inputs, "phases"), stacks):
        lines = [text.split("\n") for text in drawn["label"]]
        assert any(" ".join(text).endswith(label) for text in lines)
        assert all(len(text) <= 3 and max(map(len, text)) <= 44 for text in lines)
    assert stacks["label"].str.startswith("rank").all()
    for name in ("distributions", "patterns"):
        assert any(text.startswith(label) for text in figure(inputs, name)["phase"])


def test_phases_that_all_ran_once_are_not_folded(tmp_path: Path) -> None:
    fixture.write_results(tmp_path)
    path = tmp_path / "nodesim/ext/segments.parquet"
    like = read_table(path, "segments/1", ()).head(1)
    write_table(path, "segments/1", pd.concat([like.assign(phase=name) for name in SET_UP], ignore_index=True))
    assert load(tmp_path).phase_labels.set_up == frozenset()


def test_each_share_says_what_it_is_a_share_of(folder: Path) -> None:
    """Most of the variance lies in phases that ran once; of the rest a little persists: no contradiction."""
    share = {"share": 0.0037, "low": 0.001, "high": 0.01, "correlation": 0.004}

    def change(phases: list[dict[str, Any]]) -> None:
        for phase in phases:
            if phase["name"] in SET_UP:
                phase["variance"] = {"between_ranks_s2": 1e-7, "within_rank_s2": 0.0, "total_s2": 1e-7}
            else:
                phase["persistence"] = {"ranks": 8, "nodes": 1, "between_ranks": share, "between_nodes": None}

    change_profile(folder, change)
    inputs = load(folder)
    split = variance_split(inputs.profiles["ext"])
    once = split.once / split.total
    assert 0.5 < once < 1 and split.between / (split.between + split.within) == pytest.approx(0.25)
    variability = dict(sureness(inputs))["Variability"]
    assert f"{100 * once:.0f} % of this variance lies in phases that a rank executes once" in variability
    assert f"The other {100 * (1 - once):.0f} % lies in phases that a rank executes several times" in variability
    assert "In that part, 25 % lies between ranks and 75 % within a rank" in variability
    words = persistence_words(inputs)
    assert (
        "The share of their variance that lies between ranks and persists is 0.37 % (90 % interval 0.1 % to 1.0 %)"
        in words
    )
    assert "less than the 25 % by which the mean times of the ranks differ in these phases" in words


def test_a_control_without_sharing_is_shown_beside_the_ranks_that_share(tmp_path: Path) -> None:
    fixture.write_results(tmp_path)
    path = tmp_path / "experiment.json"
    content = json.loads(path.read_text())
    content["experiment"]["nodesim"]["qemu"]["control"] = True
    path.write_text(json.dumps(content))
    path = tmp_path / "nodesim/ext/segments.parquet"
    shared = read_table(path, "segments/1", ()).assign(cycles_threads=0.0)
    write_table(path, "segments/1", shared)
    control = tmp_path / "nodesim/ext-control/node-0/segments.parquet"
    control.parent.mkdir(parents=True)
    write_table(control, "segments/1", shared.assign(cycles_memory=0.1e6, cycles_threads=1e3))
    fixture.sign(tmp_path)
    inputs = load(tmp_path)
    rows = figure(inputs, "cpi-stacks").query("phase == 'all phases' and part == 'memory'")
    assert list(zip(rows["rank"], rows["caches"], strict=True)) == [
        *((0, "shared"), (0, "private"), (1, "shared"), (1, "private"))
    ]
    assert rows["cpi"].to_numpy() == pytest.approx([0.3, 0.1, 0.5, 0.1])
    assert "threads" in set(figure(inputs, "cpi-stacks")["part"])  # the control alone has this part
    assert "The difference is the effect of sharing" in render(inputs)


def test_a_control_that_was_not_asked_for_is_not_shown(tmp_path: Path) -> None:
    fixture.write_results(tmp_path)
    shared = read_table(tmp_path / "nodesim/ext/segments.parquet", "segments/1", ())
    control = tmp_path / "nodesim/ext-control/node-0/segments.parquet"
    control.parent.mkdir(parents=True)
    write_table(control, "segments/1", shared)
    fixture.sign(tmp_path)
    assert set(figure(load(tmp_path), "cpi-stacks")["caches"]) == {""}
