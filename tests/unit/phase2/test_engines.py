"""Engines: their commands, and segments from real-looking output of callgrind."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from phase2_cases import machine, marker_file, records

from manynode.config.experiment import NodesimSection
from manynode.errors import EngineMissingError, InputError, UsageError
from manynode.launch import Block
from phase2_nodesim import steps
from phase2_nodesim.engines import _host
from phase2_nodesim.engines._interface import ENGINES, NodeJob, NodeRun, probes
from phase2_nodesim.engines.valgrind import Valgrind
from phase2_nodesim.gem5.installation import find_gem5
from phase2_nodesim.segments import SCHEMA
from phase2_nodesim.steps import make_segments

CALLS = [
    ("MPI_Init", "main", 0.0, "", False),
    ("MPI_Allreduce", "dot", 1e-3, "", False),
    ("MPI_Finalize", "main", 2e-3, "end", False),
]
EVENTS = "Ir Dr Dw I1mr D1mr D1mw ILmr DLmr DLmw Bc Bcm Bi Bim"


def callgrind_output(pid: int, totals: dict[int, str]) -> str:
    """Return callgrind's output with --combine-dumps=yes, as far as it is read."""
    parts = [f"Client Request: {number}" for number in totals] + ["Program termination"]
    counts = [*totals.values(), "5"]
    text = "# callgrind format\nversion: 1\ncreator: callgrind-3.19.0\n"
    for index, (trigger, count) in enumerate(zip(parts, counts, strict=True), 1):
        text += f"pid: {pid}\ncmd: app\npart: {index}\n\n\ndesc: Timerange: Basic block 0 - 1\n"
        text += (
            f"desc: Trigger: {trigger}\n\npositions: line\nevents: {EVENTS}\n\nfn=(1) main\n0 1\n\ntotals: {count}\n"
        )
    return text


def test_all_engines_are_found_and_probed() -> None:
    assert ENGINES.names() == ["gem5", "native", "qemu", "valgrind"]
    found = probes()
    assert found["native"].available
    assert found["valgrind"].available == (shutil.which("valgrind") is not None)
    assert found["valgrind"].available or "apt-get" in found["valgrind"].remedy


def test_an_unknown_engine_names_the_nearest() -> None:
    with pytest.raises(UsageError, match="valgrind"):
        ENGINES.get("valgrnd")


@pytest.mark.skipif(shutil.which("valgrind") is None, reason="valgrind is not installed")
def test_valgrind_is_told_the_machines_caches(tmp_path: Path) -> None:
    folder = tmp_path / "100%"
    command = Valgrind().command_prefix(NodeRun(machine(), 36, folder))
    assert {"--tool=callgrind", "--D1=32768,8,64", "--LL=2621440,20,64"} <= set(command)
    assert f"--callgrind-out-file={tmp_path}/100%%/callgrind.%p" in command


def test_a_missing_valgrind_is_an_engine_that_is_not_available(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    probe = ENGINES.get("valgrind").probe()
    assert not probe.available and "apt-get install valgrind" in probe.remedy


def test_valgrinds_times_are_cycles_of_the_model(tmp_path: Path) -> None:
    (tmp_path / "callgrind.77").write_text(callgrind_output(77, {1: "9200", 2: "4600 10 10 0 0 0 0 0 0 5 10"}))
    frame = ENGINES.get("valgrind").segments(NodeRun(machine(), 1, tmp_path), [marker_file(records(0, CALLS), 77)])
    assert frame["compute_s"].tolist() == pytest.approx([2300 / 2.3e9, (1150 + 10 * 3 / 8 + 10 * 18) / 2.3e9])
    assert frame["cycles_branch"].tolist() == [0.0, 180.0]
    assert frame["phase"].tolist() == ["MPI_Init@main -> MPI_Allreduce@dot", "end"]


def test_a_rank_without_callgrind_output_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="rank 0"):
        ENGINES.get("valgrind").segments(NodeRun(machine(), 1, tmp_path), [marker_file(records(0, CALLS), 77)])


