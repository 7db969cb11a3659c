"""Reads the folder of a comparison. An unusable file is an :class:`InputError`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pandas as pd
from pydantic import FiniteFloat

from manynode.report.documents import Document, read_document
from manynode.tables import read_table

KEY = ["engine", "reference", "technique", "nodes"]


class Engine(Document):
    name: str
    version: str = ""


class Skipped(Document):
    name: str
    remedy: str = ""


class Pair(Document):
    """Two engines, and their difference in words."""

    engine: str
    reference: str
    median: FiniteFloat
    worst: FiniteFloat
    sentences: list[str]

    @property
    def name(self) -> str:
        """Return the pair as it is called in drop-downs."""
        return f"{self.engine} against {self.reference}"


class ComparisonFile(Document):
    """``engine-comparison/1``."""

    experiment: str
    title: str
    subtitle: str
    digest: str
    seed: int
    confidence: FiniteFloat
    replicas: int
    manynode: str
    code: str
    largest: tuple[str, int]
    engines: list[Engine]
    skipped: list[Skipped]
    pairs: list[Pair]
    oversubscribed: str = ""


@dataclass(frozen=True)
class Comparison:
    """Everything the page shows."""

    document: ComparisonFile
    makespans: pd.DataFrame
    breakdown: pd.DataFrame
    compute: pd.DataFrame
    links: pd.DataFrame
    link_pairs: pd.DataFrame
    cost: pd.DataFrame

    @property
    def engines(self) -> list[str]:
        """Return the names of the engines."""
        return [engine.name for engine in self.document.engines]


def load(directory: Path) -> Comparison:
    """Return the comparison in ``directory``."""
    return Comparison(
        read_document(directory / "comparison.json", "engine-comparison/1", ComparisonFile),
        read_table(
            directory / "makespans.parquet",
            "engine-makespans/1",
            [*KEY, "replicas", "time_s", "reference_s", "difference", "low", "high"],
        ),
        read_table(
            directory / "breakdown.parquet",
            "engine-breakdown/1",
            [*KEY, "operation", "seconds", "reference_seconds", "difference_s", "share"],
        ),
        read_table(directory / "compute.parquet", "engine-compute/1", [*KEY, "compared", "largest_s", "equal"]),
        read_table(
            directory / "links.parquet",
            "engine-links/1",
            [*KEY, "level", "class", "links", "bytes", "reference_bytes", "pearson", "spearman", "remark"],
        ),
        read_table(
            directory / "link_pairs.parquet",
            "engine-link-pairs/1",
            [*KEY, "class", "bytes", "reference_bytes", "links"],
        ),
        read_table(
            directory / "cost.parquet",
            "engine-cost/1",
            ["engine", "technique", "nodes", "wall_s", "processor_s", "memory_bytes"],
        ),
    )


def by_engine(frame: pd.DataFrame, columns: dict[str, str]) -> pd.DataFrame:
    """Return each engine's rows of a table of pairs, once; ``columns`` maps its columns to the reference's."""
    rest = [name for name in frame.columns if name in ("technique", "nodes", "operation")]
    own = frame[["engine", *rest, *columns]]
    other = frame[["reference", *rest, *columns.values()]].rename(
        columns={"reference": "engine", **{value: key for key, value in columns.items()}}
    )
    return pd.concat([own, other], ignore_index=True).drop_duplicates(["engine", *rest], ignore_index=True)
