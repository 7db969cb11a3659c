"""Runs the measurements of this folder and prints one line per figure: name, value, unit, target, holds or not.

Each measurement is a module with a function ``figures()``, which returns dictionaries with the keys name, value, unit,
target, comparison ("<=", ">=" or None) and holds. A figure is a ratio or a difference within one run, so that it means
the same on another machine. Usage: ``make bench`` or ``make bench NAME=markers_overhead``.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent


def modules() -> list[Path]:
    """Return the measurement modules, sorted by name."""
    return sorted(path for path in HERE.glob("*.py") if path.name != "run.py" and not path.name.startswith("_"))


def figures_of(path: Path) -> list[dict[str, Any]]:
    """Import a measurement and return its figures."""
    sys.path.insert(0, str(HERE))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    result: list[dict[str, Any]] = module.figures()
    return result


def main() -> int:
    """Run all measurements, or those whose name is given; the exit code is 6 when a target does not hold."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--name", help="one measurement, by the name of its module")
    parser.add_argument("--json", type=Path, help="write the figures to this file as well")
    arguments = parser.parse_args()
    chosen = [path for path in modules() if arguments.name in (None, path.stem)]
    if not chosen:
        known = ", ".join(path.stem for path in modules())
        print(f"no measurement is called {arguments.name!r}; known: {known}", file=sys.stderr)
        return 2
    everything = []
    for path in chosen:
        for figure in figures_of(path):
            everything.append(figure)
            target = "no target" if figure["target"] is None else f"{figure['comparison']} {figure['target']:g}"
            verdict = "" if figure["target"] is None else ("holds" if figure["holds"] else "DOES NOT HOLD")
            print(
                f"{figure['name']:<58} {figure['value']:>12.6g} {figure['unit']:<12} {target:<14} {verdict}", flush=True
            )
    if arguments.json:
        arguments.json.write_text(json.dumps(everything, indent=1) + "\n", encoding="utf-8")
    return 0 if all(figure["holds"] for figure in everything) else 6


if __name__ == "__main__":
    sys.exit(main())
