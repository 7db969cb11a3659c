"""The calls that polite waiting substitutes, as C: ``polite_calls.h`` of ``tests/data/mpi/polite_table.c``.

The table of prototypes says what is polite and which arguments a call has. An argument that the C program has no value
for is an error, so that a new polite call gets its rows or fails here.
"""

from __future__ import annotations

import re
from pathlib import Path

from phase2_nodesim.markers.generate import Prototype, read_table

MARKERS = Path(__file__).resolve().parents[2] / "phase2_nodesim" / "markers"

# Fields of struct arguments, named as in the standard where the type is int or void *.
SCALARS = {
    "sendbuf", "recvbuf", "count", "sendcount", "recvcount", "dest", "source", "tag", "sendtag", "recvtag", "root",
    "datatype", "sendtype", "recvtype", "op", "comm", "message", "status", "sendtypes", "recvtypes",
}  # fmt: skip
BUFFERS = {"buf", "buffer"}


def polite_prototypes(include: Path) -> list[Prototype]:
    """Return the prototypes that the table calls polite, as far as the ``mpi.h`` in ``include`` declares them."""
    text = "\n".join(path.read_text(errors="replace") for path in sorted(include.glob("mpi*.h")))
    declared = set(re.findall(r"\bMPI_(\w+)\s*\(", text))
    return [p for p in read_table(MARKERS / "prototypes.txt", declared) if "polite" in p.flags]


def field(prototype: Prototype, declaration: str, name: str) -> str:
    """Return the field of ``struct arguments`` that is passed for an argument."""
    if name in BUFFERS:
        return "buffer"
    if name in SCALARS:
        return name
    if name == "displs":
        name = "sdispls" if prototype.has("sendcounts") else "rdispls"
    if name in ("sendcounts", "recvcounts"):
        return f"large_{name}" if "MPI_Count" in declaration else name
    if name in ("sdispls", "rdispls"):
        return f"long_{name}" if "MPI_Aint" in declaration else name
    raise ValueError(f"MPI_{prototype.name}: polite_table.c has no value for the argument {declaration!r}")


def use(prototype: Prototype) -> list[str]:
    """Return what kind of call it is, in the words of ``polite_table.c``."""
    has = prototype.has
    words = {
        "SENDS": has("dest"),
        "RECEIVES": has("source") or has("message"),
        "TAKES_MESSAGE": has("message"),
        "HAS_STATUS": has("status"),
        "NEIGHBOURS": prototype.name.startswith("Neighbor"),
        "FROM_ROOT": "from-root" in prototype.flags,
        "TO_ROOT": "to-root" in prototype.flags,
        "REDUCES": has("op"),
        "SENDS_BLOCKS": has("sendcounts"),
        "RECEIVES_BLOCKS": has("recvcounts"),
        "HAS_SENDBUF": has("sendbuf"),
        "PREFIX": "scan" in prototype.name.lower(),
    }
    return [word for word, applies in words.items() if applies]


def write_calls(include: Path, out: Path) -> list[str]:
    """Write ``polite_calls.h`` into ``out`` and return the names of the calls."""
    functions, rows = [], []
    prototypes = polite_prototypes(include)
    for prototype in prototypes:
        passed = ", ".join(f"a->{field(prototype, a.declaration, a.name)}" for a in prototype.arguments)
        functions.append(
            f"static int call_{prototype.name}(struct arguments *a) {{ return MPI_{prototype.name}({passed}); }}"
        )
        flags = " | ".join(use(prototype)) or "0"
        in_bytes = int(prototype.has("sendtypes"))
        rows.append(f'    {{"{prototype.name}", call_{prototype.name}, {flags}, {in_bytes}}},')
    table = ["static const struct call calls[] = {", *rows, "};", f"enum {{ call_count = {len(rows)} }};"]
    (out / "polite_calls.h").write_text("\n".join([*functions, *table, ""]))
    return [prototype.name for prototype in prototypes]
