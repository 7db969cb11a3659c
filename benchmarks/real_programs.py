"""Derive the communication of public MPI programs, unmodified, and judge it at larger jobs.

``MANYNODE_REAL_PROGRAMS`` names a folder with the programs, each built in a folder of its own by its own guide; the
table below has where its build leaves the program. What is not there is named and left out. Recordings and skeletons
stay in the folder ``derived`` there: a second run records nothing. For each program: whether the skeleton is exact, at
which numbers of ranks it may be used, how it compares with the runs held out, time and memory of the derivation. The
table of ``docs/real-programs.md`` is what this prints.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from _figure import Skipped, figure

from phase2_nodesim.derive.judging.verdict import verdict

FOLDER = "MANYNODE_REAL_PROGRAMS"
TIME_TARGET_S, MEMORY_TARGET_GIB = 180, 4
VOLUME_TARGET, MAKESPAN_TARGET = 0.05, 0.1
_TARGETS = (64, 256, 1024, 4096)
# A process of its own: the memory of a child is at least that of its parent.
_MEASURED = (
    "import resource, subprocess, sys; code = subprocess.run(sys.argv[2:]).returncode; "
    "open(sys.argv[1], 'w').write(str(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)); sys.exit(code)"
)


@dataclass(frozen=True)
class Program:
    """``path`` is below the folder; ``options`` are those of ``manynode derive``; ``inside``: where it is run."""

    name: str
    path: str
    arguments: str
    options: str = ""
    inside: str = "."
    targets: tuple[int, ...] = _TARGETS


CUBES = (64, 512, 1728, 4096)
POWERS = "--ranks 2,4,8,32 --held-out 16,64"
EXAMPLES = Path(__file__).resolve().parents[1] / "docs" / "examples"
SNAP, LU = "snap/snap.in.j2", "npb/inputlu.data"
TEALEAF, PENNANT = "tealeaf/tea.in", "pennant/noh.pnt"
PROGRAMS = [
    Program(
        "CoMD, weak",
        "CoMD/bin/CoMD-mpi",
        "-i {d0} -j {d1} -k {d2} -x {12*d0} -y {12*d1} -z {12*d2} -N 4 -n 2",
        "--grid 3",
    ),
    Program("CoMD, strong", "CoMD/bin/CoMD-mpi", "-i {d0} -j {d1} -k {d2} -x 48 -y 48 -z 48 -N 4 -n 2", "--grid 3"),
    Program("CloverLeaf", "CloverLeaf_ref/clover_leaf", "", inside="CloverLeaf_ref"),
    Program("HPCCG", "HPCCG/HPCCG", "8 8 8"),
    Program("HPCG", "hpcg/b/bin/xhpcg", "--nx=16 --rt=0", "--held-out 32,36", inside="hpcg/b/bin"),
    Program("LULESH", "LULESH/lulesh2.0", "-s 6 -i 5", "--ranks 1,8,27 --held-out 64", targets=CUBES),
    Program("miniMD, strong", "miniMD/ref/miniMD_openmpi", "-i in.small -n 8 -s 12", inside="miniMD/ref"),
    Program("miniFE, strong", "miniFE/ref/src/miniFE.x", "-nx 16 -ny 16 -nz 16", "--held-out 16,36,64"),
    Program(
        "miniAMR",
        "miniAMR/ref/miniAMR.x",
        "--npx {d0} --npy {d1} --npz {d2} --nx 4 --ny 4 --nz 4 --num_tsteps 6 --max_blocks 2000 --num_refine 2 "
        "--num_objects 1 --object 2 0 -1.1 -1.1 -1.1 0.05 0.05 0.05 1.0 1.0 1.0 0.0 0.0 0.0",
        "--grid 3",
    ),
    Program("AMG", "AMG/test/amg", "-P {d0} {d1} {d2} -n 8 8 8 -problem 1", "--grid 3"),
    Program("SNAP", "SNAP/src/gsnap", "snap.in out", f"--grid 2 --held-out 16,36,64 --input {EXAMPLES / SNAP}"),
    Program("NPB FT, class A", "NPB/NPB3.4-MPI/bin/ft.A.x", "", POWERS),
    Program("NPB IS, class A", "NPB/NPB3.4-MPI/bin/is.A.x", "", POWERS),
    Program("NPB LU, class A", "NPB/NPB3.4-MPI/bin/lu.A.x", "", f"--held-out 16,36,64 --input {EXAMPLES / LU}"),
    Program("NPB CG, class A", "NPB/NPB3.4-MPI/bin/cg.A.x", "", POWERS),
    Program("NPB MG, class A", "NPB/NPB3.4-MPI/bin/mg.A.x", "", POWERS),
    Program("TeaLeaf", "TeaLeaf_ref/tea_leaf", "", f"--input {EXAMPLES / TEALEAF}"),
    # Kept back until the derivation was done for those above; miniGhost and PENNANT then led to a change each.
    Program(
        "miniGhost",
        "miniGhost/ref/miniGhost.x",
        "--npx {d0} --npy {d1} --npz {d2} --nx 12 --ny 12 --nz 12 --num_vars 5 --num_tsteps 10 --percent_sum 100 "
        "--stencil 23",
        "--grid 3",
    ),
    Program("PENNANT", "PENNANT/build/pennant", str(EXAMPLES / PENNANT)),
    Program(
        "Quicksilver",
        "Quicksilver/src/qs",
        "-I {d0} -J {d1} -K {d2} --nParticles 1000 --nSteps 3 --nx 12 --ny 12 --nz 12 --lx 12 --ly 12 --lz 12",
        "--grid 3",
    ),
    Program(
        "minisweep",
        "minisweep/build/sweep",
        "--nproc_x {d0} --nproc_y {d1} --ncell_x 12 --ncell_y 12 --ncell_z 12 --ne 1 --na 8 --niterations 2 "
        "--nblock_z 4",
        "--grid 2",
    ),
]


@dataclass(frozen=True)
class Derived:
    """Levels by number of ranks; ``compared``: what the runs held out say; ``errors``: the largest by name."""

    levels: dict[int, str]
    compared: str
    errors: dict[str, float]
    exact: bool
    seconds: float
    memory_gib: float


def derived(program: Program, folder: Path) -> Derived:
    """Derive a program's skeleton, or read the one that the same recordings gave before."""
    place = folder / "derived" / program.name.replace(", ", "-")
    place.mkdir(parents=True, exist_ok=True)
    skeleton = place / "program.skeleton.yaml"
    # Recorded first: recordings do not count, and take most of the time.
    seconds = memory = 0.0
    for _ in range(2):
        start = time.monotonic()
        words = ["derive", "--force", "--output", str(skeleton), "--recordings", str(place / "recordings")]
        words += [*shlex.split(program.options), "--", str(folder / program.path), *shlex.split(program.arguments)]
        with open(place / "said.txt", "w", encoding="utf-8") as said:
            done = subprocess.run(
                [sys.executable, "-c", _MEASURED, str(place / "memory.txt"), sys.executable, "-m", "manynode", *words],
                cwd=folder / program.inside, stdout=said, stderr=subprocess.STDOUT, check=False,
            )  # fmt: skip
        if done.returncode != 0:
            raise RuntimeError(f"{program.name}: {(place / 'said.txt').read_text()[-500:]}")
        seconds = time.monotonic() - start
        memory = int((place / "memory.txt").read_text()) / 2**20
    content = yaml.safe_load(skeleton.read_text(encoding="utf-8"))
    levels = {ranks: verdict(content, ranks).level for ranks in program.targets}
    section = content.get("approximate")
    if "body" in content:
        held_out = [one for one in content["recorded"] if one["role"] == "held out"]
        equal = ", ".join(str(one["ranks"]) for one in held_out if one["equal"])
        return Derived(levels, f"every call equal at {equal}", {}, True, seconds, memory)
    last = section["held_out"][-1]
    compared = (
        f"{last['ranks']} from {last['from']}: volume {last['volume']:+.1%}, messages {last['messages']:+.1%}, "
        f"makespan {last['makespan']:+.1%}"
    )
    errors = {name: max(abs(one[name]) for one in section["held_out"]) for name in ("volume", "makespan")}
    return Derived(levels, compared, errors, False, seconds, memory)


