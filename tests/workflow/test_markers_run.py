"""The markers library in real MPI programs: every call recorded once, with the right peer, bytes and tag."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import numpy as np
import pytest
from marker_jobs import LIMIT_S, Mpi

from manynode.callgrind import parse_totals
from manynode.markers import HEADER, MarkerFile, read_marker_directory, read_marker_file
from manynode.process import run
from phase2_nodesim.recording import rank_calls


def operations(file: MarkerFile) -> list[str]:
    return list(file.records["operation"].astype(str))


def as_lines(file: MarkerFile) -> list[str]:
    columns = ["operation", "peer", "peer2", "bytes", "bytes2", "tag", "requests", "communicator"]
    return [" ".join(map(str, row)) for row in file.records[columns].itertuples(index=False)]


@pytest.fixture(scope="module", params=["0", "1"], ids=["as it waits", "polite"])
def every_call(mpi: Mpi, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the marker files of a program that makes every call, and with what it expects in them."""
    folder = tmp_path_factory.mktemp("every-call")
    done = mpi.start(folder, mpi.program("every_call.c"), str(folder), ranks=4, polite=request.param)
    assert "manynode" not in done.output.lower()
    return folder


def test_every_call_is_recorded_once_with_its_peer_bytes_and_tag(mpi: Mpi, every_call: Path) -> None:
    for rank, file in enumerate(read_marker_directory(every_call)):
        assert as_lines(file) == (every_call / f"expected-{rank}").read_text().splitlines()
        assert not file.metadata["incomplete"] and file.metadata["mpi"] == mpi.flavour
        times = file.records[["time_in_s", "time_out_s"]].to_numpy().ravel()
        assert (times[1:] >= times[:-1]).all()


def details(file: MarkerFile, operation: str) -> list[list[int]]:
    rows = file.records[file.records["operation"] == operation]
    return [file.detail(offset) for offset in rows["detail"]]


def test_details_name_requests_members_neighbours_and_blocks(every_call: Path) -> None:
    for rank, file in enumerate(read_marker_directory(every_call)):
        made = file.records[file.records["request"] >= 0]
        assert list(made["request"]) == list(range(len(made)))
        assert set(made["operation"]) == {
            "MPI_Irecv", "MPI_Isend", "MPI_Issend", "MPI_Recv_init", "MPI_Send_init", "MPI_Iallreduce",
        }  # fmt: skip
        assert details(file, "MPI_Waitall") == [[4, 3, 2, 1], [2, 1], [2, 1], [2, 1]]
        assert details(file, "MPI_Wait") == [[2], [1], [1], [1]]
        assert details(file, "MPI_Waitany") == [[1]]  # not the first of its array, which is null
        assert details(file, "MPI_Waitsome") == [[]]
        assert details(file, "MPI_Testall") == [[0, 0]]
        assert details(file, "MPI_Startall") == [[2, 1], [2, 1]]
        assert details(file, "MPI_Start") == [[2], [1]]
        assert details(file, "MPI_Request_free") == [[2], [1]]
        assert details(file, "MPI_Sendrecv") == [[9]] and details(file, "MPI_Sendrecv_replace") == [[10]]
        reverse = [4, 4, 3, 2, 1, 0]
        assert details(file, "MPI_Comm_split") == [[2, 0, *reverse], [6, 0, *reverse]]
        assert details(file, "MPI_Comm_dup") == [[3, 0, *reverse]]
        x, y = divmod(rank, 2)
        assert details(file, "MPI_Cart_create") == [[4, 1, 4, 0, 2, 2, 2, 1, 1, x, y]]
        assert details(file, "MPI_Cart_sub") == [[5, 1, 2, 2, 2 * x, 2 * x + 1, 1, 2, 1, y]]
        # in world, reversed and the copy of reversed, where the root is the member 1
        roots = [rank == 1, rank == 2, rank == 2]
        counts = [4, 8, 16, 24, 32]
        assert details(file, "MPI_Gatherv") == [[0, *counts] if root else [0, 0] for root in roots]
        assert details(file, "MPI_Scatterv") == [[*counts, 0] if root else [0, 0] for root in roots]
        assert details(file, "MPI_Allgatherv") == details(file, "MPI_Reduce_scatter") == [[0, *counts]] * 3
        ones = [4, 8, 8, 8, 8]
        assert details(file, "MPI_Alltoallv") == details(file, "MPI_Alltoallw") == [[*ones, *ones]] * 3
        assert details(file, "MPI_Neighbor_alltoallv") == [[*ones, *ones]]
        assert details(file, "MPI_Win_create") == [[0, 4, 0], [1, *reverse]]
        assert details(file, "MPI_Win_post") == details(file, "MPI_Win_start") == [[1, 1, rank ^ 1]]
        assert details(file, "MPI_Win_lock") == [[0, 0]]
        assert details(file, "MPI_Put") == [[0], [1]] and details(file, "MPI_Win_free") == [[0], [1]]


