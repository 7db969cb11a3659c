"""The offline page of a comparison of engines: ``build_comparison`` reads its folder and writes one file."""

from manynode.report.comparison.page import build_comparison

__all__ = ["build_comparison"]
