"""Asks the explorer in a process of its own, as a server does: ``explore_runs.py RESULTS``.

It prints ``asked DIGEST`` and ``finished DIGEST TIME`` for each question.
"""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from phase3_sst.explore.explorer import Explorer
from phase3_sst.explore.question import Question

# How often tests kill a server, and how many questions it gets.
KILLS, BANDWIDTHS = (10, (20, 40, 80, 160)) if os.environ.get("MANYNODE_FUZZ") == "all" else (2, (20,))


def questions(explorer: Explorer) -> list[Question]:
    """Questions that differ in bandwidth and nodes."""
    start = explorer.start()
    return [
        start.with_change("network.link.bandwidth", f"{bandwidth} Gbit/s").changed(nodes=nodes)
        for bandwidth in BANDWIDTHS
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


def killed(base: Path, folder: Path, word: str, wait_s: float) -> list[list[str]]:
    """Start a server that asks many questions, and kill it ``wait_s`` after its first line with ``word``."""
    command = [sys.executable, __file__, str(base)]
    told: list[list[str]] = []
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        for line in server.stdout:
            told.append(line.split())
            if told[-1][0] == word:
                break
        time.sleep(wait_s)
        server.send_signal(signal.SIGKILL)
        told += [line.split() for line in server.stdout]
    assert server.returncode in (-signal.SIGKILL, 0), "the questions themselves do not fail"
    return told


if __name__ == "__main__":
    asyncio.run(ask_all(Path(sys.argv[1])))
