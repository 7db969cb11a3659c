"""Records of validations, schema ``validation-record/1``: what was predicted, what was measured, and how alike it was.

A row is one comparison of a prediction with a measurement of a machine:

- ``machine``, ``application``, ``case`` (what was compared: a phase, a collective with its size, a run);
- ``component``: ``node`` (compute times) or ``network``; of a whole run, the one in which it spent more of its time;
- ``engine``: the node engine, or the engine that simulated the network;
- ``predicted_s``, ``measured_s`` [s];
- ``communication_share`` of the predicted time, ``doublings`` of the scale beyond what the prediction was fitted to;
- ``fitted_to``: what the model's parameters were fitted to, or ``nothing``;
- ``source``: the command or publication.

All tables in the folder ``validation/`` count, and those that an experiment names (``known_errors``).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from manynode import tables
from manynode.errors import InputError
from manynode.input_file import kept_until_changed
from manynode.paths import place

SCHEMA = "validation-record/1"
NODE, NETWORK = "node", "network"
NOTHING = "nothing"
COMPONENTS = (NODE, NETWORK)
COLUMNS = [
    *("machine", "application", "case", "component", "engine", "predicted_s", "measured_s"),
    *("communication_share", "doublings", "fitted_to", "source"),
]
_TEXTS = ("machine", "application", "case", "component", "engine", "fitted_to", "source")
_KEY = ["machine", "application", "case", "component", "engine", "fitted_to"]
_REMEDY = "make the table with 'manynode simulate record', or see docs/how-to/validate.md for its columns"


def shipped() -> list[Path]:
    """Return the tables that the toolkit ships, in the order of their names."""
    return sorted(place("validation").glob("*.parquet"))


def read_records(paths: Sequence[Path]) -> pd.DataFrame:
    """Return the records of all tables; a wrong value, or a case given twice, is an :class:`InputError`."""
    frames = [_table(path) for path in paths]
    if not frames:
        return pd.DataFrame(columns=[*COLUMNS, "table"])
    whole = pd.concat(frames, ignore_index=True)
    if (twice := whole.duplicated(_KEY)).any():
        row = whole[twice].iloc[0]
        raise InputError(
            "a validation is recorded twice",
            where=str(row["table"]),
            found=", ".join(str(row[name]) for name in _KEY),
            remedy="keep one of the tables, or give the cases different names",
        )
    return whole


@kept_until_changed
def _table(path: Path) -> pd.DataFrame:
    """Return the checked records of a table; every answer of explore needs the same ones."""
    frame = tables.read_table(path, SCHEMA, COLUMNS)[COLUMNS]
    check_records(frame, str(path))
    return frame.assign(table=path.name)


def write_records(path: Path, frame: pd.DataFrame) -> None:
    """Write checked records, sorted; same content, same bytes."""
    check_records(frame, str(path))
    ordered = frame[COLUMNS].sort_values(_KEY, kind="stable", ignore_index=True)
    tables.write_table(path, SCHEMA, ordered.astype({name: "object" for name in _TEXTS}))


def check_records(frame: pd.DataFrame, where: str) -> None:
    """Raise :class:`InputError` for a record that cannot be used, with its row and column."""

    def need(holds: pd.Series, column: str, allowed: str) -> None:  # type: ignore[type-arg]
        if not holds.all():
            row = int(np.flatnonzero(~holds.to_numpy())[0])
            raise InputError(
                "a record of a validation cannot be used",
                where=f"{where}: row {row}, column {column}",
                found=repr(frame[column].iloc[row]),
                allowed=allowed,
                remedy=_REMEDY,
            )

    for name in _TEXTS:
        need(frame[name].map(lambda text: isinstance(text, str) and bool(text.strip())), name, "a text")
    need(frame["component"].isin(COMPONENTS), "component", " or ".join(COMPONENTS))
    for name in ("predicted_s", "measured_s"):
        need(frame[name].map(lambda time: math.isfinite(time) and time > 0), name, "seconds, above 0")
    need(frame["communication_share"].between(0, 1), "communication_share", "a share from 0 to 1")
    need(frame["doublings"].map(math.isfinite), "doublings", "a number")
    share = share_of_component(frame)
    need(share >= 0.5, "communication_share", "the component has at least half of the time")


def share_of_component(frame: pd.DataFrame) -> pd.Series:  # type: ignore[type-arg]
    """Return the share of the predicted time that the recorded component has."""
    share = frame["communication_share"].astype(float)
    return share.where(frame["component"] == NETWORK, 1 - share)


def log_errors(frame: pd.DataFrame) -> pd.Series:  # type: ignore[type-arg]
    """Return ln(measured / predicted) of the component alone: the whole difference is counted as its own."""
    whole = np.log(frame["measured_s"].astype(float) / frame["predicted_s"].astype(float))
    return whole / share_of_component(frame)
