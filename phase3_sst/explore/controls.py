"""Controls: which keys of the experiment can be changed, with unit, bounds, choices and help."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True)
class Control:
    """One key that a question may change.

    ``kind``: number, quantity (a text with a unit), choice, bool, text or structure (a mapping or list, as YAML).
    ``least`` and ``most`` are bounds in SI units; ``start`` is the value that a new question has, if it is not
    ``value``, that of the base.
    """

    key: str
    label: str
    kind: str
    group: str
    help: str
    value: Any
    start: Any = None
    dimension: str | None = None
    unit: str | None = None
    least: float | None = None
    most: float | None = None
    whole: bool = False
    optional: bool = False
    choices: list[Any] = field(default_factory=list)
    scale: str = "linear"

    def as_json(self) -> dict[str, Any]:
        """Return the control as JSON."""
        return asdict(self)
