"""The three phases: what goes in, what each does, and the file that the next one reads."""

from __future__ import annotations

from manynode.reference.drawings.canvas import AMBER, BLUE, EDGES, GREEN, GREY, INK, SOFT, VIOLET, Canvas

_PHASES = (
    (
        BLUE,
        "Phase 1: profile",
        "native cluster or this host",
        "counters of every rank",
        "perf_event, perf, qemu, callgrind",
    ),
    (
        GREEN,
        "Phase 2: simulate nodes",
        "one node in detail",
        "external ranks stay native",
        "native, valgrind, qemu, gem5",
    ),
    (
        AMBER,
        "Phase 3: simulate machine",
        "skeleton on a network",
        "Monte-Carlo compute times",
        "fast, sst, simgrid",
    ),
)
_FILES = (
    ("rank classes,", "representative", "nodes"),
    ("timing profile:", "distributions", "and patterns"),
)
_WIDTH, _HEIGHT, _BOX, _GAP, _LEFT, _TOP = 1060, 380, 230, 98, 108, 36


def draw() -> str:
    """Return the drawing as SVG text."""
    canvas = Canvas(_WIDTH, _HEIGHT, "The three phases of manynode: profile, simulate nodes, simulate the machine")
    canvas.rectangle(20, _TOP + 62, 64, 44, GREY)
    canvas.text(52, _TOP + 82, "MPI", size=14, bold=True, at="middle")
    canvas.text(52, _TOP + 98, "program", size=12, colour=SOFT, at="middle")
    canvas.arrow([(84, _TOP + 84), (_LEFT - 4, _TOP + 84)])
    for number, (fill, title, place, what, engines) in enumerate(_PHASES):
        x = _LEFT + number * (_BOX + _GAP)
        canvas.rectangle(x, _TOP, _BOX, 168, fill)
        canvas.text(x + _BOX / 2, _TOP + 28, title, size=14, bold=True, at="middle")
        canvas.text(x + _BOX / 2, _TOP + 50, place, size=13, colour=SOFT, at="middle")
        (_ranks, _node, _machine)[number](canvas, x, _TOP + 62, EDGES[fill])
        canvas.text(x + _BOX / 2, _TOP + 136, what, size=13, colour=INK, at="middle")
        canvas.text(x + _BOX / 2, _TOP + 155, engines, size=12, colour=SOFT, at="middle")
        if number < 2:
            canvas.arrow([(x + _BOX, _TOP + 84), (x + _BOX + _GAP - 4, _TOP + 84)])
            for line, words in enumerate(_FILES[number]):
                canvas.text(x + _BOX + _GAP / 2, _TOP + 104 + 15 * line, words, size=11, colour=SOFT, at="middle")
    last = _LEFT + 2 * (_BOX + _GAP) + _BOX / 2
    canvas.arrow([(last, _TOP + 168), (last, 244)])
    _report(canvas, last)
    canvas.rectangle(_LEFT, 250, 2 * _BOX + _GAP, 96, "#ffffff", edge="#d5d9e0")
    canvas.text(_LEFT + 18, 276, "The four techniques stand beside each other", size=14, bold=True)
    canvas.lines(
        _LEFT + 18,
        300,
        [
            "no-ext / ext: without or with native external ranks beside the node",
            "const / var: constant or drawn compute times",
        ],
    )
    return canvas.svg()


def _ranks(canvas: Canvas, x: float, y: float, colour: str) -> None:
    """Draw ranks as bars of counts, in two classes."""
    for rank, height in enumerate((38, 36, 38, 37, 24, 37, 38, 25, 36, 38)):
        shade = colour if height > 30 else "#d9776a"
        canvas.rectangle(x + 38 + rank * 16, y + 46 - height, 10, height, shade, edge=shade, radius=2)


def _node(canvas: Canvas, x: float, y: float, colour: str) -> None:
    """Draw a simulated node with its ranks, and native ranks beside it."""
    canvas.rectangle(x + 36, y + 2, 74, 44, "#ffffff", edge=colour, radius=6)
    for rank in range(4):
        canvas.rectangle(x + 44 + 16 * rank, y + 14, 11, 20, colour, edge=colour, radius=2)
    for rank in range(4):
        canvas.rectangle(x + 128 + 18 * rank, y + 14, 11, 20, "#ffffff", edge=colour, radius=2)
    canvas.line([(x + 110, y + 24), (x + 126, y + 24)], colour=colour)


def _machine(canvas: Canvas, x: float, y: float, colour: str) -> None:
    """Draw a fat-tree: two levels of switches above the nodes."""
    tops, leaves = (x + 85, x + 145), (x + 46, x + 92, x + 138, x + 184)
    for top in tops:
        for leaf in leaves:
            canvas.line([(top, y + 6), (leaf, y + 24)], colour=colour, width=1)
    for leaf in leaves:
        for node in (-15, -5, 5, 15):
            canvas.line([(leaf, y + 24), (leaf + node, y + 42)], colour=colour, width=1)
            canvas.rectangle(leaf + node - 3, y + 40, 6, 6, colour, edge=colour, radius=1)
        canvas.rectangle(leaf - 13, y + 20, 26, 8, "#ffffff", edge=colour, radius=3)
    for top in tops:
        canvas.rectangle(top - 13, y + 1, 26, 8, "#ffffff", edge=colour, radius=3)


def _report(canvas: Canvas, middle: float) -> None:
    canvas.rectangle(middle - _BOX / 2, 250, _BOX, 96, VIOLET)
    canvas.text(middle, 276, "report.html", size=15, bold=True, at="middle")
    canvas.text(middle, 300, "time, interval, breakdown", size=12, colour=SOFT, at="middle")
    canvas.text(middle, 320, "and how sure it is", size=12, colour=SOFT, at="middle")
