"""Registries of implementations by name: one small file each, registered by a decorator, imported on first use.

A registry names a package, or has a function that finds several. Every public module of a package is imported once and
registers its implementation. A new implementation therefore needs only one new file. Implementations with a folder each
have a module of the same name in every folder (``inside``); only these modules are imported.
"""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
from collections.abc import Callable, Iterable
from typing import Generic, TypeVar

from manynode.errors import UsageError, nearest

T = TypeVar("T")


class Registry(Generic[T]):
    """Named implementations of one interface: the modules of packages, or the module ``inside`` of their folders."""

    def __init__(self, kind: str, packages: str | Callable[[], Iterable[str]], inside: str | None = None) -> None:
        self.kind = kind
        self._packages = packages
        self.inside = inside
        self._entries: dict[str, T] = {}
        self._loaded = False

    def register(self, name: str) -> Callable[[T], T]:
        """Return a decorator that registers its argument under ``name``."""

        def add(entry: T) -> T:
            if name in self._entries:
                raise RuntimeError(f"{self.kind} {name!r} is registered twice")
            self._entries[name] = entry
            return entry

        return add

    def names(self) -> list[str]:
        """Return the names of all implementations, sorted."""
        self._load()
        return sorted(self._entries)

    def get(self, name: str) -> T:
        """Return the implementation called ``name``; an unknown name is a :class:`UsageError`."""
        self._load()
        if name not in self._entries:
            near = nearest(name, self._entries)
            raise UsageError(
                f"unknown {self.kind}",
                found=name,
                allowed=", ".join(self.names()),
                remedy=f"did you mean {near!r}?" if near else None,
            )
        return self._entries[name]

    def _load(self) -> None:
        if self._loaded:
            return
        self._loaded = True
        for package in [self._packages] if isinstance(self._packages, str) else self._packages():
            self._load_package(package)

    def _load_package(self, package: str) -> None:
        for module in pkgutil.iter_modules(importlib.import_module(package).__path__):
            name = f"{package}.{module.name}"
            if self.inside is not None:
                name = f"{name}.{self.inside}"
                if not module.ispkg or importlib.util.find_spec(name) is None:
                    continue
            if not module.name.startswith("_"):
                importlib.import_module(name)
