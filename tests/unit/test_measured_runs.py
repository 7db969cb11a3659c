"""Cost of measured runs: times from a native trial, the table before the first step, and its omissions."""

from __future__ import annotations

from pathlib import Path

import pytest

from manynode.announcement import announce_measurements, lines, to_measure
from manynode.config.loader import resolve
from manynode.config.resolved import Resolved
from manynode.errors import ManynodeError
from manynode.launch import Block
from manynode.measured_runs import (
    NONE,
    KnownRuns,
    MeasuredRun,
    SlowDown,
    duration,
    read_runs,
    span_words,
    time_words,
    write_runs,
)
from manynode.native_trial import Trial, path_of, read_trial, run_trial

TRIAL = Trial(nodes=1, ranks=2, cores=4, seconds=3.0, ended=True, start_s=0.5)
CUT = Trial(nodes=1, ranks=2, cores=4, seconds=20.0, ended=False)
CALLGRIND = SlowDown(50, 100, serial=True)


def a_run(ranks: int = 4, slowed: int | None = None, threads: int = 1, **changes: object) -> MeasuredRun:
    told = {
        **{
            "rule": "phase1_profile_ranks",
            "wildcards": {"nodes": "2", "repetition": "0"},
            "output": "profile/a.parquet",
        },
        **{"step": "phase 1, profile of 2 nodes", "tool": "callgrind", "ranks": ranks, "slow_down": CALLGRIND},
        **{"slowed": ranks if slowed is None else slowed, "threads": threads, **changes},
    }
    return MeasuredRun(**told)  # type: ignore[arg-type]


def test_a_slow_tool_multiplies_the_time_between_start_and_end_of_mpi() -> None:
    assert a_run().time_s(TRIAL) == (0.5 + 3 * 50, 0.5 + 3 * 100)
    assert a_run(slow_down=NONE).time_s(TRIAL) == (3.5, 3.5)


def test_ranks_that_share_cores_take_longer_than_in_the_trial() -> None:
    """8 ranks on 4 cores take twice as long as 2 on 4, which did not share."""
    assert a_run(8, slow_down=NONE).time_s(TRIAL) == (6.5, 6.5)
    crowded = Trial(nodes=1, ranks=8, cores=4, seconds=6.0, ended=True)
    assert a_run(8, slow_down=NONE).time_s(crowded) == (6.0, 6.0)
    assert a_run(16, slowed=2, slow_down=NONE).time_s(TRIAL) == (3.5, 3.5)


def test_nodes_that_take_turns_share_the_cores_of_one() -> None:
    assert a_run(8, slow_down=NONE, cores=2).time_s(TRIAL) == (0.5 + 4 * 3, 0.5 + 4 * 3)


def test_threads_under_valgrind_run_one_after_the_other() -> None:
    threaded = Trial(nodes=1, ranks=2, cores=4, seconds=3.0, ended=True)
    assert a_run(2, threads=2).time_s(threaded) == (2 * 3 * 50, 2 * 3 * 100)


def test_what_the_tool_tells_itself_counts_more_than_the_trial() -> None:
    assert a_run(expected_s=(7.0, 7.0)).time_s(TRIAL) == (7.0, 7.0)
    assert a_run().time_s(None) is None


def test_a_trial_that_was_ended_gives_lower_bounds() -> None:
    assert time_words((1000.0, 2000.0), CUT) == "at least 17 min"
    assert a_run(slow_down=CALLGRIND).words(CUT).endswith("at least 17 min")
    assert "lower bounds" in lines([a_run()], CUT)[-1] and "ended after 20 s" in lines([a_run()], CUT)[-1]


def test_times_are_said_as_people_say_them() -> None:
    assert [duration(value) for value in (0.2, 30, 600, 7200, 3e5)] == [
        "under 1 s",
        "30 s",
        "10 min",
        "2.0 h",
        "3.5 days",
    ]
    assert span_words(120, 240) == "2 to 4 min" and span_words(40, 240) == "40 s to 4 min"
    assert time_words((100.0, 110.0), None) == "about 2 min"


