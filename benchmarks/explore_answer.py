"""Time from a question to its answer, as a browser that uses 'manynode explore' sees it: the demo at 64 nodes.

A copy of the demo's results is explored by a server on this host's cores. Each question has another bandwidth: nothing
of it is known before. The time runs from the request to the moment at which the whole answer, with its baseline and the
paired difference, has been received. The first question also starts what later ones find running.

The demo must be there (``make demo``). Usage on its own: ``python benchmarks/explore_answer.py [RESULTS]``.
"""

from __future__ import annotations

import argparse
import http.client
import json
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from _figure import Skipped, figure

from manynode.paths import ROOT

BANDWIDTHS = (50, 25, 80, 150, 200, 400)
NODES, REPLICAS = 64, 5
TARGET_S = 3.0
_LINK = re.compile(r"http://127\.0\.0\.1:(\d+)(/\?token=\S+)")


class Client:
    """A browser's requests to the server, and the events that it listens to."""

    def __init__(self, port: int, entry: str) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=600)
        self._headers = {"Origin": f"http://127.0.0.1:{port}", "Content-Type": "application/json"}
        self._connection.request("GET", entry)
        response = self._connection.getresponse()
        response.read()
        self._headers["Cookie"] = response.headers["set-cookie"].partition(";")[0]
        listening = http.client.HTTPConnection("127.0.0.1", port, timeout=600)
        listening.request("GET", "/api/events", headers=self._headers)
        self._events = listening.getresponse()

    def ask(self, question: dict[str, Any]) -> dict[str, Any]:
        """Return the whole answer, as the page gets it: when the server says that it is finished."""
        said = self._post({"question": question, "tab": "benchmark"})
        while said["state"] == "running":
            kind, content = self._event()
            if kind in ("failed", "cancelled"):
                raise SystemExit(f"{kind}: {content}")
            if kind == "finished" and content["digest"] == said["digest"]:
                said = self._post({"question": question, "tab": "benchmark"})
        if said["state"] != "finished":
            raise SystemExit(f"refused: {said}")
        return said

    def _post(self, content: dict[str, Any]) -> dict[str, Any]:
        self._connection.request("POST", "/api/ask", json.dumps(content), self._headers)
        said: dict[str, Any] = json.loads(self._connection.getresponse().read())
        return said

    def _event(self) -> tuple[str, Any]:
        kind = ""
        while line := self._events.readline().decode():
            if line.startswith("event: "):
                kind = line[7:].strip()
            elif line.startswith("data: "):
                return kind, json.loads(line[6:])
        raise SystemExit("the server has ended")


@contextmanager
def exploring(results: Path) -> Iterator[Client]:
    """Run a server on a copy of ``results`` without what was explored before."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "results" / results.name
        shutil.copytree(results, copy)
        shutil.rmtree(copy / "explore", ignore_errors=True)
        command = [sys.executable, "-m", "manynode", "explore", str(copy)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as server:
            try:
                assert server.stdout is not None
                link = next((found for line in server.stdout if (found := _LINK.search(line))), None)
                if link is None:
                    raise SystemExit("the server did not start")
                yield Client(int(link[1]), link[2])
            finally:
                server.terminate()


def seconds(results: Path) -> list[float]:
    """Return the seconds of each question."""
    if not (results / "experiment.json").is_file():
        raise Skipped(f"no finished demo in {results}: run 'make demo' first")
    taken = []
    with exploring(results) as client:
        for bandwidth in BANDWIDTHS:
            changes = {"network.link.bandwidth": f"{bandwidth} Gbit/s", "simulate.replicas": REPLICAS}
            began = time.perf_counter()
            content = client.ask({"changes": changes, "nodes": NODES, "technique": "ext-var", "losses": False})
            taken.append(time.perf_counter() - began)
            assert content["baseline"]["digest"] != content["answer"]["digest"]
    return taken


def figures() -> list[dict[str, Any]]:
    """Return the time of the first and of a later question."""
    first, *later = seconds(ROOT / "results" / "demo")
    return [
        figure(f"first answer at {NODES} nodes", first, "s", TARGET_S, "<="),
        figure(
            f"later answers at {NODES} nodes, median of {len(later)}", statistics.median(later), "s", TARGET_S, "<="
        ),
        figure(f"later answers at {NODES} nodes, slowest of {len(later)}", max(later), "s", None, None),
    ]


def main() -> None:
    """Print the time of every question."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("results", type=Path, nargs="?", default=ROOT / "results" / "demo")
    for bandwidth, taken in zip(BANDWIDTHS, seconds(parser.parse_args().results), strict=True):
        print(f"{bandwidth} Gbit/s: {taken:.2f} s")


if __name__ == "__main__":
    main()
