"""The base of an exploration: a finished experiment with its measured files, and the experiments that ask it.

In: the results folder of an experiment. Out: for each question an :class:`Asked`: its experiment as a file and
resolved, the digest that is equal for equal questions, and the folder whose measured files it uses. The digest leaves
out the name and the title, and whatever changes no number.
"""

from __future__ import annotations

import copy
import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from manynode import artefacts
from manynode.checks import GROUP, check_experiment
from manynode.config.application import DERIVED
from manynode.config.changes import apply
from manynode.config.experiment import mode_of, most_complete
from manynode.config.loader import resolve
from manynode.config.network import Network
from manynode.config.resolved import OF_PAGES, Resolved, checked, included, read_resolved
from manynode.config.studies import without_studies
from manynode.config.study_section import study_sections
from manynode.config.written_form import written_experiment
from manynode.errors import InputError, ManynodeError, UsageError
from manynode.steps import Steps
from manynode.verify import untrusted
from phase3_sst.explore.allowed_changes import MACHINE, NETWORK, check_changes, check_jobs
from phase3_sst.explore.question import Question

DIGITS = 12
_MOST_KNOWN = 20_000
_MEASURED_FOLDERS = ("profile", "nodesim")
# Made again for each experiment, because it depends on the node counts.
_VERDICTS = "nodesim/skeleton-verdicts.json"
# What makes a node another one; the rest of an experiment is the base's.
_OF_THE_MACHINE = ("machine", "profile", "nodesim", "own_times")
_ALIKE = ("application", "ranks_per_node", "seed")


@dataclass(frozen=True)
class Asked:
    """A question's experiment: ``content`` as its file has it, ``measured`` the results whose node it uses."""

    question: Question
    content: Mapping[str, Any]
    resolved: Resolved
    digest: str
    measured: Path


class Base:
    """A finished experiment in a results folder."""

    def __init__(self, results: Path) -> None:
        """Open it; raise :class:`InputError` or :class:`UsageError` if nothing can be asked of it."""
        self.results = results.resolve()
        self.resolved = _read(self.results)
        if reason := self.resolved.unprojected():
            raise UsageError("nothing can be projected from these results", where=str(results), found=reason)
        self._content = without_studies(written_experiment(self.resolved))
        self._known: dict[str, Asked] = {}
        self._checked: set[str] = set()
        check_measured(self.results, self.resolved)

    @property
    def name(self) -> str:
        """Return the experiment's name."""
        return self.resolved.name

    def baseline(self) -> Question:
        """Return the base's own question: no changes, most nodes, the most complete technique."""
        return Question(
            nodes=max(self.resolved.nodes),
            technique=most_complete(self.resolved.techniques),  # type: ignore[arg-type]
        )

    @functools.cached_property
    def machines(self) -> dict[str, Path]:
        """Return the results folders whose measured node a question may use, by name: the base's own first.

        Others lie beside the base and have the same application, ranks per node and seed, and another machine.
        """
        own = self.resolved.content
        found = {self.results.name: self.results}
        for path in sorted(self.results.parent.glob("*/experiment.json")):
            folder = path.parent
            if folder == self.results:
                continue
            try:
                other = _read(folder)
                content = other.content
                another = any(content[key] != own[key] for key in ("machine", "own_times"))
                if another and all(content[key] == own[key] for key in _ALIKE):
                    check_measured(folder, other)
                    found[folder.name] = folder
            except ManynodeError:
                continue  # a folder that cannot be used is not offered
        return found

    @functools.cached_property
    def network(self) -> str:
        """Return the name by which a question asks for the base's own network."""
        own = self.resolved.network
        try:
            shipped = included(NETWORK, own.name, "networks", Path("/"), "the base")
            differs = checked(Network, shipped, own.name, "the network") != own
        except UsageError:
            differs = False
        return f"{own.name}-of-the-base" if differs else own.name

    def asked(self, question: Question) -> Asked:
        """Return the question's experiment; a question that is not allowed is a :class:`UsageError`."""
        key = question.canonical()
        if key not in self._known:
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            self._known[key] = self._asked(question)
        return self._known[key]

    def check(self, asked: Asked) -> None:
        """Ask phase 3 whether it can simulate a question; raise its error. Takes a moment the first time."""
        if asked.digest in self._checked:
            return
        if asked.resolved.application.name == DERIVED:
            # Phase 2 says at which numbers of ranks the skeleton holds.
            check_experiment(asked.resolved, "the question")
        else:
            (entry,) = entry_points(group=GROUP, name="simulate")
            entry.load()(asked.resolved)
        self._checked.add(asked.digest)

    def written(self, key: str) -> Any:
        """Return the value of a dotted key of the base as its file would have it; None where it is not given."""
        found: Any = self._content
        for part in key.split("."):
            found = found.get(part) if isinstance(found, Mapping) else None
        return copy.deepcopy(found)

    def _asked(self, question: Question) -> Asked:
        check_changes(question.changes, self.resolved)
        changes = dict(question.changes)
        measured = self._machine(changes.pop(MACHINE, self.results.name))
        if changes.get(NETWORK) == self.network:
            del changes[NETWORK]
        content = copy.deepcopy(self._content)
        if measured != self.results:
            other = written_experiment(_read(measured))
            for section in _OF_THE_MACHINE:
                content.pop(section, None)
                if section in other:
                    content[section] = other[section]
        apply(content, copy.deepcopy(changes), Path("/"))
        check_jobs(content.get("simulate") or {}, self.resolved)
        content["nodes"] = sorted({min(self.resolved.nodes), question.nodes})
        content["techniques"] = [question.technique]
        if question.losses:
            content["scaling"] = {"nodes": [question.nodes]}
        self._check_technique(question.technique, measured)
        content["title"] = _title(self.resolved, question)
        resolved = resolve(content, where="the question", base=Path("/"))
        digest = digest_of_question(resolved)
        content["name"] = f"{self.name[:60]}-{digest[:DIGITS]}"
        return Asked(question, content, resolved.model_copy(update={"name": content["name"]}), digest, measured)

    def _machine(self, name: str) -> Path:
        if name not in self.machines:
            raise UsageError(
                "no such machine was measured",
                where=MACHINE,
                found=name,
                allowed=", ".join(self.machines),
                remedy="run the experiment on it: manynode run with another machine in its file, beside these results",
            )
        return self.machines[name]

    def _check_technique(self, technique: str, measured: Path) -> None:
        if not profile_of(measured, technique).is_file():
            known = [name for name in _TECHNIQUES if profile_of(measured, name).is_file()]
            raise UsageError(
                "the times for this technique were not measured",
                where="technique",
                found=technique,
                allowed=", ".join(known),
                remedy=f"add it to the techniques of {measured.name} and run that again",
            )


