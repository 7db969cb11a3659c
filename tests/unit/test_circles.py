"""No circle of imports in Python, none of includes in C and C++: the graph of each is drawn from the sources."""

from __future__ import annotations

import graphlib
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path

import grimp

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("manynode", "phase1_profile", "phase2_nodesim", "phase3_sst")
FOLDERS = (*PACKAGES, "skeletons")
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)


def circle(arrows: Mapping[str, Iterable[str]]) -> list[str]:
    """Return the nodes of a circle, the first one again at its end; empty without a circle."""
    try:
        graphlib.TopologicalSorter(arrows).prepare()
    except graphlib.CycleError as error:
        return list(error.args[1])
    return []


def includes() -> dict[str, set[str]]:
    """Return file -> files that it includes, where an include names a file of the project."""
    files = [
        path
        for folder in FOLDERS
        for path in (ROOT / folder).rglob("*")
        if path.suffix in (".c", ".cpp", ".h", ".hpp", ".inc")
    ]
    by_name = defaultdict(list)
    for path in files:
        by_name[path.name].append(path)
    found: dict[str, set[str]] = {}
    for path in files:
        targets = set()
        for text in INCLUDE.findall(path.read_text(encoding="utf-8")):
            beside = (path.parent / text).resolve()
            ending = [other for other in by_name[Path(text).name] if str(other).endswith(f"/{text}")]
            targets |= {beside} if beside.is_file() else set(ending)
        found[str(path.relative_to(ROOT))] = {str(target.relative_to(ROOT)) for target in targets}
    return found


def test_modules_of_python_import_each_other_in_no_circle() -> None:
    graph = grimp.build_graph(*PACKAGES, cache_dir=None)
    arrows = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    assert sum(map(len, arrows.values())) > 1000
    assert circle(arrows) == []


def test_files_of_c_and_cpp_include_each_other_in_no_circle() -> None:
    arrows = includes()
    assert sum(map(len, arrows.values())) > 500
    assert circle(arrows) == []


def test_a_circle_is_found() -> None:
    assert set(circle({"a": ["b"], "b": ["c"], "c": ["a"], "d": ["a"]})) == {"a", "b", "c"}
    assert circle({"a": ["b", "c"], "b": ["c"]}) == []
