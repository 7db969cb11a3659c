"""Checks of an experiment before its first step, made by the phases: their engines, its application.

Each phase has an entry point of the group ``manynode.checks``, a function of the resolved experiment. It raises
:class:`UsageError`, or :class:`InputError` for a file, if a later step would refuse the experiment. It raises
:class:`EngineMissingError` if the experiment is valid but something that the phase needs is not installed.
"""

from __future__ import annotations

from importlib.metadata import entry_points

from manynode.config.resolved import Resolved
from manynode.errors import EngineMissingError, ManynodeError

GROUP = "manynode.checks"


def check_experiment(resolved: Resolved, where: str) -> dict[str, EngineMissingError]:
    """Return phase -> what it lacks on this host; raise the error of the first phase that refuses the experiment.

    ``where`` names the experiment in errors. All phases are asked, even if one lacks something.
    """
    entries = sorted(entry_points(group=GROUP), key=lambda item: item.name)
    if not entries:
        raise EngineMissingError(
            "the installed package has no phases",
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