_TECHNIQUES = ("ext-var", "ext-const", "no-ext-var", "no-ext-const")


def techniques_of(measured: Path) -> list[str]:
    """Return the techniques whose times were measured, the most complete first."""
    return [name for name in _TECHNIQUES if profile_of(measured, name).is_file()]


def profile_of(measured: Path, technique: str) -> Path:
    """Return the timing profile of a technique."""
    return measured / "nodesim" / f"timing-profile-{mode_of(technique)}.json"


def digest_of_question(resolved: Resolved) -> str:
    """Return the digest of everything that a question's numbers depend on: all but name, title and other studies."""
    others = [study.key for study in study_sections() if not study.in_projection_digest]
    return resolved.digest(without=("name", *OF_PAGES, *others))


def measured_places(results: Path) -> list[str]:
    """Return the files of phases 1 and 2 in a results folder, relative to it, each after those it is made from."""
    identity_of = Steps(read_resolved(results / "experiment.json").content).identity_of
    found = []
    for folder in _MEASURED_FOLDERS:
        for path in sorted((results / folder).rglob("*")):
            place = path.relative_to(results).as_posix()
            if path.suffix in (".json", ".parquet") and identity_of(place) is not None and place != _VERDICTS:
                found.append(place)
    return sorted(found, key=lambda place: (_stage(place), (results / place).stat().st_mtime_ns))


def _stage(place: str) -> int:
    """Return the order in which phases 1 and 2 make their files."""
    patterns = (r"profile/nodes-.*", r"profile/.*", r"nodesim/.*/node-.*", r"nodesim/(?!resamples).*")
    return next((at for at, pattern in enumerate(patterns) if re.fullmatch(pattern, place)), len(patterns))


def check_measured(results: Path, resolved: Resolved) -> None:
    """Raise :class:`InputError` unless phases 1 and 2 have finished and their files are whole."""
    remedy = f"run the experiment of {results.name} again: manynode run; finished steps are kept"
    steps = Steps(resolved.content)
    wrong = {place: why for place, why in untrusted(results, steps).items() if place.startswith(_MEASURED_FOLDERS)}
    for place, why in sorted(wrong.items()):
        raise InputError("a measured file cannot be used", where=str(results / place), found=why, remedy=remedy)
    needed = [results / "profile/rank-classes.json"]
    needed += [profile_of(results, technique) for technique in resolved.techniques]
    for path in needed:
        if not path.is_file():
            raise InputError("the experiment has not finished", where=str(path), found="no such file", remedy=remedy)
        identity = steps.identity_of(path.relative_to(results).as_posix())
        assert identity is not None
        with artefacts.bound(results, steps.identity_of):
            _read_whole(path)


def _read_whole(path: Path) -> None:
    """Read a file of phases 1 and 2, which checks its bytes and that it is of the bound experiment."""
    from manynode.rank_classes import read_rank_classes
    from manynode.timing_profile import read_timing_profile

    if path.name == "rank-classes.json":
        read_rank_classes(path)
    else:
        read_timing_profile(path)


def _read(results: Path) -> Resolved:
    path = results / "experiment.json"
    if not path.is_file():
        raise InputError(
            "there is no finished experiment to explore",
            where=str(path),
            found="no such file",
            allowed="the results folder of 'manynode run', such as results/demo",
            remedy="run the experiment first: manynode run EXPERIMENT",
        )
    return read_resolved(path)


def _title(base: Resolved, question: Question) -> str:
    changes = ", ".join(
        f"{key}: {value}" if isinstance(value, (str, int, float, bool)) else key
        for key, value in question.changes.items()
    )
    own = base.title or base.name
    return f"{own}; changed: {changes}"[:300] if changes else own
