"""Derive the skeletons of many programs from many sets of runs: how often is a verdict wrong, or needlessly a refusal?

Each mini-app, and each small program of the tests that shows a kind of its own (lists of neighbours, grids of no rule,
divided problems, communicators, requests that are freed, unequal blocks, sizes that depend on load, iterations), is
recorded once with a small problem at thirteen numbers of ranks. From each of ten sets of them a
skeleton is derived, judged at all other numbers, and compared there call by call with the recording. A skeleton that
differs from a recording although its verdict does not refuse is a silent error, and so are drawn sizes whose volume is
off by more than 5 %. What is refused although the skeleton
equals the recording costs a further run, and no more: each set is judged again with the runs that its verdicts ask for,
as ``manynode derive`` records them unasked. Prints a line for each set.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from _figure import figure
from _mini_app import options

from manynode.errors import ManynodeError
from manynode.paths import native_program
from manynode.process import run
from phase2_nodesim.derive.derivation import derive
from phase2_nodesim.derive.judging.compared import first_difference
from phase2_nodesim.derive.judging.verdict import verdict
from phase2_nodesim.derive.recorded.recordings import Recording, read_recording
from phase2_nodesim.derive.settled import MOST_AT_ONCE, MOST_LARGER, MOST_RUNS, state_extents
from phase2_nodesim.derive.writing.drawn import comparison
from phase2_nodesim.record import record_run

COUNTS = (1, 2, 3, 4, 6, 8, 12, 16, 18, 24, 27, 32, 36)
SETS = (
    (1, 2, 4, 8, 12, 16, 27),
    (2, 4, 8, 12, 16, 27),
    (2, 4, 8),
    (4, 8, 12, 18),
    (2, 8, 27),
    (1, 2, 4, 8, 16, 24, 32),
    (8, 12, 18, 27, 32),
    (4, 12, 36),
    (3, 6, 12, 18),
    (1, 2, 3, 4, 6, 8),
)
MOST_VOLUME_ERROR = 0.05
MOST_NEEDLESS = 0.1
# Sides that differ, and the at least four iterations that a loop needs to show.
PROBLEMS: dict[str, dict[str, int]] = {
    "spmv": {"nx": 3, "ny": 4, "nz": 5, "columns": 7, "iterations": 4, "norms": 1},
    "hpcg": {"nx": 16, "ny": 8, "nz": 24, "iterations": 4, "levels": 3, "preconditioner": 1},
    "hacc": {"elements": 150, "iterations": 4},
    "milc": {"nx": 4, "ny": 6, "nz": 4, "nt": 8, "iterations": 4, "third_neighbours": 1},
    "snap": {"nx": 8, "ny": 3, "nz": 2, "chunk": 4, "angles": 3, "groups": 4, "outers": 3, "inners": 4},
    "lammps": {"nx": 2, "ny": 3, "nz": 2, "iterations": 12, "every": 3, "thermo_every": 3, "reductions": 4},
    "caffe": {"images": 4, "side": 8, "filters": 2, "hidden": 6, "iterations": 4},
    "fft2d": {"elements": 96, "iterations": 4},
}
SOURCES = Path(__file__).resolve().parents[1] / "tests" / "data" / "mpi"
# The arguments of programs whose parameters stay as they are; PROBLEM is a file with the side of the divided problem.
PROBLEM = "problem.in"
SMALL: dict[str, list[str]] = {
    "kinds/messages": ["high-grid"],
    "kinds/together": ["points-of-parts"],
    "blocks": ["50"],
    "communicators": [],
    "divided_problem": [PROBLEM],
    "forgotten": ["3"],
    "halo_unlabelled": ["100", "5"],
    "iterations": [],
    "neighbour_list": ["4"],
    "own_grid": [],
    "particles": ["240000", "6"],
    "walks": [],
}


def commands(folder: Path) -> dict[str, list[str]]:
    """Return the command of each program by its name; the small ones are compiled, for which they need no more."""
    found = {name: [str(native_program(name)), *options(problem)] for name, problem in PROBLEMS.items()}
    (folder / PROBLEM).write_text("512\n", encoding="utf-8")
    for source, arguments in SMALL.items():
        name = Path(source).name
        program = folder / name
        run(["mpicc.mpich", "-g", "-O1", "-o", program, SOURCES / f"{source}.c"], what=f"compiling {source}.c")
        found[name] = [str(program), *(str(folder / PROBLEM) if word == PROBLEM else word for word in arguments)]
    return found


def recorded(name: str, command: list[str], folder: Path) -> dict[int, Recording]:
    """Return the recordings of a program by number of ranks; a number that the program refuses is left out."""
    found = {}
    for ranks in COUNTS:
        place = folder / f"{name}-{ranks}"
        try:
            record_run(place, command, "mpich", ranks, timeout_s=600)
        except ManynodeError:
            continue
        found[ranks] = read_recording(place, PROBLEMS.get(name, {}))
    return found


def settled(name: str, runs: dict[int, Recording], trained: tuple[int, ...]) -> tuple[int, ...]:
    """Return the numbers of ranks with those that decide what they leave open, of the recorded ones."""
    largest, found = MOST_LARGER * max(trained), tuple(trained)
    while len(found) < len(trained) + MOST_RUNS:
        try:
            skeleton = derive([runs[ranks] for ranks in found if ranks in runs], name=name).skeleton
        except ManynodeError:
            break
        asked = {one for ranks in runs for one in verdict(skeleton, ranks, matched=False).deciding}
        more = sorted(one for one in asked if one in runs and one not in found and one <= largest)[:MOST_AT_ONCE]
        if not more:
            break
        found = (*found, *more)
    return found


def judged(name: str, runs: dict[int, Recording], trained: tuple[int, ...]) -> Counter[str]:
    """Return how often each outcome came at the other numbers of ranks: exact, refused, needlessly refused, silent."""
    others = [ranks for ranks in runs if ranks not in trained]
    outcomes: Counter[str] = Counter()
    try:
        found = derive([runs[ranks] for ranks in trained if ranks in runs], name=name)
    except ManynodeError as error:
        print(f"{name} {trained}: no skeleton: {error.what}", flush=True)
        outcomes["no skeleton"] = len(others)
        return outcomes
    state_extents(found, others)
    skeleton = found.skeleton
    for ranks in others:
        usable = verdict(skeleton, ranks).usable
        equal = first_difference(skeleton, runs[ranks]) is None if usable else _equal(skeleton, runs[ranks])
        wrong = not equal or _volume_error(skeleton, runs[ranks]) > MOST_VOLUME_ERROR
        outcomes[("silent" if wrong else "exact") if usable else ("needlessly refused" if equal else "refused")] += 1
    print(f"{name} {trained}: {dict(outcomes)}", flush=True)
    return outcomes


def _equal(skeleton: dict[str, Any], recording: Recording) -> bool:
    """Say whether a refused skeleton equals the recording all the same; it may have no calls at all there."""
    try:
        return first_difference(skeleton, recording) is None
    except ManynodeError:
        return False


def _volume_error(skeleton: dict[str, Any], recording: Recording) -> float:
    """Return the relative error of the bytes of a skeleton that equals the recording but for drawn sizes."""
    found = comparison(skeleton, recording)
    return 0.0 if found is None else abs(found.volume_error)


def figures() -> list[dict[str, Any]]:
    """Return the silent errors, of which there may be none, and what the caution costs."""
    outcomes: Counter[str] = Counter()
    after: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        for name, command in commands(Path(folder)).items():
            runs = recorded(name, command, Path(folder))
            for trained in SETS:
                outcomes += judged(name, runs, trained)
                after += judged(name, runs, settled(name, runs, trained))
    return [
        figure("derived: silent errors", float(outcomes["silent"] + after["silent"]), "verdicts", 0, "<="),
        figure("derived: verdicts", float(outcomes.total()), "", None, None),
        figure("derived: exact", outcomes["exact"] / outcomes.total(), "", None, None),
        figure("derived: needlessly refused", outcomes["needlessly refused"] / outcomes.total(), "", None, None),
        figure("derived, settled: verdicts", float(after.total()), "", None, None),
        figure("derived, settled: exact", after["exact"] / after.total(), "", None, None),
        figure(
            "derived, settled: needlessly refused", after["needlessly refused"] / after.total(), "", MOST_NEEDLESS, "<="
        ),
    ]
