"""One file per topology; each registers its builder with ``phase3_sst.engines.sst.machine.wiring``."""

from __future__ import annotations

import importlib
import pkgutil


def load() -> None:
    """Import every topology, which registers it by kind."""
    for module in pkgutil.iter_modules(__path__):
        importlib.import_module(f"{__name__}.{module.name}")
