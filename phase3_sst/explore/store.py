"""The store of an exploration: a folder per question, shared by all servers and the command line.

``results/NAME/explore/points/DIGEST`` holds ``experiment.yaml`` and ``results/NAME-DIGEST``, as ``manynode run`` has
them: either continues what the other has begun. Files are trusted only as far as :mod:`manynode.verify` trusts them.
Files of phases 1 and 2 are links to those of the base. A finished file of one question that another one needs as well
(the same place, the same digest, made from the same files) is a link, too.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from manynode import artefacts, seal, tables
from manynode.config.resolved import OF_PAGES, Resolved, read_resolved, write_resolved
from manynode.config.study_section import study_sections
from manynode.errors import InputError, ManynodeError
from manynode.input_file import kept_until_changed
from manynode.steps import Steps
from manynode.verify import remove_untrusted, untrusted
from phase3_sst.campaign.experiments import PlannedExperiment
from phase3_sst.explore.base import Asked, Base, measured_places, profile_of
from phase3_sst.explore.question import Question, question_of
from phase3_sst.explore.steps import CLASSES
from phase3_sst.point.flow_choice import is_chosen

QUESTION_SCHEMA = "explore-question/1"
# What an answer reads; the first is written last.
ANSWERED = ("projection", "makespans", "breakdown", "links", "interval_parts")
LOSSES = "scaling.parquet"
_QUESTION = "question.json"
# What a file of phases 1 and 2 says of its own making; the code that made it may be older.
_ORIGIN = (seal.KEY, artefacts.OF, artefacts.MADE_FROM, "provenance")
_SHARED = ("simulate", "scaling", "resamples")


@dataclass(frozen=True)
class Finished:
    """The results that answer a question, and the experiment that they belong to."""

    results: Path
    resolved: Resolved


class Store:
    """The questions of one base."""

    def __init__(self, base: Base, folder: Path | None = None) -> None:
        self.base = base
        self.folder = folder or base.results / "explore"
        self._steps: dict[str, Steps] = {}
        self._places: dict[tuple[str, str], Path] = {}
        self._indexed: set[Path] = set()
        self._first_times: dict[tuple[Path, str], tuple[str | None, ...]] = {}
        self._others: dict[Path, tuple[int, Resolved]] = {}
        self._guard = threading.RLock()

    def planned(self, asked: Asked) -> PlannedExperiment:
        """Return the question's experiment with its folder."""
        folder = self.folder / "points" / asked.digest
        return PlannedExperiment(asked.resolved.name, asked.content, asked.resolved, folder)

    def results(self, asked: Asked) -> Path:
        """Return the question's own results folder."""
        return self.planned(asked).results

    def steps(self, asked: Asked) -> Steps:
        """Return the digests of the question's steps."""
        with self._guard:
            if asked.digest not in self._steps:
                self._steps[asked.digest] = Steps(asked.resolved.content)
            return self._steps[asked.digest]

    def finished(self, asked: Asked) -> Finished | None:
        """Return the results that answer a question: its own, or those of an experiment that has the same point."""
        self._check_times(asked)
        own = self.results(asked)
        if self._measured_alike(asked, own) and _answers(own, self.steps(asked), asked.question.losses):
            return Finished(own, asked.resolved)
        for results, resolved in self._experiments():
            alike = self._same_point(asked, resolved) and self._measured_alike(asked, results)
            if alike and _answers(results, Steps(resolved.content), asked.question.losses):
                return Finished(results, resolved)
        return None

    def _measured_alike(self, asked: Asked, results: Path) -> bool:
        """Return whether results have the compute times of the question's machine.

        The digest does not say it: an experiment that is measured again has the same one, and other times.
        """
        return results == asked.measured or _times(results, asked) == _times(asked.measured, asked)

    def _check_times(self, asked: Asked) -> None:
        """Raise :class:`InputError` if the compute times are no longer those that earlier answers were made from."""
        now = _times(asked.measured, asked)
        if self._first_times.setdefault((asked.measured, asked.question.technique), now) != now:
            raise InputError(
                "the base was measured again, and answers so far are of its old times",
                where=str(asked.measured),
                remedy="start manynode explore again",
            )

    def prepare(self, asked: Asked) -> Path:
        """Make the question's folder, with the measured files and the finished ones; return its results folder."""
        self._check_times(asked)
        planned = self.planned(asked)
        results = planned.results
        planned.write()
        tables.write_json(planned.folder / _QUESTION, QUESTION_SCHEMA, {"question": asked.question.as_json()})
        places = measured_places(asked.measured)
        times = [(asked.measured / place).stat().st_mtime_ns for place in places]
        # Snakemake repeats what is older than its inputs. Results that were copied may have times in any order.
        new_time = None if times == sorted(times) else max(times)
        for place in places:
            if not _same_bytes(asked.measured / place, results / place):
                # The base was measured again: what was made from the old times is made again as well.
                (results / place).unlink(missing_ok=True)
            link(asked.measured / place, results / place, new_time)
        remove_untrusted(results, self.steps(asked))
        write_resolved(results / "experiment.json", asked.resolved)
        return results

    def whole(self, asked: Asked, place: str) -> bool:
        """Return whether a file of the question is there, undamaged and its own."""
        return _told(self.results(asked), self.steps(asked), place) is not None

    def reuse(self, asked: Asked, places: Sequence[str]) -> bool:
        """Link the files of a step from another question's results; return whether all of them are there now."""
        self._index()
        if not all(self._reuse(asked, place) for place in places):
            return False
        # A point may have further files: counters over time, injection control.
        first = places[0]
        source = self._places.get((first, _digest(self.steps(asked), first)))
        if source is not None and first.endswith("/result.json"):
            for path in sorted((source / first).parent.iterdir()):
                if path.suffix == ".parquet":
                    self._reuse(asked, path.relative_to(source).as_posix())
        return True

    def _reuse(self, asked: Asked, place: str) -> bool:
        """Link one file if it is the same in another question's results; return whether it is there now."""
        if self.whole(asked, place):
            return True
        source = self._places.get((place, _digest(self.steps(asked), place)))
        if source is None or source == self.results(asked):
            return False
        told = _told(source, self.steps(asked), place)
        if told is None or not self._has_sources(asked, told, (source / place).stat().st_mtime_ns):
            return False
        link(source / place, self.results(asked) / place)
        return True

    def add(self, asked: Asked) -> None:
        """Let other questions use the finished files of this one."""
        with self._guard:
            self._add(self.results(asked), self.steps(asked))

    def questions(self) -> Iterator[Question]:
        """Yield the questions that have a folder."""
        for path in sorted((self.folder / "points").glob(f"*/{_QUESTION}")):
            with contextlib.suppress(ManynodeError, KeyError):
                yield question_of(tables.read_json(path, QUESTION_SCHEMA)["question"], str(path))

    def _has_sources(self, asked: Asked, told: Mapping[str, Any], made_ns: int) -> bool:
        """Return whether a file that was made at ``made_ns`` was made from the files that the question has."""
        results, steps = self.results(asked), self.steps(asked)
        for place, checksum in (told.get(artefacts.MADE_FROM) or {}).items():
            found = _told(results, steps, place)
            if found is None or found[seal.KEY] != checksum:
                return False
            # Snakemake would repeat what is older than its inputs.
            if (results / place).stat().st_mtime_ns > made_ns:
                return False
        return True

    def _index(self) -> None:
        """Look for folders of questions that were not there before."""
        with self._guard:
            for path in (self.folder / "points").glob("*/results/*/experiment.json"):
                if path.parent not in self._indexed:
                    with contextlib.suppress(ManynodeError):
                        self._add(path.parent, Steps(read_resolved(path).content))

    def _add(self, results: Path, steps: Steps) -> None:
        self._indexed.add(results)
        for folder in _SHARED:
            for path in (results / folder).rglob("*"):
                place = path.relative_to(results).as_posix()
                if path.is_file() and (identity := steps.identity_of(place)) is not None:
                    self._places[place, identity.digest] = results

    def _experiments(self) -> Iterator[tuple[Path, Resolved]]:
        """Yield the base and the experiments beside it."""
        for path in [self.base.results / "experiment.json", *self.base.results.parent.glob("*/experiment.json")]:
            try:
                changed = path.stat().st_mtime_ns
                if self._others.get(path, (0, None))[0] != changed:
                    self._others[path] = changed, read_resolved(path)
            except (OSError, ManynodeError):
                continue
            yield path.parent, self._others[path][1]

    def _same_point(self, asked: Asked, other: Resolved) -> bool:
        """Return whether an experiment has the question's point, with the same numbers in every table's row."""
        question, own = asked.question, asked.resolved
        if question.nodes not in other.nodes or question.technique not in other.techniques:
            return False
        # The efficiency compares with the smallest node count.
        if min(other.nodes) != min(own.nodes) or _settings(other) != _settings(own):
            return False
        if question.losses and (other.scaling != own.scaling or other.techniques != own.techniques):
            return False
        # Trials choose the flow control at the largest node count.
        return not is_chosen(own) or _choice(other) == _choice(own)


