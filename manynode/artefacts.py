"""Identity and origin of the files in a results folder: written into each file, checked by every reader.

In: a results folder with the digest that each of its files must carry (:mod:`manynode.steps`). While it is bound
(:func:`bound`), every table and document written there (:mod:`manynode.tables`) carries

- ``of``: its place in the folder, which gives mode, technique, nodes and variant, and the digest of the sections of the
  experiment that it depends on;
- ``made_from``: the files of the folder that the step had read or written before, with their checksums. Measured files
  have none: they depend on the machine, not on other files.

Reading checks ``of``; :mod:`manynode.verify` follows ``made_from``.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from manynode.errors import InputError

OF, MADE_FROM = "of", "made_from"
REMEDY = "run the experiment again with 'manynode run', which makes the file again if it can"


@dataclass(frozen=True)
class Identity:
    """The required identity of a file: the digest of what it depends on.

    ``measured``: the file was measured, and a new measurement gives other times. ``traced``: it lists its sources.
    """

    digest: str
    measured: bool = False
    traced: bool = True


@dataclass
class _Binding:
    """A results folder while a step works on it."""

    root: Path
    identity_of: Callable[[str], Identity | None]
    seen: dict[str, str] = field(default_factory=dict)

    def place(self, path: Path) -> str | None:
        """Return the place of ``path`` in the folder, or None if it is not an artefact of the folder."""
        try:
            place = path.resolve().relative_to(self.root).as_posix()
        except ValueError:
            return None
        return place if self.identity_of(place) is not None else None


_active: ContextVar[_Binding | None] = ContextVar("bound results folder", default=None)


@contextlib.contextmanager
def bound(root: Path, identity_of: Callable[[str], Identity | None]) -> Iterator[None]:
    """Bind files below ``root`` while the context is open.

    ``identity_of`` gives the identity of the file at a place below ``root``, or None if it is not an artefact.
    """
    token = _active.set(_Binding(root.resolve(), identity_of))
    try:
        yield
    finally:
        _active.reset(token)


def is_one(path: Path) -> bool:
    """Return whether ``path`` is an artefact of the bound results folder."""
    binding = _active.get()
    return binding is not None and binding.place(path) is not None


def claims(path: Path) -> dict[str, Any]:
    """Return the members ``of`` and ``made_from`` of a file to write now; nothing outside a bound folder."""
    binding = _active.get()
    place = binding.place(path) if binding else None
    if binding is None or place is None:
        return {}
    identity = binding.identity_of(place)
    assert identity is not None
    of = {"file": place, "digest": identity.digest}
    if identity.measured or not identity.traced:
        return {OF: of}
    return {OF: of, MADE_FROM: {name: sum_ for name, sum_ in sorted(binding.seen.items()) if name != place}}


def record(path: Path, checksum: str) -> None:
    """Remember that the step has read or written ``path``."""
    binding = _active.get()
    place = binding.place(path) if binding else None
    if binding is not None and place is not None:
        binding.seen[place] = checksum


def check(path: Path, of: Any, what: str) -> None:
    """Raise :class:`InputError` if ``of``, the identity stored in the file at ``path``, is wrong."""
    binding = _active.get()
    place = binding.place(path) if binding else None
    if binding is None or place is None:
        return
    identity = binding.identity_of(place)
    assert identity is not None
    if fault := mismatch(of, place, identity):
        found, allowed = fault
        remedy = REMEDY
        if identity.measured:
            remedy = "restore the right file, or delete it and run the experiment again, which measures again"
        raise InputError(what, where=str(path), found=found, allowed=allowed, remedy=remedy)


def mismatch(of: Any, place: str, identity: Identity) -> tuple[str, str] | None:
    """Return the stored and the allowed identity if they differ, or None."""
    told = of if isinstance(of, dict) else {}
    if told.get("file") != place:
        found = f"it is {told['file']!r} of a results folder" if "file" in told else "it has no identity ('of')"
        return found, f"{place!r}"
    if told.get("digest") != identity.digest:
        return (
            f"it belongs to another experiment, or to this one before a change (digest {told.get('digest')})",
            f"digest {identity.digest}",
        )
    return None
