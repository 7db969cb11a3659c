"""The script that ``sst`` runs: ``sst ... machine.py -- RUN.json OUT``.

RUN.json has the schema ``sst-run/1``; SST's statistics go to OUT. An error that the user can fix is one line of JSON on
stderr, as in the native engines.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[4]))

from manynode.errors import ManynodeError, UsageError
from phase3_sst.engines.sst.machine.build import machine_of
from phase3_sst.engines.sst.machine.sst_run_file import read_run


def main(arguments: list[str]) -> None:
    """Describe the machine and create it in SST."""
    from phase3_sst.engines.sst.machine.issue import issue

    try:
        issue(machine_of(read_run(*_paths(arguments))))
    except ManynodeError as error:
        members = ("what", "where", "found", "allowed", "remedy", "details")
        report = {name: str(getattr(error, name)) for name in members if getattr(error, name) is not None}
        print(json.dumps({"error": report}), file=sys.stderr)
        sys.exit(error.exit_code)


def _paths(arguments: list[str]) -> tuple[str, str]:
    """Return RUN.json and OUT. SST splits its arguments at blanks, so paths with blanks arrive in pieces."""
    for end in range(1, len(arguments)):
        run = " ".join(arguments[:end])
        if Path(run).is_file():
            return run, " ".join(arguments[end:])
    raise UsageError(
        "the run file does not exist", where="sst machine.py -- RUN.json OUT", found=" ".join(arguments),
        remedy="name a run file and a folder for the results",
    )  # fmt: skip


main(sys.argv[1:])