def link(source: Path, target: Path, new_time: int | None = None) -> None:
    """Make ``target`` another name of the file, or a copy: on another disk, or to give it another time [ns].

    An existing file stays.
    """
    if target.exists():
        return
    with tables.replacing(target) as part:
        if new_time is None:
            part.unlink()
            with contextlib.suppress(OSError):
                os.link(source, part)
        if not part.exists() or new_time is not None:
            shutil.copy2(source, part)
        if new_time is not None:
            os.utime(part, ns=(new_time, new_time))


def _same_bytes(one: Path, other: Path) -> bool:
    try:
        return one.samefile(other) or one.read_bytes() == other.read_bytes()
    except FileNotFoundError:
        return False


def _times(results: Path, asked: Asked) -> tuple[str | None, ...]:
    """Return the digests of the rank classes and of the timing profile that a question uses."""
    return _measured(results / CLASSES), _measured(profile_of(results, asked.question.technique))


@kept_until_changed
def _measured(path: Path) -> str | None:
    """Return the digest of a file of phases 1 and 2 without what says where it is from; None if there is none."""
    try:
        content = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return None
    kept = {key: value for key, value in content.items() if key not in _ORIGIN}
    return hashlib.sha256(json.dumps(kept, sort_keys=True).encode()).hexdigest()


