"""The runs that a derivation learns from and is checked on, recorded in one folder.

In: a program's command with ``{name}`` in place of parameters, numbers of ranks, values of parameters. Out: a folder of
marker files for each run. A finished recording of the same program and arguments is used again; one of another program
is an :class:`InputError`, and stays as it is.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from manynode import tables
from manynode.config.command_words import DoesNotFitError, for_job, job_values, names_in, with_values
from manynode.config.input_files import InputFile, digest_of_text, digests, names_in_inputs, place, rendered
from manynode.derived.skeleton_model import GridSection
from manynode.errors import InputError, UsageError
from manynode.launch import Flavour
from phase2_nodesim.derive.recorded.recordings import Recording, check_calls, communicates, read_recording
from phase2_nodesim.derive.sequence.shortened import shortened
from phase2_nodesim.record import record_run

SCHEMA = "recorded-run/1"
_FILE = "run.json"


@dataclass(frozen=True)
class Run:
    """A job to record: its number of ranks, and the problem's parameters."""

    ranks: int
    parameters: tuple[tuple[str, int], ...] = ()

    @classmethod
    def of(cls, ranks: int, parameters: Mapping[str, int]) -> Run:
        return cls(ranks, tuple(sorted(parameters.items())))

    @property
    def name(self) -> str:
        """The folder's name."""
        return "-".join([f"ranks{self.ranks:04}", *(f"{name}{value}" for name, value in self.parameters)])

    def words(self) -> str:
        """Name the run as a person would."""
        values = ", ".join(f"{name} {value}" for name, value in self.parameters)
        return f"{self.ranks} ranks" + (f", {values}" if values else "")


def planned(
    ranks: Sequence[int], parameters: Mapping[str, int], varied: Mapping[str, Sequence[int]], at: int
) -> list[Run]:
    """Return the runs to learn from: all numbers of ranks, then each parameter varied alone, on ``at`` ranks."""
    runs = [Run.of(count, parameters) for count in sorted(set(ranks))]
    for name, values in varied.items():
        if name not in parameters:
            raise UsageError(
                "a parameter to vary is not one of the program's",
                where=f"--vary {name}",
                found=name,
                allowed=", ".join(parameters) or "none",
                remedy=f"write {{{name}}} into the command, and give its usual value: --parameter {name}=VALUE",
            )
        runs += [Run.of(at, {**parameters, name: value}) for value in values]
    return list(dict.fromkeys(runs))


def held_out_runs(
    ranks: Sequence[int], parameters: Mapping[str, int], varied: Mapping[str, Sequence[int]]
) -> list[Run]:
    """Return the runs to compare with: all numbers of ranks, and the first with all varied parameters changed at once.

    Parameters that were changed one at a time fit a sum as well as a product.
    """
    runs = [Run.of(count, parameters) for count in ranks]
    if ranks and varied:
        runs.append(Run.of(ranks[0], {**parameters, **{name: values[-1] for name, values in varied.items()}}))
    return list(dict.fromkeys(runs))


