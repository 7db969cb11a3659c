"""Questions answered with real engines: the numbers of ``manynode run``, kept whatever ends the server."""

from __future__ import annotations

import asyncio
import os
import random
import shutil
import time
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import explore_bases
import pandas as pd
import pipeline
import pytest
from conftest import made_once
from explore_runs import KILLS, killed, questions

from manynode.errors import InputError, UsageError
from manynode.snakemake_run import StepFailedError
from manynode.steps import step_of
from manynode.timing_profile import write_timing_profile
from phase2_nodesim import own_times
from phase3_sst.explore.explorer import Explorer, Progress, QuestionCancelledError
from phase3_sst.explore.limits import Limits
from phase3_sst.explore.question import Question

SLOW = {"network.link.bandwidth": "30 Gbit/s", "simulate.replicas": 3}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The results of the small experiment, run by the command line."""
    return made_once(tmp_path_factory, "explore-small", explore_bases.run_small) / "results" / "small"


@pytest.fixture
def base(made: Path, tmp_path: Path) -> Path:
    """A copy of these results."""
    return explore_bases.copied(made, tmp_path)


@pytest.fixture(scope="module")
def by_the_command_line(made: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A results folder: a question with losses, exported and run by the command line."""
    folder = tmp_path_factory.mktemp("exported")
    explorer = Explorer(made, cores=2)
    exported = folder / "exported.yaml"
    exported.write_text(explorer.exported(ask(made, SLOW, losses=True)))
    done = pipeline.run(exported, folder)
    assert done.returncode == 0, done.stdout + done.stderr
    (results,) = (folder / "results").iterdir()
    return results


def beside(base: Path, results: Path) -> Path:
    """Copy results to where a run of the command line beside the base has them."""
    return Path(shutil.copytree(results, base.parent / results.name, symlinks=True))


def run(body: Coroutine[Any, Any, Any]) -> Any:
    return asyncio.run(asyncio.wait_for(body, 300))


async def answered(results: Path, *asked: Question, **options: Any) -> list[Any]:
    explorer = Explorer(results, cores=2)
    try:
        return [await explorer.answer(question, **options) for question in asked]
    finally:
        await explorer.close()


def ask(results: Path, changes: dict[str, Any], **members: Any) -> Question:
    return Explorer(results, cores=2).baseline().changed(changes=changes, **members)


def processes_of(folder: Path) -> list[str]:
    """The processes that run in a folder or name it on their command line."""
    found = []
    for process in Path("/proc").iterdir():
        if not process.name.isdigit() or int(process.name) == os.getpid():
            continue
        try:
            words = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode()
            if str(folder) in words or str(folder) in os.readlink(process / "cwd"):
                found.append(f"{process.name} {words}")
        except OSError:
            continue
    return found


def none_left(folder: Path) -> list[str]:
    """What is left of the processes of a folder a moment later."""
    until = time.monotonic() + 20
    while processes_of(folder) and time.monotonic() < until:
        time.sleep(0.05)
    return processes_of(folder)


@pytest.mark.long
def test_the_tables_are_those_of_manynode_run_byte_for_byte(base: Path, by_the_command_line: Path) -> None:
    (answer,) = run(answered(base, ask(base, SLOW, losses=True)))
    assert answer.experiment == by_the_command_line.name
    own, again = pipeline.tables(Path(answer.results)), pipeline.tables(by_the_command_line)
    others = {"report.html", "nodesim/timing-profile-no-ext.json"}
    assert {k: v for k, v in again.items() if k not in others} == {k: v for k, v in own.items() if k not in others}
    assert {"projection.parquet", "scaling.parquet", "links.parquet", "simulate/ext-var/nodes-8/result.json"} <= set(
        own
    )
    row = pd.read_parquet(by_the_command_line / "projection.parquet").set_index("nodes").loc[8]
    assert (answer.time_s, answer.low_s, answer.high_s) == (row["time_s"], row["low_s"], row["high_s"])
    losses = pd.read_parquet(by_the_command_line / "scaling.parquet")
    assert [part["seconds"] for part in answer.losses] == list(losses["seconds"])
    assert sum(part["seconds"] for part in answer.losses) == pytest.approx(answer.time_s)


