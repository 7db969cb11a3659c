"""Sources of counters without starting anything: marker files are given as they would be read, the rest is written."""

from __future__ import annotations

import errno
import json
import shutil
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from manynode.errors import EngineMissingError, InputError, UsageError
from manynode.markers import MarkerFile
from phase1_profile import hardware, marker_counts
from phase1_profile.sources import _perf_rank, interface
from phase1_profile.sources.interface import SOURCES, CountedJob, Probe, choose_source

PERF = Path(__file__).resolve().parents[2] / "data" / "perf"


def marker_file(rank: int, phases: list[str], counters: dict[str, list[float]], **metadata: Any) -> MarkerFile:
    calls = len(phases)
    records = pd.DataFrame(
        {
            "rank": rank,
            "node": rank // 2,
            "sequence": range(calls),
            "compute_s": [0.0] + [0.5] * (calls - 1),
            "phase": pd.Categorical(phases),
            **counters,
        }
    )
    content = {"rank": rank, "pid": 100 + rank, "counters": list(counters), "counter_notes": "", **metadata}
    return MarkerFile(Path(f"rank-{rank:06d}.mnmk"), content, records)


def give(monkeypatch: pytest.MonkeyPatch, *files: MarkerFile) -> None:
    monkeypatch.setattr(marker_counts, "read_marker_directory", lambda *_, **__: list(files))


