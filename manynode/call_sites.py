"""Names of call sites: from addresses inside modules to ``function file:line``.

In: the call-site section of a marker file. Out: one name per call site: ``main.c:123 exchange_halo`` where the module
has debug information and ``addr2line`` is installed, else ``exchange_halo+0x1a``, else ``prog+0x12ab``.
"""

from __future__ import annotations

import functools
import shutil
from pathlib import Path

import numpy as np

from manynode.errors import ManynodeError
from manynode.process import run

CALL_SITE = np.dtype(
    [
        ("address", "<u8"),
        ("module_offset", "<u8"),
        ("symbol_offset", "<u8"),
        ("module", "<u4"),
        ("symbol", "<u4"),
    ]
)
BATCH = 2000  # addresses a command line
TIME_LIMIT_S = 120.0


def name_call_sites(sites: np.ndarray, strings: bytes, *, resolve: bool = True) -> list[str]:
    """Return a name for each call site of ``sites`` (dtype :data:`CALL_SITE`); ``strings`` is the string section."""
    modules = [_string_at(strings, int(offset)) for offset in sites["module"]]
    found: dict[tuple[str, int], str] = {}
    if resolve:
        for module in sorted(set(modules)):
            # one byte back: the return address may already belong to the next line
            offsets = [int(o) - 1 for m, o in zip(modules, sites["module_offset"], strict=True) if m == module and o]
            found |= {(module, o): name for o, name in addresses_to_lines(module, tuple(offsets)).items()}
    names = []
    for site, module in zip(sites, modules, strict=True):
        name = found.get((module, int(site["module_offset"]) - 1))
        symbol = _string_at(strings, int(site["symbol"]))
        if name is None and symbol:
            name = f"{symbol}+{int(site['symbol_offset']):#x}"
        if name is None and module:
            name = f"{Path(module).name}+{int(site['module_offset']):#x}"
        names.append(name or f"{int(site['address']):#x}")
    return names


def parse_addr2line(output: str, offsets: tuple[int, ...]) -> dict[int, str]:
    """Return ``file:line function`` by offset from the output of ``addr2line -f -C`` (two lines an address)."""
    lines = output.splitlines()
    names: dict[int, str] = {}
    if len(lines) != 2 * len(offsets):
        return names
    for offset, function, place in zip(offsets, lines[::2], lines[1::2], strict=True):
        file, _, line = place.partition(" (")[0].rpartition(":")
        if function != "??" and file and file != "??" and line.isdigit():
            names[offset] = f"{Path(file).name}:{line} {short_function(function)}"
    return names


def short_function(signature: str) -> str:
    """Return a C++ function's name with its class, without arguments, template parameters and namespaces."""
    kept, depth = [], 0
    for letter in signature.replace("(anonymous namespace)::", "").replace("operator()", "operator"):
        depth += (letter in "(<") - (letter in ")>")
        if depth == 0 and letter not in ")>":
            kept.append(letter)
    name = "".join(kept).removesuffix(" const").split(" ")[-1]
    return "::".join(name.split("::")[-2:]) or signature


@functools.lru_cache(maxsize=1024)
def addresses_to_lines(module: str, offsets: tuple[int, ...]) -> dict[int, str]:
    """Ask ``addr2line`` for the places of ``offsets`` in ``module``; what it does not know is left out."""
    if not module.startswith("/") or not Path(module).is_file() or shutil.which("addr2line") is None:
        return {}
    names: dict[int, str] = {}
    for at in range(0, len(offsets), BATCH):
        batch = offsets[at : at + BATCH]
        try:
            answer = run(
                ["addr2line", "-f", "-C", "-e", module, *map(hex, batch)],
                what="naming call sites",
                timeout_s=TIME_LIMIT_S,
                check=False,
            )
        except ManynodeError:
            return names  # names are a convenience: the offsets remain
        if answer.returncode == 0:
            names |= parse_addr2line(answer.output, batch)
    return names


def _string_at(strings: bytes, offset: int) -> str:
    end = strings.find(b"\0", offset)
    return strings[offset : end if end >= 0 else len(strings)].decode("utf-8", "replace")