def test_the_command_line_continues_where_a_question_ended(base: Path) -> None:
    question = ask(base, SLOW)
    (answer,) = run(answered(base, question))
    folder = Path(answer.results).parent.parent
    before = pipeline.tables(Path(answer.results))
    done = pipeline.run(folder / "experiment.yaml", folder)
    assert done.returncode == 0, done.stdout + done.stderr
    assert pipeline.rules((Path(answer.results) / "logs/snakemake.log").read_text()) == {"report_build_page"}
    assert {k: v for k, v in pipeline.tables(Path(answer.results)).items() if k != "report.html"} == before
    assert run(answered(base, question))[0] == answer


@pytest.mark.long
def test_what_the_command_line_has_run_is_answered_without_simulating(base: Path, by_the_command_line: Path) -> None:
    question = ask(base, SLOW, losses=True)
    assert Explorer(base, cores=2).known(question) is None
    results = beside(base, by_the_command_line)
    steps: list[Progress] = []
    (answer,) = run(answered(base, question, progress=steps.append))
    assert Path(answer.results) == results and answer.experiment == results.name
    assert [one.state for one in steps] == ["waiting", "finished"]
    assert not (base / "explore/points").exists()


def test_the_baseline_is_the_base_s_own_row(base: Path) -> None:
    explorer = Explorer(base, cores=2)
    answer = explorer.known(explorer.baseline())
    row = pd.read_parquet(base / "projection.parquet").set_index(["technique", "nodes"]).loc["ext-var", 8]
    assert answer is not None and answer.time_s == row["time_s"] and answer.efficiency == row["efficiency"]
    assert (answer.results, answer.experiment, answer.replicas) == (str(base), "small", 5)
    makespans = pd.read_parquet(base / "makespans.parquet").query("technique == 'ext-var' and nodes == 8")
    assert list(answer.makespans.values()) == list(makespans["makespan_s"])
    # Its tables no longer agree: nothing is answered from them.
    (base / "makespans.parquet").write_bytes((base / "projection.parquet").read_bytes())
    assert Explorer(base, cores=2).known(explorer.baseline()) is None
    # Fewer nodes are another question: trials chose the flow control at the largest count.
    assert explorer.known(explorer.baseline().changed(nodes=1)) is None


@pytest.mark.long
def test_every_answer_says_which_question_it_is_of(base: Path) -> None:
    asked = [ask(base, {**SLOW, "network.link.latency": f"{latency} ns"}) for latency in (50, 900, 400)]

    async def body() -> None:
        explorer = Explorer(base, cores=2)
        answers = await asyncio.gather(*map(explorer.answer, asked))
        for question, answer in zip(asked, answers, strict=True):
            assert answer.question == question and answer.digest == explorer.digest(question)
            assert answer.experiment.endswith(answer.digest[:12])
        fast, slow, between = (answer.time_s for answer in answers)
        assert fast < between < slow
        found = {question: answer for question, answer in explorer.finished()}
        assert [found[question] for question in asked] == answers
        assert [entry["digest"] for entry in explorer.log()] == [answer.digest for answer in answers]
        await explorer.close()

    run(body())


def test_one_simulation_answers_all_who_ask_and_a_damaged_table_is_made_again(base: Path) -> None:
    question = ask(base, SLOW)
    steps: list[Progress] = []

    async def body() -> Any:
        explorer = Explorer(base, cores=2)
        asking = [explorer.answer(question, progress=steps.append) for _ in range(3)]
        answers = await asyncio.gather(*asking)
        await explorer.close()
        return answers

    first, *others = run(body())
    assert others == [first, first]
    shares = [one.share for one in steps if one.share is not None]
    assert shares[0] == 0 and shares == sorted(shares) and shares[-1] == 1
    table = Path(first.results) / "links.parquet"
    whole = table.read_bytes()
    table.write_bytes(whole[:50] + b"x" + whole[51:])
    assert Explorer(base, cores=2).known(question) is None
    assert run(answered(base, question)) == [first]
    assert table.read_bytes() == whole