def test_details_of_graphs_copies_halves_and_intercommunicators(mpi: Mpi, tmp_path: Path) -> None:
    mpi.start(tmp_path, mpi.program("graphs.c"), ranks=4)
    sources, destinations = [[3], [0], [1, 0], [2]], [[1, 2], [2], [3], [0]]
    star = [[1, 2, 3], [0], [0], [0]]
    world, reverse = [4, 0], [3, 3, 2, 1, 0]
    for rank, file in enumerate(read_marker_directory(tmp_path)):
        into, out, around = sources[rank], destinations[rank], star[rank]
        ring = [2, 2, *world, len(into), len(out), *into, *out]
        assert details(file, "MPI_Dist_graph_create_adjacent") == [ring]
        assert details(file, "MPI_Graph_create") == [[3, 2, *world, len(around), len(around), *around, *around]]
        assert details(file, "MPI_Comm_idup") == [[4, 0, *world]] and details(file, "MPI_Wait") == [[1]]
        number = 5 if rank == 3 else 6  # rank 3 is in no communicator of the first split
        alike, others = [rank % 2, rank % 2 + 2], [1 - rank % 2, 3 - rank % 2]
        first = [-1] if rank == 3 else [5, 0, *reverse]
        assert details(file, "MPI_Comm_split") == [first, [number, 0, 2, 2, *alike]]
        assert details(file, "MPI_Intercomm_create") == [[number + 1, 3, 2, 2, *others]]


@pytest.mark.parametrize("polite", ["0", "1"])
def test_requests_of_one_handle_are_told_apart(mpi: Mpi, tmp_path: Path, polite: str) -> None:
    mpi.start(tmp_path, mpi.program("requests.c"), polite=polite)
    for file in read_marker_directory(tmp_path):
        assert details(file, "MPI_Wait") == [[600 - 307]]
        first, sends, receives = details(file, "MPI_Waitall")
        assert first == [600 - 304, 600 - 305]
        assert sends == [0 if i in (4, 5, 7) else 300 - i for i in range(300)]
        tests = details(file, "MPI_Test")
        assert tests[-1] == [600 - 299] and not any(tests[:-1])
        assert receives == [600 - i for i in range(299)] + [0]
        assert details(file, "MPI_Waitany") == [[1]] and details(file, "MPI_Waitsome") == [[2]]
        calls = rank_calls(file)
        assert [call.request for call in calls if call.request >= 0] == list(range(602))
        assert sorted(number for call in calls for number in call.completes) == list(range(602))


FORTRAN = [
    "MPI_Init -1 -1 0 0 -1 0 -1",
    "MPI_Recv 0 -1 80 0 3 0 0",
    "MPI_Irecv 0 -1 80 0 4 0 0",
    "MPI_Isend 0 -1 80 0 4 0 0",
    "MPI_Waitall -1 -1 0 0 -1 2 -1",
    "MPI_Sendrecv 0 0 16 80 5 0 0",
    "MPI_Comm_split -1 -1 0 0 -1 0 0",
    "MPI_Allreduce -1 -1 80 0 -1 0 2",
    "MPI_Bcast 1 -1 80 0 -1 0 2",
    "MPI_Comm_free -1 -1 0 0 -1 0 2",
    "MPI_Barrier -1 -1 0 0 -1 0 0",
    "MPI_Finalize -1 -1 0 0 -1 0 -1",
]


