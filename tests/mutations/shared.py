"""Mutations of what the phases share: units, seeds, checksums, the timing profile."""

from __future__ import annotations

from mutation import Mutation

UNITS = "tests/unit/test_units.py"

MUTATIONS = [
    Mutation(
        "bits-and-bytes",
        "manynode/units.py",
        r'r"\1bit"',
        r'r"\1B"',
        "wrong unit factor: bits are read as bytes",
        (UNITS,),
    ),
    Mutation(
        "rendered-rate",
        "manynode/units.py",
        '("Gbit/s", 1.25e8)',
        '("Gbit/s", 1e9)',
        "wrong unit factor: bytes are written as bits",
        (UNITS,),
    ),
    Mutation(
        "labels-of-a-seed",
        "manynode/seeds.py",
        "*map(str, labels)",
        "*map(str, labels[:-1])",
        "off by one: uses that differ in their last label draw the same numbers",
        ("tests/unit/test_seeds.py",),
    ),
    Mutation(
        "damaged-file",
        "manynode/seal.py",
        "hashlib.sha256(blank).hexdigest().encode() == found",
        "len(blank) == len(data)",
        "dropped guard: a file that was changed is taken as it is",
        ("tests/unit/test_tables.py",),
    ),
    Mutation(
        "distribution-that-falls",
        "manynode/timing_profile.py",
        "if column[index] < column[index - 1]:",
        "if column[index] < column[0]:",
        "wrong index: a distribution may fall",
        ("tests/unit/phase2/test_timing_profile.py",),
    ),
]
