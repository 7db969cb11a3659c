"""The files that one simulation of SST reads: RUN.json (``sst-run/1``) and the plain run file beside it.

The machine description (Python, inside ``sst``) reads the first. The motif reads the second, with the fast engine's
reader (``phase3_sst/machine/run_config.hpp``).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from manynode.config.sst import SstSection
from phase3_sst.point.run_file import run_text

SST_RUN_SCHEMA = "sst-run/1"


def sst_run(run: Mapping[str, Any], settings: SstSection, parts: Path) -> dict[str, Any]:
    """Return the content of RUN.json for a run file with one replica and the section ``simulate.sst``."""
    if len(run["replicas"]) != 1:
        raise ValueError(f"one simulation of SST has one replica, not {run['replicas']}")
    return {
        "schema": SST_RUN_SCHEMA,
        "run": dict(run),
        "sst": {
            "collectives": settings.collectives,
            "flit_bytes": round(settings.flit),
            "input_buffer_bytes": _whole(settings.input_buffer),
            "output_buffer_bytes": _whole(settings.output_buffer),
            "extra_parameters": dict(settings.extra_parameters),
        },
        "parts": str(parts.resolve()),
    }


def write_run(content: Mapping[str, Any], path: Path) -> None:
    """Write RUN.json to ``path`` and the plain run file beside it."""
    path.with_suffix(".network.json").write_text(run_text(content["run"]), encoding="utf-8")
    path.write_text(json.dumps(content), encoding="utf-8")


def _whole(value: float | None) -> int | None:
    return None if value is None else round(value)
