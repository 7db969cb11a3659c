"""Applies mutations one by one and says which the tests catch: python tests/mutations/run.py [NAME...]

In: a clean working tree with its build folder (MANYNODE_BUILD_DIR, else build/). Out: a line per mutation; exit code 1
if a test misses its mutation, or fails without one. Each file is restored even after Ctrl-C or SIGTERM; after SIGKILL,
`git restore .` mends the tree.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from mutation import ROOT, Mutation
from table import ALL

BUILD = Path(os.environ.get("MANYNODE_BUILD_DIR", ROOT / "build"))
LIMIT_S = 1800
# Files that were compiled from a mutation could outlive it within a second.
ENVIRONMENT = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}


def run(command: list[str]) -> subprocess.CompletedProcess[str]:
    """Run ``command`` in the root of the repository; its output is kept."""
    return subprocess.run(
        command, cwd=ROOT, env=ENVIRONMENT, timeout=LIMIT_S, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )


def build(targets: set[str]) -> None:
    """Build ``targets``; a failure ends the run, because a mutation that does not compile tests nothing."""
    if not targets:
        return
    done = run(["cmake", "--build", str(BUILD), "-j", "2", "--target", *sorted(targets)])
    if done.returncode != 0:
        raise SystemExit("\n".join(done.stdout.splitlines()[-30:]))


def failed(tests: tuple[str, ...]) -> str | None:
    """Return the first test of ``tests`` that fails, None if all pass; an error of the test run ends the program."""
    for test in (test for test in tests if test.startswith("gtest:")):
        _, program, names = test.split(":", 2)
        done = run([str(BUILD / "bin" / program), f"--gtest_filter={names}"])
        lines = [line for line in done.stdout.splitlines() if line.startswith("[  FAILED  ]")]
        if lines:
            return lines[0].split()[3].rstrip(",")
        if done.returncode != 0 or "[  PASSED  ] 0 tests" in done.stdout:
            raise SystemExit(done.stdout)
    python = [test for test in tests if not test.startswith("gtest:")]
    if not python:
        return None
    done = run([sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *python])
    # 1: a test failed. All other codes mean that no test had its say: a wrong name, a module that does not load.
    if done.returncode not in (0, 1):
        raise SystemExit(done.stdout)
    if done.returncode == 0:
        return None
    return next(
        line.split(" - ")[0].split(" ", 1)[1]
        for line in done.stdout.splitlines()
        if line.startswith(("FAILED", "ERROR"))
    )


def main(names: list[str]) -> int:
    """Run the mutations ``names``, or all; return the exit code."""
    known = {mutation.name: mutation for mutation in ALL}
    if unknown := [name for name in names if name not in known]:
        raise SystemExit(f"unknown mutation {', '.join(unknown)}; there are {', '.join(known)}")
    if dirty := run(["git", "status", "--porcelain"]).stdout:
        raise SystemExit(f"the working tree has changes; commit or stash them first:\n{dirty}")
    chosen = [known[name] for name in names] or ALL
    for mutation in chosen:
        mutation.mutated()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended by SIGTERM"))
    build({target for mutation in chosen for target in mutation.targets})
    if broken := failed(tuple(dict.fromkeys(test for mutation in chosen for test in mutation.tests))):
        print(f"{broken}: fails without any mutation")
        return 1
    missed = [mutation.name for mutation in chosen if not caught(mutation)]
    print(f"{len(chosen) - len(missed)} of {len(chosen)} caught")
    return 1 if missed else 0


def caught(mutation: Mutation) -> bool:
    """Apply ``mutation``, run its tests, restore the file and what was built from it; say what happened."""
    path = ROOT / mutation.file
    right, began = path.read_bytes(), time.monotonic()
    try:
        path.write_text(mutation.mutated(), encoding="utf-8")
        build(set(mutation.targets))
        by = failed(mutation.tests)
    finally:
        path.write_bytes(right)
        build(set(mutation.targets))
    took = f"{time.monotonic() - began:.0f} s"
    print(f"{mutation.name}: caught by {by} ({took})" if by else f"{mutation.name}: NOT caught ({took})", flush=True)
    return by is not None


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