@dataclass(frozen=True)
class Campaign:
    """Records runs of one program below ``folder``; ``say`` hears what is recorded.

    Arguments of ``command`` may follow the parameters and the job, whose ``grid`` and ``ranks_per_node`` are stated.

    With ``to_derive``, calls that no skeleton can be derived from end the campaign before the next run is recorded.
    """

    command: Sequence[str]
    flavour: Flavour
    folder: Path
    threads: int = 1
    timeout_s: float = 3600.0
    say: Callable[[str], None] = print
    grid: GridSection | None = None
    ranks_per_node: int | None = None
    inputs: Sequence[InputFile] = ()
    to_derive: bool = True
    _known: dict[Run, Recording] = field(default_factory=dict, init=False, repr=False)
    _unchecked: list[Run] = field(default_factory=list, init=False, repr=False)

    def recorded(self, run: Run) -> Path:
        """Return the folder of the run's marker files; it is recorded now unless it is there."""
        folder = self.folder / run.name
        made = self.about(run)
        if folder.exists():
            self._check_same(folder, made)
            self._unchecked.append(run)
            return folder
        self._check_calls()  # those of an earlier command
        self.say(f"recording {run.words()}")
        record_run(
            folder, made["command"], self.flavour, run.ranks, threads=self.threads, timeout_s=self.timeout_s,
            placed=(lambda files: place(self.inputs, self._texts(run), files)) if self.inputs else None,
        )  # fmt: skip
        for file in folder.glob("rank-*.mnmk"):
            tables.pack(file)  # to a fifth, even with the times
        tables.write_json(folder / _FILE, SCHEMA, made)
        self._unchecked.append(run)
        self._check_calls()
        return folder

    def check(self, runs: Sequence[Run]) -> None:
        """Raise :class:`InputError` if the folder of one of these runs has the recording of another one."""
        for run in runs:
            if (folder := self.folder / run.name).exists():
                self._check_same(folder, self.about(run))

    def recording(self, run: Run) -> Recording:
        """Return what was recorded of a run; it is recorded now unless it is there."""
        return self._read(run, self.recorded(run))

    def _read(self, run: Run, folder: Path) -> Recording:
        if run not in self._known:
            self._known[run] = read_recording(folder, dict(run.parameters))
        return self._known[run]

    def _check_calls(self) -> None:
        """Check what was recorded, or found, since the last time."""
        while self._unchecked:
            run = self._unchecked.pop(0)
            folder = self.folder / run.name
            if self.to_derive and run not in self._known:
                recording = shortened([self._read(run, folder)]).recordings[0]
                check_calls(recording)
                if run.ranks > 1 and not communicates(recording):
                    log = (folder / "run.log").read_text(errors="replace") if (folder / "run.log").is_file() else ""
                    said = next((line for line in reversed(log.splitlines()) if line.strip()), "nothing")
                    self.say(f"warning: the run of {run.words()} has no communication; its last words: {said.strip()}")

    def about(self, run: Run) -> dict[str, Any]:
        """Return what tells the recording of a run from others: command, MPI, ranks, digest of the program."""
        words = for_job(with_values(self.command, dict(run.parameters)), run.ranks, self.ranks_per_node, self.grid)
        made = {"command": words, "mpi": self.flavour, "ranks": run.ranks, "program": _digest(Path(words[0]))}
        if not self.inputs:
            return made
        texts = self._texts(run)
        own = {name: digest_of_text(text) for name, text in texts.items()}
        return {**made, "inputs": {**digests(self.inputs), **own}}

    def _texts(self, run: Run) -> dict[str, str]:
        return rendered(self.inputs, dict(run.parameters), run.ranks, self.ranks_per_node, self.grid)

    def does_not_fit(self, ranks: int) -> str | None:
        """Return why the command has no arguments for so many ranks; None if it has."""
        try:
            names = [*names_in(self.command), *names_in_inputs(self.inputs)]
            job_values(names, ranks, self.ranks_per_node, self.grid)
        except DoesNotFitError as error:
            return str(error.what)
        return None

    def _check_same(self, folder: Path, made: Mapping[str, object]) -> None:
        found = tables.read_json(folder / _FILE, SCHEMA)
        for key, wanted in made.items():
            if found.get(key) != wanted:
                raise InputError(
                    "a recording is of another run",
                    where=f"{folder / _FILE}: {key}",
                    found=_words(found.get(key)),
                    allowed=_words(wanted),
                    remedy="remove this folder, or give another one (--recordings)",
                )


def _words(value: object) -> str:
    return " ".join(map(str, value)) if isinstance(value, list) else str(value)


def _digest(program: Path) -> str:
    """Return a digest of the program's file: a new build may communicate in another way."""
    return hashlib.sha256(program.read_bytes()).hexdigest()[:16]
