"""A strong scaling study with the mini-app and the engine fast: points, errors, page, going on."""

from __future__ import annotations

import shutil
from pathlib import Path

import pandas as pd
import pipeline
import pytest
import yaml
from described_tables import described
from waiting_profiles import waiting_profile

from manynode import tables
from manynode.report.strong import build_strong
from manynode.report.waiting import oversubscribed_study
from phase3_sst.studies.strong import strong_points
from phase3_sst.studies.strong.strong_file import read_study

pytestmark = pytest.mark.long

CUBE, BAR, SMALL = (
    {"nx": 16, "ny": 16, "nz": 16},
    {"nx": 16, "ny": 8, "nz": 8},
    {"nx": 8, "ny": 8, "nz": 8},
)


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("strong")
    application = {"name": "hpcg", "parameters": {**CUBE, "levels": 2, "iterations": 3}}
    pipeline.write(folder, pipeline.tiny(application=application, nodes=[1]), "base.yaml")
    content = {
        **{"name": "strong", "experiment": "base.yaml", "techniques": ["ext-var", "ext-const"]},
        **{"measured": [CUBE, SMALL], "held_out": BAR, "nodes": {1: CUBE, 4: BAR, 8: SMALL}},
    }
    (folder / "strong.yaml").write_text(yaml.safe_dump(content))
    done = run(folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def run(folder: Path):
    return pipeline.manynode("strong", folder / "strong.yaml", "--output", folder / "out", "--cores", 2)


def test_the_same_problem_gets_faster_with_the_nodes(study: Path) -> None:
    table = pd.read_parquet(study / "out" / "strong.parquet").set_index(["technique", "nodes"])
    for technique in ("ext-var", "ext-const"):
        own = table.loc[technique]
        assert own["time_s"].is_monotonic_decreasing
        assert list(own["interpolated"]) == [False, True, False]
        assert own.loc[8, "speedup"] == pytest.approx(own.loc[1, "time_s"] / own.loc[8, "time_s"])
        assert own["efficiency"].is_monotonic_decreasing and own.loc[8, "efficiency"] > 0.3


def test_the_interpolation_is_held_against_the_size_that_was_left_out(study: Path) -> None:
    errors = pd.read_parquet(study / "out" / "interpolation.parquet").set_index("phase")
    # Work per point: the smoother and the matrix product are the ones that interpolate well.
    assert errors.loc["symgs", "error"] == pytest.approx(0, abs=0.03)
    assert errors.loc["spmv", "error"] == pytest.approx(0, abs=0.03)
    assert float((errors["share"] * errors["error"]).sum()) == pytest.approx(0, abs=0.1)


def test_its_tables_are_described(study: Path) -> None:
    assert {"strong/1", "strong-interpolation/1"} <= described(study / "out")


def test_the_page_says_it(study: Path) -> None:
    page = (study / "out" / "strong.html").read_text()
    assert 'id="figure-strong-time"' in page and 'id="figure-strong-speedup"' in page
    assert "At the held-out size" in page and 'id="oversubscribed"' not in page


def test_the_page_says_first_that_a_size_was_measured_on_an_oversubscribed_host(study: Path, tmp_path: Path) -> None:
    sizes, _ = strong_points.experiments(read_study(study / "strong.yaml"), study / "strong.yaml", study / "out")
    profiles = strong_points.profiles(read_study(study / "strong.yaml"), sizes)
    assert len(profiles) == 3 and all(path.is_file() for path in profiles.values())
    for table in ("strong", "interpolation"):
        shutil.copy(study / "out" / f"{table}.parquet", tmp_path)
    document = tables.read_json(study / "out" / "strong.json", "strong-study/1")
    assert document["oversubscribed"] == oversubscribed_study(profiles) == ""
    name, path = next(iter(profiles.items()))
    shutil.copy(path, tmp_path / "profile.json")
    warning = oversubscribed_study({name: waiting_profile(tmp_path / "profile.json", 0.43)})
    own = {key: value for key, value in document.items() if key not in ("schema", "checksum")}
    tables.write_json(tmp_path / "strong.json", "strong-study/1", own | {"oversubscribed": warning})
    build_strong(tmp_path, tmp_path / "strong.html")
    first = (tmp_path / "strong.html").read_text().split('<section id="answer">')[1].split("<p")[1]
    assert f"43 % of their compute time ({name})" in first


def test_what_is_finished_is_not_repeated(study: Path) -> None:
    def written() -> dict[Path, int]:
        made = [path for name in ("result.json", "timing-profile-*.json") for path in (study / "out").rglob(name)]
        return {path: path.stat().st_mtime_ns for path in made}

    before = written()
    done = run(study)
    assert done.returncode == 0, done.stdout + done.stderr
    # Two techniques on three node counts; of the three measured sizes the study needs the times alone.
    assert written() == before and len(before) == 6 + 3
    assert not list((study / "out/measured").rglob("report.html"))