def test_the_table_names_step_runs_ranks_slow_down_and_time() -> None:
    runs = [a_run(), a_run(wildcards={"nodes": "2", "repetition": "1"}, reason="no hardware counters")]
    beside = a_run(
        rule="phase2_simulate_node", step="phase 2, a node with external ranks", tool="valgrind", slowed=2, output=""
    )
    text = lines([*runs, beside], TRIAL)
    head, first, second = (line.split("  ") for line in text[1:4])
    assert [word.strip() for word in head if word.strip()] == [
        *("step", "runs", "ranks", "tool", "slow-down", "estimated time")
    ]
    # Two runs of 150 to 300 s.
    assert [word.strip() for word in first if word.strip()] == [
        *("phase 1, profile of 2 nodes", "2", "4 ranks", "callgrind", "50 to 100 times", "5 to 10 min")
    ]
    assert [word.strip() for word in second if word.strip()][1:3] == ["1 or more", "2 of 4 ranks"]
    assert text[4].strip() == "in all 8 to 15 min, one run after the other"
    assert "no hardware counters" in text[5] and "one native run on 1 node, 2 ranks: 3 s" in text[6]


def test_without_a_trial_the_table_says_why_there_is_no_estimate() -> None:
    assert "not known" in lines([a_run()], None)[2]
    assert "failed" in lines([a_run()], None)[-1]
    assert "without running" in lines([a_run()], None, may_run=False)[-1]


def test_runs_are_found_by_rule_and_wildcards(tmp_path: Path) -> None:
    any_node = a_run(rule="phase2_simulate_node", wildcards={"mode": "ext"}, output="")
    write_runs(tmp_path / "runs.json", "d", [a_run(), any_node])
    read = read_runs(tmp_path / "runs.json", "d")
    assert read == [a_run(), any_node]
    assert read_runs(tmp_path / "runs.json", "other") is None and read_runs(tmp_path / "none.json", "d") is None
    known = KnownRuns(read or [], TRIAL)
    assert known.of("phase2_simulate_node", {"mode": "ext", "node": "3"}) == any_node
    assert known.of("phase2_simulate_node", {"mode": "no-ext", "node": "0"}) is None
    assert known.of("phase3_simulate_point", {}) is None


@pytest.fixture
def resolved(tmp_path: Path) -> Resolved:
    content = {
        "name": "x",
        "application": {"command": ["/bin/true"], "mpi": "mpich"},
        "ranks_per_node": 2,
        "profile": {"nodes": [2, 1], "repetitions": 1, "source": "callgrind"},
        "nodesim": {"nodes": 2, "engine": "valgrind"},
        "techniques": ["ext-var"],
        "nodes": [1, 2],
        "machine": "broadwell",
        "network": "opa100-fat-tree",
    }
    return resolve(content, where="x", base=tmp_path)


def test_a_long_application_pays_no_full_run_and_is_not_tried_again(
    tmp_path: Path, resolved: Resolved, monkeypatch: pytest.MonkeyPatch
) -> None:
    results = tmp_path / "results" / "x"
    started: list[int] = []

    def job(_flavour: str, blocks: list[Block], **options: object) -> None:
        from manynode.process import run

        started.append(blocks[0].ranks)
        run(["sleep", "60"], what="the application", timeout_s=float(str(options["timeout_s"])))

    monkeypatch.setattr("manynode.native_trial.run_job", job)
    monkeypatch.setattr("manynode.native_trial.native_library", lambda name: name)
    trial = run_trial(resolved, results, "d", limit_s=0.2)
    assert trial is not None and not trial.ended and trial.seconds == 0.2 and (trial.nodes, trial.ranks) == (1, 2)
    assert read_trial(results, "d") == trial and read_trial(results, "other") is None
    assert started == [2]


def test_a_failing_application_leaves_no_trial(
    tmp_path: Path, resolved: Resolved, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object, **__: object) -> None:
        raise ManynodeError("it fails")

    monkeypatch.setattr("manynode.native_trial.run_job", fails)
    results = tmp_path / "results" / "x"
    assert run_trial(resolved, results, "d") is None and not path_of(results).exists()


