"""Which earlier results an experiment may take its measured runs from."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from manynode.config.loader import load_experiment
from manynode.errors import UsageError
from manynode.measurements import adopt, fit, reused
from manynode.tables import write_json

ROOT = Path(__file__).resolve().parent.parent.parent


def test_a_tail_is_of_the_fit_and_not_of_the_measured_runs(tmp_path: Path) -> None:
    resolved = load_experiment(ROOT / "configs" / "demo.yaml")
    for tail, warmup, fits in (({"threshold": 0.9}, 0, True), (None, 0, True), (None, 3, False)):
        content = json.loads(json.dumps(resolved.content))
        content["nodesim"] |= {"tail": tail, "warmup": warmup}
        write_json(tmp_path / "experiment.json", "experiment/1", {"experiment": content})
        assert fit(tmp_path, resolved) is fits
    # From a version without tails.
    del content["nodesim"]["tail"]
    content["nodesim"]["warmup"] = 0
    write_json(tmp_path / "experiment.json", "experiment/1", {"experiment": content})
    assert fit(tmp_path, resolved)


def test_own_compute_times_can_reuse_nothing(tmp_path: Path) -> None:
    own = load_experiment(ROOT / "configs" / "own-times.yaml")
    write_json(tmp_path / "experiment.json", "experiment/1", {"experiment": own.content})
    with pytest.raises(UsageError, match="measures nothing that could be reused"):
        adopt(tmp_path, tmp_path / "target", own)
    # They lend none either, although all that is measured is the same.
    assert not fit(tmp_path, own.model_copy(update={"own_times": None}))


def test_a_folder_of_results_gives_those_that_fit(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    resolved = load_experiment(ROOT / "configs" / "demo.yaml")
    for name, seed in (("other", 7), ("same", resolved.seed + 1)):
        content = json.loads(json.dumps(resolved.content)) | {"seed": seed}
        if name == "other":
            content["ranks_per_node"] += 1
        write_json(tmp_path / name / "experiment.json", "experiment/1", {"experiment": content})
        (tmp_path / name / "profile" / "nodes-1").mkdir(parents=True)
        (tmp_path / name / "profile" / "nodes-1" / "counters.parquet").touch()
    # The experiment's own results, interrupted while they were measured.
    shutil.copytree(tmp_path / "same", tmp_path / "demo")
    (tmp_path / "demo" / "profile" / "nodes-1" / "counters.parquet").unlink()
    assert reused(tmp_path, resolved) == tmp_path / "same"
    # A folder that is named itself is kept: taking its runs over says in what it differs.
    assert reused(tmp_path / "other", resolved) == tmp_path / "other"
    assert reused(None, resolved) is None and capsys.readouterr().out == ""
    (tmp_path / "same" / "experiment.json").unlink()
    assert reused(tmp_path, resolved) is None
    assert capsys.readouterr().out == f"no measurements in {tmp_path} fit demo: measuring it\n"
