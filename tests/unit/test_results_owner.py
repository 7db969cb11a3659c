"""Results belong to one experiment file: another one of the same name is refused, a moved or copied one is not."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from manynode.errors import UsageError
from manynode.results_owner import claim


def test_a_second_file_of_the_same_name_is_refused(tmp_path: Path) -> None:
    results, first, second = tmp_path / "results" / "ring", tmp_path / "ring.yaml", tmp_path / "my.yaml"
    for file in (first, second):
        file.write_text("name: ring\n")
    claim(results, first, "ring", keep=True)
    claim(results, first, "ring", keep=True)
    with pytest.raises(UsageError, match="another experiment with the same name") as caught:
        claim(results, second, "ring", keep=False)
    assert str(first) in str(caught.value.found) and "my.yaml another name" in str(caught.value.remedy)
    # The changed experiment that is kept beside its results belongs to them.
    (results / "experiment.yaml").write_text("name: ring\n")
    claim(results, results / "experiment.yaml", "ring", keep=True)
    # A copy of the folder elsewhere is free.
    shutil.copytree(results, tmp_path / "copy" / "ring")
    claim(tmp_path / "copy" / "ring", second, "ring", keep=True)
    # The first file has another name by now, then it is gone.
    first.write_text("name: other\n")
    claim(results, second, "ring", keep=False)
    first.unlink()
    claim(results, second, "ring", keep=True)
