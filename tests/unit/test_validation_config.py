"""The section ``validation`` and its CSV tables: their resolved form, and refusals with row and column."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from manynode.config.changes import changed
from manynode.config.hosts_by_rank import placement_of
from manynode.config.loader import load_experiment, resolve
from manynode.config.measured import read_collectives, read_runs, write_collectives, write_runs
from manynode.config.placement import Placement
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


CAMPAIGN = """\
collective,bytes,nodes,ranks_per_node,seconds,campaign,algorithm,shape,placement,iterations,p10_s,p90_s
allgather,4,8,1,2e-5,monday,bruck,2x2x2,,3,1e-5,3e-5
allgather,4,8,1,2.5e-5,monday,neighbour,2x2x2,far,,,
allgather,4,8,1,2.5e-5,tuesday,neighbour,,hosts.csv,,,
barrier,0,4,2,4e-6,,,,random,,,
"""
HOSTS = "rank,host\n" + "".join(f"{rank},{20 - 2 * rank}\n" for rank in range(8))


def campaign(folder: Path, old: str = "", new: str = "", hosts: str = HOSTS, **section: Any) -> Resolved:
    """A campaign of four rows with a part of its table replaced."""
    assert old in CAMPAIGN
    written(folder, CAMPAIGN.replace(old, new) if old else CAMPAIGN)
    (folder / "hosts.csv").write_text(hosts)
    given: dict[str, Any] = {
        "collectives": "measured.csv",
        "placements": {"far": {"nodes": "strided", "stride": 24}},
        "algorithm_names": {"allgather": {"neighbour": "ring"}},
    }
    return experiment(folder, **{**given, **section})


def test_a_campaign_names_algorithm_placement_and_shape_of_each_row(tmp_path: Path) -> None:
    resolved = campaign(tmp_path)
    validation = resolved.validation
    assert validation is not None
    first, second, third, last = validation.collectives
    default = Placement(offset=7)
    assert [validation.algorithm_of(row) for row in validation.collectives] == ["bruck", "ring", "ring", None]
    assert [validation.iterations_of(row) for row in validation.collectives] == [3, 10, 10, 10]
    assert validation.placement_of(first, default) is default
    assert validation.placement_of(second, default).stride == 24
    assert validation.placement_of(third, default).hosts == [20 - 2 * rank for rank in range(8)]
    assert validation.placement_of(last, default).nodes == "random"
    assert (first.extents, first.p10_s, second.p10_s) == ([2, 2, 2], 1e-5, None)
    # The resolved experiment holds the hosts themselves: their file may go.
    (tmp_path / "hosts.csv").unlink()
    again = resolve_json(resolved.content, "again")
    assert again.digest() == resolved.digest()
    write_collectives(tmp_path / "again.csv", [row.model_dump() for row in validation.collectives])
    assert read_collectives(tmp_path / "again.csv") == read_collectives(tmp_path / "measured.csv")


def test_executions_from_a_common_start_are_one(tmp_path: Path) -> None:
    validation = campaign(tmp_path, start="together").validation
    assert validation is not None
    assert {validation.iterations_of(row) for row in validation.collectives} == {1}


def test_a_campaign_that_is_written_elsewhere_takes_its_hosts_along(tmp_path: Path) -> None:
    campaign(tmp_path / "first")
    content = yaml.safe_load((ROOT / "configs" / "demo.yaml").read_text())
    path = tmp_path / "first" / "experiment.yaml"
    section = {"collectives": "measured.csv", "placements": {"far": {"nodes": "random"}}}
    path.write_text(yaml.safe_dump({**content, "validation": section}))
    elsewhere = changed(path, {"simulate.engine": "simgrid"})
    again = resolve(elsewhere, where="test", base=tmp_path)
    assert again.digest("validation") == load_experiment(path).digest("validation")


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        # gaps
        ("allgather,4,8,1,2e-5", "allgather,4,8,1,", [":2, column seconds", "an empty cell", "above 0"]),
        ("allgather,4,8,1,2e-5", "allgather,,8,1,2e-5", [":2, column bytes", "an empty cell"]),
        ("1e-5,3e-5", "1e-5,", [":2, columns p10_s and p90_s", "p10_s alone"]),
        ("1e-5,3e-5", ",3e-5", ["p90_s alone", "both, or neither"]),
        ("barrier,0,4,2,4e-6,,,,random,,,", "barrier,0,4,2", [":5", "4 values", "12: collective"]),
        # units
        ("seconds,", "time_us,", ["a column is missing", "'seconds'", "'time_us'", "must be in seconds"]),
        ("bytes,", "size,", ["add 'bytes'", "'size'", "sizes in bytes"]),
        ("p10_s,p90_s", "p10,p90", ["unknown column", "'p10'", "did you mean 'p10_s'?", "must be in seconds"]),
        ("1e-5,3e-5", "10,30", [":2, columns p10_s, seconds, p90_s", "10, 2e-05, 30", "all three are in seconds"]),
        ("2e-5", "20 us", [":2, column seconds", "'20 us'"]),
        # ranks
        ("2x2x2,,3", "2x2x3,,3", [":2, column shape", "12 places; 8 nodes"]),
        ("2x2x2,,3", "2*2*2,,3", [":2, column shape", "'2*2*2'", "4x4x4"]),
        (",3,1e-5", ",0,1e-5", [":2, column iterations", "'0'", "at least 1"]),
        # duplicates
        ("tuesday,neighbour,,hosts.csv", "monday,neighbour,2x2x2,far", [":4", "given twice", "as in line 3"]),
        # placements
        ("2x2x2,far", "2x2x2,fra", ["row 2 (monday, allgather neighbour, 4 bytes on 8 nodes)", "did you mean 'far'?"]),
        ("random,", "elsewhere,", ["row 4", "unknown placement 'elsewhere'", "add it to 'placements'"]),
        ("random,", "folded,", ["row 4", "needs a shape"]),
        ("hosts.csv", "nowhere.csv", ["a table of hosts does not exist", "placements: nowhere.csv"]),
        ("allgather,4,8,1,2.5e-5,tuesday", "allgather,4,4,1,2.5e-5,tuesday", ["8 ranks on 8 hosts", "4 nodes with 1"]),
        ("allgather,4,8,1,2.5e-5,tuesday", "allgather,4,8,2,2.5e-5,tuesday", ["8 ranks on 8 hosts", "2 ranks each"]),
    ],
)
def test_a_wrong_campaign_is_refused_with_its_row(tmp_path: Path, old: str, new: str, words: list[str]) -> None:
    with pytest.raises(ManynodeError) as caught:
        campaign(tmp_path, old, new)
    for word in words:
        assert word in caught.value.render(), caught.value.render()


@pytest.mark.parametrize(
    ("hosts", "words"),
    [
        ("rank,host\n0,1\n0,2\n", [":3", "a rank is given twice", "as in line 2", "one job"]),
        ("rank,host\n0,1\n2,2\n", ["a rank has no host", "without 1"]),
        ("rank,host\n0,1\n1,1\n2,2\n", ["different numbers of ranks", "1 ranks on host 2, 2 on others"]),
        ("rank,host\n0,\n", [":2, column host", "an empty cell"]),
        ("rank,host\n0,n[1-2]\n", [":2, column host", "'n[1-2]'"]),
        ("rank,node\n0,1\n", ["a column is missing", "host"]),
        ("rank,host\n", ["has no rows"]),
    ],
)
def test_wrong_hosts_are_refused(tmp_path: Path, hosts: str, words: list[str]) -> None:
    with pytest.raises(InputError) as caught:
        campaign(tmp_path, hosts=hosts)
    for word in [*words, "hosts.csv"]:
        assert word in caught.value.render(), caught.value.render()


def test_hosts_by_rank_keep_the_order_of_ranks() -> None:
    placement = placement_of({0: "b", 1: 7, 2: "b", 3: 7}, "test")
    assert placement == {"nodes": "listed", "hosts": ["b", 7], "rank_order": "listed", "slots": [0, 2, 1, 3]}
    by_rank = [placement["hosts"][slot // 2] for slot in placement["slots"]]
    assert by_rank == ["b", 7, "b", 7]


@pytest.mark.parametrize(
    ("section", "words"),
    [
        ({"algorithm_names": {"allgater": {"x": "ring"}}}, ["algorithm_names", "allgater"]),
        ({"algorithm_names": {"allgather": {"x": "Ring!"}}}, ["algorithm_names", "Ring!"]),
        ({"start": "barriers"}, ["start", "barriers", "together"]),
        ({"placements": {"far": {"nodes": "strided", "strid": 2}}}, ["placements", "strid", "did you mean 'stride'?"]),
        ({"placements": {"far": "nowhere.csv"}}, ["placements: far", "nowhere.csv", "rank,host"]),
        ({"placements": {"far": {"nodes": "folded", "shape": [2, 4]}}}, ["has the shape 2x4, the row 2x2x2"]),
    ],
)
def test_a_wrong_key_of_a_campaign_is_refused(tmp_path: Path, section: dict[str, Any], words: list[str]) -> None:
    with pytest.raises(UsageError) as caught:
        campaign(tmp_path, **section)
    for word in words:
        assert word in caught.value.render(), caught.value.render()
