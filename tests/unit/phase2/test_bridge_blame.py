"""Who is to blame when a bridged job fails, from exit codes and outputs."""

from __future__ import annotations

import pytest

from manynode.process import Completed
from phase2_nodesim.bridge.blame import PROXY_GONE, REFUSED, Death, EndedProcess, Verdict, first_death, judge

SIMULATED = range(1, 3)
LOST = "the bridge: the proxy of this rank is gone"


def guest(rank: int, code: int | None, output: str = "") -> EndedProcess:
    left = None if code is None else Completed(code, 1.0, output, None)
    return EndedProcess(f"the guest of rank {rank}", [rank], code, left)


def blamed(
    guests: list[EndedProcess], *, log: str = "", launcher: int | None = 9, first: Death | None = None
) -> Verdict:
    return judge(launcher, log, guests, SIMULATED, first)


def test_a_guest_that_died_by_itself_is_to_blame_and_one_that_lost_its_proxy_is_not() -> None:
    verdict = blamed([guest(1, PROXY_GONE, LOST), guest(2, -11)], first=Death(0, -9))
    assert (verdict.culprit, verdict.found) == ("the guest of rank 2", "killed by signal 11 (SIGSEGV)")


def test_a_refusal_is_told_in_the_guests_words() -> None:
    output = "line\nmanynode bridge: rank 1: fork: a guest cannot use this call\n"
    assert blamed([guest(1, REFUSED, output)]).found == "fork: a guest cannot use this call"


def test_a_guest_that_aborts_says_so() -> None:
    output = "manynode bridge: rank 1: MPI_Abort: called with error code 7\n"
    assert blamed([guest(1, 7, output)]).found == "MPI_Abort: called with error code 7"


def test_a_simulator_may_explain_its_own_output() -> None:
    simulator = EndedProcess(
        "gem5", [1, 2], 1, Completed(1, 1.0, "panic", None), lambda output: Verdict("gem5", output, "mend it")
    )
    assert blamed([simulator]).found == "panic"


@pytest.mark.parametrize(
    ("log", "culprit", "found"),
    [
        ("manynode-bridge-proxy: rank 2: its guest ended without MPI_Finalize\n", "the guest of rank 2", "it ended"),
        ("manynode-bridge-proxy: rank 1: cannot open /x: No such file\n", "the proxy of rank 1", "cannot open"),
        ("Abort(4033) on node 3 (rank 3 in comm 0): Fatal error in X: no\n", "external rank 3", "Fatal error in X"),
        (
            "[vm:1] *** An error occurred in MPI_Send\n[vm:1] *** reported by process [8591,1]\n",
            "the proxy of rank 1",
            "An error occurred in MPI_Send",
        ),
    ],
)
def test_what_proxies_and_mpi_libraries_say_comes_before_who_died_first(log: str, culprit: str, found: str) -> None:
    verdict = blamed([guest(1, PROXY_GONE), guest(2, None)], log=log, first=Death(0, -9))
    assert verdict.culprit == culprit and found in verdict.found


@pytest.mark.parametrize(
    ("first", "culprit", "found"),
    [
        (Death(0, -9), "external rank 0", "killed by signal 9 (SIGKILL)"),
        (Death(2, 1), "the proxy of rank 2", "exit code 1"),
    ],
)
def test_else_the_rank_that_died_first_is_to_blame(first: Death, culprit: str, found: str) -> None:
    verdict = blamed([guest(1, PROXY_GONE), guest(2, PROXY_GONE)], first=first)
    assert (verdict.culprit, verdict.found) == (culprit, found)


def test_a_launcher_that_was_killed_is_named() -> None:
    assert blamed([guest(1, PROXY_GONE)], launcher=-9).culprit == "the launcher of the MPI job"
    assert blamed([guest(1, PROXY_GONE)], launcher=1).found == "exit code 1"


def test_the_first_line_of_the_noted_ends_counts() -> None:
    assert first_death("3 -9\n0 1\n") == Death(3, -9)
    assert first_death("") is None and first_death("a half li") is None
