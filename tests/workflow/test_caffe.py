"""Caffe's training: it learns, its gradients are right, and it does not matter who computes what."""

from __future__ import annotations

from pathlib import Path

import mini_apps
import pytest

SMALL = {"side": 8, "filters": 4, "hidden": 16}


def caffe(
    build_dir: Path, ranks: int, images: int, iterations: int, *switches: str, threads: int = 1
) -> dict[str, str]:
    parameters = SMALL | {"images": images, "iterations": iterations}
    return mini_apps.result(build_dir, "caffe", ranks, parameters, *switches, threads=threads)


@pytest.mark.parametrize("ranks", [1, 2, 3, 5, 8, 12])
def test_the_loss_falls_and_all_ranks_have_the_same_weights(build_dir: Path, ranks: int) -> None:
    printed = caffe(build_dir, ranks, 32, 25)
    assert printed["same_weights"] == "yes"
    # ten classes: knowing nothing costs ln 10 = 2.3
    assert float(printed["first_loss"]) > 2.0
    assert float(printed["last_loss"]) < 0.6 * float(printed["first_loss"])


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_gradients_are_the_derivatives_of_the_loss(build_dir: Path, threads: int) -> None:
    """Central differences with a step of 1e-6 are right to about 1e-10 of the loss, which is of order 10 here."""
    printed = caffe(build_dir, 1, 4, 2, "--gradients", threads=threads)
    assert float(printed["gradient_difference"]) < 1e-6


def test_ranks_share_the_images_that_one_rank_would_have(build_dir: Path) -> None:
    """The same images, dealt differently: the sums differ by what 8 bits cost."""
    dealt = {ranks: caffe(build_dir, ranks, 48 // ranks, 10) for ranks in (1, 3, 12)}
    first = {float(printed["first_loss"]) for printed in dealt.values()}
    assert max(first) - min(first) < 1e-8
    last = [float(printed["last_loss"]) for printed in dealt.values()]
    assert last == pytest.approx([last[0]] * 3, rel=0.03)
    assert dealt[1]["checksum"] != dealt[3]["checksum"], "nothing was encoded"


def test_threads_change_nothing_but_the_order_of_additions(build_dir: Path) -> None:
    checksums = {caffe(build_dir, 2, 10, 5, threads=threads)["checksum"] for threads in (1, 2, 3)}
    assert len(checksums) == 1


def test_images_that_cannot_be_pooled_are_reported_once_and_exit_2(build_dir: Path) -> None:
    error = mini_apps.error_of(build_dir, "caffe", ["--side", "6"])
    assert (error["where"], error["found"]) == ("side", "6")
