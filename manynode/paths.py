"""Paths of the project's own files: the checkout, the native build, configurations and skeleton folders."""

from __future__ import annotations

import os
from pathlib import Path

from manynode.errors import EngineMissingError

ROOT = Path(__file__).resolve().parent.parent
SKELETON_DIRS = "MANYNODE_SKELETON_DIRS"


def build_dir() -> Path:
    """Return the folder of the native build (``MANYNODE_BUILD_DIR``, default ``build`` in the checkout)."""
    return Path(os.environ.get("MANYNODE_BUILD_DIR", ROOT / "build"))


def native_program(name: str) -> Path:
    """Return the path of a program of the native build; a missing one is an :class:`EngineMissingError`."""
    return _built(build_dir() / "bin" / name)


def native_library(name: str) -> Path:
    """Return the path of a library of the native build; a missing one is an :class:`EngineMissingError`."""
    return _built(build_dir() / "lib" / name)


def _built(path: Path) -> Path:
    if not path.is_file():
        raise EngineMissingError(
            f"{path.name} has not been built",
            where=str(path.parent),
            found="no such file",
            remedy="run 'make build' in the checkout (it names what it left out, and why), or set MANYNODE_BUILD_DIR "
            "to a finished build",
        )
    return path


def application_dirs() -> dict[str, Path]:
    """Return name -> folder of every application: those of skeletons/, then those of ``MANYNODE_SKELETON_DIRS``.

    The variable lists application folders, separated by colons; the native build reads the same one.
    """
    folders = [*sorted((ROOT / "skeletons").iterdir()), *further_application_dirs()]
    return {folder.name: folder for folder in folders if is_application(folder)}


def further_application_dirs() -> list[Path]:
    """Return the folders that :data:`SKELETON_DIRS` lists, whatever their content."""
    return [Path(text) for text in os.environ.get(SKELETON_DIRS, "").split(":") if text]


def is_application(folder: Path) -> bool:
    """Say whether ``folder`` declares an application."""
    return os.path.isfile(folder / "application.yaml")
