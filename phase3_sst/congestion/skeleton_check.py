"""Whether a skeleton takes its parameters on so many ranks: asked before anything is simulated."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from manynode import process
from manynode.errors import EngineFailedError
from manynode.paths import native_program
from phase3_sst.engines.native_engine import reported_error

_PROGRAM = "manynode-skeleton"


def check_skeleton(application: str, parameters: Mapping[str, Any], ranks: int, where: str) -> None:
    """Raise a :class:`UsageError` at ``where`` when the skeleton refuses its parameters or the number of ranks."""
    options = ["--app", application, "--ranks", str(ranks), "--rank", "0", "--sink", "count"]
    given = ["--parameters", json.dumps(dict(parameters))]
    done = process.run([native_program(_PROGRAM), "stream", *options, *given], what=_PROGRAM, check=False)
    if done.returncode == 0:
        return
    what = f"{where}: {application} on {ranks} ranks"
    raise reported_error(done, what) or EngineFailedError(f"{what} cannot be checked", details=done.output)
