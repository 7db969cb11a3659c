"""The rooms of phase 3, the highest first: a room imports only rooms beneath it (import-linter keeps the order)."""

from __future__ import annotations

from manynode.reference.drawings.canvas import AMBER, BLUE, GREEN, GREY, SOFT, VIOLET, Canvas

# From the top to the bottom; rooms of one line do not import each other.
_LINES: tuple[tuple[tuple[str, str, str], ...], ...] = (
    ((GREY, "cli.py, experiment_check.py, rules.smk", "commands, checks before the first step, Snakemake's rules"),),
    ((GREY, "explore/", "questions in a browser: store, steps, searches, server"),),
    ((GREY, "measured/", "measured tables from other tools' reports"),),
    (
        (AMBER, "studies/", "a folder per study, such as scaling, sensitivity, what_if, congestion"),
        (AMBER, "calibration/", "network files from benchmarks"),
    ),
    ((GREEN, "campaign/", "many points: digest folders, batches of Snakemake, progress, estimates"),),
    ((GREEN, "analysis/", "projection, breakdown, intervals, links, estimates"),),
    ((GREEN, "checks/", "pre-flight probes, line rate, bisection, reaction to a sweep"),),
    (
        (BLUE, "engines/fast/", "built in (C++)"),
        (BLUE, "engines/simgrid/", "SMPI (C++)"),
        (BLUE, "engines/sst/", "run, machine, element, link_control"),
    ),
    (
        (VIOLET, "point/", "one simulated point: contract, run file, results, placement, convergence"),
        (VIOLET, "machine/ (C++)", "run files, topologies, routes, result files"),
    ),
)
_WIDTH, _HEIGHT, _STEP, _LEFT, _GAP = 890, 56, 74, 40, 20


def draw() -> str:
    """Return the drawing as SVG text."""
    canvas = Canvas(970, 40 + _STEP * len(_LINES), "The rooms of phase3_sst; each imports only rooms beneath it")
    for number, line in enumerate(_LINES):
        y = 24 + number * _STEP
        longest = [max(len(name) * 1.15, len(words)) for _, name, words in line]
        x, room = float(_LEFT), _WIDTH - _GAP * (len(line) - 1)
        for (fill, name, words), length in zip(line, longest, strict=True):
            width = room * length / sum(longest)
            canvas.rectangle(x, y, width, _HEIGHT, fill)
            canvas.text(x + 16, y + 23, name, size=15, bold=True)
            canvas.text(x + 16, y + 43, words, size=13, colour=SOFT)
            x += width + _GAP
        if number:
            canvas.arrow([(_LEFT + _WIDTH / 2, y - _STEP + _HEIGHT), (_LEFT + _WIDTH / 2, y - 2)])
    return canvas.svg()