@pytest.mark.parametrize("polite", ["0", "2"])
@pytest.mark.parametrize("source", ["fortran_mpif.f", "fortran_use_mpi.f90", "fortran_use_mpi_f08.f90"])
def test_fortran_calls_are_recorded_once_with_the_programs_call_site(
    mpi: Mpi, tmp_path: Path, source: str, polite: str
) -> None:
    mpi.start(tmp_path, mpi.program(source), polite=polite)
    file = read_marker_directory(tmp_path)[1]
    assert as_lines(file) == FORTRAN
    assert details(file, "MPI_Waitall") == [[2, 1]]
    assert details(file, "MPI_Comm_split")[0][:3] == [2, 0, 2]
    if shutil.which("addr2line"):
        assert all(name.startswith(source) for name in file.records["call_site_name"])


def test_cxx_calls_are_recorded(mpi: Mpi, tmp_path: Path) -> None:
    mpi.start(tmp_path, mpi.program("cxx_calls.cpp"), ranks=3)
    file = read_marker_directory(tmp_path)[2]
    replaced = ["MPI_Sendrecv_replace 0 1 100 100 9 0 2"] * 3
    assert as_lines(file)[2:5] == replaced
    assert list(file.records["phase"][2:6]) == ["ring", "ring", "ring", ""]
    assert list(file.records["phase_inherited"][2:5]) == [False, True, True]


def test_pcontrol_names_phases_and_bears_any_use(mpi: Mpi, tmp_path: Path) -> None:
    mpi.start(tmp_path, mpi.program("endings.c"), "wild")
    records = read_marker_directory(tmp_path)[0].records
    assert list(records["phase"][7:12]) == ["", "last", "last", "first", ""]
    assert list(records["phase_inherited"][7:12]) == [False, False, True, True, False]


def test_warm_up_is_marked_whatever_its_phases_are_called(mpi: Mpi, tmp_path: Path) -> None:
    mpi.start(tmp_path, mpi.program("endings.c"), "warm")
    records = read_marker_directory(tmp_path)[0].records
    assert list(records["warm_up"][5:11]) == [False, True, True, True, False, False]
    assert list(records["phase"][6:10]) == ["work", "work", "", "work"]


@pytest.mark.parametrize("way", ["crash", "exit", "term", "abort"])
def test_an_early_end_leaves_an_incomplete_file(mpi: Mpi, tmp_path: Path, way: str) -> None:
    mpi.start(tmp_path, mpi.program("endings.c"), way, check=False)
    first = read_marker_directory(tmp_path, complete=False)[0]
    assert first.metadata["rank"] == 0 and first.metadata["incomplete"]
    assert operations(first)[:6] == ["MPI_Init"] + ["MPI_Barrier"] * 5


def test_the_exit_code_is_the_programs_own(mpi: Mpi, tmp_path: Path) -> None:
    program = mpi.program("endings.c")
    bare = mpi.start(None, program, "crash", check=False)
    recorded = mpi.start(tmp_path, program, "crash", check=False)
    assert bare.returncode == recorded.returncode != 0


@pytest.mark.parametrize("place", ["missing", "full"])
def test_no_room_for_the_file_neither_fails_nor_prints(mpi: Mpi, tmp_path: Path, place: str) -> None:
    if place == "full":
        out = tmp_path / "full"
        out.mkdir()
        for rank in range(2):  # /dev/full takes no byte
            (out / f"rank-{rank:06d}.mnmk.partial").symlink_to("/dev/full")
    else:
        out = tmp_path / "no" / "such" / "folder"
    done = mpi.start(out, mpi.program("endings.c"))
    assert done.returncode == 0 and done.output == ""
    if place == "full":
        assert "No space left" in (out / "rank-000000.error").read_text()
        assert not list(out.glob("*.mnmk"))


def test_without_a_folder_nothing_happens(mpi: Mpi, tmp_path: Path) -> None:
    done = mpi.start(None, mpi.program("endings.c"))
    assert done.returncode == 0 and done.output == ""


def test_the_cap_stops_recording_and_is_flagged(mpi: Mpi, tmp_path: Path) -> None:
    mpi.start(tmp_path, mpi.program("endings.c"), max_records="4", ranks_per_node="1")
    for rank, file in enumerate(read_marker_directory(tmp_path)):
        assert file.metadata["truncated"] and len(file.records) == 4
        assert file.metadata["node"] == rank


