"""Running SST: files, command, the watch, progress, the parts of a real run with two processes, estimates."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from phase3_cases import demo_point

from manynode import tables
from manynode.config.quantities import RESOLVED
from manynode.config.sst import SstSection
from manynode.errors import EngineFailedError, EngineMissingError
from phase3_sst.engines.fast.engine import FastEngine
from phase3_sst.engines.sst.engine import check_memory, side_by_side
from phase3_sst.engines.sst.run.element_library import Fingerprint, check_fits, read_record, read_version
from phase3_sst.engines.sst.run.parts import read_parts, write_result
from phase3_sst.engines.sst.run.progress_lines import Progress, Teller, read_progress
from phase3_sst.engines.sst.run.run_files import sst_run, write_run
from phase3_sst.engines.sst.run.sst_command import environment, sst_command
from phase3_sst.engines.sst.run.sst_estimate import Estimate, alternating, estimate, estimate_of, traffic
from phase3_sst.engines.sst.run.sst_installation import Installation
from phase3_sst.engines.sst.run.watch import Watch
from phase3_sst.point.contract import LINKS_SCHEMA, RANKS_SCHEMA, RESULT_SCHEMA
from phase3_sst.point.result_files import collect
from phase3_sst.point.run_file import run_description

PARTS = Path(__file__).resolve().parent.parent.parent / "golden" / "sst-parts"


def settings(**changes: Any) -> SstSection:
    return SstSection.model_validate(changes, context=RESOLVED)


def installation(**changes: Any) -> Installation:
    whole = {
        "sst": "/opt/bin/sst",
        "config_program": "/opt/bin/sst-config",
        "version": "14.1.0",
        "prefix": "/opt",
        "library": Path("/build/lib/sst"),
        "ember_digest": "0123456789abcdef",
        "mpi_preload": None,
    }
    return Installation(**{**whole, **changes})


def test_the_run_file_holds_a_whole_run_file_of_one_replica_and_what_is_ssts(tmp_path: Path) -> None:
    content = sst_run(run_description(demo_point(), [2]), settings(input_buffer=65536.0), tmp_path / "parts")
    assert content["schema"] == "sst-run/1" and content["run"]["schema"] == "network-run/2"
    assert content["run"]["replicas"] == [2] and content["parts"] == str(tmp_path / "parts")
    assert content["sst"] == {
        "collectives": "expanded",
        "flit_bytes": 8,
        "input_buffer_bytes": 65536,
        "output_buffer_bytes": None,
        "extra_parameters": {},
    }
    write_run(content, tmp_path / "RUN.json")
    assert json.loads((tmp_path / "RUN.network.json").read_text()) == content["run"]
    with pytest.raises(ValueError, match="one replica"):
        sst_run(run_description(demo_point()), settings(), tmp_path)


def test_the_command_of_one_process_and_of_several() -> None:
    run, parts = Path("RUN.json"), Path("parts")
    command = sst_command(installation(), settings(), run, parts, separator=True)
    assert command[:2] == ["/opt/bin/sst", "--add-lib-path=/build/lib/sst"]
    assert command[-4].endswith("sst/machine/machine.py") and command[-3:] == ["--", "RUN.json", "parts"]
    several = settings(threads=2, processes=4, launcher=["srun", "--mpi=pmix"])
    command = sst_command(installation(), several, run, parts, separator=True)
    assert command[:7] == ["srun", "--mpi=pmix", "-n", "4", "/opt/bin/sst", "-n", "2"]
    assert any(word.startswith("--partitioner=sst.") for word in command)


def test_a_release_without_the_separator_gets_model_options() -> None:
    command = sst_command(installation(), settings(), Path("RUN.json"), Path("parts"), separator=False)
    assert command[-2] == "--model-options=RUN.json parts" and command[-1].endswith("machine.py")


def test_a_library_that_mends_mpi_is_preloaded_into_processes_of_mpi_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LD_PRELOAD", raising=False)
    found = installation(mpi_preload=Path("/build/lib/mend.so"))
    assert "LD_PRELOAD" not in environment(found, settings())
    assert environment(found, settings(processes=2, launcher=["srun"]))["LD_PRELOAD"] == "/build/lib/mend.so"


@pytest.mark.parametrize(
    ("output", "version"),
    [
        ("SST-Core Version (14.1.0)\n", "14.1.0"),
        ("SST-Core Version (-dev)", "-dev"),
        ("SST-Core Version (15.0.0, git branch : abc)", "15.0.0, git branch : abc"),
        ("", "unknown"),
    ],
)
def test_the_version_is_read(output: str, version: str) -> None:
    assert read_version(output) == version


RECORD = {"version": "SST-Core Version (14.1.0)", "prefix": "/opt", "sst_sha256": "aa", "ember_library_sha256": "bb"}
HERE = Fingerprint("14.1.0", "/opt", "aa", "bb")


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("version", "SST-Core Version (14.0.0)", "version '14.0.0'"),
        ("prefix", "/usr/local", "prefix '/usr/local'"),
        ("sst_sha256", "cc", "another build of sst 'cc'"),
        ("ember_library_sha256", "cc", "another build of libember.so 'cc'"),
    ],
)
def test_a_library_built_against_another_sst_is_refused(tmp_path: Path, key: str, value: str, words: str) -> None:
    (tmp_path / "built-against.json").write_text(json.dumps(RECORD))
    check_fits(tmp_path, read_record(tmp_path).against, HERE)
    (tmp_path / "built-against.json").write_text(json.dumps({**RECORD, key: value}))
    with pytest.raises(EngineMissingError, match="built against another SST") as caught:
        check_fits(tmp_path, read_record(tmp_path).against, HERE)
    assert caught.value.found == words and "make build" in str(caught.value.remedy)


@pytest.mark.parametrize("text", [None, "{", "{}", "[]"])
def test_a_library_of_which_nothing_is_known_is_refused(tmp_path: Path, text: str | None) -> None:
    if text is not None:
        (tmp_path / "built-against.json").write_text(text)
    with pytest.raises(EngineMissingError, match="record of the element library's SST is missing"):
        read_record(tmp_path)


def test_progress_lines_are_read_and_others_are_not() -> None:
    line = 'manynode-progress {"simulated_s":0.5,"steps":3,"of":10}'
    assert read_progress(line) == Progress(0.5, 3, 10)
    assert read_progress(line.replace("10", "null")) == Progress(0.5, 3, None)
    for other in ("Simulation is complete", 'manynode-progress {"simulated_s":0.5,"st', "manynode-progress []"):
        assert read_progress(other) is None


def test_the_time_left_counts_replicas_and_steps() -> None:
    now = iter([0.0, 30.0])
    lines: list[str] = []
    teller = Teller(4, lines.append, lambda: next(now))
    teller.tell(2, 2, 2, Progress(0.25, 5, 10))
    assert lines == ["replica 2: 0.25 s simulated in 30.0 s, step 5 of 10, about 10 s left"]


def watch(tmp_path: Path, clock: Callable[[], float], memory: int = 0) -> Watch:
    return Watch(
        "the engine sst",
        hang_limit_s=60,
        memory_bytes=1e9,
        log=tmp_path / "sst.log",
        clock=clock,
        memory_of=lambda pid: memory,
    )


def test_a_simulated_time_that_stands_still_is_an_error_and_one_that_advances_is_none(tmp_path: Path) -> None:
    now = [0.0]
    watching = watch(tmp_path, lambda: now[0])
    for now[0], simulated in ((50.0, 0.1), (100.0, 0.2), (150.0, 0.2)):
        watching.advance(simulated)
        watching.look(1)
    now[0] = 161.0
    with pytest.raises(EngineFailedError, match="stands still") as caught:
        watching.look(1)
    assert caught.value.found == "at 200 ms of simulated time for 61 s" and "hang_limit" in str(caught.value.allowed)


def test_a_simulation_that_outgrows_its_memory_is_an_error(tmp_path: Path) -> None:
    now = iter([0.0, 1.0])
    with pytest.raises(EngineFailedError, match="more memory") as caught:
        watch(tmp_path, lambda: next(now), memory=2**31).look(1)
    assert "2 GiB" in str(caught.value.found) and str(tmp_path) in str(caught.value.where)


def test_the_first_second_is_watched_closely(tmp_path: Path) -> None:
    now = [0.0]
    looks: list[float] = []

    def memory_of(_pid: int) -> int:
        looks.append(now[0])
        return 0

    watching = Watch(
        "the engine sst",
        hang_limit_s=60,
        memory_bytes=1e9,
        log=tmp_path / "sst.log",
        clock=lambda: now[0],
        memory_of=memory_of,
    )
    for step in range(1, 300):
        now[0] = step / 100
        watching.look(1)
    early = [at for at in looks if at < 1]
    assert 15 <= len(early) <= 20 and 3 <= len(looks) - len(early) <= 5


def recorded() -> dict[str, Any]:
    content: dict[str, Any] = json.loads((PARTS / "run.json").read_text())
    return content


def test_the_parts_of_a_real_run_become_the_common_tables(tmp_path: Path) -> None:
    """Two processes, one without ranks: HPCG, 3 iterations, 8 ranks, no compute times."""
    content = recorded()
    parts = read_parts(PARTS, content["run"])
    assert parts is not None and parts.unfinished == ([], 0)
    write_result(parts, content, "test", tmp_path / "out")
    collect(tmp_path / "out", tmp_path)
    (replica,) = tables.read_json(tmp_path / "result.json", RESULT_SCHEMA)["replicas"]
    (job,) = replica["jobs"]
    assert replica["replica"] == 3 and replica["makespan_s"] == job["makespan_s"] == max(job["iteration_end_s"])
    ranks = tables.read_table(tmp_path / "ranks.parquet", RANKS_SCHEMA)
    assert list(ranks["rank"].unique()) == list(range(8)) and set(ranks["replica"]) == {3}
    assert job["bytes"] == ranks["bytes"].sum()
    links = tables.read_table(tmp_path / "links.parquet", LINKS_SCHEMA)
    by_class = links.groupby("class")["bytes"].sum()
    assert set(by_class.index) == {"host-up", "host-down", "leaf-up", "leaf-down"}
    assert by_class["host-up"] == by_class["host-down"] and by_class["leaf-up"] == by_class["leaf-down"]
    # Cycles in which a packet waited in an input buffer of a leaf: there were some, and not all.
    assert 0 < links["inq_stall_s"].max() < replica["makespan_s"] and (links["credit_stall_s"] == 0).all()
    # Within a node nothing passes a link; on the wire there are headers.
    assert 0.5 * job["bytes"] < by_class["host-up"] < 1.1 * job["bytes"]


def test_a_run_of_which_a_part_lacks_has_no_result(tmp_path: Path) -> None:
    shutil.copyfile(PARTS / "ranks-1.csv", tmp_path / "ranks-1.csv")
    assert read_parts(tmp_path, recorded()["run"]) is None


def test_a_damaged_part_is_an_error_with_its_path(tmp_path: Path) -> None:
    (tmp_path / "part-0.json").write_text('{"jobs": [')
    with pytest.raises(EngineFailedError, match="cannot be read") as caught:
        read_parts(tmp_path, recorded()["run"])
    assert "part-0.json" in str(caught.value.where)


def test_the_same_ranks_are_in_the_parts_and_in_the_fast_engines_result(tmp_path: Path) -> None:
    run = recorded()["run"]
    try:
        measured = FastEngine().measure(run)
    except EngineMissingError:
        pytest.skip("manynode-fast is not built")
    entry = json.loads((PARTS / "part-1.json").read_text())["jobs"][0]
    assert entry["makespan_s"] == pytest.approx(measured.makespan_s, rel=0.15)


@pytest.mark.parametrize(("cores", "changes", "beside"), [(8, {"threads": 2}, 4), (2, {"processes": 4}, 1), (1, {}, 1)])
def test_as_many_replicas_run_as_there_are_cores_for(cores: int, changes: dict[str, int], beside: int) -> None:
    assert side_by_side(cores, settings(**changes)) == beside


def test_an_estimate_grows_with_ranks_ports_and_traffic() -> None:
    base = estimate(ranks=64, ports=1000, messages=1e4, hops=1e5)
    for changed in ({"ranks": 128}, {"ports": 5000}, {"messages": 1e5}, {"hops": 1e6}, {"processes": 4}):
        more = estimate(**{"ranks": 64, "ports": 1000, "messages": 1e4, "hops": 1e5, **changed})  # type: ignore[arg-type]
        assert more.memory_bytes >= base.memory_bytes and more.seconds >= base.seconds and more != base


def test_an_estimate_of_a_run_asks_the_fast_engine_for_its_packets() -> None:
    run = recorded()["run"]
    try:
        found = estimate_of(run)
    except EngineMissingError:
        pytest.skip("manynode-fast is not built")
    ports = pd.read_csv(PARTS / "statistics_0.csv")
    assert 0.1 < found.seconds < 60 and 50e6 < found.memory_bytes < 1e9 and len(ports) > 0


def test_an_estimate_counts_the_memory_of_messages_that_take_turns_on_a_nic() -> None:
    def beyond(*jobs: tuple[int, int], rails: int = 1) -> int:
        described = [{"nodes": nodes, "ranks_per_node": ranks} for nodes, ranks in jobs]
        return alternating({"jobs": described, "network": {"host": {"rails": rails}}})

    assert beyond((2, 4)) == 0  # 16 pairs of ranks: every NIC has 64
    assert beyond((12, 4)) == 12 * (176 - 64)
    assert beyond((12, 4), (2, 4)) == 12 * (176 - 64)
    assert beyond((12, 4), rails=2) == 24 * (88 - 64)


def test_the_traffic_is_that_of_all_iterations_however_the_application_counts_them() -> None:
    """SNAP's outer iterations have several steps each; twice as many have twice the messages, but for the set-up's."""
    found = {}
    for outers in (4, 8):
        run = json.loads(json.dumps(recorded()["run"]))
        parameters = {"nx": 100, "chunk": 50, "inners": 3, "outers": outers}
        run["jobs"][0]["application"] = {"name": "snap", "parameters": parameters}
        try:
            found[outers] = traffic(run)[0]
            run["jobs"][0] = {key: value for key, value in run["jobs"][0].items() if key != "timing_profile"}
            whole = FastEngine().measure(run).messages
        except EngineMissingError:
            pytest.skip("manynode-fast is not built")
        assert found[outers] == pytest.approx(whole, rel=0.02)
    assert found[8] == pytest.approx(2 * found[4])


def test_the_traffic_of_a_recording_is_all_of_it_though_its_ranks_make_different_numbers_of_calls(
    tmp_path: Path,
) -> None:
    run = json.loads(json.dumps(recorded()["run"]))
    ranks = run["jobs"][0]["nodes"] * run["jobs"][0]["ranks_per_node"]
    stream = {
        "schema": "recorded-stream/2", "digest": "", "ranks": ranks, "phases": [], "communicators": [],
        "calls": [{"call": "MPI_Send", "peer": peer, "bytes": 8, "tag": 1} for peer in (-3, 1)]
        + [{"call": "MPI_Recv", "peer": 0, "bytes": 8, "tag": 1}],
        "streams": [[0] * 100 + [1] * 100, [2] * 100, *[[] for _ in range(ranks - 2)]],
    }  # fmt: skip
    (tmp_path / "stream.json").write_text(json.dumps(stream))
    parameters = {"file": str(tmp_path / "stream.json"), "digest": ""}
    run["jobs"][0]["application"] = {"name": "recorded", "parameters": parameters}
    try:
        assert traffic(run)[0] == 100
    except EngineMissingError:
        pytest.skip("manynode-fast is not built")


def test_what_cannot_fit_the_host_is_refused_with_figures_unless_the_user_sets_a_limit() -> None:
    large = Estimate(1e15, 1e6)
    with pytest.raises(EngineFailedError, match="more memory than this host has") as caught:
        check_memory(large, 2, settings(), "the engine sst")
    assert "GiB" in str(caught.value.allowed) and "2 replicas at a time" in str(caught.value.where)
    check_memory(large, 2, settings(memory=1e9), "the engine sst")
    check_memory(Estimate(1e6, 1.0), 2, settings(), "the engine sst")
