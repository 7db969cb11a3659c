"""Resamples of a timing profile, schema ``timing-profile-resamples/1``: phase 2 writes them, phase 3 replays them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from manynode.errors import InputError
from manynode.tables import read_json, write_json
from manynode.timing_profile import ClassTimes

SCHEMA = "timing-profile-resamples/1"


class ProfileResamples(BaseModel):
    """The ``classes`` of timing profiles that other samples might have given, with the numbers of ranks and nodes."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    ranks: Annotated[int, Field(ge=1)]
    nodes: Annotated[int, Field(ge=1)]
    profiles: list[list[ClassTimes]]

    @property
    def groups(self) -> int:
        """Return the number of independent samples: nodes if several were simulated, else ranks."""
        return self.nodes if self.nodes > 1 else self.ranks


def write_resamples(path: Path, resamples: ProfileResamples) -> None:
    """Write ``resamples``; same content, same bytes."""
    write_json(path, SCHEMA, resamples.model_dump(mode="json"))


def read_resamples(path: Path) -> ProfileResamples:
    """Return the resamples at ``path``; any fault is an :class:`InputError`."""
    content = read_json(path, SCHEMA)
    del content["schema"]
    try:
        return ProfileResamples.model_validate(content)
    except ValidationError as error:
        first = error.errors()[0]
        raise InputError(
            "a timing-profile-resamples file cannot be used",
            where=f"{path}: {'.'.join(map(str, first['loc']))}",
            found=first["msg"],
            remedy="make the file again with 'manynode nodesim resample'",
        ) from None