def figures() -> list[dict[str, Any]]:
    """Return how many programs are exact or approximate at all asked numbers of ranks, the worst error and cost."""
    folder = Path(os.environ.get(FOLDER, "")).resolve()
    there = [one for one in PROGRAMS if FOLDER in os.environ and (folder / one.path).is_file()]
    if not there:
        raise Skipped(f"no program in {FOLDER}: {', '.join(one.path for one in PROGRAMS)}")
    for missing in (one for one in PROGRAMS if one not in there):
        print(f"left out: {missing.name}: there is no {folder / missing.path}")
    print("| program | skeleton | ranks at which it may be used | held out | derivation |")
    print("|---|---|---|---|---|")
    found = {}
    for program in there:
        one = found[program.name] = derived(program, folder)
        usable = ", ".join(f"{ranks:,}" for ranks, level in one.levels.items() if level != "refused") or "none"
        kind = "exact" if one.exact else "approximate"
        cost = f"{one.seconds:.0f} s, {one.memory_gib:.1f} GiB"
        print(f"| {program.name} | {kind} | {usable} | {one.compared} | {cost} |", flush=True)
    lifted = [one for one in found.values() if not one.exact]
    whole = sum("refused" not in one.levels.values() for one in found.values())
    return [
        figure("real programs: tried", len(found), "", None, None),
        figure("real programs: usable at every number of ranks", whole, "", len(found), ">="),
        figure("real programs: exact", sum(one.exact for one in found.values()), "", None, None),
        figure(
            "real programs: volume, worst",
            max((o.errors["volume"] for o in lifted), default=0),
            "",
            VOLUME_TARGET,
            "<=",
        ),
        figure(
            "real programs: makespan, worst",
            max((o.errors["makespan"] for o in lifted), default=0),
            "",
            MAKESPAN_TARGET,
            "<=",
        ),
        figure("real programs: derivation", max(o.seconds for o in found.values()), "s", TIME_TARGET_S, "<="),
        figure("real programs: memory", max(o.memory_gib for o in found.values()), "GiB", MEMORY_TARGET_GIB, "<="),
    ]
