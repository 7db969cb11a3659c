"""The situations of a round, dealt into batches that Snakemake runs: on this host or by the executor of a profile.

A situation that has a result is never simulated again: only the missing ones are dealt out. One that fails leaves its
error in its folder and does not stop the others; the next command tries it again. Whatever ended the last run, the next
one goes on.
"""

from __future__ import annotations

import math
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from manynode import tables
from manynode.errors import EngineMissingError, ManynodeError
from manynode.snakemake_run import StepFailedError, run_snakemake, snakemake_command
from phase3_sst.campaign.batch import write_batch
from phase3_sst.campaign.runs import Runs
from phase3_sst.campaign.situation import Situation
from phase3_sst.point.contract import engine_of
from phase3_sst.studies.congestion.situation_progress import SituationProgress

SNAKEFILE = Path(__file__).with_name("situations.smk")
# Of what is expected: for an executor that ends a job which takes more.
_MORE_TIME = 4
_STARTING_MINUTES = 10
_MORE_MEMORY = 1.5
_MB_OF_A_STEP = 1000


def check_engine(runs: Runs) -> None:
    """Raise :class:`EngineMissingError` when the engine is not installed: every situation would fail alike."""
    name = str(runs.simulate["engine"])
    probe = engine_of({"simulate": dict(runs.simulate)}).probe()
    if not probe.available:
        raise EngineMissingError(
            f"the engine {name} is not installed", where="simulate: engine", found=name, remedy=probe.remedy
        )


def cores_of_one(runs: Runs) -> int:
    """Return the number of cores that the simulation of a situation keeps busy."""
    sst = runs.simulate["sst"]
    return int(sst["threads"] * sst["processes"]) if runs.simulate["engine"] == "sst" else 1


def forget_failures(runs: Runs, situations: Sequence[Situation]) -> None:
    """Let situations that failed in an earlier run be tried again: what failed then may have been mended."""
    for situation in situations:
        (runs.folder(situation) / "failure.json").unlink(missing_ok=True)


def deal(situations: Sequence[Situation], size: int, cores: int) -> list[list[Situation]]:
    """Return the situations in batches of at most ``size``, enough for ``cores``; neighbours go to different batches.

    Situations that stand together are alike: in turns, every batch gets some of each kind and takes about as long.
    """
    if not situations:
        return []
    count = max(math.ceil(len(situations) / size), min(cores, len(situations)))
    return [list(situations[first::count]) for first in range(count)]


def simulate_missing(
    runs: Runs,
    situations: Sequence[Situation],
    *,
    batch: int,
    cores: int,
    profile: str | None,
    expected_s: Mapping[str, float],
    memory_bytes: float,
    say: Callable[[str], None],
) -> None:
    """Simulate those of ``situations`` that have no result; their results or failures lie in ``runs`` afterwards.

    ``expected_s`` is the processor time [s] by the situation's folder, ``memory_bytes`` that of the largest one: for
    progress, and for executors. Raises what a step raised where a situation has neither result nor failure.
    """
    missing = runs.missing(situations)
    if not missing:
        return
    plan = runs.output / "campaign"
    # Batches of an earlier run: what they left undone is dealt out anew.
    shutil.rmtree(plan, ignore_errors=True)
    threads = cores_of_one(runs)
    batches = deal(missing, batch, max(1, cores // threads))
    longest = 0.0
    for number, members in enumerate(batches):
        write_batch(plan / f"batch-{number}.json", runs, members)
        longest = max(longest, sum(expected_s.get(runs.folder(one).name, 0.0) for one in members))
    content = {
        "batches": len(batches),
        "threads": threads,
        "mem_mb": _MB_OF_A_STEP + math.ceil(_MORE_MEMORY * memory_bytes / 1e6),
        "runtime": _STARTING_MINUTES + math.ceil(_MORE_TIME * longest / 60) if longest else 24 * 60,
    }
    tables.write_json(plan / "plan.json", "congestion-plan/1", content)
    progress = SituationProgress({runs.folder(one): expected_s.get(runs.folder(one).name) for one in missing})
    say(f"{len(missing)} situations in {len(batches)} steps")
    command = [*snakemake_command(SNAKEFILE, plan / "plan.json", runs.output, cores, profile), "--keep-going"]
    failure: ManynodeError | None = None
    try:
        run_snakemake(command, runs.output / "logs" / "snakemake.log", progress)
    except ManynodeError as error:
        failure = error
    undone = runs.missing(missing)
    if undone:
        raise failure or StepFailedError(f"{len(undone)} situations were not simulated, {undone[0].name} first", 5)
