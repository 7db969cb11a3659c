"""Recorded runs with one-sided calls, replayed on every engine: the messages that the calls stand for."""

from __future__ import annotations

import functools
import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import pipeline
import pytest

from manynode.config.loader import resolve
from manynode.config.resolved import Resolved
from manynode.errors import EngineMissingError, ManynodeError
from manynode.process import run
from phase2_nodesim.record import record_run
from phase3_sst.point.contract import Point, engine_of
from phase3_sst.point.point_experiment import PointExperiment

SOURCES = Path(__file__).resolve().parent.parent / "data" / "mpi"
RANKS = 4
NETWORK = {
    "name": "small",
    "topology": {"kind": "fat-tree", "children": [2, 3], "parents": [1, 2], "parallel_links": [1, 1]},
}
BARRIER = 8  # messages: each of the ranks sends in two rounds (dissemination)
ROUND_TRIP = 2  # a remote operation, a lock, an unlock
ALL = RANKS * (RANKS - 1) * ROUND_TRIP  # lock_all or unlock_all of all ranks
WINDOW = 3 * BARRIER  # one_sided.c makes it, meets, and frees it


@dataclass(frozen=True)
class Expected:
    """What one_sided.c sends in a run of one kind, and some of its calls, all ranks together."""

    messages: int
    bytes: int
    calls: dict[str, int]


KINDS = {
    # Two puts, a get and an accumulate a rank between three fences.
    "fence": Expected(
        WINDOW + 3 * BARRIER + RANKS * 4 * ROUND_TRIP,
        RANKS * (800_000 + 8_000 + 80),
        {"MPI_Put": 12, "MPI_Get": 8, "MPI_Accumulate": 4, "MPI_Win_fence": 12, "MPI_Barrier": 12},
    ),
    # Two pairs of ranks, two epochs: a post, a put, a complete.
    "post_start": Expected(
        WINDOW + 4 * (1 + ROUND_TRIP + 1),
        4 * 8_000,
        {"MPI_Win_post": 4, "MPI_Win_start": 4, "MPI_Win_complete": 4, "MPI_Win_wait": 4, "MPI_Put": 4},
    ),
    # A window more, a barrier more; a rank makes three operations within two pairs of lock and unlock. The window's own
    # rank locks it as well, which needs no message.
    "lock": Expected(
        WINDOW + 3 * BARRIER + RANKS * 7 * ROUND_TRIP,
        RANKS * 3 * 8_000,
        {"MPI_Win_lock": 12, "MPI_Win_unlock": 12, "MPI_Win_flush": 4, "MPI_Barrier": 24},
    ),
    # Each rank but the target counts; all swap, and get and add.
    "lock_all": Expected(
        WINDOW + BARRIER + 2 * ALL + (RANKS - 1 + 2 * RANKS) * ROUND_TRIP,
        2 * 8 * (RANKS - 1 + 2 * RANKS),
        {"MPI_Get_accumulate": 12, "MPI_Win_flush": 12, "MPI_Win_lock": 8, "MPI_Win_unlock": 8},
    ),
    # The second pair of operations is waited for once by the call that ends it, once by the program's empty waits.
    "requests": Expected(
        WINDOW + 2 * ALL + RANKS * 4 * ROUND_TRIP,
        RANKS * (3 * 8_000 + 2 * 16),
        {"MPI_Put": 8, "MPI_Get": 4, "MPI_Accumulate": 4, "MPI_Get_accumulate": 4, "MPI_Waitall": 16},
    ),
    # Four barriers of two pairs and three of all; two puts a rank to others, one of them with a lock; a sendrecv.
    "windows": Expected(
        WINDOW + 4 * 2 * 2 + 3 * BARRIER + RANKS * (1 + 3) * ROUND_TRIP + RANKS,
        RANKS * (800 + 800 + 8),
        {"MPI_Put": 12, "MPI_Win_fence": 16, "MPI_Sendrecv": 4, "MPI_Barrier": 40},
    ),
    "passive": Expected(WINDOW + 3 * 3 * ROUND_TRIP, 3 * 8_000, {"MPI_Put": 3, "MPI_Win_lock": 7}),
}
# A put, an accumulate and a get with locks, a put between post and wait; four barriers more and two fences.
FORTRAN = Expected(
    7 * BARRIER + RANKS * (3 + 2) * ROUND_TRIP + 2 * ALL + RANKS * (1 + ROUND_TRIP + 1),
    RANKS * (3 * 4_000 + 80),
    {"MPI_Put": 8, "MPI_Get": 4, "MPI_Accumulate": 4, "MPI_Win_fence": 8, "MPI_Wait": 4, "MPI_Win_wait": 4},
)
ENGINES = ("fast", "simgrid", "sst")