@pytest.mark.parametrize(("crowded", "levels"), [(False, [None, None, None]), (True, ["1", "2", "1"])])
def test_crowded_native_ranks_wait_politely_and_others_do_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, crowded: bool, levels: list[str | None]
) -> None:
    blocks: list[Block] = []
    monkeypatch.setattr(_host, "run_job", lambda flavour, given, **options: blocks.extend(given))
    monkeypatch.setattr(_host, "native_library", lambda name: tmp_path / name)
    job = NodeJob(["app"], "mpich", 1, 3, 2, threads=4)
    ENGINES.get("native").run(NodeRun(machine(), 2, tmp_path, crowded=crowded), job)
    assert [block.ranks for block in blocks] == [2, 2, 2]
    assert [block.env.get("MANYNODE_MARKERS_POLITE") for block in blocks] == levels
    assert {block.env["OMP_NUM_THREADS"] for block in blocks} == {"4"}


def test_native_nodes_take_turns_where_they_are_asked_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blocks: list[Block] = []
    monkeypatch.setattr(_host, "run_job", lambda flavour, given, **options: blocks.extend(given))
    monkeypatch.setattr(_host, "native_library", lambda name: tmp_path / name)
    names = []
    for turns in (True, True, False):
        ENGINES.get("native").run(
            NodeRun(machine(), 2, tmp_path),
            NodeJob(["app"], "mpich", 1, 3, 2, threads=3, settings=NodesimSection(engine="native", turns=turns)),
        )
        names.append({block.env.get("MANYNODE_MARKERS_TURNS") for block in blocks})
        # Two ranks of a node, each with three threads.
        assert {block.env.get("MANYNODE_MARKERS_TURN_CORES") for block in blocks} == {"6" if turns else None}
        blocks.clear()
    # All ranks of a job share a turn, and no two jobs do.
    assert [len(found) for found in names] == [1, 1, 1] and names[0] != names[1] and names[2] == {None}


def test_native_times_are_processor_time_where_it_was_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blocks: list[Block] = []
    monkeypatch.setattr(_host, "run_job", lambda flavour, given, **options: blocks.extend(given))
    monkeypatch.setattr(_host, "native_library", lambda name: tmp_path / name)
    job = NodeJob(["app"], "mpich", 1, 3, 1, settings=NodesimSection(engine="native", clock="processor"))
    ENGINES.get("native").run(NodeRun(machine(), 1, tmp_path), job)
    assert [block.env.get("MANYNODE_MARKERS_CPU_TIME") for block in blocks] == [None, "1", None]
    file = marker_file(records(0, CALLS), 77)
    by_wall = ENGINES.get("native").segments(NodeRun(machine(), 1, tmp_path), [file])
    file.records["cpu_ns"] = [0.0, 1500.0, 2500.0]
    by_processor = ENGINES.get("native").segments(NodeRun(machine(), 1, tmp_path), [file])
    assert by_processor["compute_s"].tolist() == pytest.approx([1.5e-6, 2.5e-6])
    assert by_wall["compute_s"].tolist() != by_processor["compute_s"].tolist()


def test_a_missing_gem5_is_named_with_its_guide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    probe = ENGINES.get("gem5").probe()
    assert not probe.available and "gem5.org" in probe.remedy
    with pytest.raises(EngineMissingError, match="gem5 was not found") as caught:
        find_gem5("/nonexistent/gem5.opt")
    assert caught.value.where == "nodesim: gem5: executable" and "/nonexistent/gem5.opt" in str(caught.value.found)


def test_a_program_of_gem5s_name_that_is_none_is_refused(tmp_path: Path) -> None:
    program = tmp_path / "gem5.opt"
    program.write_text("#!/bin/sh\necho a game of chess\n")
    program.chmod(0o755)
    with pytest.raises(EngineMissingError, match="is not gem5") as caught:
        find_gem5(str(program))
    assert caught.value.found == "a game of chess"


def test_make_segments_writes_only_simulated_ranks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = [marker_file(records(rank, CALLS)) for rank in range(3)]
    monkeypatch.setattr(steps, "read_marker_directory", lambda directory, complete: files)
    output = tmp_path / "segments.parquet"

    def make(ranks: list[int] | None) -> list[int]:
        frame = make_segments(
            tmp_path,
            output,
            "native",
            machine(),
            nodes=3,
            ranks_per_node=1,
            external=True,
            application={"name": "hpcg"},
            simulated_ranks=ranks,
        )
        return sorted(set(frame["rank"].tolist()))

    assert make(None) == [0, 1, 2]
    assert make([1]) == [1]
    frame, origin = steps.read_segments([output])
    assert frame["rank"].tolist() == [1, 1] and SCHEMA == "segments/1"
    assert (origin["engine"], origin["ranks"], origin["external"]) == ("native", 3, True)
    with pytest.raises(InputError, match="rank 7"):
        make([1, 7])
