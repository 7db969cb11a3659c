"""A question that nobody asked, in a folder that is thrown away: the first real one then finds everything started.

It starts the fork server and has it import what the steps of an answer import, and imports here what reads an answer.
A question from the store would not do: what is finished there runs nothing.
"""

from __future__ import annotations

import contextlib
import tempfile
import threading
from pathlib import Path

from manynode.errors import ManynodeError
from phase3_sst.explore.answer_files import read_answer
from phase3_sst.explore.base import Base
from phase3_sst.explore.steps import run_step, steps_of
from phase3_sst.explore.store import Finished, Store


def rehearse(base: Base, cancelled: threading.Event, most_s: float) -> None:
    """Answer the base's smallest question with one replica; give up after ``most_s`` [s], or once ``cancelled`` is set.

    An error is left to the questions of people: it will be theirs, too, or it does not matter.
    """
    baseline = base.baseline()
    question = baseline.changed(changes={"simulate.replicas": 1}, nodes=min(base.resolved.nodes))
    patience = threading.Timer(most_s, cancelled.set)
    patience.daemon = True
    patience.start()
    try:
        with (
            tempfile.TemporaryDirectory(prefix="manynode-explore-") as folder,
            contextlib.suppress(ManynodeError, OSError),
        ):
            asked = base.asked(question)
            store = Store(base, Path(folder))
            base.check(asked)
            store.prepare(asked)
            planned = store.planned(asked)
            # Each after those that it waits for.
            for step in steps_of(planned, losses=False):
                run_step(planned, step, 1, cancelled)
            read_answer(asked, Finished(planned.results, asked.resolved))
    finally:
        patience.cancel()
