"""From recordings of a program whose communication follows the data to its approximate skeleton.

In: folders of recordings at several numbers of ranks, with the same parameters. Out: a section of the skeleton's file,
with errors measured at jobs that were held out: each of the two largest that have a recorded run of half their
ranks is compared with what the runs of up to half its ranks say of it.
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from manynode.derived import skeleton_file
from manynode.derived.skeleton_model import SCHEMA, Approximate, DerivedSkeleton, HeldOut, RecordedRun
from manynode.errors import InputError
from phase2_nodesim.approximate.growth import growth_of
from phase2_nodesim.approximate.held_out import errors, job
from phase2_nodesim.approximate.measures import Measures, measures
from phase2_nodesim.derive.recorded.recordings import OfTheNodeError
from phase2_nodesim.recorded_stream import FILE, write_recorded_stream

FEWEST_RUNS = 3
_MOST_HELD_OUT = 2


@dataclass(frozen=True)
class Run:
    """A recorded run with its stream, which is beside its marker files."""

    folder: Path
    digest: str
    phases: list[str]
    measures: Measures

    @classmethod
    def read(cls, folder: Path) -> Run:
        """Return the run in a folder of marker files; its stream is written unless it is there."""
        stream = write_recorded_stream(folder, folder / FILE)
        if stream["by_node"]:
            raise OfTheNodeError(where=str(folder))
        return cls(folder, stream["digest"], stream["phases"], measures(stream))

    @property
    def ranks(self) -> int:
        return self.measures.ranks

    def replayed(self) -> dict[str, Any]:
        """Return the parameters of the skeleton ``recorded``."""
        return {"file": str((self.folder / FILE).resolve()), "digest": self.digest}


def approximate(folders: Sequence[Path], why: str, output: Path) -> dict[str, Any]:
    """Return the section ``approximate`` of a skeleton's file ``output``; ``why`` says why it is needed.

    Raises :class:`InputError` for recordings that cannot be replayed, for too few of them, and for communicators of the
    ranks of a node.
    """
    runs = {run.ranks: run for run in map(Run.read, folders) if run.ranks > 1}
    if len(runs) < FEWEST_RUNS:
        raise InputError(
            "too few numbers of ranks for an approximate skeleton",
            found=", ".join(map(str, sorted(runs))),
            allowed=f"at least {FEWEST_RUNS} from 2 on, with the same parameters",
            remedy="record more numbers of ranks (--ranks)",
        )
    section = _section(runs, why, output.resolve().parent)
    compared = [_compared(runs, *pair) for pair in _held_out(runs)]
    return section.model_copy(update={"held_out": compared}).model_dump(
        mode="json", by_alias=True, exclude_defaults=True
    )


def _held_out(runs: Mapping[int, Run]) -> list[tuple[int, int]]:
    """Return jobs to predict, each with the run to predict it from: half as large, or else the largest that divides it.

    Squares are never twice each other.
    """
    pairs = [(ranks, max((base for base in runs if base < ranks and ranks % base == 0), default=0)) for ranks in runs]
    known = [(ranks, base) for ranks, base in sorted(pairs) if base and len(_up_to(runs, base)) >= FEWEST_RUNS]
    return ([pair for pair in known if pair[0] == 2 * pair[1]] or known)[-_MOST_HELD_OUT:]


def _up_to(runs: Mapping[int, Run], most: int) -> dict[int, Run]:
    return {number: run for number, run in runs.items() if number <= most}


def _compared(runs: Mapping[int, Run], ranks: int, base: int) -> HeldOut:
    with tempfile.TemporaryDirectory() as folder:
        section = _section(_up_to(runs, base), "a job is held out", Path(folder))
        skeleton = DerivedSkeleton.model_validate({"schema": SCHEMA, "name": "lifted", "approximate": section})
        compiled = Path(folder, "compiled.json")
        digest = skeleton_file.write_compiled(compiled, skeleton)
        lifted = job("derived", {"file": str(compiled), "digest": digest, "values": "{}"}, ranks)
    return errors(lifted, job("recorded", runs[ranks].replayed(), ranks), ranks, base)


def _section(runs: Mapping[int, Run], why: str, beside: Path) -> Approximate:
    ordered = [runs[ranks] for ranks in sorted(runs)]
    return Approximate(
        why=why,
        phases=sorted({phase for run in ordered for phase in run.phases}),
        runs=[_run(run, [one.measures for one in ordered if one.ranks <= run.ranks], beside) for run in ordered],
    )


def _run(run: Run, known: Sequence[Measures], beside: Path) -> RecordedRun:
    """Return what is to be known of a run; ``known`` are the measures of it and of smaller ones."""
    base = known[-1]
    smaller = [one for one in known[:-1] if base.ranks % one.ranks == 0 and one.pairs]
    kinds = {name for name in base.sizes if all(name in one.sizes for one in known)}
    return RecordedRun(
        ranks=base.ranks,
        file=_path(run.folder.resolve() / FILE, beside),
        digest=run.digest,
        hubs=sorted(base.hubs),
        reach=base.reach(smaller[-1]) if smaller and base.pairs else base.ranks,
        messages=growth_of({one.ranks: one.messages for one in known}, base.ranks),
        peak=growth_of({one.ranks: one.peak for one in known}, base.ranks, peaks=True),
        bytes=growth_of({one.ranks: one.bytes for one in known}, base.ranks),
        collectives={
            name: growth_of({one.ranks: one.sizes[name] for one in known}, base.ranks) for name in sorted(kinds)
        },
        exponents=[_exponent(number, base, known) for number in range(len(base.groups))],
    )


def _path(file: Path, beside: Path) -> str:
    """Return a path relative to the skeleton's folder, where the file is in there: both may then be moved."""
    return str(file.relative_to(beside) if file.is_relative_to(beside) else file)


def _exponent(number: int, base: Measures, known: Sequence[Measures]) -> float:
    """Return with which power of the number of ranks the members of a communicator grow."""
    size = base.groups[number]
    if size == base.ranks:
        return 1.0
    for other in reversed(known[:-1]):
        if len(other.groups) == len(base.groups) and other.groups[number] > 0:
            grown = math.log(size / other.groups[number]) / math.log(base.ranks / other.ranks)
            return round(min(max(grown, 0.0), 1.0), 3)
    return 0.0
