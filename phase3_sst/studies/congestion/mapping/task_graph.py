"""The task graph: the bytes that each pair of ranks exchanges.

In: a skeleton with its parameters, or a measured table of bytes between ranks. Out: a :class:`TaskGraph`. A skeleton's
bytes are counted exactly, from the operations of all ranks and iterations, with collectives as the messages of the
simulation's algorithms, because these load the links too.
"""

from __future__ import annotations

import io
import json
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import sparse

from manynode import input_file, process
from manynode.errors import EngineFailedError, InputError
from manynode.paths import native_program
from phase3_sst.engines.native_engine import engine_error

_PROGRAM = "manynode-skeleton"
_HEADER = ["sender", "receiver", "messages", "bytes"]

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class TaskGraph:
    """``amount`` [ranks, ranks]: bytes of both directions, symmetric, without a rank's messages to itself."""

    amount: sparse.csr_array

    @property
    def ranks(self) -> int:
        """The number of tasks."""
        return int(self.amount.shape[0])

    def edges(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], Floats]:
        """Return each communicating pair once: its ranks (the smaller first) and its bytes."""
        upper = sparse.triu(self.amount, k=1, format="coo")
        order = np.lexsort((upper.col, upper.row))
        return upper.row[order].astype(np.int64), upper.col[order].astype(np.int64), upper.data[order]


def task_graph(sources: npt.ArrayLike, targets: npt.ArrayLike, amounts: npt.ArrayLike, ranks: int) -> TaskGraph:
    """Return the graph of ``ranks`` tasks from sender, receiver and bytes; pairs may repeat."""
    given = (np.asarray(amounts, float), (np.asarray(sources, int), np.asarray(targets, int)))
    directed = sparse.coo_array(given, shape=(ranks, ranks)).tocsr()
    both = (directed + directed.T).tolil()
    both.setdiag(0)
    amount = both.tocsr()
    amount.eliminate_zeros()
    return TaskGraph(amount)


def of_skeleton(
    application: str, parameters: Mapping[str, Any], ranks: int, collectives: Mapping[str, Any] | None = None
) -> TaskGraph:
    """Return the task graph of a skeleton; ``collectives`` are the algorithms by name (``simulate: collectives``)."""
    given = {
        name: round(value) if name == "segment" else value
        for name, value in (collectives or {}).items()
        if value is not None
    }
    words = [word for name, value in given.items() for word in ("--collective", f"{name}={value}")]
    with tempfile.TemporaryDirectory(prefix="task-graph.") as folder:
        path = Path(folder) / "count.txt"
        done = process.run(
            [
                *(native_program(_PROGRAM), "stream", "--app", application, "--ranks", str(ranks)),
                *("--parameters", json.dumps(dict(parameters)), "--sink", "count", "--lowered", *words),
                *("--output", path),
            ],
            what=_PROGRAM,
            check=False,
        )
        if done.returncode != 0:
            raise engine_error(done, f"the task graph of {application} on {ranks} ranks")
        return _of_counts(path.read_text(encoding="utf-8"), ranks)


def _of_counts(text: str, ranks: int) -> TaskGraph:
    """Return the graph from the output of the count sink; its last table has the pairs of ranks."""
    table = text.split("\n\n")[-1].splitlines()
    if not table or table[0].split() != _HEADER:
        raise EngineFailedError(
            f"the output of {_PROGRAM} cannot be read",
            found=table[0] if table else "nothing",
            allowed=" ".join(_HEADER),
            remedy="run 'make build': the program may be of another version",
        )
    rows = np.array([line.split() for line in table[1:]], dtype=float).reshape(-1, len(_HEADER))
    return task_graph(rows[:, 0], rows[:, 1], rows[:, 3], ranks)


def read_matrix(path: Path, ranks: int | None = None) -> TaskGraph:
    """Return the graph of a CSV file with the columns sender, receiver, bytes (a line with their names may come first).

    ``ranks`` None: one more than the largest rank. An invalid line is an :class:`InputError` that names it.
    """
    text = io.StringIO(input_file.read_text(path, "the communication matrix"))
    try:
        frame = pd.read_csv(text, header=None, dtype=str, skip_blank_lines=False, skipinitialspace=True)
    except ValueError as error:
        raise InputError("the communication matrix cannot be read", where=str(path), found=str(error)) from None
    if frame.shape[1] != 3:
        raise _wrong(path, "1", f"{frame.shape[1]} columns", "three: sender, receiver, bytes")
    numbers = frame.apply(pd.to_numeric, errors="coerce")
    if len(numbers) and numbers.iloc[0].isna().all():
        numbers = numbers.iloc[1:]
    if numbers.empty:
        raise _wrong(path, "1", "no line", "a line for each pair of ranks that exchanges messages")
    values = numbers.to_numpy(float)
    ends = values[:, :2]
    most = np.inf if ranks is None else ranks
    rules = [
        (~np.isfinite(values).all(axis=1), "three numbers"),
        ((ends < 0).any(axis=1) | (ends != np.round(ends)).any(axis=1), "ranks 0, 1, 2, ..."),
        ((ends >= most).any(axis=1), f"ranks below {ranks}"),
        (values[:, 2] < 0, "bytes of 0 and more"),
    ]
    for broken, allowed in rules:
        if broken.any():
            first = int(np.argmax(broken))
            line = int(numbers.index[first])
            raise _wrong(path, str(line + 1), ", ".join(map(str, frame.iloc[line])), allowed)
    return task_graph(ends[:, 0], ends[:, 1], values[:, 2], int(ends.max()) + 1 if ranks is None else ranks)


def _wrong(path: Path, line: str, found: str, allowed: str) -> InputError:
    return InputError(
        "the communication matrix cannot be used", where=f"{path}: line {line}", found=found, allowed=allowed
    )
