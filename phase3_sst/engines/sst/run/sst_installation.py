"""Finds the installed SST and checks that this project's element library fits it.

In: the section ``simulate.sst`` of an experiment. Out: an :class:`Installation`, or an :class:`EngineMissingError` that
names the missing piece and how to get it.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from manynode import process
from manynode.config.sst import SstSection
from manynode.errors import EngineMissingError, ManynodeError
from manynode.input_file import file_digest
from manynode.paths import build_dir
from phase3_sst.engines.sst.run.element_library import (
    LIBRARIES,
    Fingerprint,
    check_fits,
    read_record,
    read_version,
)

GUIDE = (
    "see SST's installation guide (sst-simulator.org): sst-core, then sst-elements with ember, firefly, hermes, merlin"
)
SOURCES_VARIABLE = "MANYNODE_EMBER_SOURCES"
ELEMENTS = ("ember", "firefly", "hermes", "merlin")


@dataclass(frozen=True)
class Installation:
    """A usable SST: its programs, its version and prefix, and the folder of the element library."""

    sst: str
    config_program: str
    version: str
    prefix: str
    library: Path
    ember_digest: str
    mpi_preload: Path | None

    @property
    def simulator(self) -> Path:
        """Return the program that is linked with MPI; ``sst`` only sets up its environment and executes it."""
        return simulator_of(self.prefix)

    @property
    def engine_version(self) -> str:
        """Return the version for results; a development version is identified by the bytes of its ember."""
        return f"{self.version} (ember {self.ember_digest[:12]})"


def find_sst(settings: SstSection) -> Installation:
    """Return the SST that the section ``simulate.sst`` names, with a library that fits it."""
    sst = process.find_program(settings.executable, purpose="the simulator of the engine sst", remedy=GUIDE)
    config = process.find_program(
        settings.config_program,
        purpose="SST's sst-config, which says where SST is",
        remedy=f"name it under 'simulate: sst: config_program'; {GUIDE}",
    )
    version = read_version(_ask(sst, "--version"))
    prefix = _ask(config, "--prefix").strip()
    ember = _elements(config) / "libember.so"
    library = Path(settings.library) if settings.library is not None else build_dir() / "lib" / "sst"
    for name in LIBRARIES:
        if not (library / name).is_file():
            raise _no_library(library, name, config, named=settings.library is not None)
    built = read_record(library)
    here = Fingerprint(version, prefix, _digest(simulator_of(prefix)), _digest(ember))
    check_fits(library, built.against, here)
    return Installation(sst, config, version, prefix, library, here.ember_sha256, built.mpi_preload)


def simulator_of(prefix: str) -> Path:
    """Return the program that ``sst`` executes."""
    return Path(prefix) / "libexec" / "sstsim.x"


def _digest(path: Path) -> str:
    return file_digest(path) if path.is_file() else ""


def ember_sources(config_program: str) -> Path | None:
    """Return the folder of ember's sources, which the build of the library needs; None if missing."""
    named = os.environ.get(SOURCES_VARIABLE) or _ask(config_program, "SST_ELEMENT_SOURCE", "ember").strip()
    folder = Path(named) if named else None
    return folder if folder is not None and (folder / "mpi" / "embermpigen.h").is_file() else None


def _ask(program: str, *arguments: str) -> str:
    """Return the output of an SST program; empty if it fails."""
    try:
        return process.run([program, *arguments], what=Path(program).name, timeout_s=60, check=False).output
    except ManynodeError:
        return ""


def _elements(config_program: str) -> Path:
    """Return the folder of SST's elements; raise an error if it is missing."""
    folder = _ask(config_program, "SST_ELEMENT_LIBRARY", "SST_ELEMENT_LIBRARY_LIBDIR").strip()
    if not folder or not Path(folder).is_dir():
        raise EngineMissingError(
            "SST has no elements", where=config_program, found=f"SST_ELEMENT_LIBRARY_LIBDIR={folder}", remedy=GUIDE
        )
    missing = [name for name in ELEMENTS if not (Path(folder) / f"lib{name}.so").is_file()]
    if missing:
        raise EngineMissingError(
            f"SST lacks the element{'s' if len(missing) > 1 else ''} {', '.join(missing)}",
            where=folder,
            found="no " + ", ".join(f"lib{name}.so" for name in missing),
            remedy=GUIDE,
        )
    return Path(folder)


def _no_library(folder: Path, name: str, config_program: str, *, named: bool) -> EngineMissingError:
    if not named and ember_sources(config_program) is None:
        given = os.environ.get(SOURCES_VARIABLE)
        return EngineMissingError(
            "SST is installed, but the element library of the engine sst could not be built: ember's sources are gone",
            where=f"{SOURCES_VARIABLE}" if given else f"{config_program} SST_ELEMENT_SOURCE ember",
            found=given or _ask(config_program, "SST_ELEMENT_SOURCE", "ember").strip() or "nothing",
            allowed="the folder of ember's sources (the one with mpi/embermpigen.h) of the installed version",
            remedy=f"unpack sst-elements of the installed version, set {SOURCES_VARIABLE} to its "
            "src/sst/elements/ember, then run 'make build'",
        )
    return EngineMissingError(
        "the element library of the engine sst was not found",
        where="simulate: sst: library" if named else str(folder),
        found=f"no {name} in {folder}",
        remedy="correct the path, or leave the key out to use the native build"
        if named
        else "run 'make build' (it names each omitted part with the reason)",
    )
