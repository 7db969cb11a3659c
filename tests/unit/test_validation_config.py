"""The section ``validation`` and its CSV tables: their resolved form, and refusals with row and column."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from manynode.config.changes import changed
from manynode.config.loader import load_experiment, resolve
from manynode.config.measured import read_collectives, read_runs, write_collectives, write_runs
from manynode.config.resolved import Resolved, resolve_json
from manynode.errors import InputError, ManynodeError, UsageError

ROOT = Path(__file__).resolve().parent.parent.parent
RUNS = """\
# Three runs of HPCG
nodes,replica,seconds,compute,MPI_Allreduce
1,0,0.047,0.046,0.001

2,0,0.050,0.046,0.003
2,1,0.052,,
"""
COLLECTIVES = """\
collective,bytes,nodes,ranks_per_node,seconds
allreduce,8,4,2,5.5e-6
barrier,0,4,2,4e-6
"""


def experiment(base: Path, **section: Any) -> Resolved:
    """The demo with a section ``validation`` whose files lie in ``base``."""
    content = yaml.safe_load((ROOT / "configs" / "demo.yaml").read_text())
    content["validation"] = section
    return resolve(content, where="test", base=base)


def written(folder: Path, text: str) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / "measured.csv"
    path.write_text(text, encoding="utf-8")
    return path


def test_the_resolved_experiment_holds_the_table_itself(tmp_path: Path) -> None:
    written(tmp_path, RUNS)
    resolved = experiment(tmp_path, measured="measured.csv")
    measured = resolved.content["validation"]["measured"]
    assert measured[1] == {
        "nodes": 2,
        "replica": 0,
        "seconds": 0.05,
        "operations": {"compute": 0.046, "MPI_Allreduce": 0.003},
    }
    assert measured[2]["operations"] == {}  # an empty cell was not measured
    assert resolve_json(resolved.content, "again").digest() == resolved.digest()


def test_an_experiment_that_is_written_elsewhere_takes_its_tables_along(tmp_path: Path) -> None:
    written(tmp_path / "first", RUNS)
    content = yaml.safe_load((ROOT / "configs" / "demo.yaml").read_text())
    path = tmp_path / "first" / "experiment.yaml"
    path.write_text(yaml.safe_dump({**content, "validation": {"measured": "measured.csv"}}))
    elsewhere = changed(path, {"simulate.engine": "simgrid"})
    assert len(elsewhere["validation"]["measured"]) == 3
    again = resolve(elsewhere, where="test", base=tmp_path)
    assert again.digest("validation") == load_experiment(path).digest("validation")


def test_a_changed_measurement_changes_the_digest_of_its_section_alone(tmp_path: Path) -> None:
    written(tmp_path, RUNS)
    before = experiment(tmp_path, measured="measured.csv")
    written(tmp_path, RUNS.replace("0.050", "0.051"))
    after = experiment(tmp_path, measured="measured.csv")
    others = [key for key in before.content if key != "validation"]
    assert before.digest(*others) == after.digest(*others)
    assert before.digest("validation") != after.digest("validation")
    unread = ["validation.measured"]
    assert before.digest("validation", without=unread) == after.digest("validation", without=unread)


def test_a_key_of_a_section_that_is_left_out_can_be_left_out_of_a_digest() -> None:
    content = yaml.safe_load((ROOT / "configs" / "demo.yaml").read_text())
    resolved = resolve(content, where="test", base=ROOT)
    assert resolved.digest("seed", "validation", without=["validation.measured"]) == resolved.digest(
        "seed", "validation"
    )


def test_tables_that_are_written_are_read_again(tmp_path: Path) -> None:
    runs = read_runs(written(tmp_path, RUNS))
    write_runs(tmp_path / "again.csv", runs, ["made by a test"])
    assert (tmp_path / "again.csv").read_text().startswith("# made by a test\nnodes,replica,seconds,compute,")
    assert read_runs(tmp_path / "again.csv") == runs
    found = read_collectives(written(tmp_path, COLLECTIVES))
    assert found[0]["seconds"] == 5.5e-6
    write_collectives(tmp_path / "again.csv", found)
    assert read_collectives(tmp_path / "again.csv") == found


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("nodes,seconds\n1,2\n", ["a column is missing", ":1", "'replica'"]),
        ("nodes,replica,second\n1,0,2\n", ["is 'second' meant for 'seconds'?"]),
        ("nodes,replica,seconds,allreduce\n1,0,2,1\n", ["unknown column", "did you mean 'MPI_Allreduce'?"]),
        ("nodes,replica,seconds,Compute\n1,0,2,1\n", ["unknown column", "did you mean 'compute'?"]),
        ("nodes,replica,seconds,seconds\n1,0,2,2\n", ["a column is given twice", "seconds"]),
        ("nodes,replica,seconds\n1,0,2,3\n", [":2", "4 values", "3: nodes, replica, seconds"]),
        ("nodes,replica,seconds\n0,0,2\n", [":2, column nodes", "'0'", "at least 1"]),
        ("nodes,replica,seconds\n1.5,0,2\n", ["column nodes", "'1.5'"]),
        ("nodes,replica,seconds\n1,-1,2\n", ["column replica", "at least 0"]),
        ("nodes,replica,seconds\n1,0,0\n", ["column seconds", "above 0"]),
        ("nodes,replica,seconds\n1,0,nan\n", ["column seconds", "'nan'"]),
        ("nodes,replica,seconds\n1,0,1_0\n", ["column seconds", "'1_0'"]),
        ('nodes,replica,seconds\n1,0,"2\n', [":2", "not valid CSV"]),
        ("nodes,replica,seconds\n1,0,2 s\n", ["column seconds", "'2 s'"]),
        ("nodes,replica,seconds,MPI_Send\n1,0,2,-1\n", ["column MPI_Send", "of at least 0"]),
        ("nodes,replica,seconds\n1,0,2\n\n1,0,3\n", [":4", "given twice", "as in line 2", "'replica'"]),
        ("nodes,replica,seconds,compute\n1,0,2,16\n", [":2", "take longer than the run", "divide sums"]),
        ("nodes,replica,seconds\n# nothing\n", ["has no rows"]),
        ("", ["has no rows"]),
    ],
)
def test_a_wrong_table_is_named_with_row_and_column(tmp_path: Path, text: str, words: list[str]) -> None:
    with pytest.raises(InputError) as caught:
        read_runs(written(tmp_path, text))
    message = caught.value.render()
    assert str(tmp_path / "measured.csv") in message
    for word in words:
        assert word in message, message


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("allreduce,8", "allreduced,8", ["column collective", "did you mean 'allreduce'?"]),
        ("allreduce,8,4", "allreduce,8.5,4", ["column bytes", "'8.5'"]),
        ("4,2,4e-6", "4,0,4e-6", [":3, column ranks_per_node", "at least 1"]),
        ("barrier,0", "allreduce,8", [":3", "given twice", "as in line 2"]),
        ("nodes,ranks", "nodes,MPI_Send,ranks", ["unknown column"]),
    ],
)
def test_a_wrong_table_of_collectives_is_named(tmp_path: Path, old: str, new: str, words: list[str]) -> None:
    with pytest.raises(InputError) as caught:
        read_collectives(written(tmp_path, COLLECTIVES.replace(old, new)))
    for word in words:
        assert word in caught.value.render()


@pytest.mark.parametrize(
    ("section", "words"),
    [
        ({"measured": "nowhere.csv"}, ["nowhere.csv", "manynode measured"]),
        ({}, ["'measured'", "'collectives'"]),
        ({"measured": [{"nodes": 3, "replica": 0, "seconds": 1.0}]}, ["no measured node count is projected", "[3]"]),
        ({"measured": [{"nodes": 1, "replica": 0, "seconds": 1.0, "operations": {"Send": 1}}]}, ["operations"]),
        ({"measured": [{"nodes": 1, "replica": 0, "seconds": 1.0}] * 2}, ["given twice"]),
        ({"mesured": "x.csv"}, ["mesured", "did you mean 'measured'?"]),
        (
            {"collectives": [{"collective": "bcast", "bytes": 1, "nodes": 9999, "ranks_per_node": 1, "seconds": 1.0}]},
            ["9999 nodes do not fit"],
        ),
    ],
)
def test_a_wrong_section_is_refused_before_anything_runs(
    tmp_path: Path, section: dict[str, Any], words: list[str]
) -> None:
    with pytest.raises(UsageError) as caught:
        experiment(tmp_path, **section)
    for word in words:
        assert word in caught.value.render()


def test_a_program_without_skeleton_has_nothing_to_compare(tmp_path: Path) -> None:
    content = yaml.safe_load((ROOT / "configs" / "demo.yaml").read_text())
    content["application"] = {"command": ["/bin/true"]}
    content["validation"] = {"measured": [{"nodes": 1, "replica": 0, "seconds": 1.0}]}
    with pytest.raises(ManynodeError, match="needs a skeleton"):
        resolve(content, where="test", base=tmp_path)
