"""Paths of the project's own files: sources, the native build, configurations and skeleton folders.

An installed wheel has the packages side by side, as a checkout has them. The rest is in ``manynode/shipped``:
Snakefile, configs/, docs/, profiles/, skeletons/ and build/. An editable installation is a checkout.
"""

from __future__ import annotations

import os
from pathlib import Path

from manynode.errors import EngineMissingError

_HERE = Path(__file__).resolve().parent
PACKAGES = _HERE.parent
"""The folder of the Python packages: the checkout, or where a wheel was installed."""
SHIPPED = _HERE / "shipped"
IS_CHECKOUT = not SHIPPED.is_dir()
ROOT = PACKAGES if IS_CHECKOUT else SHIPPED
"""The folder of Snakefile, configs/, docs/, profiles/, skeletons/ and build/."""
SKELETON_DIRS = "MANYNODE_SKELETON_DIRS"
_PACKAGES = {"manynode", "phase1_profile", "phase2_nodesim", "phase3_sst"}


def build_dir() -> Path:
    """Return the folder of the native build (``MANYNODE_BUILD_DIR``, default ``build`` in :data:`ROOT`)."""
    return Path(os.environ.get("MANYNODE_BUILD_DIR", ROOT / "build"))


def place(name: str) -> Path:
    """Return the place of a source, whose ``name`` is its path in a checkout."""
    return (PACKAGES if name.partition("/")[0] in _PACKAGES else ROOT) / name


def native_program(name: str) -> Path:
    """Return the path of a program of the native build; a missing one is an :class:`EngineMissingError`."""
    return _built(build_dir() / "bin" / name)


def native_library(name: str) -> Path:
    """Return the path of a library of the native build; a missing one is an :class:`EngineMissingError`."""
    return _built(build_dir() / "lib" / name)


def build_again() -> str:
    """Return how the native build is made, for a remedy."""
    if IS_CHECKOUT:
        return "run 'make build' in the checkout"
    return "run 'pip install --verbose --force-reinstall --no-deps SOURCE' again"


def _built(path: Path) -> Path:
    if not path.is_file():
        raise EngineMissingError(
            f"{path.name} has not been built",
            where=str(path.parent),
            found="no such file",
            remedy=f"{build_again()} (it names what it left out, and why), or set MANYNODE_BUILD_DIR to a finished "
            "build",
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
