"""What the host says of itself: processor, cores, sockets, memory domains, geometry of caches, vector width.

Linux describes a processor below ``/sys/devices/system`` and in ``/proc/cpuinfo``. A part that it leaves out is None.
Virtual machines often show other caches than a program gets; the measurements say so.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

_UNITS = {"K": 1024, "M": 1024**2, "G": 1024**3}
_VECTOR_FLAGS = (("avx512f", 64), ("avx2", 32), ("avx", 32), ("sse2", 16), ("asimd", 16))


@dataclass(frozen=True)
class HostCache:
    """One cache as the system describes it."""

    size_bytes: int
    associativity: int
    line_bytes: int
    shared_by: int


@dataclass(frozen=True)
class Host:
    """A host; ``caches`` by key of the machine file (l1i, l1d, l2, last_level), as far as they are known."""

    processor: str
    cores: int
    sockets: int
    domains: int
    page_bytes: int
    memory_bytes: int
    vector_bytes: int | None
    fused: bool
    """Whether it has fused multiply-adds that the microbenchmarks can use."""
    caches: dict[str, HostCache]


def read_host(root: Path = Path("/"), allowed: set[int] | None = None) -> Host:
    """Return the host; ``allowed`` are the processors that this process may use (default: as the system says)."""
    processors = sorted(os.sched_getaffinity(0) if allowed is None else allowed)
    system = root / "sys/devices/system"
    info = _text(root / "proc/cpuinfo") or ""
    topology = {cpu: system / f"cpu/cpu{cpu}/topology" for cpu in processors}
    packages = {_text(folder / "physical_package_id") for folder in topology.values()}
    # Threads of one core count once.
    cores = {
        (_text(folder / "physical_package_id"), _text(folder / "core_id") or str(cpu))
        for cpu, folder in topology.items()
    }
    sockets = len(packages)
    return Host(
        processor=_field(info, "model name") or _field(info, "CPU part") or "unknown processor",
        cores=len(cores),
        sockets=sockets if len(cores) % sockets == 0 else 1,
        domains=_domains(system / "node", set(processors)),
        page_bytes=os.sysconf("SC_PAGE_SIZE"),
        memory_bytes=_memory(root),
        vector_bytes=_vector_bytes(info, root),
        fused="fma" in _flags(info),
        caches=_caches(
            system / f"cpu/cpu{processors[0]}/cache", set(processors), max(1, len(processors) // len(cores))
        ),
    )


def processors_of(text: str) -> set[int]:
    """Return the numbers of a list such as ``0-3,8``."""
    found: set[int] = set()
    for part in text.split(","):
        first, _, last = part.partition("-")
        found |= set(range(int(first), int(last or first) + 1))
    return found


def _caches(folder: Path, allowed: set[int], threads: int) -> dict[str, HostCache]:
    levels: dict[tuple[int, str], HostCache] = {}
    for index in sorted(folder.glob("index[0-9]*")):
        words = {name: _text(index / name) for name in ("level", "type", "size", "ways_of_associativity")}
        size, ways = _size(words["size"]), _number(words["ways_of_associativity"])
        line = _number(_text(index / "coherency_line_size"))
        shared = _text(index / "shared_cpu_list")
        if words["level"] is None or words["type"] is None or not size or not line:
            continue
        sharing = len(processors_of(shared) & allowed) // threads if shared else 1
        # 0 ways: fully associative, or not known.
        levels[int(words["level"]), words["type"]] = HostCache(size, ways or size // line, line, max(1, sharing))
    named = {"l1i": levels.get((1, "Instruction")), "l1d": levels.get((1, "Data"))}
    outer = [levels[key] for key in sorted(levels) if key[0] > 1 and key[1] != "Instruction"]
    if len(outer) > 1:
        named["l2"] = outer[0]
    if outer:
        named["last_level"] = outer[-1]
    return {name: cache for name, cache in named.items() if cache is not None}


def _domains(folder: Path, allowed: set[int]) -> int:
    """Return the number of memory nodes with processors that may be used.

    Memory alone, such as CXL or HBM in flat mode, is a node without processors.
    """
    lists = [_text(node / "cpulist") for node in folder.glob("node[0-9]*")]
    return sum(1 for text in lists if text and processors_of(text) & allowed) or 1


def _vector_bytes(info: str, root: Path) -> int | None:
    flags = _flags(info)
    if "sve" in flags:
        # Vectors of SVE have 16 to 256 bytes, and only the system knows how many.
        return _number(_text(root / "proc/sys/abi/sve_default_vector_length"))
    return next((width for flag, width in _VECTOR_FLAGS if flag in flags), None)


def _flags(info: str) -> set[str]:
    return set((_field(info, "flags") or _field(info, "Features") or "").split())


def _memory(root: Path) -> int:
    value = (_field(_text(root / "proc/meminfo") or "", "MemAvailable") or "").split()
    return int(value[0]) * 1024 if value else 2**31


def _field(text: str, name: str) -> str | None:
    for line in text.splitlines():
        key, separator, value = line.partition(":")
        if separator and key.strip() == name:
            return value.strip()
    return None


def _text(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip() or None
    except OSError:
        return None


def _number(text: str | None) -> int | None:
    return int(text) if text is not None and text.isdecimal() else None


def _size(text: str | None) -> int | None:
    if not text:
        return None
    unit = _UNITS.get(text[-1])
    number = _number(text[:-1] if unit else text)
    return None if number is None else number * (unit or 1)