class Program:
    """A compiled program, its words, and the folder of its recorded run."""

    def __init__(self, compiler: str, flavour: str, source: str, words: list[str], folder: Path) -> None:
        compiler = f"{compiler}.{flavour}"
        if shutil.which(compiler) is None:
            pytest.skip(f"{compiler} is not installed")
        program = folder / "program"
        run([compiler, "-g", "-w", "-o", program, SOURCES / source], what=f"compiling {source}")
        self.command = [str(program), *words]
        self.folder = folder / "recording"
        self._simulated: dict[str, tuple[dict[str, Any], pd.DataFrame]] = {}
        record_run(self.folder, self.command, flavour, RANKS, timeout_s=180)  # type: ignore[arg-type]

    def experiment(self, **simulate: Any) -> Resolved:
        application = {"command": self.command, "recorded": str(self.folder)}
        settings = {"replicas": 1, "preflight": {"enabled": False}, **simulate}
        content = pipeline.tiny(application=application, network=NETWORK, nodes=[RANKS // 2], simulate=settings)
        return resolve({**content, "ranks_per_node": 2}, where="test", base=self.folder)

    def simulated(self, **simulate: Any) -> tuple[dict[str, Any], pd.DataFrame]:
        """Return the replica's result, and the calls and seconds of ranks; the same is simulated once."""
        key = json.dumps(simulate)
        if key in self._simulated:
            return self._simulated[key]
        output = self.folder.parent / f"simulated-{len(self._simulated)}"
        resolved = self.experiment(**simulate)
        point = Point(PointExperiment.of(resolved), resolved.nodes[0], "ext-var", None, (), seed=1)
        try:
            engine_of(resolved.simulate).simulate(point, output)
        except EngineMissingError as error:
            pytest.skip(f"the engine {simulate['engine']} cannot be used: {error.what}")
        (replica,) = json.loads((output / "result.json").read_text())["replicas"]
        return self._simulated.setdefault(key, (replica, pd.read_parquet(output / "ranks.parquet")))


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Program]:
    """Return a function that makes a :class:`Program` of an MPI library and a kind; each is recorded once."""

    @functools.cache
    def made(flavour: str, kind: str) -> Program:
        folder = tmp_path_factory.mktemp("recorded")
        if kind == "fortran":
            return Program("mpifort", flavour, "fortran_one_sided.f90", [], folder)
        return Program("mpicc", flavour, "one_sided.c", [kind], folder)

    return made


@pytest.fixture(scope="module", params=[*KINDS, "fortran"])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module", params=["mpich", "openmpi"])
def recorded(request: pytest.FixtureRequest, program: Callable[..., Program], kind: str) -> tuple[Program, Expected]:
    return program(request.param, kind), KINDS.get(kind, FORTRAN)


@pytest.mark.parametrize("engine", ENGINES)
def test_one_sided_calls_are_the_messages_that_they_stand_for(recorded: tuple[Program, Expected], engine: str) -> None:
    own, expected = recorded
    replica, ranks = own.simulated(engine=engine)
    assert (replica["messages"], replica["bytes"]) == (expected.messages, expected.bytes)
    calls = ranks.groupby("operation")["calls"].sum()
    assert {name: calls[name] for name in expected.calls} == expected.calls


def test_the_engines_agree_on_the_time(recorded: tuple[Program, Expected]) -> None:
    """SST's targets answer only within MPI calls, and both of their messages cost processor time."""
    own, _ = recorded
    times = {engine: own.simulated(engine=engine)[0]["makespan_s"] for engine in ENGINES}
    assert times["simgrid"] == pytest.approx(times["fast"], rel=0.05)
    assert times["fast"] * 0.95 < times["sst"] < 1.6 * times["fast"]


@pytest.fixture(scope="module")
def locked(program: Callable[..., Program]) -> Program:
    return program("mpich", "passive")


def test_a_lock_a_put_and_an_unlock_take_three_round_trips_and_the_bytes(locked: Program) -> None:
    """Rank 2 puts 8000 bytes into the window of rank 0, on another node of the same leaf switch."""
    network = locked.experiment(engine="fast").network
    host = network.host
    latency_s = 2 * host.nic_latency + 2 * network.link.latency + network.switch_latency
    least_s = 3 * (host.overhead_send + 2 * latency_s) + 8_000 / host.nic_bandwidth
    for engine in ("fast", "simgrid"):
        _, ranks = locked.simulated(engine=engine)
        own = ranks[(ranks["rank"] == 2) & ranks["operation"].isin(["MPI_Win_lock", "MPI_Put", "MPI_Win_unlock"])]
        # Rank 3 is on the same node, and its bytes and messages may come first.
        most_s = least_s + 8_000 / host.nic_bandwidth + 6 * host.gap
        assert least_s - 1e-12 <= own["seconds"].sum() <= most_s


def test_what_sst_cannot_do_is_refused_with_what_to_do(locked: Program) -> None:
    for changes, what in (({"processes": 2}, "in one process"), ({"collectives": "sst"}, "exclude one-sided calls")):
        with pytest.raises(ManynodeError, match=what) as raised:
            locked.simulated(engine="sst", sst=changes)
        assert "simulate: sst" in raised.value.remedy


def test_threads_of_sst_change_nothing(locked: Program) -> None:
    one, _ = locked.simulated(engine="sst")
    two, _ = locked.simulated(engine="sst", sst={"threads": 2})
    assert one["makespan_s"] == two["makespan_s"]


def test_derivation_refuses_one_sided_calls_by_name(locked: Program, tmp_path: Path) -> None:
    output = tmp_path / "derived.yaml"
    words = ["--output", output, "--recordings", tmp_path / "runs", "--ranks", "4,6,8", "--held-out", ""]
    done = pipeline.manynode("derive", *words, "--", *locked.command)
    assert done.returncode == 3 and "Traceback" not in done.stderr
    assert "neither derived" in done.stderr and "MPI_Win_allocate at one_sided.c" in done.stderr
    assert not output.exists()
