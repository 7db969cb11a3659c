"""Skeletons against their mini-apps: the stream of each rank equals the markers' record, call by call.

The results of the mini-apps are checked, too: a solver that does not solve would be a pattern without a program.

The first problem of each application runs on 1, 2, 3, 8 and 12 ranks, the others on 6; ``MANYNODE_FUZZ=all``: all on
all of these and on 4.
"""

from __future__ import annotations

import itertools
import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import mini_apps
import pytest
import yaml

from manynode.config.application import read_application
from manynode.markers import read_marker_directory
from manynode.paths import application_dirs
from phase2_nodesim.conformance import first_difference, promised_calls, recorded_calls

ROOT = Path(__file__).resolve().parents[2]
MPIEXEC = shutil.which("mpiexec.mpich") or shutil.which("mpiexec")
RANKS, OTHERS = [1, 2, 3, 8, 12], [6]
if os.environ.get("MANYNODE_FUZZ") == "all":
    RANKS = OTHERS = [1, 2, 3, 4, 6, 8, 12]

# Application -> the small problems in its folder.
CASES: dict[str, list[dict[str, int]]] = {
    name: yaml.safe_load((folder / "conformance.yaml").read_text(encoding="utf-8"))
    for name, folder in application_dirs().items()
    if read_application(name).executable is not None
}

pytestmark = pytest.mark.skipif(MPIEXEC is None, reason="MPICH's mpiexec is not installed")


def _program(build_dir: Path, name: str) -> Path:
    path = build_dir / "bin" / name
    if not path.is_file():
        pytest.skip(f"{path} is not built")
    return path


def _options(parameters: dict[str, int]) -> list[str]:
    return [word for name, value in parameters.items() for word in (f"--{name}", str(value))]


def _run(build_dir: Path, app: str, ranks: int, options: list[str], **environment: str) -> subprocess.CompletedProcess:
    waiting = mini_apps.polite(build_dir)
    command = [str(MPIEXEC), "-n", str(ranks), "env", *waiting, str(_program(build_dir, app)), *options]
    return subprocess.run(
        command, env=os.environ | environment, capture_output=True, text=True, timeout=300, check=False
    )


def _skeleton(build_dir: Path, *words: str) -> subprocess.CompletedProcess:
    command = [str(_program(build_dir, "manynode-skeleton")), *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)


def _values(output: str) -> dict[str, str]:
    return dict(line.split(": ", 1) for line in output.splitlines())


@pytest.mark.parametrize(
    ("app", "parameters", "ranks"),
    [
        (app, parameters, ranks)
        for app, cases in CASES.items()
        for number, parameters in enumerate(cases)
        for ranks in (OTHERS if number else RANKS)
    ],
)
def test_the_skeleton_emits_what_the_application_does(
    build_dir: Path, tmp_path: Path, app: str, parameters: dict[str, int], ranks: int
) -> None:
    library = build_dir / "lib" / "libmanynode_markers_mpich.so"
    if not library.is_file():
        pytest.skip(f"{library} is not built")
    run = _run(build_dir, app, ranks, _options(parameters), LD_PRELOAD=str(library), MANYNODE_MARKERS_DIR=str(tmp_path))
    assert run.returncode in (0, 5), run.stderr  # 5: two iterations need not lower the residual
    assert _difference(build_dir, app, parameters, ranks, tmp_path) is None


@pytest.mark.parametrize("ranks", [1, 2, 5])
def test_the_tutorials_skeleton_emits_what_its_program_does(build_dir: Path, tmp_path: Path, ranks: int) -> None:
    """An application from outside the tree, which tests/run.sh has built under the sanitizers."""
    outside = ROOT / "build-sanitize"
    library = build_dir / "lib" / "libmanynode_markers_mpich.so"
    if not (outside / "bin" / "ring").is_file() or not library.is_file():
        pytest.skip(f"the tutorial's example is not built in {outside}")
    parameters = {"iterations": 3, "doubles": 100}
    marked = {"LD_PRELOAD": str(library), "MANYNODE_MARKERS_DIR": str(tmp_path)}
    assert _run(outside, "ring", ranks, _options(parameters), **marked).returncode == 0
    assert _difference(outside, "ring", parameters, ranks, tmp_path) is None


def _difference(build_dir: Path, app: str, parameters: dict[str, int], ranks: int, markers: Path) -> str | None:
    """Return the first call in which the skeleton differs from the record in ``markers``."""
    files = read_marker_directory(markers, resolve=False)
    assert [file.metadata["rank"] for file in files] == list(range(ranks))
    stream = _skeleton(build_dir, "stream", "--app", app, "--ranks", str(ranks), "--parameters", json.dumps(parameters))
    assert stream.returncode == 0, stream.stderr
    return first_difference(recorded_calls(files), promised_calls(stream.stdout))


@pytest.mark.parametrize("app", [*sorted(CASES), "patterns"])
def test_the_declared_parameters_are_those_of_application_yaml(build_dir: Path, app: str) -> None:
    described = json.loads(_skeleton(build_dir, "describe", "--app", app).stdout)
    declared = yaml.safe_load((ROOT / "skeletons" / app / "application.yaml").read_text(encoding="utf-8"))
    for name, entry in declared["parameters"].items():
        assert described["parameters"][name] == entry, name
    assert set(described["parameters"]) == set(declared["parameters"])


