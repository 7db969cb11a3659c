"""A wheel, made from the unpacked sdist and installed into an empty environment, runs the demo without the checkout.

The native part is that of the finished build (``tests/data/wheel``); the rest of the way is pip's and the build
backend's. The environment finds the third-party packages of the tests' environment, not its editable manynode.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

from manynode import __version__
from manynode.paths import ROOT, application_dirs
from manynode.provenance import code_digest

pytestmark = pytest.mark.long

SMALL = {
    "nodes": "[1, 4]",
    "profile.nodes": "[2]",
    "nodesim.nodes": "2",
    "simulate.replicas": "3",
    "ranks_per_node": "1",
    "techniques": "[ext-var]",
    "application.parameters": "{nx: 8, ny: 8, nz: 8, levels: 3, iterations: 8}",
}


def environment() -> dict[str, str]:
    """Return the environment variables of a user who has no checkout."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("MANYNODE_", "PYTHON"))}
    outside = [folder for folder in kept["PATH"].split(":") if not Path(folder).is_relative_to(ROOT)]
    return {**kept, "PATH": ":".join(outside)}


def call(*words: object, cwd: Path, code: int = 0) -> str:
    """Run a command to its end and return its output."""
    done = subprocess.run(
        [str(word) for word in words],
        **{"cwd": cwd, "env": environment(), "stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE},
        stderr=subprocess.STDOUT,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == code, done.stdout
    return done.stdout


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sdist of the checkout."""
    folder = tmp_path_factory.mktemp("sdist")
    code = "import sys; from scikit_build_core.build import build_sdist; build_sdist(sys.argv[1])"
    call(sys.executable, "-c", code, folder, cwd=ROOT)
    (file,) = folder.iterdir()
    return file


@pytest.fixture(scope="module")
def wheel(sdist: Path, build_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, made from the unpacked sdist."""
    folder = tmp_path_factory.mktemp("wheel")
    with tarfile.open(sdist) as archive:
        archive.extractall(folder, filter="data")
    (source,) = folder.iterdir()
    settings = [f"cmake.source-dir={ROOT / 'tests/data/wheel'}", f"cmake.define.FINISHED={build_dir}"]
    options = [word for setting in settings for word in ("--config-settings", setting)]
    pip = (sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "--no-index")
    call(*pip, *options, "--wheel-dir", folder / "out", source, cwd=folder)
    (file,) = (folder / "out").iterdir()
    return file


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bin folder of an environment that has the wheel, and the tests' third-party packages on its path."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, symlinks=True)
    programs = folder / "bin"
    pip = (sys.executable, "-m", "pip", "--python", programs / "python", "install", "--no-deps", "--no-index")
    call(*pip, wheel, cwd=folder)
    (packages,) = folder.glob("lib/python*/site-packages")
    # Files *.pth of a folder that is itself named by one are not read: the checkout stays off the path.
    (packages / "third_party.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return programs


def test_an_sdist_has_every_file_of_the_repository(sdist: Path) -> None:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode != 0:
        pytest.skip("no git clone")
    with tarfile.open(sdist) as archive:
        packed = {name.partition("/")[2] for name in archive.getnames()}
    assert {name for name in listed.stdout.splitlines() if (ROOT / name).is_file()} - packed == set()


def test_a_wheel_is_of_one_platform_and_of_any_python(wheel: Path) -> None:
    platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    assert wheel.name == f"manynode-{__version__}-py3-none-{platform}.whl"


def test_a_wheel_has_programs_and_libraries_but_no_tests(wheel: Path, build_dir: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    native = {name.rpartition("/")[2] for name in names if name.startswith("manynode/shipped/build/")}
    applications = [name for name, folder in application_dirs().items() if folder.is_relative_to(ROOT)]
    assert applications
    wanted = {"manynode-fast", "manynode-routes", "manynode-skeleton", "manynode-rank", *applications}
    wanted |= {"manynode-microbenchmarks", "manynode-microbenchmarks-mpi"}
    optional = {"manynode-simgrid", "manynode-scotch", *(f"{name}.openmpi" for name in applications)}
    optional |= {"manynode-microbenchmarks-mpi.openmpi"}
    kinds = ("markers", "node")
    libraries = {file.name for kind in kinds for file in (build_dir / "lib").glob(f"libmanynode_{kind}_*.so")}
    assert libraries
    assert native - optional == {*(name for name in wanted if (build_dir / "bin" / name).is_file()), *libraries}
    web = Path("phase3_sst/explore/server/web")
    assert {f"{web}/{path.name}" for path in (ROOT / web).iterdir()} <= names
    assert {name.partition("/")[0] for name in names} == {
        *("manynode", "phase1_profile", "phase2_nodesim", "phase3_sst"),
        f"manynode-{__version__}.dist-info",
    }


def test_an_installed_wheel_runs_the_demo(installed: Path, tmp_path: Path) -> None:
    where = call(installed / "python", "-c", "import manynode; print(manynode.__file__)", cwd=tmp_path).strip()
    assert Path(where).is_relative_to(installed.parent)
    changes = [word for key, value in SMALL.items() for word in ("--set", f"{key}={value}")]
    lines = call(installed / "manynode", "demo", *changes, "--cores", 2, cwd=tmp_path).splitlines()
    assert lines[-1] == "report: results/demo/report.html"
    assert "</html>" in (tmp_path / "results/demo/report.html").read_text()
    provenance = json.loads((tmp_path / "results/demo/provenance.json").read_text())
    # The same code, whether installed or in a checkout: results of the one are those of the other.
    assert provenance["code"] == code_digest()


def test_an_installed_wheel_uses_nothing_of_the_checkout(installed: Path, tmp_path: Path) -> None:
    shown = call(installed / "manynode", "doctor", cwd=tmp_path)
    assert f"{__version__}, {installed.parent}" in shown
    # CMake reads the version where Python does.
    engine = next(line for line in shown.splitlines() if line.endswith("/manynode-fast"))
    assert f"{__version__}, {installed.parent}/" in engine
    assert str(ROOT) not in shown


def test_generated_files_need_a_checkout(installed: Path, tmp_path: Path) -> None:
    assert "those of a checkout" in call(installed / "manynode", "config", "generate", cwd=tmp_path, code=2)
