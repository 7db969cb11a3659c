"""The script that ``sst`` runs: ``sst ... machine.py -- RUN.json OUT``.

RUN.json has the schema ``sst-run/1``; SST's statistics go to OUT. An error that the user can mend is one line of JSON on
stderr, as from the native engines.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from manynode.errors import ManynodeError
from phase3_sst.sst_machine.build import machine_of
from phase3_sst.sst_machine.run import read_run


def main(arguments: list[str]) -> None:
    """Describe the machine and hand it to SST."""
    from phase3_sst.sst_machine.issue import issue

    if len(arguments) != 2:
        raise SystemExit("usage: sst machine.py -- RUN.json OUT")
    try:
        issue(machine_of(read_run(*arguments)))
    except ManynodeError as error:
        members = ("what", "where", "found", "allowed", "remedy", "details")
        report = {name: str(getattr(error, name)) for name in members if getattr(error, name) is not None}
        print(json.dumps({"error": report}), file=sys.stderr)
        sys.exit(error.exit_code)


main(sys.argv[1:])
