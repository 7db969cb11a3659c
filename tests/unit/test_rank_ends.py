"""Which rank ended badly, from the notes of manynode-rank and from the output of MPICH 4.0.2 and Open MPI 4.1.4."""

from __future__ import annotations

import pytest

from manynode.rank_ends import Death, culprits, deaths, end_words, ended, program_lines

MPICH_KILLED = """rank 1 begins

===================================================================================
=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES
=   PID 13329 RUNNING AT vm
=   EXIT CODE: 9
=   CLEANING UP REMAINING PROCESSES
=   YOU CAN IGNORE THE BELOW CLEANUP MESSAGES
===================================================================================
YOUR APPLICATION TERMINATED WITH THE EXIT STRING: Killed (signal 9)
This typically refers to a problem with your application.
Please see the FAQ page for debugging suggestions
"""
OPENMPI_SIGNAL = """rank 1 begins
--------------------------------------------------------------------------
Primary job  terminated normally, but 1 process returned
a non-zero exit code. Per user-direction, the job has been aborted.
--------------------------------------------------------------------------
--------------------------------------------------------------------------
mpiexec.openmpi noticed that process rank 1 with PID 0 on node vm exited on signal 11 (Segmentation fault).
--------------------------------------------------------------------------
"""
OPENMPI_CODE = """rank 1 begins
--------------------------------------------------------------------------
mpiexec.openmpi detected that one or more processes exited with non-zero status, thus causing
the job to be terminated. The first process to do so was:

  Process name: [[22572,1],1]
  Exit code:    3
--------------------------------------------------------------------------
"""
MPICH_ABORT = "Abort(7) on node 1 (rank 1 in comm 0): application called MPI_Abort(MPI_COMM_WORLD, 7) - process 1\n"
OPENMPI_ABORT = """--------------------------------------------------------------------------
MPI_ABORT was invoked on rank 1 in communicator {communicator}
with errorcode 7.

NOTE: invoking MPI_ABORT causes Open MPI to kill all MPI processes.
--------------------------------------------------------------------------
"""


def test_what_was_noted_is_read_and_half_a_line_is_not() -> None:
    assert deaths("4 0\n1 3\n0 -9\n2 1") == [Death(1, 3), Death(0, -9)]
    assert ended("4 0\n1 3\n0 -9\n2 1") == 3


def test_ends_are_told_in_words() -> None:
    assert [end_words(code) for code in (0, 3, -11, -99)] == [
        "exit code 0",
        "exit code 3",
        "killed by signal 11 (SIGSEGV)",
        "killed by signal 99",
    ]


@pytest.mark.parametrize(
    ("noted", "log", "words"),
    [
        # MPICH's launcher reports a rank that it killed itself.
        ("1 3\n0 -9\n", MPICH_KILLED, "rank 1: exit code 3"),
        ("1 -11\n0 -15\n2 -15\n", OPENMPI_SIGNAL, "rank 1: killed by signal 11 (SIGSEGV)"),
        # Ranks that ended by themselves after the first are named, too; so is a first one that had to be killed.
        ("2 -9\n0 -8\n", "", "rank 2: killed by signal 9 (SIGKILL); rank 0: killed by signal 8 (SIGFPE)"),
        ("0 -8\n1 -8\n2 -8\n3 -8\n4 -8\n5 -8\n6 -8\n", "", "killed by signal 8 (SIGFPE); and 2 more"),
        ("", MPICH_ABORT, "rank 1: application called MPI_Abort(MPI_COMM_WORLD, 7) - process 1"),
        (
            "0 -15\n1 7\n",
            OPENMPI_ABORT.format(communicator="MPI_COMM_WORLD"),
            "rank 1: called MPI_Abort with error code 7",
        ),
        # In another communicator the rank has another number.
        ("3 7\n", OPENMPI_ABORT.format(communicator="MPI_COMM_SELF"), "rank 3: exit code 7"),
        ("", "step 1 ... " + MPICH_ABORT, "rank 1: application called MPI_Abort(MPI_COMM_WORLD, 7) - process 1"),
        ("", OPENMPI_SIGNAL, "rank 1: killed by signal 11 (SIGSEGV)"),
        ("", OPENMPI_CODE, "rank 1: exit code 3"),
    ],
)
def test_the_rank_that_ended_by_itself_is_the_culprit(noted: str, log: str, words: str) -> None:
    found = culprits(deaths(noted), log)
    assert found is not None and words in found


def test_where_nothing_tells_nobody_is_blamed() -> None:
    assert culprits([], MPICH_KILLED) is None


@pytest.mark.parametrize("log", [MPICH_KILLED, OPENMPI_SIGNAL, OPENMPI_CODE])
def test_the_last_lines_are_the_programs_and_not_the_launchers(log: str) -> None:
    assert program_lines(log) == "rank 1 begins"


def test_a_line_of_the_program_that_the_launcher_broke_is_whole_again() -> None:
    log = OPENMPI_SIGNAL.replace("rank 1 begins\n", "rank 1 ") + "begins\n"
    assert program_lines(log) == "rank 1 begins"


def test_lines_of_dashes_of_the_program_stay() -> None:
    line = 74 * "-"
    assert program_lines(f"{line}\nresult 3\n{line}\n") == f"{line}\nresult 3\n{line}"
