"""The bridge natively: guests as plain processes beside proxies and external ranks, with the host's clock."""

from __future__ import annotations

import os
import re
from pathlib import Path

import bridge_programs
import pytest
from bridge_programs import BUILD, LIMIT_S, Programs
from conftest import made_once

from manynode.errors import EngineFailedError, InputError
from manynode.launch import Block, job_command, job_environment, run_job
from manynode.markers import read_marker_directory
from manynode.process import run
from phase2_nodesim.bridge.guest_program import check_guest_program
from phase2_nodesim.bridge.job import STATE_WAITING, BridgedJob, BridgeFolder, Inject, native_guests, run_bridged_job
from phase2_nodesim.segments import segment_table


@pytest.fixture(scope="module", params=["mpich", "openmpi"])
def programs(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Programs:
    return bridge_programs.programs_of(request.param, tmp_path_factory)


@pytest.fixture(scope="module")
def mpich(tmp_path_factory: pytest.TempPathFactory) -> Programs:
    """For what the guest or its starter does by itself: the MPI library beside it has no part in it."""
    return bridge_programs.programs_of("mpich", tmp_path_factory)


@pytest.fixture(scope="module", params=["bridge_calls.c", "bridge_objects.c"])
def source(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def plain_calls(programs: Programs, source: str, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """What every call of ``source`` gives with plain MPI on four ranks."""

    def make(out: Path) -> None:
        block = Block(4, [str(programs.native(source)), str(out)], (), {"UCX_TLS": "self,sm"})
        run_job(programs.flavour, [block], what="plain MPI", log=out / "log", timeout_s=LIMIT_S)

    return lines_of(made_once(tmp_path_factory, f"plain-{programs.flavour}-{source}", make))


def lines_of(out: Path) -> list[str]:
    return [line for rank in range(4) for line in (out / f"lines-{rank}").read_text().splitlines()]


# With the second MPI library, each shape once: what its ranks see of a guest is the proxy's calls, which do not differ.
@pytest.mark.parametrize(
    ("programs", "inject"),
    [("mpich", "none"), ("mpich", "flush"), ("mpich", "nic"), ("openmpi", "nic")],
    indirect=["programs"],
)
def test_every_covered_call_gives_what_plain_mpi_gives(
    programs: Programs, source: str, plain_calls: list[str], tmp_path: Path, inject: Inject
) -> None:
    job = programs.job(source, tmp_path, directory=tmp_path / "job", inject=inject)
    run_bridged_job(job, what="all calls", timeout_s=LIMIT_S)
    assert len(plain_calls) > 400
    assert lines_of(tmp_path) == plain_calls


def test_all_ranks_may_be_simulated(programs: Programs, source: str, plain_calls: list[str], tmp_path: Path) -> None:
    job = programs.job(source, tmp_path, directory=tmp_path / "job", first=0, ranks=4, inject="nic")
    run_bridged_job(job, what="all calls", timeout_s=LIMIT_S)
    assert lines_of(tmp_path) == plain_calls


LINES = (1 << 20) // 64


@pytest.mark.parametrize(
    ("inject", "ranks", "expected"),
    [("nic", 1, {0: (LINES, LINES)}), ("nic", 2, {0: (0, 0), 1: (0, 0)}), ("flush", 1, {}), ("none", 1, {})],
)
def test_each_line_of_external_messages_is_touched_once(
    mpich: Programs, tmp_path: Path, inject: Inject, ranks: int, expected: dict[int, tuple[int, int]]
) -> None:
    """One message of 1 MiB there and back; messages within the node are none of a network adapter's."""
    words = [str(1 << 20), "2"]
    job = mpich.job(
        "bridge_ping_pong.c", *words, directory=tmp_path, first=0, ranks=ranks, total=2 + (ranks > 1), inject=inject
    )
    done = run_bridged_job(job, what="ping-pong", timeout_s=LIMIT_S)
    assert "wrong words: 0" in "".join(completed.output for completed in done)
    touched = {}
    for path in tmp_path.glob("injected-*.txt"):
        numbers = [int(line.split()[1]) for line in path.read_text().splitlines()]
        touched[int(path.stem.partition("-")[2])] = tuple(numbers)
    # the sum at the end has an external member: one line each of four bytes
    assert touched == {rank: (read + 1, written + 1) for rank, (read, written) in expected.items()}


def mini_app(name: str, flavour: str) -> tuple[str, str]:
    suffix = "" if flavour == "mpich" else ".openmpi"
    guest, native = BUILD / "bin" / f"{name}.bridge", BUILD / "bin" / f"{name}{suffix}"
    for program in (guest, native):
        if not program.exists():
            pytest.skip(f"{program} is not built")
    return str(guest), str(native)


MINI_APPS = {
    "hpcg": ["--iterations", "2", "--nx", "8", "--ny", "8", "--nz", "8"],
    "fft2d": ["--iterations", "3", "--elements", "720"],
    "caffe": ["--iterations", "4", "--images", "8", "--side", "8", "--filters", "4", "--hidden", "16"],
}


@pytest.mark.parametrize(
    ("programs", "name", "first", "ranks", "total"),
    [*(("mpich", name, 0, 2, 6) for name in MINI_APPS), ("mpich", "hpcg", 4, 4, 8), ("openmpi", "hpcg", 4, 4, 8)],
    indirect=["programs"],
)
def test_a_mini_app_computes_the_same_and_records_the_same_calls(
    programs: Programs, tmp_path: Path, name: str, first: int, ranks: int, total: int
) -> None:
    guest, native = mini_app(name, programs.flavour)
    check_guest_program(guest)
    words = MINI_APPS[name]
    job = BridgedJob(programs.flavour, [guest, *words], [native, *words], first, ranks, total, tmp_path / "bridged")
    bridged = run_bridged_job(job, what=name, timeout_s=LIMIT_S)
    (tmp_path / "plain").mkdir()
    markers = {
        "LD_PRELOAD": str(BUILD / "lib" / f"libmanynode_markers_{programs.flavour}.so"),
        "MANYNODE_MARKERS_DIR": str(tmp_path / "plain"),
        "MANYNODE_MARKERS_POLITE": "1",
        "UCX_TLS": "self,sm",
    }
    plain = run_job(
        programs.flavour, [Block(total, [native, *words], (), markers)], what="plain", log=tmp_path / "plain.log"
    )
    pattern = re.compile(r"(?:checksum|final_residual|residual\[\d+\]): .*")
    printed = pattern.findall("".join(completed.output for completed in bridged))
    assert printed and printed == pattern.findall(plain.output)

    columns = ["operation", "peer", "peer2", "bytes", "bytes2", "tag", "requests", "communicator", "phase"]
    ours, theirs = (read_marker_directory(tmp_path / name) for name in ("bridged", "plain"))
    assert len(ours) == len(theirs) == total
    for one, other in zip(ours, theirs, strict=True):
        assert one.records[columns].astype(str).equals(other.records[columns].astype(str))
        assert not one.metadata["incomplete"]
        times = one.records[["time_in_s", "time_out_s"]].to_numpy().ravel()
        assert (times[1:] >= times[:-1]).all()
    guests = ours[first]
    assert guests.metadata["program"] == guest and guests.metadata["clock"].startswith("the guest's")
    sites = segment_table(guests.records)["call_site"]
    assert sites.str.contains(r"app.*\.[ch]pp:\d+ ").all(), "call sites are places in the guest's program"


def test_a_job_that_ends_well_leaves_no_file_behind(programs: Programs, tmp_path: Path) -> None:
    folders: list[Path] = []

    def start(bridge: BridgeFolder):  # type: ignore[no-untyped-def]
        folders.append(bridge.path)
        return native_guests(bridge)

    run_bridged_job(programs.job("bridge_endings.cpp", directory=tmp_path), start, what="x", timeout_s=LIMIT_S)
    assert len(folders) == 1 and not folders[0].exists()


def test_a_guest_that_waits_for_an_external_rank_uses_no_processor(mpich: Programs, tmp_path: Path) -> None:
    """Its process state shows it, too: the simulator's idle gate reads that."""
    import threading

    states: list[bytes] = []
    folders: list[BridgeFolder] = []
    over = threading.Event()

    def start(bridge: BridgeFolder):  # type: ignore[no-untyped-def]
        folders.append(bridge)
        return native_guests(bridge)

    def sample() -> None:
        while not over.wait(0.1):
            try:
                states.append(folders[0].states() if folders else b"")
            except OSError:
                return

    sampler = threading.Thread(target=sample)
    sampler.start()
    try:
        done = run_bridged_job(
            mpich.job("bridge_endings.cpp", "delay", directory=tmp_path), start, what="x", timeout_s=LIMIT_S
        )
    finally:
        over.set()
        sampler.join()
    reports = re.findall(r"waited ([\d.]+) used ([\d.]+)", "".join(completed.output for completed in done))
    assert len(reports) == 2
    for waited, used in reports:
        assert float(waited) > 4.0 and float(used) < 0.2
    assert states.count(bytes([STATE_WAITING] * 2)) > 20


def test_sleeping_guests_rest_for_as_long(mpich: Programs, tmp_path: Path) -> None:
    done = run_bridged_job(
        mpich.job("bridge_endings.cpp", "sleep", directory=tmp_path, ranks=1, total=2, first=0),
        what="x",
        timeout_s=LIMIT_S,
    )
    took = dict(re.findall(r"(\w+) took ([\d.]+)", done[1].output))
    assert set(took) == {"sleep", "usleep", "nanosleep", "clock_nanosleep", "sleep_for", "select", "poll"}
    for name, seconds in took.items():
        expected = 1.0 if name == "sleep" else 0.2
        assert expected <= float(seconds) + 0.01 < expected + 0.3, name


REFUSED = ["select", "poll", "epoll_wait", "pause", "fork", "system", "popen", "posix_spawn", "MPI_Op_create"]


@pytest.mark.parametrize("call", REFUSED)
def test_a_call_that_cannot_be_is_refused_by_name(mpich: Programs, tmp_path: Path, call: str) -> None:
    with pytest.raises(EngineFailedError) as caught:
        job = mpich.job("bridge_endings.cpp", call, directory=tmp_path, ranks=1, total=2)
        run_bridged_job(job, what="x", timeout_s=LIMIT_S)
    assert "the guest of rank" in caught.value.what and str(caught.value.found).startswith(f"{call}: ")


@pytest.mark.parametrize(
    ("programs", "way", "culprit", "found"),
    [
        ("mpich", "exit", "the guest of rank", "it ended without MPI_Finalize"),
        ("mpich", "code", "the guest of rank", "exit code 3"),
        ("mpich", "crash", "the guest of rank", "killed by signal 11 (SIGSEGV)"),
        ("openmpi", "crash", "the guest of rank", "killed by signal 11 (SIGSEGV)"),
        ("mpich", "abort", "the guest of rank", "MPI_Abort: called with error code 7"),
        ("openmpi", "abort", "the guest of rank", "MPI_Abort: called with error code 7"),
        ("mpich", "wrong type", "the guest of rank", "MPI_Send: no such datatype"),
        ("mpich", "no init", "ended without MPI_Init", "is not finished"),
    ],
    indirect=["programs"],
)
def test_an_early_end_is_told_with_its_culprit(
    programs: Programs, tmp_path: Path, way: str, culprit: str, found: str
) -> None:
    with pytest.raises(EngineFailedError) as caught:
        run_bridged_job(programs.job("bridge_endings.cpp", way, directory=tmp_path), what="x", timeout_s=LIMIT_S)
    assert culprit in caught.value.what and found in str(caught.value.found)


def test_a_wrong_argument_ends_the_job_with_the_native_mpis_message(programs: Programs, tmp_path: Path) -> None:
    with pytest.raises(EngineFailedError) as caught:
        job = programs.job("bridge_endings.cpp", "wrong rank", directory=tmp_path)
        run_bridged_job(job, what="x", timeout_s=LIMIT_S)
    assert "the proxy of rank" in caught.value.what, "the guests that lost their proxies are not to blame"
    if programs.flavour == "mpich":
        assert "Invalid rank" in (tmp_path / "errors.log").read_text()


def test_a_call_that_is_not_bridged_fails_when_the_program_is_built(tmp_path: Path) -> None:
    source = tmp_path / "window.c"
    source.write_text("#include <mpi.h>\nint main(void) { return MPI_Win_fence(0, 0); }\n")
    command = ["gcc", *bridge_programs.GUEST_OPTIONS, "-w", source, bridge_programs.LIBRARY, "-o", tmp_path / "program"]
    done = run(command, what="compiling", check=False)
    assert done.returncode != 0 and "MPI_Win_fence" in done.output


def test_a_guest_alone_says_what_it_is(mpich: Programs) -> None:
    done = run([mpich.guest("bridge_endings.cpp")], what="a guest alone", check=False, timeout_s=LIMIT_S)
    assert done.returncode == 87 and "runs as the guest of a simulation" in done.output


def test_a_dynamic_program_is_refused_before_anything_starts(mpich: Programs, tmp_path: Path) -> None:
    native = str(mpich.native("bridge_endings.cpp"))
    job = BridgedJob(mpich.flavour, [native], [native], 0, 1, 2, tmp_path / "out")
    with pytest.raises(InputError, match="dynamically linked"):
        run_bridged_job(job, what="x")
    assert not (tmp_path / "out").exists()


def test_a_proxy_outside_its_block_says_so(programs: Programs, tmp_path: Path) -> None:
    name = "manynode-bridge-proxy" + (".openmpi" if programs.flavour == "openmpi" else "")
    environment = {
        "MANYNODE_BRIDGE_DIR": str(tmp_path),
        "MANYNODE_BRIDGE_FIRST": "3",
        "MANYNODE_BRIDGE_RANKS": "1",
        "MANYNODE_BRIDGE_INJECT": "none",
    }
    command = job_command(programs.flavour, [Block(1, [str(BUILD / "bin" / name)], (), environment)])
    done = run(command, what="a proxy", env=job_environment(programs.flavour), check=False, timeout_s=LIMIT_S)
    assert done.returncode != 0 and "rank 0: this is no rank of the simulated node" in done.output
    assert os.listdir(tmp_path) == []
