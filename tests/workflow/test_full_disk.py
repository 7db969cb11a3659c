"""A disk that is full in one folder or another: an error that names it; the same command continues later."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pipeline
import pytest

from manynode.config.network import Network
from manynode.config.resolved import read_yaml
from manynode.config.simulate import CollectivesSection
from manynode.errors import OutputError
from phase3_sst.checks.probes import ping_pong
from phase3_sst.engines.fast.engine import FastEngine
from phase3_sst.point.run_file import run_of, run_text


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of its own, where this test may mount one; tests give it a size."""
    folder = tmp_path / "small"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(folder)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("mounting a small file system needs root")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def sized(folder: Path, size: str) -> None:
    subprocess.run(["mount", "-o", f"remount,size={size}", str(folder)], check=True)


@pytest.mark.long
def test_a_run_on_a_full_disk_names_it_and_goes_on_when_there_is_room(finished: Path, small: Path, disk: Path) -> None:
    words = (small.parent.parent / "experiment.yaml", disk, ["--measurements-from", finished])
    # Full while measurements are taken over, while Snakemake starts, and while its steps write.
    for size in ("32k", "128k", "320k"):
        sized(disk, size)
        done = pipeline.run(*words)
        text = done.stdout + done.stderr
        assert done.returncode == 5 and "Traceback" not in text, (size, text)
        assert f"where: {disk}" in text and "No space left on device" in text and "free space" in text, (size, text)
    sized(disk, "60m")
    again = pipeline.run(*words)
    assert again.returncode == 0, again.stdout + again.stderr
    assert pipeline.tables(disk / "results" / "tiny") == pipeline.tables(small)


def test_a_full_disk_under_a_native_engine_is_no_mistake_of_the_user(
    disk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run file finds room, the results do not."""
    network = Network.model_validate(read_yaml(pipeline.ROOT / "configs/networks/paper-torus.yaml", "the network"))
    asked = run_of(network, CollectivesSection(), [ping_pong([0, 1], 1024)], seed=1, replicas=[0])
    pages = -(-len(run_text(asked)) // 4096)
    (disk / "filler").write_bytes(bytes((16 - pages - 1) * 4096))
    monkeypatch.setattr("tempfile.tempdir", str(disk))
    with pytest.raises(OutputError) as caught:
        FastEngine().measure(asked)
    assert caught.value.exit_code == 5 and caught.value.where == str(disk)


@pytest.mark.parametrize("arguments", [["config", "default"], ["--version"], ["config", "schema"]])
def test_an_output_that_cannot_be_printed_is_an_error_without_a_traceback(arguments: list[str]) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("the system has no /dev/full")
    command = [sys.executable, "-m", "manynode", *arguments]
    with open("/dev/full", "w") as full:
        done = subprocess.run(command, cwd=pipeline.ROOT, stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 5 and "Traceback" not in done.stderr and "Exception ignored" not in done.stderr
    assert "where: standard output" in done.stderr, done.stderr
