"""Aries' counters in what ``darshan-parser`` prints of a log with AutoPerf's module APXC: Chunduri et al.'s own tool.

Lines are ``APXC rank record-id COUNTER value ...``, separated by tabs (darshan-util's documentation, "APXC module
per-router record"). There is a record per router: APXC_GROUP, APXC_CHASSIS, APXC_BLADE tell which, and APXC_AR_RTR_...
what its tiles counted from the start of the run to its end, the mean over the processes that share the router. The run
time is in the head: ``# run time: 123.4`` (or ``# run time: 123``), its start in ``# start_time: EPOCH``.
"""

from __future__ import annotations

import re
from pathlib import Path

import pandas as pd

from manynode.errors import InputError
from phase3_sst.studies.congestion.counters.cumulative import Samples
from phase3_sst.studies.congestion.counters.readers.interface import chosen, readers, text_of

_PLACE = ("APXC_GROUP", "APXC_CHASSIS", "APXC_BLADE")
_TIME = re.compile(r"^# run time:\s*([0-9.]+)", re.MULTILINE)
_START = re.compile(r"^# start_time:\s*(\d+)", re.MULTILINE)


@readers.register("darshan")
class DarshanReader:
    """Reads the output of darshan-parser."""

    def recognises(self, path: Path, head: str) -> bool:
        """Say whether darshan-parser printed it."""
        return head.startswith("# darshan log version")

    def read(self, path: Path) -> Samples:
        """Return two samples of each router: zeros at the start of the run, and its counts at the end."""
        text = text_of(path)
        records = _records(text, path)
        run_s = _TIME.search(text)
        if run_s is None or float(run_s[1]) <= 0:
            raise InputError("the log has no run time", where=str(path), allowed="a line '# run time: SECONDS'")
        start = float(found[1]) if (found := _START.search(text)) else 0.0
        names = list(dict.fromkeys(name for record in records.values() for name in record))
        used, unused = chosen([name for name in names if name not in _PLACE], str(path))
        rows, nodes = [], {}
        for (rank, _), record in records.items():
            router = "-".join(["aries", *(record[name] for name in _PLACE)])
            about = {"router": router, "producer": f"rank-{int(rank):09d}"}
            rows.append({"time_s": start, **about, **{name: "0" if name in record else "" for name in used}})
            rows.append({"time_s": start + float(run_s[1]), **about, **{name: record.get(name, "") for name in used}})
            nodes[record.get("APXC_NODE", router)] = router
        return Samples(pd.DataFrame(rows), used, path.name, unused, router_of_node=nodes)


def _records(text: str, path: Path) -> dict[tuple[str, str], dict[str, str]]:
    """Return per rank and record the counters of a router."""
    records: dict[tuple[str, str], dict[str, str]] = {}
    for number, line in enumerate(text.splitlines(), 1):
        cells = line.split("\t") if "\t" in line else line.split()
        if not cells or cells[0] != "APXC":
            continue
        if len(cells) < 5:
            raise InputError("a counter of the log is not whole", where=f"{path}:{number}", found=repr(line[:80]))
        records.setdefault((cells[1], cells[2]), {})[cells[3]] = cells[4]
    routers = {key: record for key, record in records.items() if all(name in record for name in _PLACE)}
    if not routers:
        raise InputError(
            "the log has no counters of routers",
            where=str(path),
            found="no record of module APXC with a group, chassis and blade",
            remedy="run with a Darshan that includes AutoPerf's APXC (Cray XC)",
        )
    return routers
