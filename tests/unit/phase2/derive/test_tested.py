"""Tests that only move a wait: where the wait is known from tests in vain, and where a test stays as it is."""

from __future__ import annotations

from phase2_nodesim.derive.recorded.places import passing
from phase2_nodesim.derive.recorded.tested import later_waits, with_later_waits
from phase2_nodesim.recording import RecordedCall

TEST, WAIT, LAST = "MPI_Testall@a.c:3", "MPI_Waitall@a.c:5", "MPI_Waitall@a.c:6"


def post(request: int, site: str) -> RecordedCall:
    return RecordedCall("MPI_Irecv", "", peer=1, bytes=8, request=request, site=f"MPI_Irecv@{site}")


def wait(site: str, *requests: int, operation: str = "MPI_Waitall") -> RecordedCall:
    return RecordedCall(operation, "", completes=requests, site=site)


FOUND = [post(0, "a.c:1"), post(1, "a.c:1"), wait(TEST, 1, 0), post(2, "a.c:4"), wait(LAST, 2)]
IN_VAIN = [post(0, "a.c:1"), post(1, "a.c:1"), passing(TEST), post(2, "a.c:4"), wait(WAIT, 1, 0), wait(LAST, 2)]


def test_a_test_is_in_vain_where_another_rank_shows_what_follows() -> None:
    tests = later_waits([FOUND, IN_VAIN])
    assert with_later_waits(FOUND, tests) == IN_VAIN
    assert with_later_waits(IN_VAIN, tests) == IN_VAIN
    assert not later_waits([FOUND]) and not later_waits([IN_VAIN])


def test_a_wait_for_what_is_left_completes_what_the_test_found() -> None:
    every = wait(LAST, 0, 1, 2)
    in_vain = [*IN_VAIN[:4], every]
    tests = later_waits([FOUND, in_vain])
    assert with_later_waits(FOUND, tests) == in_vain


def test_a_wait_for_a_null_request_completes_what_the_test_found() -> None:
    one = wait("MPI_Wait@a.c:5", 0, operation="MPI_Wait")
    in_vain = [post(0, "a.c:1"), passing(TEST), one]
    found = [post(0, "a.c:1"), wait(TEST, 0), passing(one.site)]
    assert with_later_waits(found, later_waits([found, in_vain])) == in_vain


def test_a_program_that_answers_what_it_found_is_left_alone() -> None:
    answer = RecordedCall("MPI_Send", "", peer=1, bytes=8, site="MPI_Send@a.c:9")
    found = [*FOUND[:3], answer, *FOUND[3:]]
    assert with_later_waits(found, later_waits([FOUND, IN_VAIN])) == found


def test_what_is_tested_until_it_is_there_is_left_alone() -> None:
    between = passing("MPI_Iprobe@a.c:4")
    polled = [post(0, "a.c:1"), passing(TEST), between, wait(TEST, 0)]
    again = [post(0, "a.c:1"), passing(TEST), between, passing(TEST), wait(WAIT, 0)]
    assert not later_waits([polled]) and not later_waits([again, [*FOUND]])


def test_a_wait_for_other_requests_is_not_the_one_that_follows() -> None:
    other = [post(0, "a.c:1"), passing(TEST), wait(WAIT, 0)]
    found = [post(0, "a.c:2"), wait(TEST, 0), wait(LAST)]
    assert not later_waits([other, found])
