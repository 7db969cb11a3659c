"""Quantities at the border."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from manynode.units import parse, render


@pytest.mark.parametrize(
    ("text", "dimension", "value"),
    [
        ("100 Gbit/s", "bandwidth", 12.5e9),
        ("1.5 \u00b5s", "time", 1.5e-6),
        ("1.5 \u03bcs", "time", 1.5e-6),
        ("100 Gb/s", "bandwidth", 12.5e9),
        ("12.5 GB/s", "bandwidth", 12.5e9),
        ("90 ns", "time", 90e-9),
        ("1.5us", "time", 1.5e-6),
        ("1e3 ns", "time", 1e-6),
        ("64 KiB", "size", 65536),
        ("64 kB", "size", 64000),
        ("64 KB", "size", 64000),
        ("2 MB", "size", 2e6),
        ("2.3 GHz", "frequency", 2.3e9),
        ("0.1 ns/B", "time_per_size", 1e-10),
    ],
)
def test_quantities_are_read(text: str, dimension: str, value: float) -> None:
    assert parse(text, dimension) == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize("text", ["", "90", "ns", "90 GB", "90 parsecs", "__import__('os')", "1 ns + 2 ns", "nan ns"])
def test_what_is_no_time_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(ValueError, match="such as"):
        parse(text, "time")


@given(value=st.floats(1e-9, 1e4))
def test_what_is_rendered_reads_back(value: float) -> None:
    assert parse(render(value, "time", digits=12), "time") == pytest.approx(value, rel=1e-9)


@pytest.mark.parametrize(
    ("value", "dimension", "text"),
    [
        (90e-9, "time", "90 ns"),
        (1.5e-3, "time", "1.5 ms"),
        (12.5e9, "bandwidth", "100 Gbit/s"),
        (2.5e11, "bandwidth", "2 Tbit/s"),
        (1.25e6, "bandwidth", "10 Mbit/s"),
        (65536, "size", "64 KiB"),
        (3 * 2**30, "size", "3 GiB"),
        (2.3e9, "frequency", "2.3 GHz"),
        (1e-10, "time_per_size", "0.1 ns/B"),
    ],
)
def test_quantities_are_rendered_and_read_back(value: float, dimension: str, text: str) -> None:
    assert render(value, dimension) == text
    assert parse(text, dimension) == pytest.approx(value, rel=1e-12)
