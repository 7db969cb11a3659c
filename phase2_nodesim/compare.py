"""Segments of the same application from several engines -> one table of their mean times per compute phase.

In: segments tables (``segments/1``) with the provenance of their runs. Out: one row per phase, a pair of columns per
engine. Phases are compared by name; a phase that an engine did not see has a gap.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd

from manynode.errors import InputError
from manynode.phase_names import short_names
from manynode.tables import read_table
from phase2_nodesim.segments import COLUMNS, SCHEMA
from phase2_nodesim.steps import read_provenance_of

_COUNTS = {"instructions": ("instructions", "Ir"), "last_level_misses": ("last_level_misses",)}
"""Counts that are compared, and their columns: as gem5, qemu and perf_event, and as callgrind call them."""
PHASE_WIDTH = 44  # characters


def compare_engines(paths: Sequence[Path]) -> pd.DataFrame:
    """Return one row per phase: ``phase``, ``count`` and ``share`` of the first engine, then ``ENGINE_mean_s`` of each.

    Engines that count them also have ``ENGINE_instructions`` and ``ENGINE_last_level_misses``, means per execution.
    Warm-up is left out. Tables of different applications, sizes or ranks, and two of one engine, are an
    :class:`InputError`.
    """
    frames: dict[str, pd.DataFrame] = {}
    first = read_provenance_of(paths[0]) if paths else {}
    for path in paths:
        origin = read_provenance_of(path)
        engine = str(origin["engine"])
        if engine in frames:
            raise InputError(
                "two segments tables come from the same engine",
                where=str(path),
                found=engine,
                allowed="one table for each engine",
                remedy="run the same experiment with another engine of phase 2 (nodesim: engine)",
            )
        for key in ("application", "ranks", "nodes", "external"):
            if origin[key] != first[key]:
                raise InputError(
                    "segments of different runs cannot be compared",
                    where=f"{path}: {key}",
                    found=origin[key],
                    allowed=f"{first[key]} (as in {paths[0]})",
                    remedy="change nothing but the engine between the runs",
                )
        segments = read_table(path, SCHEMA, COLUMNS)
        frames[engine] = segments[~segments["warm_up"]]
    if len(frames) < 2:
        raise InputError(
            "there is nothing to compare",
            found=f"{len(frames)} segments tables",
            allowed="two or more, of different engines",
            remedy="name nodesim/ext/segments.parquet of several results",
        )
    return phase_table(frames)


def phase_table(frames: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return the table of :func:`compare_engines` for the segments of each engine."""
    table = pd.DataFrame()
    for engine, segments in frames.items():
        groups = segments.groupby("phase")
        if table.empty:
            table["count"] = groups.size()
            table["share"] = groups["compute_s"].sum() / segments["compute_s"].sum()
        columns = {f"{engine}_mean_s": groups["compute_s"].mean()}
        for count, names in _COUNTS.items():
            counted = next((name for name in names if name in segments.columns), None)
            if counted is not None and segments[counted].notna().any():
                columns[f"{engine}_{count}"] = groups[counted].mean()
        table = table.join(pd.DataFrame(columns), how="outer")
    return table.sort_values("share", ascending=False, na_position="last").rename_axis("phase").reset_index()


def table_lines(table: pd.DataFrame, most: int = 40) -> list[str]:
    """Return the table for people: times in microseconds, instructions in thousands, the largest phases first."""
    columns = [name for name in table.columns if name.endswith(("_mean_s", "_instructions"))]
    heads = [
        f"{name.removesuffix('_mean_s')} [us]" if name.endswith("_mean_s") else f"{name.split('_')[0]} [1000 instr.]"
        for name in columns
    ]
    widths = [max(12, len(head)) for head in heads]
    lines = [
        f"{'phase':<{PHASE_WIDTH}} {'share':>6}  "
        + "  ".join(f"{head:>{w}}" for head, w in zip(heads, widths, strict=True))
    ]
    names = short_names(table["phase"].astype(str).head(most), PHASE_WIDTH)
    for _, row in table.head(most).iterrows():
        values = [row[name] * (1e6 if name.endswith("_mean_s") else 1e-3) for name in columns]
        shown = [
            f"{value:>{w}.3f}" if pd.notna(value) else " " * (w - 1) + "-"
            for value, w in zip(values, widths, strict=True)
        ]
        share = f"{row['share']:6.1%}" if pd.notna(row["share"]) else "     -"
        lines.append(f"{names[str(row['phase'])]:<{PHASE_WIDTH}} {share}  " + "  ".join(shown))
    if len(table) > most:
        lines.append(f"... and {len(table) - most} more phases (--csv has all)")
    return lines
