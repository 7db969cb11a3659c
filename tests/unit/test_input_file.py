"""Files that users name: only regular files of a bounded size are opened, by whichever command."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from manynode import input_file, tables
from manynode.config.application import read_application
from manynode.config.loader import load_experiment, resolve
from manynode.config.measured import read_collectives, read_runs
from manynode.config.resolved import read_yaml
from manynode.errors import InputError, ManynodeError, UsageError
from manynode.markers import read_marker_file
from phase3_sst.calibration.base_network import read_base
from phase3_sst.calibration.measurements import read_measurements
from phase3_sst.measured.collect import report_format
from phase3_sst.studies.congestion.counters.readers.interface import read_counters
from phase3_sst.studies.congestion.delay import tables_in
from phase3_sst.studies.congestion.mapping.host_file import read_hosts
from phase3_sst.studies.congestion.mapping.snapshot import of_measured
from phase3_sst.studies.congestion.mapping.task_graph import read_matrix
from phase3_sst.studies.congestion.study_file import read_study as read_congestion
from phase3_sst.studies.congestion.variability import runs_table
from phase3_sst.studies.strong.strong_file import read_study as read_strong
from phase3_sst.studies.what_if.what_if_file import read_study as read_what_if

ROOT = Path(__file__).resolve().parent.parent.parent

ONE_LINK = pd.DataFrame({"source": ["a"], "target": ["b"]}, index=pd.Index([0], name="link"))
READERS: dict[str, tuple[str, Callable[[Path], Any]]] = {
    "experiment": ("x.yaml", load_experiment),
    "what-if study": ("x.yaml", read_what_if),
    "strong scaling study": ("x.yaml", read_strong),
    "congestion study": ("x.yaml", read_congestion),
    "base of a calibration": ("x.yaml", lambda path: read_base(str(path))),
    "measured runs": ("x.csv", read_runs),
    "measured collectives": ("x.csv", read_collectives),
    "calibration input": ("x.csv", lambda path: read_measurements([path])),
    "report of a tool": ("x.txt", lambda path: report_format(path, "auto")),
    "counters": ("x.csv", lambda path: read_counters([path])),
    "table of counters": ("x.parquet", lambda path: read_counters([path])),
    "stalls": ("x.csv", tables_in.read_stalls),
    "stalls as Parquet": ("x.parquet", tables_in.read_stalls),
    "hosts": ("x.csv", lambda path: read_hosts(path, 64)),
    "communication matrix": ("x.csv", read_matrix),
    "snapshot": (
        "x.csv",
        lambda path: of_measured(
            path, pd.DataFrame({"source": ["a"], "target": ["b"]}, index=pd.Index([0], name="link"))
        ),
    ),
    "runs of a model": ("x.csv", runs_table.read_runs),
    "runs of a model as Parquet": ("x.parquet", runs_table.read_runs),
    "timing profile": ("x.json", lambda path: tables.read_json(path, "timing-profile/1")),
    "marker file": ("rank-000000.mnmk", read_marker_file),
}


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("kind", ["a pipe", "a device", "a folder", "missing", "an impossible name"])
def test_every_reader_takes_regular_files_only(tmp_path: Path, reader: str, kind: str, watchdog: None) -> None:
    name, read = READERS[reader]
    path = tmp_path / name
    if kind == "a pipe":
        os.mkfifo(path)
    elif kind == "a device":
        path.symlink_to("/dev/zero")
    elif kind == "a folder":
        if reader == "report of a tool":
            pytest.skip("a folder of marker files is such a report")
        path.mkdir()
    elif kind == "an impossible name":
        path = tmp_path / ("x" * 5_000 + name)
    with pytest.raises(ManynodeError) as caught:
        read(path)
    assert "cannot be read" in caught.value.what
    assert kind in str(caught.value.found) or kind in ("missing", "an impossible name")


@pytest.mark.parametrize("key", ["machine", "network", "validation", "jobs"])
def test_files_that_an_experiment_names_are_regular_ones(
    tmp_path: Path, demo: dict[str, Any], key: str, watchdog: None
) -> None:
    name = {"validation": "x.csv", "jobs": "x.json"}.get(key, "x.yaml")
    os.mkfifo(tmp_path / name)
    if key == "validation":
        demo[key] = {"measured": name}
    elif key == "jobs":
        job = {"name": "n", "application": {"name": "hpcg"}, "nodes": 2, "timing_profile": name}
        demo["simulate"]["jobs"] = [job]
    else:
        demo[key] = name
    with pytest.raises(ManynodeError, match="a pipe"):
        resolve(demo, where="test", base=tmp_path)


def test_an_application_s_description_is_a_regular_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, watchdog: None
) -> None:
    monkeypatch.setenv("MANYNODE_SKELETON_DIRS", str(tmp_path))
    os.mkfifo(tmp_path / "application.yaml")
    with pytest.raises(ManynodeError):
        read_application(tmp_path.name)
    (tmp_path / "application.yaml").unlink()
    (tmp_path / "application.yaml").write_text('name: !!bool "x"\n')
    with pytest.raises(InputError, match="is not a boolean"):
        read_application(tmp_path.name)


def test_a_size_is_checked_before_the_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "large.yaml"
    path.touch()
    os.truncate(path, 2**40)
    with pytest.raises(UsageError, match="too large") as caught:
        read_yaml(path, "the experiment")
    assert (caught.value.found, caught.value.allowed) == ("1099511627776 bytes", "4194304 bytes")
    with pytest.raises(InputError, match="too large"):
        read_measurements([path])


def test_text_is_utf_8_with_or_without_a_mark_and_any_ends_of_lines(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"\xef\xbb\xbfa\r\nb\rc\n")
    assert input_file.read_text(path, "a text") == "a\nb\nc\n"
    path.write_bytes("ä".encode("latin-1"))
    with pytest.raises(InputError, match="a text is not text") as caught:
        input_file.read_text(path, "a text")
    assert "0xe4" in str(caught.value.found)


@pytest.mark.parametrize("node", ["²", "9" * 5_000, "-1", "1_0"])
def test_a_host_s_node_is_a_plain_number(tmp_path: Path, node: str) -> None:
    path = tmp_path / "hosts.csv"
    path.write_text(f"host,node\na,{node}\n")
    with pytest.raises(InputError, match="line 2"):
        read_hosts(path, 64)


@pytest.mark.parametrize("reader", ["calibration input", "counters", "measured runs", "report of a tool"])
def test_a_cell_of_any_length_brings_no_traceback(tmp_path: Path, reader: str) -> None:
    name, read = READERS[reader]
    path = tmp_path / name
    rng = np.random.default_rng(1)
    path.write_text("nodes,replica,seconds\n" + '"' + "x" * int(rng.integers(200_000, 300_000)) + "\n")
    with pytest.raises(InputError):
        read(path)
    path.write_text('"' + "x" * 200_000 + "\n1,2\n")
    with pytest.raises(InputError) as caught:
        read(path)
    assert len(caught.value.render()) < 10_000


def test_what_was_made_of_a_file_is_kept_until_the_file_is_another_one(tmp_path: Path) -> None:
    path, made = tmp_path / "one", []

    @input_file.kept_until_changed
    def text(path: Path) -> str:
        made.append(path)
        return path.read_text() if path.is_file() else ""

    assert text(path) == text(path) == "" and len(made) == 2
    path.write_text("abc")
    assert text(path) == text(path) == "abc" and len(made) == 3
    status = path.stat()
    (tmp_path / "other").write_text("xyz")
    os.utime(tmp_path / "other", ns=(status.st_atime_ns, status.st_mtime_ns))
    (tmp_path / "other").rename(path)
    assert text(path) == "xyz" and len(made) == 4