def test_threads_do_not_corrupt(mpi: Mpi, tmp_path: Path) -> None:
    mpi.start(tmp_path, mpi.program("threads.c"))
    for file in read_marker_directory(tmp_path):
        counts = file.records[file.records["operation"] == "MPI_Sendrecv"].groupby("tag").size()
        if file.metadata["thread_level"] == 3 or len(counts):
            assert counts.to_dict() == {0: 200, 1: 200, 2: 200, 3: 200}


def _shared_s(folder: Path, first: int, second: int) -> float:
    """Return for how long both ranks were in compute phases at the same time [s]."""
    spans = []
    for rank in (first, second):
        file = read_marker_file(folder / f"rank-{rank:06d}.mnmk")
        start = np.frombuffer(file.path.read_bytes(), HEADER, 1)["start_ns"][0] * 1e-9
        times = file.records[["time_in_s", "time_out_s"]].to_numpy() + start
        spans.append(list(zip(times[:-1, 1], times[1:, 0], strict=True)))
    return sum(max(0.0, min(a[1], b[1]) - max(a[0], b[0])) for a in spans[0] for b in spans[1])


def test_calls_in_vain_are_folded_and_their_time_is_kept(mpi: Mpi, tmp_path: Path) -> None:
    mpi.start(tmp_path, mpi.program("polls.c"), str(tmp_path / "go"), cpu_time="1", counters="time")
    file, _ = read_marker_directory(tmp_path)
    assert file.path.stat().st_size < 6000, "2000 records of each kind would be a megabyte"
    for name in ("Testall", "Testany", "Testsome", "Request_get_status", "Iprobe", "Improbe"):
        rows = file.records[file.records["operation"] == f"MPI_{name}"]
        assert len(rows) == 3, "the first in vain, those after it, and the one that found the message"
        first, others, _ = rows.to_dict("records")
        assert others["time_out_s"] - first["time_out_s"] > 1e-4 and others["cpu_ns"] > first["cpu_ns"]
        assert first["bytes2"] == 0 and others["bytes2"] >= 1998, "how many it stands for beside itself"
    tests = file.records[file.records["operation"] == "MPI_Test"]
    assert list(tests["phase"]) == ["", "", "", "", "", "computing", "", ""], "a phase with a label is kept apart"
    # Times are sums: nothing of the run is lost.
    inside = (file.records["time_out_s"] - file.records["time_in_s"]).sum()
    assert file.records["compute_s"].sum() + inside == pytest.approx(file.records["time_out_s"].iloc[-1], rel=1e-6)
    calls = [call.operation for call in rank_calls(file)]
    assert calls.count("MPI_Recv") == 2 and calls.count("MPI_Irecv") == 6 and calls[-1] == "MPI_Finalize"


def test_with_turns_no_two_nodes_compute_at_once(mpi: Mpi, tmp_path: Path) -> None:
    program = mpi.program("turns.c")
    turns = f"/manynode-test-{os.getpid()}"
    (tmp_path / "turns").mkdir()
    mpi.start(tmp_path / "turns", program, ranks=2, ranks_per_node="1", turns=turns)
    assert _shared_s(tmp_path / "turns", 0, 1) == 0

    def computes_at_once(name: str, **options: str) -> bool:
        (tmp_path / name).mkdir()
        mpi.start(tmp_path / name, program, ranks=2, **options)
        return _shared_s(tmp_path / name, 0, 1) > 0.002

    # Ranks of one node compute at the same time, as all ranks do without turns. A busy host may run one rank after the
    # other, but not again and again.
    assert any(computes_at_once(f"free-{attempt}", ranks_per_node="1") for attempt in range(5))
    assert any(computes_at_once(f"node-{attempt}", ranks_per_node="2", turns=turns) for attempt in range(5))
    for file in read_marker_directory(tmp_path / "turns"):
        phases = file.records["compute_s"].to_numpy()[1:-1]
        assert len(phases) == 50 and (phases >= 0.002).all()
    assert not list(Path("/dev/shm").glob(f"manynode-test-{os.getpid()}*"))