def test_perf_event_sums_compute_phases_and_names_phases(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    counts = {
        "instructions": [99.0, 10.0, 20.0, 40.0],
        "cycles": [9.0, 5.0, 5.0, 5.0],
        "l1d_loads": [1.0, 2.0, 3.0, 4.0],
    }
    give(monkeypatch, marker_file(0, ["", "work", "", "work"], counts), marker_file(1, ["", "", "", ""], counts))
    table = SOURCES.get("perf_event")().read(tmp_path, None).set_index(["rank", "phase"])
    assert table.loc[(0, ""), "instructions"] == 70  # MPI_Init's row is no compute phase
    assert table.loc[(0, "work"), "instructions"] == 50
    assert table.loc[(0, ""), "loads"] == 9
    assert table.loc[(0, ""), "seconds"] == 1.5
    assert len(table) == 3


def test_processor_time_sums_the_time_of_compute_phases_alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The elapsed time of a phase, 0.5 s, is longer: the rank waited for a core."""
    give(monkeypatch, marker_file(0, ["", "work", "", "work"], {"cpu_ns": [9e9, 1e8, 2e8, 4e8]}))
    table = SOURCES.get("processor_time")().read(tmp_path, None).set_index("phase")
    assert table["seconds"].to_dict() == pytest.approx({"": 0.7, "work": 0.5})
    assert not {"instructions", "loads"} & set(table.columns)


@pytest.mark.parametrize(("ranks", "polite"), [(1, False), (4096, True)])
def test_processor_time_needs_no_counters_and_waits_politely_on_few_cores(
    ranks: int, polite: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(marker_counts.paths, "native_library", lambda name: Path(name))
    found = SOURCES.get("processor_time")().environment(CountedJob(tmp_path, "mpich", ranks))
    assert found["MANYNODE_MARKERS_CPU_TIME"] == "1" and found["MANYNODE_MARKERS_COUNTERS"] == "time"
    assert ("MANYNODE_MARKERS_POLITE" in found) is polite


def test_markers_without_hardware_counters_name_the_reason_and_the_remedy(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    give(monkeypatch, marker_file(0, ["", ""], {}, counter_notes="instructions: No such file or directory"))
    with pytest.raises(EngineMissingError, match="No such file or directory") as caught:
        SOURCES.get("perf_event")().read(tmp_path, None)
    assert "callgrind" in str(caught.value)


@pytest.mark.parametrize("flag", ["incomplete", "truncated"])
def test_a_rank_that_is_not_complete_is_refused(flag: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    give(monkeypatch, marker_file(0, ["", ""], {}, **{flag: True}))
    with pytest.raises(InputError, match="incomplete"):
        SOURCES.get("callgrind")().read(tmp_path, None)


def dump(path: Path, pid: int, totals: dict[int, str]) -> None:
    parts = [
        f"part: {i}\ndesc: Trigger: Client Request: {sequence}\nevents: Ir Dr Dw Bc Bcm Bi Bim\ntotals: {counts}\n"
        for i, (sequence, counts) in enumerate(totals.items(), 1)
    ]
    end = "part: 99\ndesc: Trigger: Program termination\nevents: Ir Dr Dw Bc Bcm Bi Bim\ntotals: 7 7 7 7 7 7 7\n"
    path.write_text(f"version: 1\ncreator: callgrind-3.19.0\npid: {pid}\n" + "\n".join(parts) + "\n" + end)


def test_callgrind_adds_branches_of_both_kinds_and_leaves_cycles_unknown(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    give(monkeypatch, marker_file(0, ["", "a", "b"], {}))
    dump(tmp_path / "callgrind.100", 100, {0: "5000 1 1 1 1 1 1", 1: "100 30 20 10 3 2 1", 2: "1000 300 200 100 30"})
    table = SOURCES.get("callgrind")().read(tmp_path, None).set_index("phase")
    assert table.loc["", ["instructions", "branches", "branch_misses", "loads"]].tolist() == [1100, 112, 34, 330]
    assert table.loc["a", "branches"] == 12
    assert "cycles" not in table
    assert "seconds" not in table


def test_callgrind_output_that_does_not_fit_the_markers_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    give(monkeypatch, marker_file(0, ["", "a", "b"], {}))
    with pytest.raises(InputError, match="without valgrind"):
        SOURCES.get("callgrind")().read(tmp_path, None)
    dump(tmp_path / "callgrind.100", 100, {1: "1 1 1 1 1 1 1"})
    with pytest.raises(InputError, match="no dump for call 2 of rank 0"):
        SOURCES.get("callgrind")().read(tmp_path, None)


def perf_folder(folder: Path, texts: list[str], size: int | None = None) -> None:
    for rank, text in enumerate(texts):
        identity = {"rank": rank, "size": size or len(texts), "host": f"host{rank // 2}"}
        (folder / f"rank-{rank:06d}.json").write_text(json.dumps(identity))
        (folder / f"rank-{rank:06d}.csv").write_text(text)


COUNTED = (
    "{0};;instructions:u;1;100.00;1.5;insn per cycle\n200;;cycles:u;1;80.00;;\n50;;branches:u;1;100.00;;\n"
    "<not counted>;;branch-misses:u;0;0.00;;\n30;;L1-dcache-loads:u;1;100.00;;\n1500.00;msec;task-clock;1;100.00;;\n"
)


def test_perf_stat_reads_every_rank_and_numbers_hosts_or_virtual_nodes(tmp_path: Path) -> None:
    perf_folder(tmp_path, [COUNTED.format(300 + rank) for rank in range(4)])
    source = SOURCES.get("perf_stat")()
    table = source.read(tmp_path, None)
    assert table["instructions"].tolist() == [300, 301, 302, 303]
    assert table["node"].tolist() == [0, 0, 1, 1]
    assert source.read(tmp_path, 1)["node"].tolist() == [0, 1, 2, 3]
    assert table["seconds"].tolist() == [1.5] * 4
    assert table["branch_misses"].isna().all()
    assert table["counted_share"].tolist() == [0.8] * 4


def test_perf_stat_in_this_virtual_machine_says_what_to_do(tmp_path: Path) -> None:
    perf_folder(tmp_path, [(PERF / "rank-not-supported-6.1.187.csv").read_text()] * 2)
    with pytest.raises(EngineMissingError, match="instructions:u: not supported"):
        SOURCES.get("perf_stat")().read(tmp_path, None)


def test_perf_stat_misses_a_rank_by_number(tmp_path: Path) -> None:
    source = SOURCES.get("perf_stat")()
    with pytest.raises(InputError, match="no file"):
        source.read(tmp_path, None)
    perf_folder(tmp_path, [COUNTED.format(1)] * 2, size=3)
    with pytest.raises(InputError, match="no file of rank 2 of 3"):
        source.read(tmp_path, None)
    (tmp_path / "rank-000002.json").write_text('{"rank": 2, "size": 3, "host": "h"}')
    with pytest.raises(InputError, match="left no counts"):
        source.read(tmp_path, None)
    (tmp_path / "rank-000001.json").write_text('{"rank": "x"}')
    with pytest.raises(InputError, match="identity"):
        source.read(tmp_path, None)


def test_a_rank_finds_its_number_under_each_launcher() -> None:
    assert _perf_rank.number({"PMI_RANK": "3"}, _perf_rank.RANK) == 3
    assert _perf_rank.number({"OMPI_COMM_WORLD_RANK": "4", "SLURM_PROCID": "0"}, _perf_rank.RANK) == 4
    assert _perf_rank.number({"SLURM_PROCID": "5"}, _perf_rank.RANK) == 5
    assert _perf_rank.number({"PMI_RANK": "-1"}, _perf_rank.RANK) is None
    words = _perf_rank.perf_command("/usr/bin/perf", "/d/rank-000001", "a,b", ";", ["./app", "-x"])
    assert words == ["/usr/bin/perf", "stat", "-x", ";", "-e", "a,b", "-o", "/d/rank-000001.csv", "--", "./app", "-x"]


def test_callgrind_is_started_with_branches_loads_and_a_file_per_process(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: f"/usr/bin/{name}")
    words = SOURCES.get("callgrind")().prefix(CountedJob(tmp_path / "100%", "mpich", 2))
    assert words[0] == "/usr/bin/valgrind"
    assert {"--cache-sim=yes", "--branch-sim=yes", "--combine-dumps=yes"} <= set(words)
    assert f"--callgrind-out-file={tmp_path}/100%%/callgrind.%p" in words


def choose(monkeypatch: pytest.MonkeyPatch, wanted: str, application: Any = None, **available: bool) -> tuple[str, str]:
    class Fixed:
        def __init__(self, name: str) -> None:
            self.name = name

        def probe(self) -> Probe:
            return Probe(available[self.name], f"why {self.name}", "", "", f"mend {self.name}")

        def check(self, application: Any) -> None:
            if application == f"not under {self.name}":
                raise UsageError("it cannot run", found="a script", remedy="take a program")

    class Registry:
        def get(self, name: str) -> Any:
            return lambda: Fixed(name)

        def names(self) -> list[str]:
            return sorted(available)

    monkeypatch.setattr(interface, "SOURCES", Registry())
    return choose_source(wanted, application)


def test_auto_takes_hardware_counters_else_qemu_else_callgrind_and_records_why(monkeypatch: pytest.MonkeyPatch) -> None:
    assert choose(monkeypatch, "auto", perf_event=True, qemu=True, callgrind=True)[0] == "perf_event"
    name, reason = choose(monkeypatch, "auto", perf_event=False, qemu=True, callgrind=True)
    assert name == "qemu" and "perf_event cannot be used: why perf_event" in reason
    name, reason = choose(monkeypatch, "auto", perf_event=False, qemu=False, callgrind=True)
    assert name == "callgrind" and "qemu cannot be used: why qemu" in reason
    with pytest.raises(EngineMissingError, match="mend callgrind"):
        choose(monkeypatch, "auto", perf_event=False, qemu=False, callgrind=False)
    with pytest.raises(EngineMissingError, match="mend perf_stat"):
        choose(monkeypatch, "perf_stat", perf_stat=False, callgrind=True)


def test_auto_takes_a_source_that_can_count_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    everything = {"perf_event": False, "qemu": True, "callgrind": True}
    name, reason = choose(monkeypatch, "auto", "not under qemu", **everything)
    assert name == "callgrind" and "qemu cannot be used: it cannot run: a script" in reason
    with pytest.raises(UsageError, match="it cannot run"):
        choose(monkeypatch, "qemu", "not under qemu", **everything)


def test_all_sources_are_found_by_name_and_another_is_not() -> None:
    assert SOURCES.names() == ["callgrind", "perf_event", "perf_stat", "processor_time", "qemu"]
    with pytest.raises(UsageError, match="did you mean 'callgrind'"):
        SOURCES.get("callgrid")


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (errno.ENOENT, "virtual machines"),
        (errno.EACCES, "perf_event_paranoid is 4"),
        (errno.ENOSYS, "no perf_event_open"),
    ],
)
def test_a_refused_counter_is_explained(code: int, words: str) -> None:
    told = hardware.explain(code, "4")
    assert not told.usable
    assert words in told.reason
    assert "callgrind" in told.remedy


def test_the_probe_answers_on_any_host() -> None:
    told = hardware.probe_hardware()
    assert told.usable or (told.reason and told.remedy)
