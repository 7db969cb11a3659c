"""The base network of a calibration: a name in ``configs/networks`` or the path of a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from manynode.config.resolved import read_yaml
from manynode.errors import UsageError, nearest
from manynode.paths import ROOT


def read_base(name: str) -> dict[str, Any]:
    """Return the mapping of the network file."""
    if name.endswith((".yaml", ".yml")):
        return read_yaml(Path(name), "the base network")
    folder = ROOT / "configs" / "networks"
    known = sorted(path.stem for path in folder.glob("*.yaml"))
    if name not in known:
        near = nearest(name, known)
        raise UsageError(
            "unknown base network",
            where="--base",
            found=name,
            allowed=", ".join(known) + ", or a path that ends in .yaml",
            remedy=f"did you mean {near!r}?" if near else None,
        )
    return read_yaml(folder / f"{name}.yaml", "the base network")
