"""The sensitivity study's part of the report, with what a second engine says of it."""

from __future__ import annotations

from pathlib import Path

from manynode.report.confirmation import confirmation_rows, confirmation_sentences
from manynode.report.figures import confirmation, sensitivity
from manynode.report.load import Inputs
from manynode.report.sensitivity import knee_rows, sensitivity_sentences
from manynode.report.study_page import StudyPage, pages


@pages.register("sensitivity")
def page(inputs: Inputs) -> StudyPage | None:
    """Return times over each parameter, knees, Sobol indices, and the comparison of both engines."""
    figure = confirmation.draw(inputs)
    figures = [*sensitivity.draw(inputs), *([figure] if figure is not None else [])]
    if not figures:
        return None
    return StudyPage(
        "Sensitivity to the network",
        figures,
        sensitivity_sentences(inputs),
        place=30,
        after=str(Path(__file__).with_name("sensitivity.html.j2")),
        values={
            "knees": knee_rows(inputs),
            "confirmation_words": confirmation_sentences(inputs),
            "confirmed": confirmation_rows(inputs),
        },
    )
