"""SST's real outputs when it fails (tests/golden/sst-errors): each becomes one sentence with a place and a remedy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from manynode.errors import EngineFailedError, EngineMissingError, UsageError
from manynode.process import Completed
from phase3_sst.engines.sst.run.failure import failure_of, unfinished_error, waiting
from phase3_sst.engines.sst.run.output import read_failure

GOLDEN = Path(__file__).resolve().parent.parent.parent / "golden" / "sst-errors"

# File, exit code, kind, finding, place.
CASES = [
    ("traceback", 1, "script", "KeyError: 'links'", "key_error.py, line 3"),
    ("mpi-traceback", 1, "script", "KeyError: 'links'", "key_error.py, line 3"),
    ("missing-script", 255, "script", "No such file or directory", "nothere.py"),
    ("bad-option", 0, "option", "unrecognized option '--frob'", None),
    (
        "bad-partitioner",
        1,
        "fatal",
        "Unable to find requested partitioner 'sst.nonesuch', check --help for information on partitioners.",
        None,
    ),
    ("unknown-library", 1, "no library", "no element library 'nolibrary' in the folders that SST was given", None),
    ("unknown-component", 1, "fatal", "can't find requested component 'merlin.hr_routre'", None),
    (
        "unknown-motif",
        255,
        "no library",
        "manynode.SkeletonMotifMotif is in none of the element libraries that SST was given",
        None,
    ),
    ("missing-param", 255, "fatal", "hr_router requires num_ports to be specified", None),
    ("library-wrong-path", 1, "no library", "no element library 'manynode' in the folders that SST was given", None),
    ("lib-path-replaces", 1, "no library", "no element library 'merlin' in the folders that SST was given", None),
    (
        "library-other-sst",
        1,
        "other library",
        "undefined symbol: _ZN3SST23removed_in_this_releaseE",
        "lib1/libmanynode.so",
    ),
    ("library-not-elf", 1, "other library", "file too short", "lib2/libmanynode.so"),
    ("bad-alloc", -11, "memory", "an allocation failed (std::bad_alloc)", None),
    ("killed", -9, "killed", "killed by signal 9, often the system out of memory", None),
    ("mpi-killed", 9, "killed", "killed by signal 9, often the system out of memory", None),
    ("terminated", 0, "stopped", "somebody ended it after 131.578 ms of simulated time", None),
    ("segfault", -11, "crash", "ended by signal 11 (Segmentation fault)", None),
]


def recorded(name: str) -> str:
    return (GOLDEN / f"{name}.txt").read_text()


def test_every_recorded_output_has_its_case() -> None:
    assert {path.stem for path in GOLDEN.glob("*.txt")} == {case[0] for case in CASES}


@pytest.mark.parametrize(("name", "code", "kind", "found", "where"), CASES, ids=[case[0] for case in CASES])
def test_a_recorded_failure_is_read(name: str, code: int, kind: str, found: str, where: str | None) -> None:
    finding = read_failure(recorded(name), code)
    assert (finding.kind, finding.found, finding.where) == (kind, found, where)


@pytest.mark.parametrize(("name", "code"), [(case[0], case[1]) for case in CASES])
def test_its_error_has_a_remedy_and_the_log_and_no_backtrace(name: str, code: int, tmp_path: Path) -> None:
    error = failure_of(Completed(code, 1.0, recorded(name), tmp_path / "sst.log"), "the engine sst")
    text = error.render()
    assert error.what.startswith("the engine sst: SST ") and error.remedy
    assert str(tmp_path / "sst.log") in text
    for noise in ("_ZN3SST7Factory", "Backtrace", "[0x", "libucs"):
        assert noise not in text
    assert len(text.splitlines()) < 10


def test_a_library_that_lacks_or_does_not_fit_is_a_missing_engine() -> None:
    for name in ("library-wrong-path", "library-other-sst"):
        error = failure_of(Completed(1, 1.0, recorded(name), None), "the engine sst")
        assert isinstance(error, EngineMissingError) and "make build" in str(error.remedy)
    assert type(failure_of(Completed(1, 1.0, recorded("traceback"), None), "x")) is EngineFailedError


def test_an_element_with_a_name_is_the_place() -> None:
    output = (
        "FATAL: Rank: 0,0, time: 0 - called in file: interfaces/linkControl.cc, line: 328, function: init\n"
        "Element name: nic2:rtrLink:networkIF,  type: merlin.linkcontrol (full type tree: merlin.linkcontrol)\n"
        "Error during LinkControl protocol initialization.  The most likely cause is this.\n\n"
        "SST Fatal Backtrace Information:\n    0 : sst(_ZNK3SST6Output5fatalE+0x238) [0x562279fb9c38]\n"
    )
    finding = read_failure(output, 1)
    assert finding.where == "element nic2:rtrLink:networkIF (merlin.linkcontrol)"
    assert finding.found.startswith("Error during LinkControl protocol initialization.")


def test_a_users_mistake_that_our_own_code_found_keeps_its_words() -> None:
    line = '{"error":{"what":"too many hops","where":"network.topology","found":"9","allowed":"8","remedy":"fewer"}}'
    error = failure_of(Completed(2, 1.0, f"some output\n{line}\nFATAL: # SST: failed\n", None), "the engine sst")
    assert isinstance(error, UsageError) and error.where == "network.topology" and error.remedy == "fewer"


def test_a_run_that_says_nothing_shows_its_exit_code_and_last_lines() -> None:
    error = failure_of(Completed(7, 1.0, "one\nmanynode-progress {}\ntwo\n", None), "the engine sst")
    assert error.found == "exit code 7" and error.details == "one\ntwo"


def entry(rank: int, **changes: Any) -> dict[str, Any]:
    whole = {"job": 0, "rank": rank, "operation": "MPI_Recv", "peer": rank - 1, "tag": 5, "bytes": 8, "since_s": 2e-6}
    return {**whole, **changes}


def test_a_deadlock_names_the_ranks_and_what_they_wait_for(tmp_path: Path) -> None:
    error = unfinished_error([entry(rank) for rank in range(1, 13)], 40, ["main"], "the engine sst", tmp_path / "log")
    lines = str(error.details).splitlines()
    assert error.what == "the engine sst: the simulation ended with 40 unfinished ranks"
    assert lines[0] == "rank 1 waits in MPI_Recv since 2e-06 s for rank 0, tag 5, 8 bytes"
    assert lines[-1] == "... and 30 more ranks" and len(lines) == 11
    assert "receive without a matching send" in str(error.remedy) and error.where == str(tmp_path / "log")


@pytest.mark.parametrize(
    ("changes", "jobs", "words"),
    [
        ({"peer": -1, "tag": -1}, ["main"], "rank 1 waits in MPI_Recv since 2e-06 s for any rank, any tag, 8 bytes"),
        ({"peer": None}, ["main"], "rank 1 waits in MPI_Recv since 2e-06 s"),
        (
            {"job": 1},
            ["main", "noise"],
            "rank 1 of job noise waits in MPI_Recv since 2e-06 s for rank 0, tag 5, 8 bytes",
        ),
    ],
)
def test_who_waits_is_told_in_words(changes: dict[str, Any], jobs: list[str], words: str) -> None:
    assert waiting(entry(1, **changes), jobs) == words
