"""Expected cost of an experiment's simulated nodes, which depends on the engine."""

from __future__ import annotations

from pathlib import Path

from manynode.config.resolved import Resolved
from manynode.measured_runs import MeasuredRun
from manynode.qemu.choice import uses_qemu
from manynode.steps import CONTROL
from manynode.tables import read_json
from phase2_nodesim.engines._interface import ENGINES
from phase2_nodesim.gem5.estimate import profiled_instructions
from phase2_nodesim.jobs import choose_engine


def node_runs(experiment: Resolved, results: Path) -> list[MeasuredRun]:
    """Return the runs of a resolved experiment, those with external ranks first.

    Which nodes are simulated beside external ranks is known once phase 1 has left its classes in ``results``.
    """
    runs = []
    modes = {"ext" if name.startswith("ext") else "no-ext" for name in experiment.techniques}
    if "ext" in modes:
        classes = results / "profile" / "rank-classes.json"
        chosen: list[int | None] = [None]
        if classes.is_file():
            chosen = [int(node) for node in read_json(classes, "rank-classes/1")["representative_nodes"]]
        runs += [node_run(experiment, results, "ext", node) for node in chosen]
    if "no-ext" in modes:
        runs.append(node_run(experiment, results, "no-ext", 0))
    if experiment.nodesim.qemu.control and uses_qemu(experiment)[0]:
        first = runs[0]
        node = first.wildcards.get("node")
        runs.append(
            node_run(experiment, results, first.wildcards["mode"] + CONTROL, None if node is None else int(node))
        )
    return runs


def node_run(
    experiment: Resolved, results: Path, mode: str, node: int | None, engine: str | None = None
) -> MeasuredRun:
    """Return the run of one simulated node; None means that the node, or the engine, is not known yet."""
    section, each, threads = experiment.nodesim, experiment.ranks_per_node, experiment.application.threads
    external, control = mode.startswith("ext"), mode.endswith(CONTROL)
    nodes = section.nodes if external else 1
    engine = engine or choose_engine(experiment)[0]
    cost = ENGINES.get(engine).cost(section, each, nodes, threads)
    expected = None
    if cost.instructions_per_s is not None and node is not None:
        counters = results / "profile" / "counters.parquet"
        instructions = profiled_instructions(counters, nodes, list(range(node * each, (node + 1) * each)))
        if instructions is not None:
            expected = (instructions / cost.instructions_per_s, instructions / cost.instructions_per_s)
    return MeasuredRun(
        rule="phase2_simulate_node",
        wildcards={"mode": mode} if node is None else {"mode": mode, "node": str(node)},
        output="" if node is None else f"nodesim/{mode}/node-{node}/segments.parquet",
        step="phase 2, a node " + ("with external ranks" if external else "alone") + (", a control" if control else ""),
        tool=engine,
        ranks=nodes * each,
        slowed=cost.ranks,
        threads=threads,
        slow_down=cost.slow_down,
        cores=cost.cores,
        expected_s=expected,
    )
