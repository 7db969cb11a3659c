"""Snakemake profiles by name: finds the folder, and checks that its executor is installed."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

from manynode.config.resolved import read_yaml
from manynode.errors import EngineMissingError, UsageError
from manynode.paths import ROOT

# Executors that Snakemake itself has.
_OWN = ("local", "dryrun", "touch")
_FILES = ("config.v9+.yaml", "config.v8+.yaml", "config.yaml")


def read_profile(name: str) -> tuple[Path, dict[str, Any]]:
    """Return the folder of a profile, one of ``profiles/`` by name, or a path, and the profile's content.

    Raises :class:`UsageError` for a folder without a profile, and :class:`EngineMissingError` if its executor's plugin
    is not installed. Snakemake itself would only report an invalid choice of executor.
    """
    shipped = ROOT / "profiles" / name
    folder = shipped if shipped.is_dir() else Path(name)
    file = next((folder / entry for entry in _FILES if (folder / entry).is_file()), None)
    if file is None:
        known = ", ".join(sorted(path.name for path in (ROOT / "profiles").iterdir()))
        raise UsageError(
            "unknown Snakemake profile",
            where="--profile",
            found=name,
            allowed=f"{known}, or a folder with a config.yaml",
            remedy="correct the name or the path",
        )
    content = read_yaml(file, "the profile")
    executor = content.get("executor")
    module = f"snakemake_executor_plugin_{str(executor).replace('-', '_')}"
    if executor is not None and executor not in _OWN and importlib.util.find_spec(module) is None:
        raise EngineMissingError(
            "the executor of the Snakemake profile is not installed",
            where=f"{file}: executor",
            found=executor,
            remedy=f"pip install snakemake-executor-plugin-{executor}",
        )
    return folder, content
