"""The documentation: paths that are named exist, the registry of schemas is whole, the pages keep to their layout."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from described_tables import described
from report_fixture import write_results

from manynode.reference import drawings, schemas, study_files
from phase3_sst.studies.congestion.contract import parts

ROOT = Path(__file__).resolve().parent.parent.parent
# Names of schemas in the sources: "projection/1".
SCHEMA = re.compile(r'"([a-z]+(?:-[a-z]+)*/[0-9]+)"')
LINK = re.compile(r"\]\(([^)#\s][^)\s]*)\)")
PAGE = re.compile(r"\bdocs/[\w/-]+\.md\b")
KINDS = ("*.py", "*.md", "*.yaml", "*.smk", "*.toml", "*.json", "*.hpp", "*.cpp", "*.h", "*.c", "*.txt", "Makefile")
# Input of commands: CSV files of these columns, which carry no schema.
INPUT = {"round-trips/1", "application-runs/1"}


def tracked(*patterns: str) -> list[Path]:
    """Return the files of the repository; outside a clone, skip the test."""
    done = subprocess.run(["git", "ls-files", *patterns], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        pytest.skip("no git clone")
    return [ROOT / line for line in done.stdout.splitlines() if (ROOT / line).is_file()]


def test_pages_that_are_named_exist() -> None:
    missing = {
        f"{path.relative_to(ROOT)}: {page}"
        for path in tracked(*KINDS)
        for page in PAGE.findall(path.read_text(encoding="utf-8", errors="replace"))
        if not (ROOT / page).is_file()
    }
    assert missing == set()


def test_links_of_pages_outside_the_site_lead_somewhere() -> None:
    broken = {
        f"{path.relative_to(ROOT)}: {target}"
        for path in tracked("*.md")
        if ROOT / "docs" not in path.parents
        for target in LINK.findall(path.read_text(encoding="utf-8"))
        if not target.startswith("http") and not (path.parent / target.partition("#")[0]).exists()
    }
    assert broken == set()


def test_every_page_is_in_the_table_of_contents() -> None:
    contents = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    pages = {str(path.relative_to(ROOT / "docs")) for path in (ROOT / "docs").rglob("*.md")}
    assert {page for page in pages if page not in contents} == set()


def test_every_schema_of_the_sources_is_in_the_registry() -> None:
    sources = tracked("manynode/*.py", "phase1_profile/*.py", "phase2_nodesim/*.py", "phase3_sst/*.py")
    found = {name for path in sources for name in SCHEMA.findall(path.read_text(encoding="utf-8"))}
    assert found - schemas.registry().keys() == set(), (
        "describe them in manynode/reference/schemas.yaml, or in the study's own"
    )
    assert schemas.registry().keys() - found - INPUT == set(), "no source writes or reads them"


def test_columns_of_the_report_s_fixture_are_described(tmp_path: Path) -> None:
    assert len(described(write_results(tmp_path / "made-up"), whole=False)) >= 8


def test_every_section_and_key_of_a_study_file_is_in_the_reference() -> None:
    page = study_files.page()
    assert re.findall(r"^## manynode (\S+)$", page, re.M) == ["congestion", "strong", "what-if"]
    for name in parts.names():
        table = page.partition(f"\n### {name}\n")[2].partition("\n### ")[0]
        keys = re.findall(r"^\| `(\w+)` \|", table, re.M)
        assert keys == list(parts.get(name).section.model_fields)
    # Types in words, not in Python's notation.
    assert "typing." not in page and "[typing" not in page and "<class" not in page


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
