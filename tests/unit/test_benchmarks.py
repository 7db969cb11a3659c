"""The measurements of benchmarks/: each can be imported, and run.py makes those that it can and names the others."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

FOLDER = Path(__file__).resolve().parent.parent.parent / "benchmarks"


@pytest.fixture
def run() -> Iterator[ModuleType]:
    """Import benchmarks/run.py, and forget its imports afterwards."""
    modules, path = dict(sys.modules), list(sys.path)
    spec = importlib.util.spec_from_file_location("benchmarks_run", FOLDER / "run.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    yield module
    sys.path[:] = path
    for name, loaded in list(sys.modules.items()):
        if name not in modules and Path(getattr(loaded, "__file__", None) or "/").parent == FOLDER:
            del sys.modules[name]


@pytest.mark.parametrize("name", sorted(path.stem for path in FOLDER.glob("[!_]*.py") if path.stem != "run"))
def test_every_measurement_can_be_imported_and_has_figures(run: ModuleType, name: str) -> None:
    assert name in [path.stem for path in run.modules()]
    assert callable(run.load(FOLDER / f"{name}.py").figures)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("loggopsim", "LogGOPSim and txt2bin not found"),
        ("sst_motif", "sst is not on PATH"),
        ("sst_agreement", "the engine sst is not installed"),
        ("sst_ping_pong", "the engine sst is not installed"),
        ("sst_scale", "the engine sst is not installed"),
        ("simgrid_agreement", "the engine simgrid is not installed"),
        ("smpi_truth", "smpicxx is not on PATH"),
        ("gem5_board", "gem5"),
        ("fast_messages", "manynode-fast has not been built"),
        ("fast_scale", "manynode-fast has not been built"),
        ("derived_speed", "manynode-fast has not been built"),
        ("markers_overhead", "marker_calls has not been built"),
        ("markers_run_time", "mpiexec is not on PATH"),
        ("conformance", "mpiexec is not on PATH"),
        ("validation_host", "mpiexec is not on PATH"),
        ("demo_time", "git is not on PATH"),
        ("documentation", "git is not on PATH"),
        ("shipped_configs", "git is not on PATH"),
        ("mapping", "the engine fast is not installed"),
        ("delay", "the engine fast is not installed"),
        ("variability", "the engine fast is not installed"),
        ("fugaku_collectives", "the engine fast is not installed"),
        ("validation_campaign", "the engine fast is not installed"),
        ("point_estimates", "the engine fast is not installed"),
        ("paper_figures", "run the shipped studies first"),
    ],
)
def test_what_the_host_cannot_is_skipped_with_the_reason(
    run: ModuleType,
    name: str,
    words: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("MANYNODE_BUILD_DIR", str(tmp_path))
    for variable in ("LOGGOPSIM", "TXT2BIN"):
        monkeypatch.delenv(variable, raising=False)
    if name == "paper_figures":
        monkeypatch.setattr(run.load(FOLDER / f"{name}.py"), "ROOT", tmp_path)
    assert run.main(["--name", name]) == 0
    lines = [line for line in capfd.readouterr().out.splitlines() if line.startswith(f"{name}: skipped, ")]
    assert len(lines) == 1 and words in lines[0]


def test_one_that_fails_does_not_stop_the_others(
    run: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    head = "from _figure import Skipped, figure\n\n\ndef figures():\n    "
    (tmp_path / "one_fails.py").write_text(f"{head}raise ValueError('no such thing')\n")
    (tmp_path / "two_lacks.py").write_text(f"{head}raise Skipped('there is no telescope here')\n")
    (tmp_path / "zoo.py").write_text(f"{head}return [figure('cages', 3.0, '', 2.0, '<=')]\n")
    monkeypatch.setattr(run, "HERE", tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    assert run.main([]) == 5
    text = capsys.readouterr().out
    assert "one_fails: failed, no such thing" in text
    assert "two_lacks: skipped, there is no telescope here" in text
    assert "DOES NOT HOLD" in text
    assert "skipped: two_lacks" in text and "failed: one_fails" in text
    (tmp_path / "one_fails.py").unlink()
    assert run.main([]) == 6
    assert run.main(["--name", "none"]) == 2


def test_public_programs_of_whole_runs_are_those_of_the_table_and_get_their_steps(
    run: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real_runs = run.load(FOLDER / "_real_runs.py")
    programs = {one.name: one for one in real_runs.PROGRAMS}
    monkeypatch.setenv("MANYNODE_REAL_PROGRAMS", str(tmp_path))
    assert real_runs.there() == []
    for name in real_runs.STEPPED:
        made = tmp_path / programs[name].path
        made.parent.mkdir(parents=True, exist_ok=True)
        made.touch()
        one, two = (real_runs.Run(name, steps, tmp_path / f"run-{steps}") for steps in (7, 14))
        texts = [
            " ".join([*it.command, *(path.read_text() for path in sorted(it.folder.iterdir()))]) for it in (one, two)
        ]
        assert texts[0] != texts[1]
        assert one.command[0] == str(made)
    assert real_runs.there() == list(real_runs.STEPPED)
