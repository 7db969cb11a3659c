"""The version stands in ``manynode/__init__.py`` alone; what repeats it for other tools is compared."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path

import yaml

from manynode import __version__

ROOT = Path(__file__).resolve().parent.parent.parent


def test_the_citation_has_the_version() -> None:
    assert yaml.safe_load((ROOT / "CITATION.cff").read_text())["version"] == __version__


def test_the_site_has_the_version() -> None:
    assert f"\ncopyright: manynode {__version__}\n" in (ROOT / "mkdocs.yml").read_text()


def test_the_installed_version_is_the_sources() -> None:
    assert version("manynode") == __version__, "install again: make setup"
