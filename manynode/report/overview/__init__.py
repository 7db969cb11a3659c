"""The front page of several experiments' results: ``build_overview`` writes it with its table beside it."""

from manynode.report.overview.page import build_overview, experiments_in

__all__ = ["build_overview", "experiments_in"]
