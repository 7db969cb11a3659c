"""Piecewise linear regression: existing breaks are found, and none are invented."""

from __future__ import annotations

import numpy as np
import pytest

from manynode.errors import InputError
from phase3_sst.calibration.pieces import Piece, evaluate, fit_pieces, last_before

SIZES = np.unique(np.geomspace(1, 2**22, 120).round())
KNOWN = [Piece(0, 1e-6, 2e-10), Piece(4097, 2e-6, 5e-10), Piece(65537, 12e-6, 1e-10)]


def test_known_pieces_are_found_again() -> None:
    values = evaluate(KNOWN, SIZES)
    found = fit_pieces(SIZES, values, values, 6)
    assert [piece.from_bytes for piece in found] == [0, 4097, 65537]
    for piece, known in zip(found, KNOWN, strict=True):
        assert piece.seconds == pytest.approx(known.seconds, rel=1e-4)
        assert piece.seconds_per_byte == pytest.approx(known.seconds_per_byte, rel=1e-3)


def test_a_straight_line_stays_one_piece_in_noise() -> None:
    noise = np.random.default_rng(1).normal(0, 0.03, len(SIZES))
    values = (2e-6 + 1e-10 * SIZES) * (1 + noise)
    found = fit_pieces(SIZES, values, values, 6)
    assert len(found) == 1
    assert found[0].seconds_per_byte == pytest.approx(1e-10, rel=0.02)


def test_breaks_are_found_in_noise() -> None:
    noise = np.random.default_rng(2).normal(0, 0.03, len(SIZES))
    values = evaluate(KNOWN, SIZES) * (1 + noise)
    found = fit_pieces(SIZES, values, values, 6)
    assert [piece.from_bytes for piece in found] == [0, 4097, 65537]


def test_outliers_do_not_bend_a_line() -> None:
    values = 2e-6 + 1e-10 * SIZES
    values[10::25] *= 1.5
    found = fit_pieces(SIZES, values, values, 1)
    assert found[0].seconds == pytest.approx(2e-6, rel=0.02)
    assert found[0].seconds_per_byte == pytest.approx(1e-10, rel=0.02)


def test_costs_are_never_negative() -> None:
    falling = 2e-6 - 4e-13 * SIZES  # the last is 0.3e-6
    assert fit_pieces(SIZES, falling, falling, 1)[0].seconds_per_byte == 0
    steep = np.maximum(SIZES - 50_000, 1) * 1e-10  # a line through it would begin below zero
    assert all(piece.seconds >= 0 for piece in fit_pieces(SIZES, steep, steep, 3))


def test_the_number_of_pieces_is_bounded() -> None:
    values = 1e-6 * SIZES**0.5
    for most in (1, 2, 3):
        assert len(fit_pieces(SIZES, values, values, most)) == most


def test_too_few_sizes_are_refused() -> None:
    with pytest.raises(InputError, match="too few sizes"):
        fit_pieces(np.array([1.0, 2.0]), np.array([1.0, 2.0]), np.array([1.0, 2.0]), 1)


def test_more_sizes_than_memory_allows_are_refused() -> None:
    many = np.arange(1.0, 2002.0)
    with pytest.raises(InputError, match="too many sizes"):
        fit_pieces(many, many, many, 1)


@pytest.mark.parametrize(("left", "right", "limit"), [(8192, 16384, 8192), (60635, 65591, 65536), (8086, 8100, 8086)])
def test_limits_are_powers_of_two_where_one_fits(left: int, right: int, limit: int) -> None:
    assert last_before(left, right) == limit
