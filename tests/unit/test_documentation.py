"""The documentation: paths that are named exist, the registry of schemas is whole, the pages keep to their layout."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from manynode.reference import drawings, schemas

ROOT = Path(__file__).resolve().parent.parent.parent
# Names of schemas in the sources: "projection/1".
SCHEMA = re.compile(r'"([a-z]+(?:-[a-z]+)*/[0-9]+)"')
PAGE = re.compile(r"\bdocs/[\w/-]+\.md\b")
KINDS = ("*.py", "*.md", "*.yaml", "*.smk", "*.toml", "*.json", "*.hpp", "*.cpp", "*.h", "*.c", "*.txt", "Makefile")
# Input of commands: CSV files of these columns, which carry no schema.
INPUT = {"round-trips/1", "application-runs/1"}
# Pages that moved; the keys' declarations and phase 3 still name them.
MOVED = {f"docs/{name}.md" for name in ("congestion", "gem5", "interval_model", "network", "studies")}


def tracked(*patterns: str) -> list[Path]:
    """Return the files of the repository; where it is no clone, the test has nothing to look at."""
    done = subprocess.run(["git", "ls-files", *patterns], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        pytest.skip("no git clone")
    return [ROOT / line for line in done.stdout.splitlines() if (ROOT / line).is_file()]


def test_pages_that_are_named_exist() -> None:
    missing = {
        f"{path.relative_to(ROOT)}: {page}"
        for path in tracked(*KINDS)
        for page in PAGE.findall(path.read_text(encoding="utf-8", errors="replace"))
        if page not in MOVED and not (ROOT / page).is_file()
    }
    assert missing == set()


def test_every_page_is_in_the_table_of_contents() -> None:
    contents = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    pages = {str(path.relative_to(ROOT / "docs")) for path in (ROOT / "docs").rglob("*.md")}
    assert {page for page in pages if page not in contents} == set()


def test_every_schema_of_the_sources_is_in_the_registry() -> None:
    sources = tracked("manynode/*.py", "phase1_profile/*.py", "phase2_nodesim/*.py", "phase3_sst/*.py")
    found = {name for path in sources for name in SCHEMA.findall(path.read_text(encoding="utf-8"))}
    assert found - schemas.registry().keys() == set(), "describe them in manynode/reference/schemas.yaml"
    assert schemas.registry().keys() - found - INPUT == set(), "no source writes or reads them"


def test_columns_of_a_results_folder_are_those_of_the_registry(tmp_path: Path) -> None:
    sys.path.insert(0, str(ROOT / "tests" / "unit"))
    try:
        from report_fixture import write_results
    finally:
        sys.path.pop(0)
    assert len(described(write_results(tmp_path / "made-up"))) >= 8


def described(folder: Path) -> set[str]:
    """Return the schemas of the tables below ``folder``; a column that the registry lacks is a failure."""
    kinds = set()
    for path in sorted(folder.rglob("*.parquet")):
        found = pq.read_schema(path)
        name = json.loads(found.metadata[b"manynode"])["schema"]
        known = schemas.registry()[name]
        if not known.more:
            assert set(found.names) - set(known.columns) == set(), f"{path}: {name} has columns that are not described"
        kinds.add(name)
    return kinds


@pytest.mark.parametrize("name", drawings.all_drawings())
def test_a_drawing_is_sound_and_needs_nothing_else(name: str) -> None:
    from xml.etree import ElementTree

    text = drawings.all_drawings()[name]
    root = ElementTree.fromstring(text)
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert "href" not in text and "url(http" not in text


def test_units_follow_the_ends_of_the_names() -> None:
    units = {name: schemas.unit(name) for name in ("time_s", "host_flits_per_s", "rate_mean_Bps", "bytes", "share")}
    assert units == {"time_s": "s", "host_flits_per_s": "1/s", "rate_mean_Bps": "B/s", "bytes": "B", "share": ""}
