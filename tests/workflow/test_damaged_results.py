"""A finished results folder with one file damaged, exchanged or lost: the same bytes again, or an error that names it.

Each file is looked at after two of the ways in turn, and the whole pipeline runs for a drawn file that is damaged, one
that is lost and one that is exchanged; with ``MANYNODE_FUZZ=all`` for every file and every way.
"""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pipeline
import pytest
from conftest import made_once

from manynode.config.resolved import read_resolved
from manynode.errors import InputError
from manynode.steps import Steps
from manynode.verify import untrusted

pytestmark = pytest.mark.long

SIDE_BY_SIDE = 2
ALL = os.environ.get("MANYNODE_FUZZ") == "all"


def flipped(path: Path, _other: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 3] ^= 4
    path.write_bytes(data)


def cut_off(path: Path, _other: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def empty(path: Path, _other: Path) -> None:
    path.write_bytes(b"")


def lost(path: Path, _other: Path) -> None:
    path.unlink()


def of_another_place(path: Path, _other: Path) -> None:
    """The times are those of the replaced file, as with ``cp -p`` and many archivers."""
    results = next(parent for parent in path.parents if (parent / "experiment.json").is_file())
    alike = [found for found in sorted(results.rglob(f"*{path.suffix}")) if found != path and "logs" not in found.parts]
    same_name = [found for found in alike if found.name == path.name]
    exchange(path, (same_name or alike)[0])


def of_another_experiment(path: Path, other: Path) -> None:
    exchange(path, other)


def exchange(path: Path, source: Path) -> None:
    times = path.stat()
    shutil.copyfile(source, path)
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


WAYS: list[Callable[[Path, Path], None]] = [flipped, cut_off, empty, lost, of_another_place, of_another_experiment]


@pytest.fixture(scope="module")
def other(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The results of the same experiment on another problem."""
    content = pipeline.tiny(**pipeline.TWO_POINTS)
    content["application"]["parameters"]["iterations"] = 4

    def make(folder: Path) -> None:
        done = pipeline.run(pipeline.write(folder, content), folder)
        assert done.returncode == 0, done.stderr

    return made_once(tmp_path_factory, "other", make) / "results" / "tiny"


@pytest.fixture
def copy(small: Path, tmp_path: Path) -> Iterator[Path]:
    """A finished run that a test may damage, with Snakemake's records."""
    folder = tmp_path / "run"
    shutil.copytree(small.parent.parent, folder)
    yield folder / "results" / "tiny"
    shutil.rmtree(folder)


def artefacts(results: Path) -> list[str]:
    steps = Steps(read_resolved(results / "experiment.json").content)
    places = (path.relative_to(results).as_posix() for path in sorted(results.rglob("*")) if path.is_file())
    return [place for place in places if steps.identity_of(place) is not None]


def differs(path: Path, other: Path) -> bool:
    """What both experiments have in common (the probes of their network) is the same file."""
    return other.is_file() and other.read_bytes() != path.read_bytes()


def cases(results: Path, foreign: Path) -> list[tuple[str, Callable[[Path, Path], None]]]:
    return [
        (place, way)
        for place in artefacts(results)
        for way in WAYS
        if (way is not of_another_experiment or differs(results / place, foreign / place))
        and (way is not of_another_place or not place.endswith(".html"))
    ]


def test_whatever_was_made_from_a_damaged_file_is_made_again(copy: Path, other: Path) -> None:
    steps = Steps(read_resolved(copy / "experiment.json").content)
    assert untrusted(copy, steps) == {}
    followers = {"profile/nodes-2-rep-0/counters.parquet": "report.html", "simulate/preflight.json": ""}
    seen = 0
    chosen = cases(copy, other)
    places = sorted({place for place, _ in chosen})
    for place, way in chosen:
        if not ALL and (WAYS.index(way) - places.index(place)) % (len(WAYS) // 2):
            continue
        path = copy / place
        sound = path.read_bytes()
        way(path, other / place)
        identity = steps.identity_of(place)
        assert identity is not None
        if identity.measured and way in (flipped, cut_off, empty, of_another_place):
            with pytest.raises(InputError, match=place):
                untrusted(copy, steps)
        else:
            found = untrusted(copy, steps)
            # Lost files are made because they are missing. Readers refuse measured ones of another experiment.
            assert identity.measured or way is lost or place in found, (place, way.__name__)
            if (last := followers.get(place, "report.html")) and place != last:
                assert last in found, (place, way.__name__)
            seen += 1
        path.write_bytes(sound)
    assert seen > (150 if ALL else 50)


def test_a_run_after_damage_ends_with_the_same_bytes_or_names_the_file(
    small: Path, other: Path, tmp_path: Path
) -> None:
    chosen = cases(small, other)
    random.Random(20).shuffle(chosen)
    if not ALL:
        kinds = {lost: "lost", of_another_place: "exchanged", of_another_experiment: "exchanged"}
        chosen = list({kinds.get(way, "damaged"): (place, way) for place, way in chosen}.values())
    sound = {place: (small / place).read_bytes() for place in artefacts(small)}
    measured = {place for place in sound if "-rep-" in place or "/node-" in place}

    def silent(number: int) -> str:
        """Damage a copy and run it; return a message if the damage was not reported."""
        place, way = chosen[number]
        folder = tmp_path / str(number)
        shutil.copytree(small.parent.parent, folder)
        results = folder / "results" / "tiny"
        way(results / place, other / place)
        done = pipeline.run(folder / "experiment.yaml", folder)
        said = done.stdout + done.stderr
        now = {name: (results / name).read_bytes() if (results / name).is_file() else b"" for name in sound}
        shutil.rmtree(folder)
        if "Traceback" in said:
            return f"{place} {way.__name__}: {said}"
        if done.returncode != 0:
            return "" if place in said else f"{place} {way.__name__} is not named: {said}"
        if now == sound or (place in measured and way is lost and place in said):
            return ""
        return f"{place} {way.__name__}: {sorted(name for name in sound if now[name] != sound[name])}"

    with ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
        assert [text for text in pool.map(silent, range(len(chosen))) if text] == []


@pytest.mark.parametrize("place", ["experiment.json", "projection.parquet", "nodesim/timing-profile-ext.json"])
def test_a_report_of_files_of_two_experiments_is_refused(copy: Path, other: Path, place: str) -> None:
    shutil.copyfile(other / place, copy / place)
    done = pipeline.manynode("report", copy)
    assert done.returncode == 3 and "another experiment" in done.stderr, done.stderr


def test_a_point_is_refused_the_timing_profile_of_another_technique(copy: Path, tmp_path: Path) -> None:
    profile = tmp_path / "profile.json"
    shutil.copyfile(copy / "nodesim/timing-profile-no-ext.json", profile)
    common = ("--experiment", copy / "experiment.json", "--classes", copy / "profile/rank-classes.json")
    point = ("--technique", "ext-var", "--nodes", 1, "--profile", profile, "--result", tmp_path / "p" / "result.json")
    done = pipeline.manynode("simulate", "run", *common, *point)
    assert done.returncode == 3 and "the timing profile is not for the technique ext-var" in done.stderr, done.stderr
