"""One root seed for all random numbers: each use derives its own stream from the root seed and a label."""

from __future__ import annotations

import hashlib

import numpy as np


def derive_seed(root: int, *labels: object) -> int:
    """Return a 64-bit seed for the use named by ``labels``; different labels give independent streams."""
    text = "\x1f".join([str(root), *map(str, labels)])
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")


def generator(root: int, *labels: object) -> np.random.Generator:
    """Return a numpy generator (Philox) for the use named by ``labels``."""
    return np.random.Generator(np.random.Philox(derive_seed(root, *labels)))
