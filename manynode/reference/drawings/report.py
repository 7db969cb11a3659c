"""A report: what is where on the page."""

from __future__ import annotations

from manynode.reference.drawings.canvas import AMBER, BLUE, EDGES, GREEN, INK, LINE, SOFT, VIOLET, Canvas

_PAGE, _RIGHT = 460, 530


def draw() -> str:
    """Return the drawing as SVG text."""
    canvas = Canvas(960, 640, "The sections of a report and what each answers")
    canvas.rectangle(28, 24, _PAGE, 592, "#ffffff", edge=LINE, radius=6)
    canvas.text(48, 54, "HPCG on a fat-tree", size=17, bold=True)
    rows = (
        (72, 62, BLUE, "The answer", "time at each node count, in a sentence", _answer),
        (142, 56, GREEN, "How sure", "intervals, warnings, what the models leave out", _sure),
        (206, 120, AMBER, "Scaling", "time and efficiency, the four techniques", _scaling),
        (334, 96, VIOLET, "Where the time goes", "computation and each MPI operation; load of links", _stack),
        (438, 96, BLUE, "Phases and distributions", "compute phases, clusters, patterns, rank classes", _distribution),
        (542, 58, GREEN, "Provenance", "seed, digest, version of every tool", _provenance),
    )
    for top, height, fill, title, words, content in rows:
        canvas.rectangle(44, top, _PAGE - 32, height, fill, radius=6)
        content(canvas, 58, top, height)
        middle = top + height / 2
        canvas.arrow([(_RIGHT - 6, middle), (_PAGE + 34, middle)])
        canvas.text(_RIGHT, middle - 2, title, size=15, bold=True)
        canvas.text(_RIGHT, middle + 18, words, size=13, colour=SOFT)
    return canvas.svg()


def _answer(canvas: Canvas, x: float, top: float, height: float) -> None:
    canvas.text(x, top + 26, "64 nodes: 28.77 ms", size=16, bold=True)
    canvas.text(x, top + 48, "5 % longer than on one node", size=13, colour=SOFT)


def _sure(canvas: Canvas, x: float, top: float, height: float) -> None:
    for number, width in enumerate((360, 300, 330)):
        canvas.rectangle(x, top + 12 + 13 * number, width, 6, "#b9dcc7", edge="#b9dcc7", radius=3)


def _scaling(canvas: Canvas, x: float, top: float, height: float) -> None:
    canvas.line([(x + 6, top + 12), (x + 6, top + 100), (x + 300, top + 100)], colour=SOFT)
    colours = [EDGES[BLUE], EDGES[GREEN], EDGES[AMBER], EDGES[VIOLET]]
    for number, colour in enumerate(colours):
        points = [(x + 10 + 46 * step, top + 88 - 7 * number - (3 + 2.2 * number) * step) for step in range(7)]
        canvas.line(points, colour=colour, width=2.2)
    for number, (colour, name) in enumerate(
        zip(reversed(colours), ("ext-var", "ext-const", "no-ext-var", "no-ext-const"), strict=True)
    ):
        canvas.line([(x + 312, top + 28 + 20 * number), (x + 330, top + 28 + 20 * number)], colour=colour, width=3)
        canvas.text(x + 336, top + 32 + 20 * number, name, size=11, colour=INK)


def _stack(canvas: Canvas, x: float, top: float, height: float) -> None:
    shades = ("#c7b3e5", EDGES[VIOLET], "#4d3475")
    for bar in range(7):
        bottom = top + height - 12
        for shade, part in zip(shades, (44 - bar, 6 + 2 * bar, 3 + bar), strict=True):
            canvas.rectangle(x + 10 + 54 * bar, bottom - part, 34, part, shade, edge=shade, radius=1)
            bottom -= part


def _distribution(canvas: Canvas, x: float, top: float, height: float) -> None:
    heights = (4, 12, 30, 46, 28, 10, 4, 2, 5, 16, 34, 20, 8, 3, 2, 6, 12, 5)
    for number, tall in enumerate(heights):
        colour = EDGES[BLUE]
        canvas.rectangle(x + 8 + 13 * number, top + height - 12 - tall, 10, tall, colour, edge=colour, radius=1)
    canvas.text(x + 262, top + 44, "0 1 2 3 2 1 0", size=15, bold=True)
    canvas.text(x + 262, top + 66, "repeated 15 times", size=12, colour=SOFT)


def _provenance(canvas: Canvas, x: float, top: float, height: float) -> None:
    for number, (left, right) in enumerate(((70, 200), (50, 260))):
        y = top + 16 + 18 * number
        canvas.rectangle(x, y, left, 8, EDGES[GREEN], edge=EDGES[GREEN], radius=3)
        canvas.rectangle(x + 90, y, right, 8, "#b9dcc7", edge="#b9dcc7", radius=3)
