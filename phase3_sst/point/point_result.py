"""Reads the results that ``manynode run`` wrote with one engine, point by point."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from manynode import tables
from manynode.errors import InputError
from phase3_sst.point.contract import LINKS_SCHEMA, RANKS_SCHEMA, RESULT_SCHEMA
from phase3_sst.point.point_cost import COST_COLUMNS, cost_file


@dataclass(frozen=True)
class PointResult:
    """The result of one point; tables are read on demand."""

    folder: Path

    @cached_property
    def document(self) -> Mapping[str, Any]:
        """Return result.json."""
        return tables.read_json(self.folder / "result.json", RESULT_SCHEMA)

    @property
    def makespans_s(self) -> dict[int, float]:
        """Return replica -> makespan of job 0 [s]."""
        return {int(r["replica"]): float(r["jobs"][0]["makespan_s"]) for r in self.document["replicas"]}

    @property
    def foreground(self) -> list[int]:
        """Return the numbers of the jobs that run once."""
        jobs = self.document["replicas"][0]["jobs"]
        return [number for number, job in enumerate(jobs) if not job["background"]]

    def ranks(self) -> pd.DataFrame:
        """Return the table of ranks."""
        columns = ["replica", "job", "rank", "operation", "seconds"]
        return tables.read_table(self.folder / "ranks.parquet", RANKS_SCHEMA, columns)

    def links(self) -> pd.DataFrame:
        """Return the table of links."""
        columns = ["replica", "link", "class", "source", "target", "bytes"]
        return tables.read_table(self.folder / "links.parquet", LINKS_SCHEMA, columns)


@dataclass(frozen=True)
class EngineResults:
    """The results folder of an experiment that ran with ``engine``."""

    engine: str
    folder: Path

    def point(self, technique: str, nodes: int) -> PointResult:
        """Return the result of one point."""
        return PointResult(self.folder / "simulate" / technique / f"nodes-{nodes}")

    def version(self, technique: str, nodes: int) -> str:
        """Return the engine's version, from the result of a point."""
        return str(self.point(technique, nodes).document["engine"]["version"])

    def costs(self, points: Sequence[tuple[str, int]]) -> pd.DataFrame:
        """Return engine, technique, nodes and recorded cost of each simulation."""
        rows = []
        for technique, nodes in points:
            path = cost_file(self.folder, technique, nodes)
            if path.is_file():
                rows.append({"engine": self.engine, "technique": technique, "nodes": nodes, **_cost(path)})
        return pd.DataFrame(rows, columns=["engine", "technique", "nodes", *COST_COLUMNS])


def _cost(path: Path) -> dict[str, float]:
    try:
        frame = pd.read_csv(path)
        return {name: float(frame[name].iloc[0]) for name in COST_COLUMNS}
    except (OSError, ValueError, KeyError, IndexError) as error:
        raise InputError(
            "the cost of a simulation cannot be read", where=str(path), found=str(error), remedy="delete the file"
        ) from None
