"""The validation study's part of the report."""

from __future__ import annotations

from pathlib import Path

from manynode.report.campaign import summary_rows
from manynode.report.figures import validation
from manynode.report.load import Inputs
from manynode.report.study_page import StudyPage, pages
from manynode.report.validation import error_table, region_rows, validation_sentences


@pages.register("validation")
def page(inputs: Inputs) -> StudyPage | None:
    """Return the errors of the projection against measurements."""
    figures = validation.draw(inputs)
    if not figures:
        return None
    return StudyPage(
        "Against measurements",
        figures,
        validation_sentences(inputs),
        place=20,
        before=str(Path(__file__).with_name("validation.html.j2")),
        values={"errors": error_table(inputs), "region": region_rows(inputs), "campaign": summary_rows(inputs)},
    )
