"""The offline HTML report: ``build_report`` reads an experiment's result folder and writes one file."""

from manynode.report.page import build_report

__all__ = ["build_report"]
