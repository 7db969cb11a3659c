"""Distributes the points of a study over batches that Snakemake runs, on this host or through a profile's executor.

Only points without a result are simulated. A failed point leaves its error in its folder and does not stop the others;
the next command tries it again. After an interruption, the next run continues.
"""

from __future__ import annotations

import math
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from manynode import tables
from manynode.errors import EngineMissingError, ManynodeError
from manynode.snakemake_run import StepFailedError, run_snakemake, snakemake_command
from phase3_sst.analysis.estimates.step_resources import MB_OF_A_STEP, MORE_MEMORY, MORE_TIME, STARTING_MINUTES
from phase3_sst.campaign.batch import write_batch
from phase3_sst.campaign.campaign_progress import CampaignProgress
from phase3_sst.campaign.cost import Cost, estimate
from phase3_sst.campaign.planned_point import PlannedPoint, forget_failures, missing
from phase3_sst.point.contract import engine_of, engine_of_settings

SNAKEFILE = Path(__file__).with_name("batches.smk")
PLAN_SCHEMA = "campaign-plan/1"

T = TypeVar("T")


@dataclass(frozen=True)
class How:
    """Settings of a campaign: most points per batch, cores, Snakemake's profile, the noun for a point."""

    batch: int
    cores: int
    profile: str | None
    noun: str = "point"


def check_engine(simulate: Mapping[str, Any]) -> None:
    """Raise :class:`EngineMissingError` when the engine is not installed, since every point would fail."""
    name = str(simulate["engine"])
    probe = engine_of_settings(simulate).probe()
    if not probe.available:
        raise EngineMissingError(
            f"the engine {name} is not installed", where="simulate: engine", found=name, remedy=probe.remedy
        )


def deal(points: Sequence[T], size: int, cores: int) -> list[list[T]]:
    """Return batches of at most ``size`` points, enough for ``cores``; neighbours go to different batches.

    Neighbouring points are alike. Round-robin gives every batch some of each kind and about the same run time.
    """
    if not points:
        return []
    count = max(math.ceil(len(points) / size), min(cores, len(points)))
    return [list(points[first::count]) for first in range(count)]


def run(
    output: Path, by_part: Mapping[str, Sequence[PlannedPoint]], how: How, say: Callable[[str], None], indent: str = ""
) -> None:
    """Print the estimate of the points (part of the study -> its points) and simulate those without a result.

    Points that failed in an earlier run are tried again. Raises as :func:`simulate_missing` does.
    """
    everything = list({one.folder: one for group in by_part.values() for one in group}.values())
    forget_failures(output, everything)
    lines, expected = estimate(output, by_part, how.batch, how.cores, how.noun)
    for line in lines:
        say(f"{indent}{line}")
    simulate_missing(output, everything, how, expected, say)


def simulate_missing(
    output: Path,
    points: Sequence[PlannedPoint],
    how: How,
    expected: Mapping[str, Cost],
    say: Callable[[str], None],
) -> None:
    """Simulate those of ``points`` without a result; their results or failures are below ``output`` afterwards.

    ``expected`` is the estimate by the point's folder, for progress and for executors. Raises a step's error when a
    point has neither result nor failure.
    """
    undone = missing(output, points)
    if not undone:
        return
    plan = output / "campaign"
    # Batches of an earlier run are removed; their missing points are distributed again.
    shutil.rmtree(plan, ignore_errors=True)
    each = max(engine_of(one.point.experiment.simulate).cores_of_replica() for one in undone)
    at_once = max(1, how.cores // each)
    batches = deal(undone, how.batch, at_once)
    # Cores without a batch share the replicas of a point.
    processes = max(1, min(at_once // len(batches), max(len(one.point.chosen_replicas) for one in undone)))
    seconds = {one.folder: expected[one.folder].processor_s if one.folder in expected else None for one in undone}
    longest = max(sum(seconds[one.folder] or 0.0 for one in members) for members in batches)
    for number, members in enumerate(batches):
        write_batch(plan / f"batch-{number}.json", members)
    memory = max((cost.memory_bytes for cost in expected.values()), default=0.0)
    content = {
        "batches": len(batches),
        "threads": each * processes,
        "processes": processes,
        "mem_mb": MB_OF_A_STEP + math.ceil(MORE_MEMORY * processes * memory / 1e6),
        "runtime": STARTING_MINUTES + math.ceil(MORE_TIME * longest / 60) if longest else 24 * 60,
    }
    tables.write_json(plan / "plan.json", PLAN_SCHEMA, content)
    progress = CampaignProgress({output / folder: value for folder, value in seconds.items()}, f"{how.noun}s")
    say(f"{len(undone)} {how.noun}s in {len(batches)} steps")
    command = [*snakemake_command(SNAKEFILE, plan / "plan.json", output, how.cores, how.profile), "--keep-going"]
    failure: ManynodeError | None = None
    try:
        run_snakemake(command, output / "logs" / "snakemake.log", progress)
    except ManynodeError as error:
        failure = error
    left = missing(output, undone)
    if left:
        raise failure or StepFailedError(f"{len(left)} {how.noun}s were not simulated, {left[0].name} first", 5)
