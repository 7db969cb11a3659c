"""What the page gets: JSON, and errors in words with the status of the response that carries them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from starlette.responses import JSONResponse

from manynode.errors import EXIT_INPUT, EXIT_USAGE, ManynodeError


def reply(content: Mapping[str, Any], status: int = 200) -> JSONResponse:
    """Return a response with ``content``."""
    return JSONResponse(plain(content), status)


def plain(content: Any) -> Any:
    """Return ``content`` as JSON has it: numbers that are none, which tables write for "not known", are null."""
    if isinstance(content, np.generic):
        content = content.item()
    if isinstance(content, float):
        return float(content) if math.isfinite(content) else None
    if isinstance(content, Mapping):
        return {str(key): plain(value) for key, value in content.items()}
    if isinstance(content, (list, tuple)):
        return [plain(value) for value in content]
    return content


def failure(error: Exception) -> dict[str, Any]:
    """Return the facts of an error; those of a defect are only its kind, because its text may have a path."""
    if not isinstance(error, ManynodeError):
        return {
            "what": "manynode has a defect here",
            "found": type(error).__name__,
            "remedy": "the terminal of manynode explore has the details; please report them",
        }
    facts = {
        "what": error.what,
        "where": error.where,
        "found": error.found,
        "allowed": error.allowed,
        "remedy": error.remedy,
        "details": error.details,
    }
    return {name: str(fact) for name, fact in facts.items() if fact is not None}


def refused(error: ManynodeError) -> JSONResponse:
    """Return the response to a request that failed with ``error``."""
    status = {EXIT_USAGE: 400, EXIT_INPUT: 409}.get(error.exit_code, 500)
    return reply({"error": failure(error)}, status)


def missing(what: str) -> JSONResponse:
    """Return the response to a request for something that is not there."""
    return reply({"error": {"what": f"{what} is not known here"}}, 404)


def no(error: ManynodeError) -> JSONResponse:
    """Return the answer to a well-formed question that cannot be asked: it is an answer, with the reason in words."""
    return reply({"state": "refused", "error": failure(error)})
