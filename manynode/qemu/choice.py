"""Whether ``nodesim: engine: auto`` takes qemu on this host. Phase 2 chooses by it, and the workflow plans by it."""

from __future__ import annotations

from manynode.config.engine_section import AUTO
from manynode.config.resolved import Resolved
from manynode.errors import EngineMissingError, UsageError
from manynode.qemu.guest import check_guest
from manynode.qemu.installation import find_qemu


def uses_qemu(experiment: Resolved) -> tuple[bool, str]:
    """Return whether the nodes of ``experiment`` are simulated by the engine qemu, and the reason.

    ``auto`` takes it where it is installed with plugins and can run the program. A machine that it cannot simulate is
    no reason for another engine: the engine's own check refuses it. An executable that the experiment names and that
    cannot be used is an :class:`EngineMissingError`.
    """
    settings = experiment.nodesim
    if settings.engine != AUTO:
        return settings.engine == "qemu", "asked for by name"
    try:
        find_qemu(settings.qemu.executable)
        check_guest(experiment.application)
    except EngineMissingError as error:
        if settings.qemu.executable is not None:
            raise
        return False, f"qemu cannot be used: {error.what}: {error.found}"
    except UsageError as error:
        return False, f"qemu cannot be used: {error.what}: {error.found}"
    return True, "qemu can be used"
