"""The scaling study's part of the report."""

from __future__ import annotations

from manynode.report.figures import losses
from manynode.report.load import Inputs
from manynode.report.losses import loss_sentences
from manynode.report.study_page import StudyPage, pages


@pages.register("scaling")
def page(inputs: Inputs) -> StudyPage | None:
    """Return where the efficiency breaks, and to what the time is lost."""
    if inputs.losses is None:
        return None
    return StudyPage("Losses to scale", losses.draw(inputs), loss_sentences(inputs), place=10)
