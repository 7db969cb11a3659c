"""The house: the folders of the repository, and which of them may import or read which."""

from __future__ import annotations

from manynode.reference.drawings.canvas import AMBER, BLUE, GREEN, GREY, SOFT, VIOLET, Canvas

_PHASES = (
    (BLUE, "phase1_profile/", ("counters, rank classes,", "representative nodes")),
    (GREEN, "phase2_nodesim/", ("markers, bridge, engines,", "distributions, patterns")),
    (AMBER, "phase3_sst/", ("engines, campaigns,", "studies, analysis")),
)
_BOX, _GAP, _LEFT = 250, 70, 40


def draw() -> str:
    """Return the drawing as SVG text."""
    canvas = Canvas(970, 470, "The folders of manynode, and which may import which")
    canvas.rectangle(_LEFT, 24, 890, 62, GREY)
    canvas.text(_LEFT + 20, 50, "Snakefile, configs/, profiles/", size=15, bold=True)
    canvas.text(
        _LEFT + 20,
        72,
        "the workflow includes rules.smk of each phase; an experiment is one YAML file",
        size=13,
        colour=SOFT,
    )
    for number, (fill, name, words) in enumerate(_PHASES):
        x = _LEFT + number * (_BOX + _GAP)
        canvas.arrow([(x + _BOX / 2, 86), (x + _BOX / 2, 122)], dashed=True)
        canvas.rectangle(x, 126, _BOX, 92, fill)
        canvas.text(x + _BOX / 2, 154, name, size=16, bold=True, at="middle")
        for line, text in enumerate(words):
            canvas.text(x + _BOX / 2, 178 + 19 * line, text, size=13, colour=SOFT, at="middle")
        canvas.arrow([(x + _BOX / 2, 218), (x + _BOX / 2, 300)])
        if number < 2:
            canvas.line([(x + _BOX + 6, 160), (x + _BOX + _GAP - 6, 160)], colour="#c0392b", width=2)
            middle = x + _BOX + _GAP / 2
            canvas.line([(middle - 8, 152), (middle + 8, 168)], colour="#c0392b", width=3)
            canvas.line([(middle - 8, 168), (middle + 8, 152)], colour="#c0392b", width=3)
            canvas.text(middle, 194, "only files", size=12, colour="#c0392b", at="middle")
    canvas.text(_LEFT + _BOX / 2 + 10, 264, "imports", size=12, colour=SOFT)
    canvas.rectangle(_LEFT, 304, 806, 62, VIOLET)
    canvas.text(_LEFT + 20, 330, "manynode/", size=16, bold=True)
    shared = "shared: config, units, tables, seals, steps, process, report; imports no phase"
    canvas.text(_LEFT + 20, 352, shared, size=13, colour=SOFT)
    x = _LEFT + 2 * (_BOX + _GAP)
    canvas.rectangle(x, 386, _BOX, 58, GREY)
    canvas.text(x + _BOX / 2, 410, "skeletons/", size=15, bold=True, at="middle")
    canvas.text(x + _BOX / 2, 431, "C++: what applications send", size=13, colour=SOFT, at="middle")
    canvas.arrow([(x + _BOX - 24, 218), (x + _BOX - 24, 382)])
    canvas.text(x + _BOX - 32, 264, "links", size=12, colour=SOFT, at="end")
    canvas.rectangle(_LEFT, 386, 570, 58, GREY)
    canvas.text(_LEFT + 20, 410, "tests/, benchmarks/, docs/", size=15, bold=True)
    canvas.text(_LEFT + 20, 431, "may use everything; nothing imports them", size=13, colour=SOFT)
    return canvas.svg()
