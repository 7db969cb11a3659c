"""Run the measurements of this folder and print one line per figure: name, value, unit, target, holds or not.

Each measurement is a module with a function ``figures()``. It returns dictionaries with the keys name, value, unit,
target, comparison ("<=", ">=" or None) and holds. A figure is a ratio or a difference within one run, and means the
same on another machine. If the host lacks something, ``figures()`` raises :class:`Skipped` or
:class:`EngineMissingError`. The measurement is then named with the reason, and the others continue. The same holds for
a measurement that fails.

Usage: ``make bench`` (which takes hours) or ``make bench NAME=markers_overhead``.
"""

from __future__ import annotations

import argparse
import importlib
import json
import subprocess
import sys
import traceback
from pathlib import Path
from types import ModuleType
from typing import Any

from manynode.errors import EXIT_CHECK_FAILED, EXIT_ENGINE_FAILED, EXIT_ENGINE_MISSING, EXIT_USAGE, EngineMissingError

HERE = Path(__file__).resolve().parent
# Measurements import their shared modules from this folder.
sys.path.insert(0, str(HERE))

from _figure import Skipped  # noqa: E402


def modules() -> list[Path]:
    """Return the measurement modules, sorted by name."""
    return sorted(path for path in HERE.glob("*.py") if path.name != "run.py" and not path.name.startswith("_"))


def load(path: Path) -> ModuleType:
    """Import a measurement under its own name, which its pickled classes and dataclasses need."""
    return importlib.import_module(path.stem)


def figures_of(path: Path) -> list[dict[str, Any]]:
    """Import a measurement and return its figures; if this host cannot make it, raise :class:`Skipped`."""
    try:
        result: list[dict[str, Any]] = load(path).figures()
    except EngineMissingError as error:
        raise Skipped("; ".join(part for part in (error.what, error.remedy) if part)) from None
    except subprocess.CalledProcessError as error:
        if error.returncode != EXIT_ENGINE_MISSING or "manynode" not in error.cmd:
            raise
        words = (error.stderr or "").strip().splitlines()
        raise Skipped("; ".join(line.strip() for line in words[:1] + words[-1:])) from None
    return result


def main(words: list[str] | None = None) -> int:
    """Run all measurements, or the named one; the exit code is 5 if one failed, else 6 if a target does not hold."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--name", help="one measurement, by the name of its module")
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    arguments = parser.parse_args(words)
    chosen = [path for path in modules() if arguments.name in (None, path.stem)]
    if not chosen:
        known = ", ".join(path.stem for path in modules())
        print(f"no measurement is called {arguments.name!r}; known: {known}", file=sys.stderr)
        return EXIT_USAGE
    everything: list[dict[str, Any]] = []
    skipped, failed = [], []
    for path in chosen:
        try:
            found = figures_of(path)
        except Skipped as reason:
            print(f"{path.stem}: skipped, {reason}", flush=True)
            skipped.append(path.stem)
            continue
        except Exception as error:
            traceback.print_exc()
            print(f"{path.stem}: failed, {_failure(error)}", flush=True)
            failed.append(path.stem)
            continue
        everything += found
        for figure in found:
            print(_line(figure), flush=True)
    if arguments.json:
        arguments.json.write_text(json.dumps(everything, indent=1) + "\n", encoding="utf-8")
    for word, names in (("skipped", skipped), ("failed", failed)):
        if names and len(chosen) > 1:
            print(f"{word}: {', '.join(names)}")
    if failed:
        return EXIT_ENGINE_FAILED
    return 0 if all(figure["holds"] for figure in everything) else EXIT_CHECK_FAILED


def _line(figure: dict[str, Any]) -> str:
    target = "no target" if figure["target"] is None else f"{figure['comparison']} {figure['target']:g}"
    verdict = "" if figure["target"] is None else ("holds" if figure["holds"] else "DOES NOT HOLD")
    return f"{figure['name']:<58} {figure['value']:>12.6g} {figure['unit']:<12} {target:<14} {verdict}"


def _failure(error: Exception) -> str:
    """Return the last lines of an error; a child's are in its output."""
    output = getattr(error, "stderr", None) or getattr(error, "output", None) or str(error) or type(error).__name__
    text = output.decode(errors="replace") if isinstance(output, bytes) else str(output)
    return text.strip().splitlines()[-1]


if __name__ == "__main__":
    sys.exit(main())
