"""A campaign of measured collectives: what is simulated for each row, the summary, names that a library ignored."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml

from manynode.config.loader import resolve
from manynode.config.resolved import Resolved
from manynode.errors import EngineFailedError, UsageError
from manynode.report.campaign import summary_lines
from phase3_sst.measured.campaigns.interface import Wanted
from phase3_sst.measured.campaigns.pico import PicoReader
from phase3_sst.point.contract import Measurement
from phase3_sst.studies.validation import collectives
from phase3_sst.studies.validation.campaign_summary import size_class, summarise
from phase3_sst.studies.validation.ignored_names import equal_names, sentence

ROOT = Path(__file__).resolve().parent.parent.parent.parent
PICO = ROOT / "tests/data/calibration/pico/collectives.csv"


def row(**changes: Any) -> dict[str, Any]:
    given = {"collective": "allreduce", "bytes": 8, "nodes": 4, "ranks_per_node": 2, "seconds": 1e-5}
    return {**given, **changes}


def experiment(rows: list[dict[str, Any]], network: str = "", **section: Any) -> Resolved:
    content = yaml.safe_load((ROOT / "configs" / "demo.yaml").read_text())
    content["validation"] = {"collectives": rows, **section}
    if network:
        content["network"] = network
    return resolve(content, where="test", base=ROOT / "configs")


class Clock:
    """An engine: an execution takes 10 us, of which the slowest rank is 6 us in the collective, 5 us in the barrier."""

    def __init__(self) -> None:
        self.runs: list[dict[str, Any]] = []

    def measure(self, run: dict[str, Any], timeout_s: float | None = None) -> Measurement:
        self.runs.append(run)
        times = run["jobs"][0]["application"]["parameters"]["iterations"]
        spent = {"MPI_Barrier": times * 5e-6, "MPI_Allreduce": times * 6e-6, "compute": 1.0}
        return Measurement(times * 10e-6, frozenset(), slowest_s=spent)


def compared(resolved: Resolved, processes: int = 1) -> tuple[pd.DataFrame, list[dict[str, Any]]]:
    engine = Clock()
    return collectives.compare(resolved, engine, processes), engine.runs  # type: ignore[arg-type]


def parameters(run: dict[str, Any]) -> dict[str, Any]:
    return dict(run["jobs"][0]["application"]["parameters"])


@pytest.mark.parametrize(
    ("start", "iterations", "barrier", "simulated"),
    [("row", 4, False, 10e-6), ("together", 1, False, 10e-6), ("barrier", 4, True, 6e-6)],
)
def test_the_start_of_the_executions_decides_which_time_counts(
    start: str, iterations: int, barrier: bool, simulated: float
) -> None:
    found, (run,) = compared(experiment([row()], start=start, iterations=4))
    assert parameters(run)["iterations"] == iterations and parameters(run).get("barrier", False) is barrier
    assert found.loc[0, "simulated_s"] == pytest.approx(simulated)
    assert found.loc[0, "error"] == pytest.approx(simulated / 1e-5 - 1)


def test_a_barrier_begins_with_no_other_barrier() -> None:
    found, (run,) = compared(experiment([row(collective="barrier", bytes=0)], start="barrier", iterations=4))
    assert "barrier" not in parameters(run)
    assert found.loc[0, "simulated_s"] == pytest.approx(10e-6)


def test_a_row_is_simulated_with_its_own_algorithm_placement_and_executions() -> None:
    rows = [
        row(algorithm="segmented-ring", placement="far", iterations=3),
        row(algorithm="auto"),
        row(collective="bcast", algorithm="binomial"),
    ]
    names = {"allreduce": {"segmented-ring": "ring"}}
    placements = {"far": {"nodes": "listed", "hosts": [9, 3, 5, 7]}}
    resolved = experiment(rows, algorithm_names=names, placements=placements)
    chosen = [collectives.run_file(resolved, one) for one in resolved.validation.collectives]  # type: ignore[union-attr]
    assert [run["collectives"]["allreduce"] for run in chosen] == ["ring", "auto", "auto"]
    assert [run["collectives"]["bcast"] for run in chosen] == ["auto", "auto", "binomial"]
    assert chosen[0]["jobs"][0]["hosts"] == [9, 3, 5, 7] and chosen[1]["jobs"][0]["hosts"] == [0, 1, 2, 3]
    assert [parameters(run)["iterations"] for run in chosen] == [3, 10, 10]
    found, _ = compared(resolved)
    assert list(found["simulated_algorithm"]) == ["ring", "auto", "binomial"]
    assert list(found["algorithm"]) == ["segmented-ring", "auto", "binomial"]


def test_rows_with_the_same_simulation_share_it() -> None:
    rows = [row(campaign="monday"), row(campaign="tuesday", seconds=2e-5), row(algorithm="ring"), row(bytes=16)]
    found, runs = compared(experiment(rows), processes=3)
    assert len(runs) == 3
    assert list(found["campaign"]) == ["monday", "tuesday", "", ""]
    assert found.loc[0, "simulated_s"] == found.loc[1, "simulated_s"]
    assert list(found["error"][:2]) == pytest.approx([0.0, -0.5])


def test_the_result_does_not_depend_on_the_processes() -> None:
    resolved = experiment([row(bytes=size) for size in (8, 64, 512, 4096)])
    pd.testing.assert_frame_equal(compared(resolved, 1)[0], compared(resolved, 4)[0])


def test_a_shape_is_folded_onto_a_torus_and_nothing_else() -> None:
    rows = [row(nodes=8, ranks_per_node=1, shape="2x2x2")]
    for network, placement in (("tofu-d", ""), ("tofu-d", "folded"), ("opa100-fat-tree", "")):
        resolved = experiment([{**rows[0], "placement": placement}], network)
        assert resolved.validation is not None
        hosts = collectives.run_file(resolved, resolved.validation.collectives[0])["jobs"][0]["hosts"]
        assert (hosts == list(range(8))) == (network != "tofu-d")
        if network == "tofu-d":
            # Numbers along a (2), b (3), c (2), x ...: the job's dimensions go along x and a, y and b, z and c.
            assert hosts == [0, 1, 2, 3, 6, 7, 8, 9]
    plain = experiment([{**rows[0], "placement": "linear"}], "tofu-d")
    assert plain.validation is not None
    assert collectives.run_file(plain, plain.validation.collectives[0])["jobs"][0]["hosts"] == list(range(8))


@pytest.mark.parametrize(("engine", "chosen"), [("fast", "credits"), ("simgrid", "none")])
def test_flow_control_auto_means_credits_where_the_engine_has_them(engine: str, chosen: str) -> None:
    resolved = experiment([row()])
    assert resolved.network.flow_control == "auto" and resolved.validation is not None
    resolved = resolved.model_copy(update={"simulate": resolved.simulate.model_copy(update={"engine": engine})})
    run = collectives.run_file(resolved, resolved.validation.collectives[0])
    assert run["network"]["flow_control"] == chosen


def test_hosts_that_the_machine_lacks_are_refused_with_their_row() -> None:
    rows = [row(placement="far", campaign="monday")]
    resolved = experiment(rows, placements={"far": {"nodes": "listed", "hosts": [1, 2, 3, 999_999]}})
    assert resolved.validation is not None
    with pytest.raises(UsageError) as caught:
        collectives.run_file(resolved, resolved.validation.collectives[0])
    for word in ("monday, allreduce, 8 bytes on 4 nodes, far", "not on the machine", "999999"):
        assert word in caught.value.render()


def test_a_failed_simulation_names_its_row() -> None:
    class Broken(Clock):
        def measure(self, run: dict[str, Any], timeout_s: float | None = None) -> Measurement:
            if parameters(run)["bytes"] == 64:
                raise EngineFailedError("it broke")
            return super().measure(run, timeout_s)

    with pytest.raises(EngineFailedError, match="allreduce ring, 64 bytes on 4 nodes: it broke"):
        rows = [row(bytes=size, algorithm="ring") for size in (8, 64)]
        collectives.compare(experiment(rows), Broken(), 2)  # type: ignore[arg-type]


def test_an_engine_with_collectives_of_its_own_is_refused_where_a_row_names_its_algorithm() -> None:
    content = yaml.safe_load((ROOT / "configs" / "demo.yaml").read_text())
    content["simulate"] |= {"engine": "sst", "sst": {"collectives": "sst"}}
    content["validation"] = {"collectives": [row()]}
    collectives.check(resolve(content, where="test", base=ROOT / "configs"))
    content["validation"] = {"collectives": [row(algorithm="ring")]}
    with pytest.raises(UsageError, match="would be ignored"):
        collectives.check(resolve(content, where="test", base=ROOT / "configs"))


def points(*rows: tuple[Any, ...]) -> pd.DataFrame:
    """Points of (algorithm, bytes, measured [s], simulated [s])."""
    given = [
        {
            **{"campaign": "c", "collective": "allreduce", "algorithm": name, "simulated_algorithm": name},
            **{"bytes": size, "nodes": 8, "ranks_per_node": 1, "shape": "", "placement": "", "measured_s": measured},
            **{"measured_p10_s": 0.9 * measured, "measured_p90_s": 1.1 * measured, "simulated_s": simulated},
            **{"error": simulated / measured - 1, "within_spread": abs(simulated / measured - 1) <= 0.1},
        }
        for name, size, measured, simulated in rows
    ]
    return pd.DataFrame(given).astype({"within_spread": "boolean"})


def test_the_summary_has_medians_and_shares_by_algorithm_size_and_nodes() -> None:
    errors = (0.04, -0.08, 0.15, -0.30, 0.50)
    sizes = (8, 2048, 1 << 16, 1 << 21, 1 << 21)
    frame = points(*(("ring", size, 1.0, 1 + error) for size, error in zip(sizes, errors, strict=True)))
    frame.loc[4, "algorithm"] = "other"
    found = summarise(frame).set_index(["by", "group"])
    whole = found.loc[("all", "")]
    assert whole["points"] == 5 and whole["median_absolute"] == pytest.approx(0.15)
    # Five values: the 90th percentile lies 0.6 of the way from the fourth to the fifth.
    assert whole["p90_absolute"] == pytest.approx(0.30 + 0.6 * 0.20)
    assert [whole[f"within_{limit}"] for limit in (5, 10, 20, 35)] == pytest.approx([0.2, 0.4, 0.6, 0.8])
    assert whole["median_error"] == pytest.approx(0.04) and whole["within_spread"] == pytest.approx(0.4)
    assert whole["worst_error"] == pytest.approx(0.5) and whole["worst_bytes"] == 1 << 21
    own = found.loc[("algorithm", "allreduce other (as ring)")]
    assert own["points"] == 1 and own["median_absolute"] == pytest.approx(0.5)
    assert list(found.loc["size"].index) == ["below 1 KiB", "1 to 32 KiB", "32 KiB to 1 MiB", "from 1 MiB"]
    assert list(found.loc["size"]["points"]) == [1, 1, 1, 2]
    assert list(found.loc["nodes"].index) == ["8"]


def test_a_size_belongs_to_the_class_that_begins_with_it() -> None:
    assert [size_class(size) for size in (0, 1023, 1024, (1 << 15) - 1, 1 << 15, 1 << 20)] == [
        *("below 1 KiB", "below 1 KiB", "1 to 32 KiB", "1 to 32 KiB", "32 KiB to 1 MiB", "from 1 MiB")
    ]


def test_the_terminal_shows_the_summary_and_lists_what_is_far_off() -> None:
    frame = points(("ring", 8, 1.0, 1.04), ("ring", 64, 1.0, 0.9), ("bruck", 8, 1.0, 1.5), ("bruck", 64, 1.0, 1.7))
    lines = summary_lines(summarise(frame))
    assert lines[0].startswith("The network alone, 4 measured collectives: the median of the absolute error is 30 %")
    assert "25 % within 5 %, 50 % within 10 %, 50 % within 20 % and 50 % within 35 %" in lines[0]
    assert "50 % of the simulated times lie between" in lines[1]
    (bruck,) = [line for line in lines if line.startswith("  allreduce bruck")]
    assert bruck.split()[2:] == [*("2", "60", "%", "68", "%"), *("0", "%") * 4]
    assert lines[-1] == "Algorithms with a median of the absolute error above 20 %: allreduce bruck (60 %)."
    assert "No algorithm has" in summary_lines(summarise(frame[frame["algorithm"] == "ring"]))[-1]


def test_equal_times_under_two_names_at_three_neighbouring_sizes_are_named() -> None:
    sizes = (8, 64, 512, 4096, 32768)
    ring = [("ring", size, 1e-6 * size, 1.0) for size in sizes]
    factors = (1.003, 0.997, 1.009, 1.2, 1.3)
    other = [("segmented", size, 1e-6 * size * factor, 1.0) for size, factor in zip(sizes, factors, strict=True)]
    (found,) = equal_names(points(*ring, *other)).itertuples()
    assert (found.first, found.second, found.bytes) == ("ring", "segmented", "8 64 512")
    assert (found.sizes, found.common_sizes) == (3, 5)
    assert found.largest_difference == pytest.approx(1 - 1 / 1.009)
    text = sentence(found)
    for word in ("c: allreduce on 8 nodes", "'ring' and 'segmented'", "3 of 5 sizes", "8 B, 64 B, 512 B"):
        assert word in text
    # Two sizes in a row may be a crossing.
    apart = [(name, size, time * (1.2 if size == 64 else 1), end) for name, size, time, end in other]
    assert equal_names(points(*ring, *apart)).empty


def test_times_within_each_others_spread_at_every_size_are_named() -> None:
    sizes = (8, 64, 512)
    ring = [("ring", size, 1.0, 1.0) for size in sizes]
    near = [("other", size, 1.05, 1.0) for size in sizes]
    assert len(equal_names(points(*ring, *near))) == 1
    assert equal_names(points(*ring, *near[:2], ("other", 512, 1.3, 1.0))).empty
    unknown = points(*ring, *near).assign(measured_p10_s=math.nan, measured_p90_s=math.nan)
    assert equal_names(unknown).empty


def test_names_that_stand_for_one_algorithm_may_have_equal_times() -> None:
    frame = points(*((name, size, 1.0, 1.0) for name in ("ring", "also-ring") for size in (8, 64, 512)))
    assert len(equal_names(frame)) == 1
    assert equal_names(frame.assign(simulated_algorithm="ring")).empty
    # Other jobs are compared with nothing.
    assert equal_names(frame.assign(campaign=frame["algorithm"])).empty


def test_of_all_measured_names_one_was_ignored_by_its_library() -> None:
    found = []
    for system in ("fugaku", "mare_nostrum", "lumi"):
        rows, _ = PicoReader().read(PICO.read_text(), PICO.name, Wanted(system))
        columns = {"seconds": "measured_s", "p10_s": "measured_p10_s", "p90_s": "measured_p90_s"}
        frame = pd.DataFrame(rows).rename(columns=columns).assign(placement="")
        found += list(equal_names(frame.assign(simulated_algorithm=frame["algorithm"])).itertuples())
    (only,) = found
    assert (only.collective, only.first, only.second, only.nodes) == ("allreduce", "ring", "segmented_ring", 8)
    assert only.bytes == "32 256 2048 16384 131072 1048576" and only.common_sizes == 8
