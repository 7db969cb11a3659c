"""What can be known of an experiment before its first step, asked of the phases: their engines, its application.

Each phase has an entry point of the group ``manynode.checks``: a function of the resolved experiment that raises a
:class:`UsageError` (:class:`InputError` for a file it names) for what a later step would refuse, and
:class:`EngineMissingError` when all it can say is fine and something that the phase needs is not installed.
"""

from __future__ import annotations

from importlib.metadata import entry_points

from manynode.config.resolved import Resolved
from manynode.errors import EngineMissingError, ManynodeError

GROUP = "manynode.checks"


def check_experiment(resolved: Resolved, where: str) -> dict[str, EngineMissingError]:
    """Return phase -> what it lacks on this host; raise the error of the first phase that the experiment is wrong for.

    ``where`` names the experiment in errors. Phases that lack something do not keep the others from being asked.
    """
    entries = sorted(entry_points(group=GROUP), key=lambda item: item.name)
    if not entries:
        raise EngineMissingError(
            "the installed package does not know its phases",
            where=f"entry points {GROUP}",
            found="none",
            remedy="run 'pip install -e .' in the checkout: it was installed before the phases had checks",
        )
    missing: dict[str, EngineMissingError] = {}
    for entry in entries:
        try:
            entry.load()(resolved)
        except EngineMissingError as error:
            missing[entry.name] = error
        except ManynodeError as error:
            raise error.named(where) from None
    return missing
