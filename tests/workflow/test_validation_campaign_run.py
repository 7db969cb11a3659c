"""A campaign of measured collectives in one step of the workflow, with the real engines."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pipeline
import pytest
import yaml
from described_tables import described

from manynode.config.loader import resolve
from phase3_sst.point.contract import engine_of
from phase3_sst.studies.validation.collectives import compare

RULE = "phase3_validate_collectives"
SIZES = (8, 64, 512, 4096)


def table(folder: Path) -> None:
    """Three algorithms; the library ignored the name of the second."""
    header = "collective,bytes,nodes,ranks_per_node,seconds,campaign,algorithm,placement,p10_s,p90_s\n"
    rows = [
        f"{kind},{size},4,1,{time:.3e},monday,{name},{place},{time / 2:.3e},{2 * time:.3e}\n"
        for kind, name, place, factor in (
            ("allreduce", "ring", "", 1.0),
            ("allreduce", "segmented", "", 1.001),
            ("allgather", "bruck", "far", 0.5),
        )
        for size in SIZES
        for time in (factor * (1e-5 + size * 1e-9),)
    ]
    (folder / "campaign.csv").write_text(header + "".join(rows))


def campaign(folder: Path, **section: Any) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    table(folder)
    names = {"allreduce": {"segmented": "reduce_bcast"}}
    given = {"collectives": "campaign.csv", "start": "barrier", "iterations": 2, "algorithm_names": names}
    placements = {"far": {"nodes": "strided", "stride": 24}}
    return pipeline.write(folder, pipeline.tiny(validation={**given, "placements": placements, **section}))


def test_one_step_simulates_the_campaign_and_the_terminal_shows_its_summary(tmp_path: Path) -> None:
    file = campaign(tmp_path)
    done = pipeline.run(file, tmp_path, ["--until", RULE])
    assert done.returncode == 0, done.stdout + done.stderr
    results = tmp_path / "results" / "tiny"
    # Nothing is measured on this host for it.
    assert pipeline.rules((results / "logs/snakemake.log").read_text()) == {RULE}
    assert "measured runs to come" not in done.stdout
    assert "The network alone, 12 measured collectives: the median of the absolute error is" in done.stdout
    assert "allreduce segmented (as reduce_bcast)" in done.stdout
    warned = "allreduce on 4 nodes: 'ring' and 'segmented' have equal times at 4 of 4 sizes"
    assert warned in done.stdout + done.stderr
    kinds = {f"validation-{name}" for name in ("collectives/2", "collectives-summary/1", "equal-names/1")}
    assert kinds <= described(results)
    points = pd.read_parquet(results / "validation_collectives.parquet")
    assert len(points) == 12 and (points["simulated_s"] > 0).all()
    # The same measured times, but other algorithms were simulated.
    ring, other = (points[points["algorithm"] == name]["simulated_s"].to_numpy() for name in ("ring", "segmented"))
    assert (ring != other).all()


@pytest.mark.long
def test_any_number_of_processes_gives_the_same_bytes(tmp_path: Path) -> None:
    contents = []
    for cores in (1, 2):
        folder = tmp_path / str(cores)
        file = campaign(folder)
        done = pipeline.manynode("run", file, "--cores", cores, "--directory", folder, "--until", RULE)
        assert done.returncode == 0, done.stdout + done.stderr
        names = ("validation_collectives", "validation_collectives_summary", "validation_equal_names")
        contents.append([(folder / f"results/tiny/{name}.parquet").read_bytes() for name in names])
    assert contents[0] == contents[1]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (
            {"algorithm_names": {"allreduce": {"segmented": "rabenseifer"}}},
            ["allreduce segmented", "unknown algorithm", "rabenseifer", "reduce_scatter_allgather"],
        ),
        ({"algorithm_names": {}}, ["unknown algorithm", "segmented", "validation: algorithm_names: allreduce"]),
        (
            {"placements": {"far": {"nodes": "listed", "hosts": [1, 2, 3, 99999]}}},
            ["allgather bruck", "far", "a listed node is not on the machine", "99999"],
        ),
    ],
)
def test_a_wrong_campaign_is_refused_before_anything_runs(
    tmp_path: Path, changes: dict[str, Any], words: list[str]
) -> None:
    done = pipeline.manynode("config", "check", campaign(tmp_path, **changes))
    assert done.returncode == 2 and "Traceback" not in done.stderr
    for word in words:
        assert word in done.stderr, done.stderr


def test_collectives_of_an_experiment_without_skeleton_are_checked_as_well(tmp_path: Path) -> None:
    table(tmp_path)
    content = pipeline.tiny(
        application={"command": ["/bin/true"], "mpi": "mpich"}, validation={"collectives": "campaign.csv"}
    )
    del content["nodes"]
    done = pipeline.manynode("config", "check", pipeline.write(tmp_path, content))
    assert done.returncode == 2 and "unknown placement 'far'" in done.stderr
    content["validation"]["placements"] = {"far": {"nodes": "random"}}
    done = pipeline.manynode("config", "check", pipeline.write(tmp_path, content))
    assert done.returncode == 2 and "unknown algorithm" in done.stderr, done.stderr


def simulated(start: str, collective: str, nodes: int, bytes_: int = 8, **simulate: Any) -> float:
    """Return a collective's simulated latency by the engine."""
    content = yaml.safe_load((pipeline.ROOT / "configs" / "demo.yaml").read_text())
    content["simulate"] = {**content["simulate"], **simulate}
    row = {"collective": collective, "bytes": bytes_, "nodes": nodes, "ranks_per_node": 1, "seconds": 1.0}
    algorithm = {"bcast": "binomial", "allreduce": "recursive_doubling"}[collective]
    rows = [{**row, "algorithm": algorithm}]
    content["validation"] = {"collectives": rows, "start": start, "iterations": 8}
    resolved = resolve(content, where="test", base=pipeline.ROOT / "configs")
    return float(compare(resolved, engine_of(resolved.simulate)).loc[0, "simulated_s"])


@pytest.mark.parametrize("engine", ["fast", "simgrid"])
def test_ranks_that_leave_a_barrier_together_take_the_same_time_after_it(engine: str) -> None:
    # Two ranks exchange in the barrier and in the allreduce: neither is ever ahead.
    times = [simulated(start, "allreduce", 2, engine=engine) for start in ("row", "barrier", "together")]
    assert times == pytest.approx([times[0]] * 3, rel=1e-3)


def test_without_a_barrier_the_root_runs_ahead() -> None:
    # In a row, the root sends the next broadcast while the last leaves still receive the first.
    row, barrier, together = (simulated(start, "bcast", 16) for start in ("row", "barrier", "together"))
    assert row < 0.9 * barrier
    # After a barrier, ranks start a little apart; the slowest takes about as long as from a common start.
    assert barrier == pytest.approx(together, rel=0.35)