@pytest.mark.parametrize("app", sorted(CASES))
def test_phases_of_the_stream_are_described(build_dir: Path, app: str) -> None:
    declared = yaml.safe_load((ROOT / "skeletons" / app / "application.yaml").read_text(encoding="utf-8"))
    emitted: set[str] = set()
    for parameters in CASES[app]:
        words = ["--app", app, "--ranks", "2", "--parameters", json.dumps(parameters)]
        emitted |= set(re.findall(r"phase=(\S+)", _skeleton(build_dir, "stream", *words).stdout))
    assert emitted == set(declared["phases"])


def test_the_text_stream_of_two_ranks_is_the_golden_one(build_dir: Path) -> None:
    parameters = {"nx": 4, "ny": 4, "nz": 2, "iterations": 2, "levels": 2}
    words = ["--app", "hpcg", "--ranks", "2", "--parameters", json.dumps(parameters)]
    golden = ROOT / "tests" / "golden" / "hpcg-2-ranks.txt"
    assert _skeleton(build_dir, "stream", *words).stdout == golden.read_text(encoding="utf-8")


@pytest.mark.parametrize(("options", "line"), [([], "pause"), (["--lowered"], "Pause")])
def test_a_pause_is_a_line_of_the_text_stream(build_dir: Path, options: list[str], line: str) -> None:
    parameters = {"pattern": "congestor-incast-p2p", "messages": 1, "iterations": 1, "pause_us": 2.5}
    words = ["--app", "patterns", "--ranks", "2", "--rank", "1", "--parameters", json.dumps(parameters), *options]
    assert _skeleton(build_dir, "stream", *words).stdout.splitlines()[-1].endswith(f" {line} picoseconds=2500000")


def _history(run: subprocess.CompletedProcess) -> list[float]:
    assert run.returncode == 0, run.stderr
    return [float(value) for name, value in _values(run.stdout).items() if name.startswith("residual")]


def test_plain_conjugate_gradients_do_not_depend_on_the_number_of_ranks(build_dir: Path) -> None:
    """One global grid of 16 x 16 x 16, cut differently: the same residuals but for the order of additions."""
    cuts: dict[int, dict[str, Any]] = {
        1: {"nx": 16, "ny": 16, "nz": 16},
        2: {"nx": 16, "ny": 16, "nz": 8},
        4: {"nx": 16, "ny": 8, "nz": 8},
        8: {"nx": 8, "ny": 8, "nz": 8},
    }
    runs = {
        ranks: _run(build_dir, "hpcg", ranks, [*_options(cut | {"iterations": 20, "preconditioner": 0}), "--history"])
        for ranks, cut in cuts.items()
    }
    assert all(_values(run.stdout)["global_grid"] == "16 16 16" for run in runs.values())
    expected = _history(runs[1])
    assert len(expected) == 20
    for ranks in (2, 4, 8):
        assert _history(runs[ranks]) == pytest.approx(expected, rel=1e-9)
        assert _values(runs[ranks].stdout)["checksum"] == _values(runs[1].stdout)["checksum"]


@pytest.mark.parametrize("ranks", [1, 3, 8])
def test_with_the_preconditioner_the_solver_converges(build_dir: Path, ranks: int) -> None:
    grid = {"nx": 8, "ny": 8, "nz": 8, "iterations": 15}
    history = _history(_run(build_dir, "hpcg", ranks, _options(grid)))
    assert history[-1] < 1e-7
    assert all(later < earlier for earlier, later in itertools.pairwise(history))
    plain = _history(_run(build_dir, "hpcg", ranks, _options(grid | {"preconditioner": 0})))
    assert history[-1] < 1e-4 * plain[-1]


@pytest.mark.parametrize(
    ("options", "where", "found"),
    [
        (["--nx", "6"], "nx", "6"),
        (["--nx", "many"], "nx", "many"),
        (["--iterations", "0"], "iterations", "0"),
        (["--presmoother", "1"], "command line", "presmoother"),
    ],
)
def test_a_wrong_option_is_reported_once_and_exits_2(
    build_dir: Path, options: list[str], where: str, found: str
) -> None:
    run = _run(build_dir, "hpcg", 2, options)
    assert run.returncode == 2
    lines = [line for line in run.stderr.splitlines() if line.startswith("{")]
    assert len(lines) == 1
    error = json.loads(lines[0])["error"]
    assert (error["where"], error["found"]) == (where, found)


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (["--app", "hpgc", "--ranks", "2"], "hpgc"),
        (["--app", "hpcg", "--ranks", "0"], "0"),
        (["--app", "hpcg", "--ranks", "2", "--rank", "2"], "2"),
        (["--app", "hpcg", "--ranks", "2", "--parameters", "[1]"], "[1]"),
        (["--app", "hpcg", "--ranks", "2", "--parameters", '{"ny": 4.5}'], "4.5"),
        (["--app", "hpcg", "--ranks", "2", "--sink", "tap"], "tap"),
        (["--app", "hpcg", "--ranks", "2", "--collective", "allreduce=rng"], "rng"),
    ],
)
def test_mistakes_on_the_skeleton_command_line_are_one_json_line(build_dir: Path, words: list[str], found: str) -> None:
    run = _skeleton(build_dir, "stream", *words)
    assert run.returncode == 2
    assert json.loads(run.stderr)["error"]["found"] == found
