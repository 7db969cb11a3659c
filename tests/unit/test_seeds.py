"""Seeds of the streams of random numbers: every label counts, and they are the same everywhere."""

from __future__ import annotations

from manynode.seeds import derive_seed, generator


def test_every_label_makes_another_stream() -> None:
    keys = [(), ("draws",), ("draws", 1), ("draws", 2), ("draws", 1, 2), ("draws", 12), ("bootstrap", 1)]
    seeds = [derive_seed(root, *key) for root in (1, 2, 11) for key in keys]
    assert len(set(seeds)) == len(seeds)
    assert generator(1, "draws", 1).random() != generator(1, "draws", 2).random()
    assert generator(1, "draws", 1).random() == generator(1, "draws", 1).random()


def test_seeds_are_the_same_on_every_machine() -> None:
    """Known values (BLAKE2b with 8 bytes): other ones would change all results."""
    assert derive_seed(7, "draws") == 6199131068546661749
    assert derive_seed(7, "bootstrap", "ext-var", 4) == 6379812299294328077
