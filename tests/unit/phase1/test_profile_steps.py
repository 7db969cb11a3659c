"""From counter tables to a rank-classes file, and the inputs that are refused."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from phase1_jobs import job

from manynode import tables
from manynode.errors import InputError, UsageError
from manynode.rank_classes import assign_classes, read_rank_classes
from phase1_profile import counters, figures
from phase1_profile.parameters import ClassifyParameters
from phase1_profile.steps import classify


def root(rank: int) -> float:
    return 1.2 if rank == 0 else 1.0


@pytest.fixture
def root_tables(tmp_path: Path) -> list[Path]:
    """An application whose rank 0 does 20 % more, profiled at 1, 2 and 4 nodes of 4 ranks, twice."""
    paths = []
    for nodes in (1, 2, 4):
        for repetition in (0, 1):
            frame = job(nodes, 4 * nodes, repetition=repetition, factor=root, noise=0.002, seed=5)
            paths.append(tmp_path / f"{nodes}-{repetition}.parquet")
            counters.write(paths[-1], frame, {"source": "perf_event", "source_reason": "it can be used"})
    return paths


def test_the_root_of_a_tree_is_found_described_and_carried_over(root_tables: list[Path], tmp_path: Path) -> None:
    output = tmp_path / "rank-classes.json"
    classify(root_tables, output, seed=3)
    content = read_rank_classes(output)
    assert content["source"] == "perf_event"
    assert content["nodes_profiled"] == [1, 2, 4]
    assert content["reference_nodes"] == 4
    assert [item["ranks"] for item in content["classes"]] == [list(range(1, 16)), [0]]
    assert "20." in content["classes"][1]["description"] or "19." in content["classes"][1]["description"]
    assert "more instructions" in content["classes"][1]["description"]
    assert content["representative_nodes"] == [0]
    assert content["stability"]["stable"] is True
    assert content["assignment"] == {"fixed": {"0": "1"}, "shares": {"0": 1.0}}
    assert assign_classes(content, 1000, 1) == ["1"] + ["0"] * 999


def test_equal_ranks_are_one_class_and_need_one_node(tmp_path: Path) -> None:
    path, output = tmp_path / "c.parquet", tmp_path / "r.json"
    counters.write(path, job(8, 32, noise=0.001), {"source": "callgrind"})
    classify([path], output)
    content = read_rank_classes(output)
    assert [item["description"] for item in content["classes"]] == ["all ranks"]
    assert content["representative_nodes"] == [0]


def test_counters_of_two_sources_are_not_classified_together(tmp_path: Path) -> None:
    """They count differently: callgrind's branches are fewer than the processor's."""
    for nodes, source in ((1, "callgrind"), (2, "qemu")):
        counters.write(tmp_path / f"{nodes}.parquet", job(nodes, 4 * nodes), {"source": source})
    with pytest.raises(InputError, match="different sources") as caught:
        classify([tmp_path / "1.parquet", tmp_path / "2.parquet"], tmp_path / "r.json")
    assert caught.value.found == "callgrind, qemu" and "profile: source" in str(caught.value.remedy)


def test_the_same_tables_give_the_same_bytes_in_any_order(root_tables: list[Path], tmp_path: Path) -> None:
    classify(root_tables, tmp_path / "a.json", seed=1)
    classify(root_tables[::-1], tmp_path / "b.json", seed=1)
    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()


def test_a_reference_can_be_chosen_among_the_profiled_sizes(root_tables: list[Path], tmp_path: Path) -> None:
    classify(root_tables, tmp_path / "a.json", reference_nodes=2)
    assert len(read_rank_classes(tmp_path / "a.json")["rank_class"]) == 8
    with pytest.raises(UsageError, match="1, 2, 4"):
        classify(root_tables, tmp_path / "a.json", reference_nodes=3)


def test_a_single_rank_is_a_class(tmp_path: Path) -> None:
    path = tmp_path / "c.parquet"
    counters.write(path, job(1, 1), {})
    classify([path], tmp_path / "r.json")
    assert read_rank_classes(tmp_path / "r.json")["rank_class"] == {"0": "0"}


def test_a_noise_floor_of_zero_works_with_exact_counts(tmp_path: Path) -> None:
    path = tmp_path / "c.parquet"
    counters.write(path, job(2, 8, factor=lambda rank: 1.001 if rank == 7 else 1.0, drop=("cycles",)), {})
    settings = ClassifyParameters(noise_floor=0.0)
    classify([path], tmp_path / "r.json", parameters=settings)
    assert read_rank_classes(tmp_path / "r.json")["classes"][1]["ranks"] == [7]
    classify([path], tmp_path / "r.json")
    assert len(read_rank_classes(tmp_path / "r.json")["classes"]) == 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda f: f.drop(columns="loads"), "no column loads"),
        (lambda f: f[f["rank"] != 1], "no row for rank 1"),
        (lambda f: pd.concat([f, f]), "twice"),
        (lambda f: f.assign(instructions=-1.0), "instructions"),
        (lambda f: f.assign(nodes=0), "nodes"),
        (lambda f: f.assign(phase="x"), "phase ''"),
        (lambda f: f[:0], "no rows"),
    ],
)
def test_an_unsound_counter_table_is_refused(change: object, message: str, tmp_path: Path) -> None:
    path = tmp_path / "c.parquet"
    tables.write_table(path, counters.SCHEMA, change(job(2, 4)))  # type: ignore[operator]
    with pytest.raises(InputError, match=message):
        classify([path], tmp_path / "r.json")
    assert not (tmp_path / "r.json").exists()


def test_nothing_to_classify_and_a_missing_table_are_errors(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no counter table"):
        classify([], tmp_path / "r.json")
    with pytest.raises(InputError):
        classify([tmp_path / "absent.parquet"], tmp_path / "r.json")


@pytest.mark.parametrize("key, value", [("max_classes", 0), ("coverage", 0.0), ("noise_floor", 1.0), ("features", ())])
def test_a_parameter_out_of_bounds_is_named(key: str, value: object) -> None:
    with pytest.raises(UsageError, match=key):
        ClassifyParameters(**{key: value})  # type: ignore[arg-type]


def test_figures_have_a_row_for_every_mark(root_tables: list[Path], tmp_path: Path) -> None:
    classify(root_tables, tmp_path / "r.json")
    content, table = read_rank_classes(tmp_path / "r.json"), counters.read(root_tables)
    ranks = figures.ranks_in_feature_space(table, content)
    assert len(ranks) == 4 + 8 + 16
    assert ranks[ranks["class"] == "1"]["rank"].tolist() == [0, 0, 0]
    assert ranks.loc[ranks["rank"] == 0, "instructions_relative"].between(0.19, 0.21).all()
    assert ranks[["component_1", "component_2"]].notna().all().all()
    assert len(figures.class_features(content)) == 2 * 4
    assert figures.classes_on_nodes(table, content)["ranks"].sum() == 28
    assert len(figures.shares_by_size(content)) == 6
    assert figures.class_phases(table, content).empty


def test_a_job_that_lacks_half_its_ranks_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "c.parquet"
    counters.write(path, job(2, 4), {"source": "callgrind"})
    assert len(counters.read([path], ranks_per_node=2)) > 0
    with pytest.raises(InputError, match=r"(?s)c\.parquet.*4 ranks of a job on 2 nodes.*8 ranks, 4 on each node"):
        counters.read([path], ranks_per_node=4)