def test_two_servers_simulate_a_question_once(base: Path) -> None:
    question = ask(base, SLOW)
    steps: list[Progress] = []

    async def body() -> Any:
        servers = [Explorer(base, cores=1) for _ in range(2)]
        answers = await asyncio.gather(*(one.answer(question, progress=steps.append) for one in servers))
        for one in servers:
            await one.close()
        return answers

    first, second = run(body())
    assert first == second
    begun = [one.step for one in steps if one.state == "running" and one.words == "" and one.step == "8 nodes"]
    logs = list((Path(first.results) / "logs/explore").glob("*.log"))
    assert begun and {log.stem for log in logs} == {"preflight", "flow-control", "8-nodes", "1-nodes", "analysis"}
    assert any(one.step == "another server" for one in steps)


def measured_again(results: Path, factor: float) -> None:
    """Put another timing profile in the place of the base's: that of the same experiment, measured anew."""
    with step_of(results / "experiment.json") as resolved:
        assert resolved.own_times is not None
        rows = [row.model_copy(update={"mean": factor * row.mean}) for row in resolved.own_times.phases]
        other = resolved.model_copy(update={"own_times": resolved.own_times.model_copy(update={"phases": rows})})
        profile = own_times.timing_profile(other, external=True, provenance={"code": "another"})
        write_timing_profile(results / "nodesim/timing-profile-ext.json", profile)


def test_a_base_that_was_measured_again_has_no_answers_of_its_old_times(base: Path, by_the_command_line: Path) -> None:
    question = ask(base, SLOW, losses=True)
    explorer = Explorer(base, cores=2)
    results = beside(base, by_the_command_line)
    known = explorer.known(question)
    assert known is not None and Path(known.results) == results
    other = ask(base, SLOW).with_change("network.link.latency", "200 ns")
    (before,) = run(answered(base, other))
    measured_again(base, 1.0)
    same = Explorer(base, cores=2).known(other)
    assert same is not None and same.time_s == before.time_s, "the same times, by other code"
    measured_again(base, 2.0)
    with pytest.raises(InputError, match="measured again"):
        explorer.known(other)
    fresh = Explorer(base, cores=2)
    for asked in (question, other, fresh.baseline()):
        assert fresh.known(asked) is None
    (after,) = run(answered(base, other))
    assert after.digest == before.digest and after.time_s > 1.5 * before.time_s


@pytest.mark.long
def test_a_map_exported_as_a_study_has_the_numbers_of_its_points(base: Path, tmp_path: Path) -> None:
    bandwidths = ["30 Gbit/s", "60 Gbit/s"]
    questions_ = [ask(base, {**SLOW, "network.link.bandwidth": bandwidth}) for bandwidth in bandwidths]
    answers = run(answered(base, *questions_))
    explorer = Explorer(base, cores=2)
    study = tmp_path / "study.yaml"
    text = explorer.exported_study(questions_[0], [(("network.link.bandwidth",), bandwidths)])
    study.write_text(text)
    assert answers[0].flow_control is not None and f"flow_control: {answers[0].flow_control['flow_control']}" in text
    done = pipeline.run(study, tmp_path, ["--until", "phase3_analyse_sensitivity"])
    assert done.returncode == 0, done.stdout + done.stderr
    (table,) = (tmp_path / "results").glob("small-map-*/sensitivity.parquet")
    found = pd.read_parquet(table).query("nodes == 8")
    assert sorted(found["time_s"]) == sorted(answer.time_s for answer in answers)


def test_an_answer_is_exported_as_an_offline_page(base: Path) -> None:
    question = ask(base, SLOW)
    explorer = Explorer(base, cores=2)
    with pytest.raises(UsageError, match="no answer yet"):
        explorer.exported_page(question)
    (answer,) = run(answered(base, question))
    page = explorer.exported_page(question, explorer.baseline())
    assert answer.digest in page and "30 Gbit/s" in page and 'id="figure-links"' in page and 'id="paired"' in page
    assert "src=" not in page.split("<script")[0] and answer.tables["projection.parquet"] in page


def large(results: Path) -> Question:
    """A question whose simulation takes long enough to be cancelled."""
    return ask(results, {"simulate.replicas": 200, "network.flow_control": "none"}, nodes=256)


