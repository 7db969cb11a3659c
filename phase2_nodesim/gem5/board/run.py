"""The script of a simulation: ``gem5.opt run.py BOARD.json``.

Runs the guests to their end. The exit code is 0, that of a guest that failed, or CODE_BOARD with a line on stderr.
"""

from __future__ import annotations

import json
import sys

import _m5.core
import m5
from m5 import objects

from phase2_nodesim.gem5.board.counts import Counts
from phase2_nodesim.gem5.board.ending import CODE_BOARD, stop
from phase2_nodesim.gem5.board.gate import Gate
from phase2_nodesim.gem5.board.node import build

_MARK_CALL, _MARK_KINDS = 0, 2  # bridge/wire.h, enum mb_mark


def main(path: str) -> int:
    """Simulate the board in ``path``."""
    with open(path, encoding="utf-8") as source:
        board = json.load(source)
    node = build(board)
    root = objects.Root(full_system=False, system=node.system)
    m5.instantiate()
    _m5.core.setLogLevel(_m5.core.LogLevel.WARN)  # no line for each time that the loop is entered
    counts = Counts(board, node, board["statistics"])
    gate = Gate(board["states"], len(board["guests"]), board["progress_s"], counts.instructions)
    while True:
        ended = m5.simulate()
        cause, code = ended.getCause(), ended.getCode()
        if cause not in ("workbegin", "workend"):
            break
        rank, mark = divmod(code, _MARK_KINDS)
        (counts.begin if cause == "workbegin" else counts.end)(rank, mark == _MARK_CALL)
    gate.tell()
    counts.close()
    del root
    if cause == "m5_fail instruction encountered":
        return code or CODE_BOARD
    if cause != "exiting with last active thread context":
        stop(f"gem5 ended the simulation: {cause} (code {code})")
    return int(code)


if __name__ in ("__main__", "__m5_main__"):
    if len(sys.argv) != 2:
        stop("usage: gem5.opt run.py BOARD.json")
    sys.exit(main(sys.argv[1]))
