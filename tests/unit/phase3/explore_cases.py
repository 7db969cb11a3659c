"""An asker whose times are a formula of bandwidth, latency and nodes: for tests of the searches."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from manynode.errors import EngineFailedError, UsageError
from manynode.units import parse
from phase3_sst.explore.answer import Answer
from phase3_sst.explore.axis import Axis
from phase3_sst.explore.question import Question

BANDWIDTH = Axis(keys=["network.link.bandwidth"], kind="bandwidth", low="10 Gbit/s", high="400 Gbit/s")
LATENCY = Axis(keys=["network.link.latency"], kind="time", low="20 ns", high="5 us")
NODES = Axis(keys=["nodes"], kind="count", values=[1, 2, 4, 8, 16, 32, 48, 64])

Times = Callable[[float, float, int], float]


def smooth(bandwidth: float, latency: float, nodes: int) -> float:
    """Computing, bytes over bandwidth, and messages in log2(nodes) steps of latency each [s]."""
    return float(0.02 + 2e7 / bandwidth + 1e3 * latency * np.log2(nodes + 1))


def kinked(bandwidth: float, latency: float, nodes: int) -> float:
    """As ``smooth``, and bytes that computing hides while there is enough bandwidth [s]."""
    return smooth(bandwidth, latency, nodes) + max(0.0, 4e7 / bandwidth - 0.008)


class FormulaAsker:
    """Answers by a formula; counts what is asked, and what is cancelled on the way.

    ``refuses``: questions that ``checked`` refuses; ``fails``: whose simulation fails. Replica ``r`` takes the time
    times ``draws[r]``.
    """

    def __init__(
        self,
        times: Times,
        *,
        draws: tuple[float, ...] = (0.998, 1.001, 1.0, 0.999, 1.002),
        refuses: Callable[[Question], bool] = lambda question: False,
        fails: Callable[[Question], bool] = lambda question: False,
        losses: Callable[[Question], list[dict[str, Any]]] | None = None,
    ) -> None:
        self.times, self.draws, self.refuses, self.fails, self.losses = times, draws, refuses, fails, losses
        self.asked: list[Question] = []
        self.cancelled = 0
        self.running = 0
        self.most_running = 0
        self.answers: dict[str, Answer] = {}
        self.holds_back: asyncio.Event | None = None

    def time(self, question: Question) -> float:
        """Return the formula's time."""
        bandwidth = parse(question.changes.get("network.link.bandwidth", "100 Gbit/s"), "bandwidth")
        latency = parse(question.changes.get("network.link.latency", "90 ns"), "time")
        return self.times(bandwidth, latency, question.nodes)

    def checked(self, question: Question) -> None:
        """Refuse what ``refuses`` says."""
        if self.refuses(question):
            raise UsageError("the nodes do not fit the network", found=question.nodes)
        if question.losses and self.losses is None:
            raise UsageError("the engine cannot switch contention off")

    def known(self, question: Question) -> Answer | None:
        """Return an earlier answer."""
        return self.answers.get(question.canonical())

    async def answer(self, question: Question, *, urgent: bool = True) -> Answer:
        """Answer after a turn of the loop, or when ``holds_back`` is set."""
        known = self.known(question)
        if known is not None:
            return known
        self.asked.append(question)
        self.running += 1
        self.most_running = max(self.most_running, self.running)
        try:
            await (self.holds_back.wait() if self.holds_back else asyncio.sleep(0))
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        finally:
            self.running -= 1
        if self.fails(question):
            raise EngineFailedError("the engine ended with exit code 5", where="manynode-fast")
        time = self.time(question)
        self.answers[question.canonical()] = found = answer_of(
            question, {replica: time * draw for replica, draw in enumerate(self.draws)},
            losses=self.losses(question) if question.losses and self.losses else None,
        )  # fmt: skip
        return found


def answer_of(question: Question, makespans: Mapping[int, float], **members: Any) -> Answer:
    """Return an answer with these seconds by replica."""
    times = list(makespans.values())
    content: dict[str, Any] = {
        "digest": question.canonical(),
        "question": question,
        "experiment": "demo",
        "results": "demo",
        "nodes": question.nodes,
        "ranks": 8 * question.nodes,
        "technique": question.technique,
        "seed": 1,
        "confidence": 0.95,
        "replicas": len(times),
        "time_s": float(np.mean(times)),
        "low_s": float(min(times)),
        "high_s": float(max(times)),
        "iteration_s": float(np.mean(times)) / 8,
        "efficiency": 1.0,
        "smallest": 1,
        "makespans": dict(makespans),
        "band": None,
        "breakdown": [],
        "links": [],
        "losses": None,
        "flow_control": None,
        "relevant": 0.01,
    }
    return Answer(**{**content, **members})


def recorded(name: str) -> dict[tuple[str, str], float]:
    """Return simulated times of the demo by (y, x) as written: tests/data/explore/NAME.json."""
    path = Path(__file__).resolve().parents[2] / "data" / "explore" / f"{name}.json"
    rows = json.loads(path.read_text())["times_s"]
    return {(str(row["y"]), str(row["x"])): float(row["time_s"]) for row in rows}