def test_a_cancelled_question_leaves_no_process(base: Path, tmp_path: Path) -> None:
    async def body() -> None:
        explorer = Explorer(base, cores=2)
        running = asyncio.Event()

        def follow(now: Progress) -> None:
            if now.step == "256 nodes":
                running.set()

        question = large(base)
        # The last who waits goes away.
        task = asyncio.create_task(explorer.answer(question, progress=follow))
        await running.wait()
        await asyncio.sleep(0.5)
        assert processes_of(tmp_path)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert not none_left(tmp_path) and explorer.running() == []
        # Somebody cancels it for all.
        running.clear()
        tasks = [asyncio.create_task(explorer.answer(question, progress=follow)) for _ in range(2)]
        await running.wait()
        explorer.cancel(explorer.digest(question))
        for each in tasks:
            with pytest.raises(QuestionCancelledError):
                await each
        assert not none_left(tmp_path) and explorer.known(question) is None
        await explorer.close()

    run(body())


def test_a_question_that_is_asked_again_while_it_is_cancelled_is_answered(base: Path) -> None:
    question = ask(base, {**SLOW, "simulate.replicas": 20}, nodes=64)

    async def body() -> None:
        explorer = Explorer(base, cores=2)
        running = asyncio.Event()
        first = asyncio.create_task(
            explorer.answer(question, progress=lambda now: running.set() if now.step == "64 nodes" else None)
        )
        await running.wait()
        explorer.cancel(explorer.digest(question))
        second = asyncio.create_task(explorer.answer(question))
        with pytest.raises(QuestionCancelledError):
            await first
        assert (await second).question == question
        await explorer.close()

    run(body())


def test_limits_and_failed_steps_are_said_in_words(base: Path) -> None:
    with pytest.raises(UsageError, match="too large to wait for"):
        run(answered(base, ask(base, {"simulate.replicas": 100_000}, nodes=512)))
    with pytest.raises(UsageError, match="no-such"):
        run(answered(base, ask(base, {"simulate.collectives.allreduce": "no-such"})))
    limited = ask(
        base, {"simulate.time_limit": "1 ms", "simulate.replicas": 50, "network.flow_control": "none"}, nodes=64
    )
    with pytest.raises(StepFailedError, match="did not end in time") as failed:
        run(answered(base, limited))
    assert failed.value.exit_code == 5

    async def body() -> None:
        explorer = Explorer(base, cores=1, limits=Limits(waiting=1))
        first = asyncio.create_task(explorer.answer(large(base)))
        await asyncio.sleep(0.1)
        with pytest.raises(UsageError, match="too many questions wait"):
            await explorer.answer(ask(base, SLOW))
        first.cancel()
        await asyncio.gather(first, return_exceptions=True)
        await explorer.close()

    run(body())


@pytest.mark.long
def test_a_killed_server_loses_no_finished_question_and_leaves_no_process(base: Path, tmp_path: Path) -> None:
    """It is killed twice by default, before and after an answer.

    With ``MANYNODE_FUZZ=all`` it is killed ten times, and asked more questions.
    """
    chance = random.Random(7)
    finished: dict[str, str] = {}
    amid = 0
    for kill in range(KILLS):
        # In the middle of the steps of some question, and around the end of one.
        word, longest_s = ("finished", 1.0) if kill % 2 else ("asked", 3.0)
        told = killed(base, tmp_path, word, chance.uniform(0, longest_s))
        amid += sum(line[0] == "finished" for line in told) < sum(line[0] == "asked" for line in told)
        for line in told:
            if line[0] == "finished" and len(line) == 3:
                assert finished.setdefault(line[1], line[2]) == line[2], "the same number every time"
        assert not none_left(tmp_path)
    assert finished and amid, "kills must have come after answers and amid questions"
    explorer = Explorer(base, cores=2)
    asked = {explorer.digest(question): question for question in questions(explorer)}
    for digest, time_s in finished.items():
        answer = explorer.known(asked[digest])
        assert answer is not None and repr(answer.time_s) == time_s
    assert {entry["digest"] for entry in explorer.log()} == set(asked)
    # The rest is answered as if nothing had happened.
    assert len(run(answered(base, *asked.values()))) == len(asked)
