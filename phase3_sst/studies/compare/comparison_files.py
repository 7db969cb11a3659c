"""The files of a comparison: Parquet and CSV of every table, and comparison.json with their origin."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from manynode import __version__, tables
from manynode.config.own_times import machine_of
from manynode.provenance import code_digest
from manynode.report.load import BY_COMPLETENESS
from manynode.report.waiting import oversubscribed_study
from manynode.report.wording import count
from phase3_sst.studies.compare.tables_of_pairs import Tables

SCHEMAS = {
    "makespans": "engine-makespans/1",
    "breakdown": "engine-breakdown/1",
    "compute": "engine-compute/1",
    "links": "engine-links/1",
    "link_pairs": "engine-link-pairs/1",
    "cost": "engine-cost/1",
}
DOCUMENT_SCHEMA = "engine-comparison/1"
# The other tables are small and are written as CSV too.
_PARQUET_ONLY = ("link_pairs",)


def write(output: Path, found: Tables, document: Mapping[str, Any]) -> None:
    """Write everything into ``output``, the document last: if it exists, the others are complete."""
    for name, schema in SCHEMAS.items():
        frame: pd.DataFrame = getattr(found, name)
        tables.write_table(output / f"{name}.parquet", schema, frame)
        if name not in _PARQUET_ONLY:
            with tables.replacing(output / f"{name}.csv") as part:
                frame.to_csv(part, index=False)
    tables.write_json(output / "comparison.json", DOCUMENT_SCHEMA, document)


def heading(content: Mapping[str, Any], digest: str, profiles: Mapping[str, Path]) -> dict[str, Any]:
    """Return the part of comparison.json about the resolved experiment, in addition to engines and pairs.

    ``profiles`` are the replayed timing profiles by name. ``largest`` is the representative point: the most complete
    projected technique at the largest node count.
    """
    techniques = [name for name in BY_COMPLETENESS if name in content["techniques"]]
    return {
        "experiment": content["name"],
        "title": content["title"] or content["name"],
        "digest": digest,
        "seed": content["seed"],
        "confidence": content["simulate"]["confidence"],
        "replicas": content["simulate"]["replicas"],
        "manynode": __version__,
        "code": code_digest(),
        "largest": [techniques[0], max(content["nodes"])],
        "oversubscribed": oversubscribed_study(profiles),
        "subtitle": f"{content['application']['name']} · node: {machine_of(content)}, "
        f"{count(content['ranks_per_node'], 'rank')} · network: {content['network']['name']}",
    }


def finite(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return ``values`` with None for NaN, which JSON does not have."""
    return {
        key: None if isinstance(value, float) and not math.isfinite(value) else value for key, value in values.items()
    }
