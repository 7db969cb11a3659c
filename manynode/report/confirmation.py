"""The confirmation of a sensitivity study by a second engine: sentences and the rows of their table."""

from __future__ import annotations

from typing import Any

from manynode.report.figure import rows_of
from manynode.report.load import Inputs

WRITTEN = ", written"


def confirmation_sentences(inputs: Inputs) -> list[str]:
    """Return the sentences, none without a confirmation."""
    return [] if inputs.confirmation_summary is None else inputs.confirmation_summary.sentences


def confirmation_rows(inputs: Inputs) -> list[dict[str, Any]]:
    """Return a row per point that both engines have simulated."""
    if inputs.confirmation is None:
        return []
    rows = rows_of(inputs.confirmation)
    return [row | {"setting": setting_of(row)} for row in rows]


def setting_of(row: dict[str, Any]) -> str:
    """Return the values of a point's parameters in words; for an alternative, its name."""
    written = [f"{key.removesuffix(WRITTEN)} {value}" for key, value in row.items() if key.endswith(WRITTEN)]
    return ", ".join(written) or str(row["variant"])
