"""``manynode project``: node counts, questions gathered in one message, and files that are not overwritten."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from manynode.errors import EngineMissingError, ManynodeError, UsageError
from manynode.launch import Flavour
from manynode.probe import Probe
from phase2_nodesim.derive.accepted import Accepted
from phase2_nodesim.derive.campaign import Run
from phase2_nodesim.derive.program import Program
from phase2_nodesim.derive.written import checksum
from phase2_nodesim.project import experiment, plan, request, skeleton
from phase2_nodesim.project.kept import Kept, check_experiment_replaceable
from phase2_nodesim.project.measured_jobs import MeasuredJob
from phase2_nodesim.project.questions import Questions
from phase2_nodesim.project.request import Options, Request, node_counts, request_of

GIVEN = Options(
    words=["/bin/true"], nodes="1,2", network="opa100-fat-tree", machine="broadwell", ranks_per_node=2, engine="fast",
    node_engine="native", parameter=[], vary=[], projected=[], ranks="4,8,12", held_out="16", varied_ranks=12,
    mpi="mpich", threads=1, timeout_s=3600.0, output=None,
)  # fmt: skip


@pytest.mark.parametrize(
    ("text", "counts"),
    [
        ("1..16", [1, 2, 4, 8, 16]),
        ("1..12", [1, 2, 4, 8, 12]),
        ("3..3", [3]),
        ("8,1, 3", [1, 3, 8]),
        ("1..4,100", [1, 2, 4, 100]),
    ],
)
def test_node_counts_double_or_are_listed(text: str, counts: list[int]) -> None:
    assert node_counts(text) == counts


@pytest.mark.parametrize("text", ["", "0", "4..1", "1-4", "1...4", "a", "1,,2", "0..4"])
def test_other_node_counts_are_refused(text: str) -> None:
    with pytest.raises(UsageError, match="node counts cannot be read"):
        node_counts(text)


def asked(options: Options) -> str:
    """Return the message with all questions; an empty text if there is none."""
    questions = Questions("manynode project")
    request_of(options, questions)
    try:
        questions.ask()
    except ManynodeError as error:
        return error.render()
    return ""


def test_all_questions_come_in_one_message() -> None:
    text = asked(
        replace(
            GIVEN, words=["/no/such", "{nx}", "--network=x"], network=None, machine="brodwell", nodes="x", engine="fst",
            vary=["ny"],
        )
    )  # fmt: skip
    assert text.startswith("7 questions are open before anything runs")
    for option in ("-- PROGRAM: ", "--parameter nx=VALUE: ", "--nodes: ", "--machine: ", "--engine: ", "--vary: "):
        assert f"| {option}" in text, text
    assert "--network: which network?" in text and "opa100-fat-tree, " in text and "before the --" in text
    assert "did you mean 'broadwell'?" in text and "did you mean 'fast'?" in text


def test_a_single_question_keeps_its_kind() -> None:
    questions = Questions("here")
    with questions.about("--x"):
        raise EngineMissingError("it is not installed", remedy="install it")
    with pytest.raises(EngineMissingError, match="one question is open"):
        questions.ask()


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"words": ["my.yaml"]}, "an experiment is no program"),
        ({"network": "opa100"}, "unknown network"),
        ({"network": "none.yaml"}, "the network file does not exist"),
        ({"ranks_per_node": 1000}, "do not fit a node of"),
        ({"node_engine": "quemu"}, "did you mean 'qemu'"),
        ({"ranks": "4,8,200"}, "numbers of ranks that this command does not record"),
        ({"projected": ["nx=3"]}, "was not varied"),
        ({"output": Path("my.yml")}, "not a name of an experiment's file"),
        ({"vary": ["nx=3,4"]}, "a parameter to vary is not one of the program's"),
        ({"mpi": "auto"}, "not a dynamically linked MPI program"),
    ],
)
def test_a_mistake_is_a_question(
    changes: dict[str, object], said: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    assert said in asked(replace(GIVEN, **changes))  # type: ignore[arg-type]
    assert not list(tmp_path.iterdir())


@pytest.fixture
def anywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """Requests need no tools of this host."""
    monkeypatch.setattr(request, "_check_experiment", lambda *_: None)
    monkeypatch.setattr(request, "launcher", lambda _: [])
    monkeypatch.setattr(request, "native_library", lambda _: None)
    monkeypatch.setattr(request, "native_program", lambda _: None)


def requested(**changes: object) -> Request:
    found = request_of(replace(GIVEN, **changes), Questions("here"))  # type: ignore[arg-type]
    assert found is not None
    return found


@pytest.mark.usefixtures("anywhere")
def test_jobs_smaller_than_all_recordings_are_recorded_as_well() -> None:
    found = requested()
    assert [run.ranks for run in found.learned] == [2, 4, 8, 12]
    assert [run.ranks for run in found.held_out] == [16]
    assert plan.plan_lines(found, Path("."))[1].startswith("project on: 1, 2 nodes of broadwell, 2 ranks each;")


@pytest.mark.usefixtures("anywhere")
def test_the_folder_of_recordings_has_the_name_of_the_program() -> None:
    assert requested(output=Path("there/other.yaml")).recordings == Path("there/true.recordings")
    assert requested(recordings=Path("mine")).recordings == Path("mine")
    one, other = requested(output=Path("a.yaml")), requested(output=Path("b.yaml"))
    assert one.kept.parent == other.kept.parent and one.kept != other.kept


@pytest.mark.usefixtures("anywhere")
@pytest.mark.parametrize(
    ("changes", "another"),
    [
        ({}, False),
        ({"ranks": "4,8,12,27", "held_out": "", "varied_ranks": 8}, False),
        ({"nodes": "1,2,4"}, True),
        ({"network": "paper-torus"}, True),
        ({"words": ["/bin/true", "20"]}, True),
    ],
)
def test_more_recordings_are_no_other_question(changes: dict[str, object], another: bool) -> None:
    assert (requested(**changes).question != requested().question) is another


@pytest.mark.usefixtures("anywhere")
@pytest.mark.parametrize(("engine", "counters"), [("native", False), ("native", True), ("auto", False)])
def test_the_engine_native_profiles_at_the_programs_own_speed(
    engine: str, counters: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("phase1_profile.sources.perf_event.PerfEvent.probe", lambda _: Probe(counters, "", "", "", ""))
    found = requested(node_engine=engine).experiment["profile"].get("source")
    assert found == ("processor_time" if (engine, counters) == ("native", False) else None)


def made(folder: Path, flavour: Flavour = "mpich") -> Request:
    program = Program("halo", ["/bin/halo", "{nx}", "{steps}"], {"nx": 8, "steps": 3}, flavour)
    runs = [Run.of(count, program.parameters) for count in (2, 4, 6)]
    content = {"name": "halo", "application": {"command": program.command}, "nodesim": {"engine": "native"}}
    content |= {
        "machine": "broadwell",
        "network": "/somewhere/torus.yaml",
        "profile": {"nodes": [1, 2]},
        "techniques": ["ext-var"],
    }
    files = folder / "halo.yaml", folder / "halo.recordings"
    return Request(program, runs, [], [1, 2, 8], 2, {"nx": 64}, *files, 60.0, "auto", content)


def described(
    wanted: Request, jobs: list[MeasuredJob], left_out: dict[int, str], monkeypatch: pytest.MonkeyPatch
) -> experiment.Described:
    monkeypatch.setattr(experiment, "measured_jobs", lambda *_: (jobs, left_out))
    monkeypatch.setattr(experiment, "_resolved", lambda *_: None)
    monkeypatch.setattr(experiment, "crowding_warning", lambda _: "too many ranks")
    refused = {1: ["no recording is smaller"]}
    return experiment.described(wanted, {"nx": 64}, [2, 8, 32], refused, Accepted())


def test_the_experiment_has_learned_parameters_in_braces_and_says_what_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = made(tmp_path)
    one = described(wanted, [MeasuredJob(4, (2, 8), True)], {32: "no job executes the phase x"}, monkeypatch)
    (found,) = one.experiments.values()
    assert found["application"] == {
        "command": ["/bin/halo", "{nx}", "3"], "derived": "halo.skeleton.yaml", "parameters": {"nx": 64},
    }  # fmt: skip
    assert found["profile"] == {"nodes": [2, 4], "max_classes": 1}
    assert found["nodesim"] == {"engine": "native", "nodes": 4, "clock": "processor"}
    assert found["title"] == "halo on 2 to 8 nodes of broadwell, network torus"
    assert found["nodes"] == [2, 8] and list(one.left_out) == [1, 32]
    text = experiment.text_of(one, wanted.output)
    assert yaml.safe_load(text) == found
    assert "# left out: 1 node: no recording is smaller" in text and "manynode run" in text


def test_two_measured_jobs_are_two_experiments(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = made(tmp_path)
    one = described(wanted, [MeasuredJob(18, (32,), False), MeasuredJob(6, (2, 8), True)], {}, monkeypatch)
    large, others = one.experiments.values()
    assert list(one.experiments) == [wanted.output, wanted.others] and [large["name"], others["name"]] == [
        "halo",
        "halo-others",
    ]
    assert (large["nodes"], large["nodesim"]["nodes"]) == ([32], 18)
    assert (others["nodes"], others["nodesim"]["nodes"], others["profile"]["nodes"]) == ([2, 8], 6, [3, 6])
    text = experiment.text_of(one, wanted.others)
    assert f"measured job of their own: nodes 32: {wanted.output}" in text and "halo-others.yaml" in text


@pytest.mark.parametrize("nodes", [1, 8])
def test_one_node_count_is_measured_at_its_own_size_alone(
    nodes: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (found,) = described(made(tmp_path), [MeasuredJob(nodes, (nodes,), False)], {}, monkeypatch).experiments.values()
    assert found["profile"] == {"nodes": [nodes]} and found["nodesim"]["nodes"] == nodes
    assert found["techniques"] == (["no-ext-var"] if nodes == 1 else ["ext-var"])


def test_another_value_of_a_parameter_that_was_not_learned_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="recorded as 8 only"):
        skeleton.values(made(tmp_path), {"program": {"fixed": {"nx": 8}}, "parameters": {}})
    content = {"program": {"fixed": {"steps": 3}}, "parameters": {"nx": {}}}
    assert skeleton.values(made(tmp_path), content) == {"nx": 64}


def test_an_edited_experiment_is_named(tmp_path: Path) -> None:
    path = tmp_path / "halo.yaml"
    check_experiment_replaceable(path, "", "", "this")
    path.write_text("name: halo\n")
    written = checksum("name: halo\n")
    check_experiment_replaceable(path, written, "this", "this")
    with pytest.raises(UsageError, match="answers another question, and has its results: it is not overwritten"):
        check_experiment_replaceable(path, written, "that", "this")
    path.write_text("name: halo\nseed: 2\n")
    with pytest.raises(UsageError, match=r"was edited.*not overwritten") as caught:
        check_experiment_replaceable(path, written, "this", "this")
    assert str(path) in caught.value.render() and f"manynode run {path}" in caught.value.render()


def test_what_was_written_is_remembered(tmp_path: Path) -> None:
    kept = Kept("a", "b", "c", "d", "e")
    kept.write(tmp_path / "project.json")
    assert Kept.read(tmp_path / "project.json") == kept
    assert Kept.read(tmp_path / "none.json") == Kept()
