"""Checks with one trial ``perf_event_open`` if ordinary processes have hardware counters; if not, gives the reason."""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import struct
from dataclasses import dataclass
from pathlib import Path

PARANOID = Path("/proc/sys/kernel/perf_event_paranoid")
_SYSTEM_CALL = {"x86_64": 298, "aarch64": 241, "riscv64": 241, "ppc64le": 319, "s390x": 331}
_ATTR_BYTES = 64  # PERF_ATTR_SIZE_VER0: enough for a plain event, known to every kernel
_TYPE_HARDWARE, _INSTRUCTIONS = 0, 1
_DISABLED, _EXCLUDE_KERNEL, _EXCLUDE_HYPERVISOR = 1 << 0, 1 << 5, 1 << 6
CALLGRIND = "take the source callgrind, which needs no hardware counters"


@dataclass(frozen=True)
class HardwareCounters:
    """Whether user-level instructions can be counted; why not; what helps."""

    usable: bool
    reason: str
    remedy: str


def probe_hardware() -> HardwareCounters:
    """Try to count this process's own user-level instructions."""
    number = _SYSTEM_CALL.get(platform.machine())
    if platform.system() != "Linux" or number is None:
        return HardwareCounters(
            False, f"no perf_event_open known for {platform.system()} {platform.machine()}", CALLGRIND
        )
    flags = _DISABLED | _EXCLUDE_KERNEL | _EXCLUDE_HYPERVISOR
    attributes = struct.pack("=IIQQQQQ", _TYPE_HARDWARE, _ATTR_BYTES, _INSTRUCTIONS, 0, 0, 0, flags)
    buffer = ctypes.create_string_buffer(attributes, _ATTR_BYTES)
    library = ctypes.CDLL(None, use_errno=True)
    descriptor = library.syscall(number, buffer, 0, -1, -1, 0)
    if descriptor >= 0:
        os.close(descriptor)
        return HardwareCounters(True, "the kernel counts user-level instructions", "")
    return explain(ctypes.get_errno(), _paranoid())


def explain(code: int, paranoid: str) -> HardwareCounters:
    """Return the meaning of errno ``code`` if ``perf_event_paranoid`` is ``paranoid``."""
    if code in (errno.ENOENT, errno.ENODEV, errno.EOPNOTSUPP):
        reason = f"the processor shows no performance counters ({os.strerror(code)}), as in most virtual machines"
        return HardwareCounters(False, reason, f"{CALLGRIND}, or profile on a physical host")
    if code in (errno.EACCES, errno.EPERM):
        reason = f"the kernel refuses it ({os.strerror(code)}; perf_event_paranoid is {paranoid}, 2 or less is needed)"
        remedy = f"as root: sysctl kernel.perf_event_paranoid=2 (in a container: capability PERFMON), or {CALLGRIND}"
        return HardwareCounters(False, reason, remedy)
    if code == errno.ENOSYS:
        return HardwareCounters(False, "the kernel or the container has no perf_event_open", CALLGRIND)
    return HardwareCounters(False, f"perf_event_open failed: {os.strerror(code)}", CALLGRIND)


def _paranoid() -> str:
    try:
        return PARANOID.read_text().strip()
    except OSError:
        return "absent"
