"""Asks the explorer in a process of its own, as a server does: ``explore_runs.py RESULTS NODES...``.

It prints ``asked DIGEST`` and ``finished DIGEST TIME`` for each question.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from phase3_sst.explore.explorer import Explorer
from phase3_sst.explore.question import Question


def questions(explorer: Explorer) -> list[Question]:
    """Twelve questions that differ in bandwidth and nodes."""
    start = explorer.start()
    return [
        start.with_change("network.link.bandwidth", f"{bandwidth} Gbit/s").changed(nodes=nodes)
        for bandwidth in (20, 40, 80, 160)
        for nodes in (2, 3, 4)
    ]


async def ask_all(results: Path) -> None:
    explorer = Explorer(results, cores=2)

    async def ask(question: Question) -> None:
        print("asked", explorer.digest(question), flush=True)
        answer = await explorer.answer(question)
        print("finished", answer.digest, repr(answer.time_s), flush=True)

    await asyncio.gather(*map(ask, questions(explorer)))
    await explorer.close()


if __name__ == "__main__":
    asyncio.run(ask_all(Path(sys.argv[1])))