def test_ranks_that_take_turns_keep_to_the_cores_of_one_node(mpi: Mpi, tmp_path: Path) -> None:
    program, name = mpi.program("turns.c"), f"/manynode-test-{os.getpid()}"
    found = {}
    for cores in ("", "1", "1000000"):
        (tmp_path / cores).mkdir(exist_ok=True)
        done = mpi.start(tmp_path / cores, program, ranks=3, ranks_per_node="1", turns=name, turn_cores=cores)
        found[cores] = re.findall(r"^cores: (\d+)$", done.output, re.MULTILINE)
        assert len(found[cores]) == 3
    assert found["1"] == ["1"] * 3
    # No more than there were.
    assert found["1000000"] == found[""]


def test_processor_time_is_counted_beside_the_clock(mpi: Mpi, tmp_path: Path) -> None:
    mpi.start(tmp_path, mpi.program("sleeps.c"), counters="time", cpu_time="1")
    for file in read_marker_directory(tmp_path):
        assert file.metadata["counters"] == ["cpu_ns"]
        wall_s = file.records["compute_s"].to_numpy()[1:-1]
        processor_s = file.records["cpu_ns"].to_numpy()[1:-1] * 1e-9
        # A million additions are faster than the sleep, and slower than a cycle each at 10 GHz.
        assert len(wall_s) == 5 and (wall_s - processor_s > 0.0099).all() and (processor_s > 1e-4).all()


def test_the_library_loads_in_programs_without_mpi(mpi: Mpi) -> None:
    done = run(["env", f"LD_PRELOAD={mpi.library}", "MANYNODE_MARKERS_DIR=/", "true"], what="a program without MPI")
    assert done.output == ""


def test_callgrind_counts_each_compute_phase_the_same_twice(mpi: Mpi, tmp_path: Path) -> None:
    if shutil.which("valgrind") is None:
        pytest.skip("valgrind is not installed")
    if mpi.flavour != "mpich":
        pytest.skip("the mixed job is set up for MPICH")
    program = mpi.program("halo.c")
    tables = []
    for name in ("first", "second"):
        out = tmp_path / name
        out.mkdir()
        common = [f"LD_PRELOAD={mpi.library}", f"MANYNODE_MARKERS_DIR={out}", "UCX_TLS=self,sm"]
        simulated = ["MANYNODE_MARKERS_POLITE=2", "MANYNODE_MARKERS_SWEEP=1", "setarch", "-R", "valgrind", "-q"]
        simulated += [
            "--tool=callgrind",
            "--cache-sim=yes",
            "--branch-sim=yes",
            "--combine-dumps=yes",
            "--separate-threads=yes",
        ]
        simulated += ["--LL=8388608,16,64", f"--callgrind-out-file={out}/callgrind.%p", str(program), "64", "5"]
        native = ["MANYNODE_MARKERS_POLITE=1", str(program), "64", "5"]
        command = ["mpiexec.mpich", "-n", "1", "env", *common, *simulated, ":", "-n", "1", "env", *common, *native]
        run(command, what="a simulated and a native rank", timeout_s=LIMIT_S)
        first, second = read_marker_directory(out)
        assert first.metadata["counter_mode"] == "callgrind" and not second.metadata["on_valgrind"]
        totals = parse_totals(out / f"callgrind.{first.metadata['pid']}")
        assert list(totals["sequence"]) == list(first.records["sequence"][1:]), "nothing is measured before MPI_Init"
        tables.append(totals.merge(first.records[["sequence", "phase"]]))
    # the first phases include the dynamic linker's one-time work; the rest is the application's
    one, two = (table[table["phase"] == "stencil"].reset_index(drop=True) for table in tables)
    assert len(one) == 5 and (one["Ir"] > 10_000).all()
    # MPICH's helper thread runs when it likes: on either side of a switch to it a few events may change hands
    for event in ("Ir", "Dr", "Dw", "Bc", "Bi"):
        assert (one[event] - two[event]).abs().max() <= 4, event
    for event in ("I1mr", "D1mr", "D1mw", "ILmr", "DLmr", "DLmw", "Bcm"):
        assert (one[event] - two[event]).abs().max() <= max(8, 0.01 * one[event].max()), event