def _answers(results: Path, steps: Steps, losses: bool) -> bool:
    """Return whether a results folder has every file that an answer reads, whole and made from its present files."""
    places = [f"{name}.parquet" for name in ANSWERED] + ([LOSSES] if losses else [])
    if not all((results / place).is_file() for place in places):
        return False
    try:
        faults = untrusted(results, steps)
    except ManynodeError:
        return False
    return not any(place in faults for place in places) and all(_told(results, steps, place) for place in places)


def _digest(steps: Steps, place: str) -> str:
    identity = steps.identity_of(place)
    return "" if identity is None else identity.digest


def _told(results: Path, steps: Steps, place: str) -> dict[str, Any] | None:
    """Return what a file says of itself, with its checksum; None if it is missing, damaged or of something else."""
    identity = steps.identity_of(place)
    try:
        data = (results / place).read_bytes()
    except OSError:
        return None
    checksum = seal.checksum(data)
    if identity is None or checksum is None:
        return None
    told = tables.metadata_of(data) if place.endswith(".parquet") else json.loads(data)
    if artefacts.mismatch(told.get(artefacts.OF), place, identity) is not None:
        return None
    return {artefacts.MADE_FROM: told.get(artefacts.MADE_FROM), seal.KEY: checksum}


def _settings(resolved: Resolved) -> str:
    """Return the digest of all that a point's numbers depend on, but its technique and node count."""
    studies = [study.key for study in study_sections()]
    return resolved.digest(without=("name", *OF_PAGES, "nodes", "techniques", *studies))


def _choice(resolved: Resolved) -> str:
    return Steps(resolved.content).digest("flow-control")
