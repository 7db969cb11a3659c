"""Shows the engine's progress: a line that updates in place on a terminal, plain lines in a log.

``manynode run`` shows it as well (:mod:`manynode.notices`).
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

from manynode import notices


@contextlib.contextmanager
def shown(wanted: bool) -> Iterator[Callable[[str], None] | None]:
    """Yield the receiver of the engine's lines; None when they are not wanted."""
    if not wanted:
        yield None
        return
    from rich.console import Console
    from rich.text import Text

    console = Console(stderr=True, highlight=False, markup=False, soft_wrap=True)
    if not console.is_terminal:

        def write(line: str) -> None:
            console.print(line)
            notices.progress(line)

        yield write
        return
    latest: dict[str, str] = {}
    with console.status("starting") as status:

        def renew(line: str) -> None:
            # "process 2 of 4: replica 3: ..." updates only the line of that process.
            process = line.split(":", 1)[0] if line.startswith("process ") else ""
            latest[process] = line
            status.update(Text("\n".join(latest[key] for key in sorted(latest))))

        yield renew
