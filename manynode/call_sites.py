"""Names of call sites: from addresses inside modules to ``function file:line``.

In: the call-site section of a marker file. Out: one name per call site, the first of these that is known:

- ``main.c:123 exchange_halo``, if the module has debug information;
- ``exchange_halo(double*)+0x1a``, if the dynamic linker knows the function;
- ``prog+0x12ab exchange_halo``, if the module has a symbol table;
- ``prog+0x12ab``.

Binutils (``addr2line``, ``c++filt``, ``readelf``) give lines and C++ names; without them, the linker's symbols remain.
"""

from __future__ import annotations

import functools
import re
import shutil
from collections.abc import Sequence
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
_CLONE = re.compile(r" \[clone [^\]]*\]")


def name_call_sites(sites: np.ndarray, strings: bytes, *, resolve: bool = True) -> list[str]:
    """Return a name for each call site of ``sites`` (dtype :data:`CALL_SITE`); ``strings`` is the string section."""
    modules = [_string_at(strings, int(offset)) for offset in sites["module"]]
    symbols = [_string_at(strings, int(offset)) for offset in sites["symbol"]]
    lines: dict[tuple[str, int], str] = {}
    functions: dict[tuple[str, int], str] = {}
    plain: dict[str, str] = {}
    if resolve:
        plain = demangled(tuple(sorted({symbol for symbol in symbols if symbol})))
        for module in sorted(set(modules)):
            # one byte back: the return address may already belong to the next line
            offsets = [int(o) - 1 for m, o in zip(modules, sites["module_offset"], strict=True) if m == module and o]
            with_line, without_line = addresses_to_lines(module, tuple(offsets))
            lines |= {(module, o): name for o, name in with_line.items()}
            functions |= {(module, o): name for o, name in without_line.items()}
    names = []
    for site, module, symbol in zip(sites, modules, symbols, strict=True):
        place = (module, int(site["module_offset"]) - 1)
        name = lines.get(place)
        if name is None and symbol:
            name = f"{plain.get(symbol, symbol)}+{int(site['symbol_offset']):#x}"
        if name is None and module:
            function = f" {functions[place]}" if place in functions else ""
            name = f"{Path(module).name}+{int(site['module_offset']):#x}{function}"
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


def parse_functions(output: str, offsets: tuple[int, ...]) -> dict[int, str]:
    """Return the functions by offset from the output of ``addr2line -f -C``, for addresses without a line."""
    lines = output.splitlines()
    if len(lines) != 2 * len(offsets):
        return {}
    return {
        offset: short_function(function)
        for offset, function, place in zip(offsets, lines[::2], lines[1::2], strict=True)
        if function != "??" and place.endswith((":?", ":0"))
    }


def short_function(signature: str) -> str:
    """Return a C++ function's name with its class, without arguments, template parameters and namespaces."""
    kept, depth = [], 0
    plain = _CLONE.sub("", signature).replace("(anonymous namespace)::", "").replace("operator()", "operator")
    for letter in plain:
        depth += (letter in "(<") - (letter in ")>")
        if depth == 0 and letter not in ")>":
            kept.append(letter)
    name = "".join(kept).removesuffix(" const").split(" ")[-1]
    return "::".join(name.split("::")[-2:]) or signature


@functools.lru_cache(maxsize=1024)
def demangled(symbols: tuple[str, ...]) -> dict[str, str]:
    """Return the C++ signatures of ``symbols`` from ``c++filt``; empty if it is not installed."""
    if shutil.which("c++filt") is None:
        return {}
    names: dict[str, str] = {}
    for at in range(0, len(symbols), BATCH):
        batch = symbols[at : at + BATCH]
        lines = (_answer(["c++filt", "--", *batch]) or "").splitlines()
        if len(lines) == len(batch):
            names |= dict(zip(batch, lines, strict=True))
    return names


@functools.lru_cache(maxsize=1024)
def addresses_to_lines(module: str, offsets: tuple[int, ...]) -> tuple[dict[int, str], dict[int, str]]:
    """Ask ``addr2line`` for the lines of ``offsets`` in ``module``, or for the functions of those without a line.

    Unknown offsets are left out.
    """
    lines: dict[int, str] = {}
    functions: dict[int, str] = {}
    if not module.startswith("/") or not Path(module).is_file() or shutil.which("addr2line") is None:
        return lines, functions
    for at in range(0, len(offsets), BATCH):
        batch = offsets[at : at + BATCH]
        answer = _answer(["addr2line", "-f", "-C", "-e", module, *map(hex, batch)])
        if answer is None:
            break  # names are a convenience: the offsets remain
        lines |= parse_addr2line(answer, batch)
        functions |= parse_functions(answer, batch)
    # Of a stripped module only exported functions are known, and addr2line names the one before the address.
    if functions and " .symtab " not in (_answer(["readelf", "--section-headers", "--wide", module]) or ""):
        functions = {}
    return lines, functions


def _answer(command: Sequence[str]) -> str | None:
    """Return the output of a binutils program, or None if it fails."""
    try:
        answer = run(command, what="naming call sites", timeout_s=TIME_LIMIT_S, check=False)
    except ManynodeError:
        return None
    return answer.output if answer.returncode == 0 else None


def _string_at(strings: bytes, offset: int) -> str:
    end = strings.find(b"\0", offset)
    return strings[offset : end if end >= 0 else len(strings)].decode("utf-8", "replace")