def test_only_what_is_to_come_is_announced(
    tmp_path: Path, resolved: Resolved, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    results = tmp_path / "results" / "x"
    phase1 = [
        a_run(nodes * 2, step=f"phase 1, profile of {nodes}", output=f"profile/nodes-{nodes}-rep-0/counters.parquet")
        for nodes in (2, 1)
    ]
    phase2 = a_run(rule="phase2_simulate_node", step="phase 2", output="", wildcards={"mode": "ext"})
    tried: list[str] = []
    monkeypatch.setattr("manynode.announcement._asked", lambda *_, ask: [*phase1, phase2] if ask else [])

    def trial(*_: object) -> Trial:
        tried.append("x")
        return TRIAL

    monkeypatch.setattr("manynode.announcement.run_trial", trial)

    def said(**options: object) -> str:
        known = announce_measurements(tmp_path / "x.yaml", resolved, results, may_run=True, **options)  # type: ignore[arg-type]
        assert bool(known.runs) == (known.announced is not None and to_measure(resolved, results))
        return capsys.readouterr().out

    assert "phase 1, profile of 1" in (text := said()) and "phase 1, profile of 2" in text and "phase 2" in text
    assert tried == ["x"]
    assert "phase 2" not in said(until="phase1_classify_ranks")
    (results / phase1[0].output).parent.mkdir(parents=True)
    (results / phase1[0].output).touch()
    assert "phase 1, profile of 1" in (text := said()) and "profile of 2" not in text
    (results / phase1[1].output).parent.mkdir(parents=True)
    (results / phase1[1].output).touch()
    assert "phase 1" not in (text := said()) and "phase 2" in text
    (results / "nodesim").mkdir()
    (results / "nodesim" / "timing-profile-ext.json").touch()
    tried.clear()
    assert said() == "" and tried == []
    results = tmp_path / "results" / "y"
    assert "phase 2" in said(taken_from=tmp_path / "unfinished") and tried == ["x"]
    assert said(taken_from=tmp_path / "results" / "x") == "" and tried == ["x"]


def test_a_control_that_is_missing_is_to_be_measured(tmp_path: Path, resolved: Resolved) -> None:
    for place in ("profile/nodes-1-rep-0/counters.parquet", "profile/nodes-2-rep-0/counters.parquet"):
        (tmp_path / place).parent.mkdir(parents=True)
        (tmp_path / place).touch()
    (tmp_path / "nodesim/ext-control/node-0").mkdir(parents=True)
    (tmp_path / "nodesim/timing-profile-ext.json").touch()
    qemu = resolved.nodesim.qemu.model_copy(update={"control": True})
    asked = resolved.model_copy(update={"nodesim": resolved.nodesim.model_copy(update={"qemu": qemu})})
    assert not to_measure(resolved, tmp_path) and to_measure(asked, tmp_path)
    (tmp_path / "nodesim/ext-control/node-0/segments.parquet").touch()
    assert not to_measure(asked, tmp_path)


def test_a_dry_run_starts_no_application(
    tmp_path: Path, resolved: Resolved, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("manynode.announcement._asked", lambda *_, ask: [a_run()])
    monkeypatch.setattr("manynode.announcement.run_trial", lambda *_: pytest.fail("the application was started"))
    announce_measurements(tmp_path / "x.yaml", resolved, tmp_path / "results" / "x", may_run=False)
    assert "50 to 100 times" in (text := capsys.readouterr().out) and "without running" in text


def test_every_source_and_engine_says_what_it_costs() -> None:
    from manynode.config.experiment import NodesimSection
    from phase1_profile.sources.interface import SOURCES
    from phase2_nodesim.engines._interface import ENGINES

    for name in SOURCES.names():
        assert SOURCES.get(name)().slow_down.high >= 1
    settings = NodesimSection(engine="native", turns=True)
    costs = {name: ENGINES.get(name).cost(settings, 2, 4, 3) for name in ENGINES.names()}
    assert costs["native"].slow_down == NONE and (costs["native"].ranks, costs["native"].cores) == (8, 6)
    assert costs["valgrind"].ranks == 2 and costs["valgrind"].slow_down.low >= 20
    assert costs["gem5"].cores == 1 and costs["gem5"].slow_down.low >= 1000
