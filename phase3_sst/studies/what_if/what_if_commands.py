"""``manynode what-if``: compares alternatives of a machine by cost, time and confidence."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from manynode.command_answer import Json, Quiet, answering, finite, say


def what_if_file() -> dict[str, Any]:
    """Return the model of a what-if study's file, for the reference."""
    from phase3_sst.studies.what_if.what_if_file import WhatIf

    return {"": WhatIf}


def what_if(
    study: Annotated[Path, typer.Argument(help="what-if study (YAML)", metavar="STUDY")],
    output: Annotated[Path | None, typer.Option(help="folder to write (default: results/NAME)")] = None,
    cores: Annotated[int, typer.Option(min=1, help="cores to use")] = os.cpu_count() or 1,
    profile: Annotated[str | None, typer.Option(help="Snakemake profile: default, slurm or a folder")] = None,
    measurements_from: Annotated[
        Path | None, typer.Option(help="results folder whose measured runs are reused where they fit")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", "-n", help="show the alternatives and what they cost, without running them")
    ] = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Compare alternatives: time, cost, energy, Pareto front, and the probability that one is faster."""
    from manynode.hostlock import only_here
    from phase3_sst.campaign.experiments import ExperimentRunner
    from phase3_sst.studies.what_if.alternatives import cases
    from phase3_sst.studies.what_if.what_if_file import read_study
    from phase3_sst.studies.what_if.what_if_sentences import warnings

    described = read_study(study)
    planned = cases(described, study)
    target = output or Path("results") / described.name
    # Every bill is made before anything runs.
    bills = {case.alternative: _bill(described, case) for case in planned if not case.ideal}
    told = warnings(described, [case for case in planned if not case.ideal])
    if dry_run:
        with answering(as_json=as_json) as answer:
            answer(_plan(described, planned, bills, target, told))
        return
    with (
        answering(as_json=as_json, quiet=quiet) as answer,
        only_here(target, what="what-if study", command="what-if", remedy="choose another --output"),
    ):
        for warning in told:
            say(warning)
        runner = ExperimentRunner(cores, profile, measurements_from, typer.echo, shared=True)

        def run(cases: list[Any]) -> None:
            runner.run_whatever_fails([case.planned(target) for case in cases])

        run(planned)
        answer(_conclude(described, planned, bills, target, run))


def bill(
    network: Annotated[str, typer.Argument(help="network: a name of configs/networks/ or a path", metavar="NETWORK")],
    nodes: Annotated[int, typer.Option(min=1, help="number of nodes")],
    prices: Annotated[str, typer.Option(help="prices: a name of configs/prices/ or a path")] = "example",
    as_json: Json = False,
) -> None:
    """Print the bill of materials of a machine: nodes, adapters, switches, cables by class."""
    from manynode.config.network import Network
    from manynode.config.prices import Prices
    from manynode.config.resolved import checked, included
    from phase3_sst.studies.what_if.bill import bill as bill_of
    from phase3_sst.studies.what_if.bill import oversized
    from phase3_sst.studies.what_if.what_if_sentences import life_words

    chosen = checked(Network, included("network", network, "networks", Path(), "bill"), network, "the network")
    priced = checked(Prices, included("prices", prices, "prices", Path(), "bill"), prices, "the price file")
    frame = bill_of(chosen, nodes, priced)
    life, warning = priced.life_cost(frame["cost"].sum(), frame["power_w"].sum()), oversized(chosen, nodes)
    if as_json:
        with answering(as_json=True) as answer:
            answer(
                {
                    "schema": "bill-result/1",
                    "network": chosen.name,
                    "nodes": nodes,
                    "prices": priced.name,
                    "currency": priced.currency,
                    "items": frame.to_dict("records"),
                    "cost": frame["cost"].sum(),
                    "life_cost": life,
                    "power_w": frame["power_w"].sum(),
                    "warnings": [warning] if warning else [],
                }
            )
        return
    typer.echo(f"{'item':<20} {'count':>8} {'price':>10} {'cost':>14} {'power':>10}")
    for _, row in frame.iterrows():
        power = f"{row['power_w'] / 1000:,.1f} kW"
        typer.echo(f"{row['item']:<20} {row['count']:>8,} {row['price']:>10,.0f} {row['cost']:>14,.0f} {power:>10}")
    total = f"{frame['power_w'].sum() / 1000:,.1f} kW"
    typer.echo(f"{'sum, ' + priced.currency:<20} {'':>8} {'':>10} {frame['cost'].sum():>14,.0f} {total:>10}")
    typer.echo(f"{life_words(priced)}: {life:,.0f} {priced.currency}")
    if warning:
        typer.echo(warning)


def _bill(described: Any, case: Any) -> Any:
    from manynode.errors import ManynodeError
    from phase3_sst.studies.what_if.bill import bill as bill_of

    own = described.alternatives[case.alternative]
    try:
        return bill_of(case.resolved.network, case.nodes, described.prices, own)
    except ManynodeError as error:
        raise error.named(f"alternative {case.alternative!r}") from None


def _conclude(
    described: Any, planned: list[Any], bills: dict[str, Any], target: Path, run: Callable[[list[Any]], None]
) -> dict[str, Any]:
    """Analyse the finished cases, write tables and page, print the findings; return them as a document."""
    import pandas as pd

    from manynode import __version__, tables
    from manynode.provenance import code_digest
    from manynode.report.waiting import oversubscribed_study
    from manynode.report.what_if import build_what_if
    from phase3_sst.point.point_result import PointResult
    from phase3_sst.studies.what_if import decide, what_if_sentences
    from phase3_sst.studies.what_if.model_errors import model_errors

    def times(case: Any) -> dict[int, float]:
        runs = described.alternatives[case.alternative].runs
        point = PointResult(case.results(target) / case.point)
        return {replica: runs * time for replica, time in point.makespans_s.items()}

    ideal = {case.alternative: times(case) for case in planned if case.ideal}
    real = [case for case in planned if not case.ideal]
    content = real[0].resolved.content
    confidence, seed = content["simulate"]["confidence"], content["seed"]
    outcomes = [
        decide.Outcome(
            case.alternative,
            case.nodes,
            case.nodes * case.resolved.ranks_per_node,
            times(case),
            ideal.get(case.alternative),
            bills[case.alternative],
        )
        for case in real
    ]
    relevant = content["relevant_difference"]
    drawn, models = described.technique.endswith("var"), model_errors(real, target)
    pairs = decide.pairs(outcomes, confidence, seed, relevant=relevant, drawn=drawn, models=models)
    how = {"within": described.within, "confidence": confidence, "seed": seed, "relevant": relevant}
    table = decide.alternatives(outcomes, described.prices, pairs, **how)
    all_bills = pd.concat([frame.assign(name=name) for name, frame in bills.items()], ignore_index=True)
    tables.write_table(target / "alternatives.parquet", decide.ALTERNATIVES_SCHEMA, table)
    tables.write_table(target / "pairs.parquet", decide.PAIRS_SCHEMA, pairs)
    tables.write_table(target / "bills.parquet", decide.BILLS_SCHEMA, all_bills)
    for name, frame in (("alternatives", table), ("pairs", pairs), ("bills", all_bills)):
        with tables.replacing(target / f"{name}.csv") as part:
            frame.to_csv(part, index=False)
    confirmed = _confirm(described, real, table, target, times, run)
    said = what_if_sentences.sentences(table, pairs, described.within, described.prices, relevant)
    said += [] if confirmed is None else confirmed.summary["sentences"]
    mode = "ext" if described.technique.startswith("ext") else "no-ext"
    profiles = {case.alternative: case.results(target) / f"nodesim/timing-profile-{mode}.json" for case in real}
    warning = oversubscribed_study(profiles)
    document = {
        "name": described.name,
        "title": described.title or described.name,
        "technique": described.technique,
        "application": content["application"]["name"],
        "currency": described.prices.currency,
        "prices": described.prices.name,
        "prices_description": described.prices.description,
        "within": described.within,
        "relevant_difference": relevant,
        "confidence": confidence,
        "seed": seed,
        "sentences": said,
        "warnings": what_if_sentences.warnings(described, real),
        "oversubscribed": warning,
        "confirmed_by": "" if confirmed is None else confirmed.summary["confirmed_by"],
        "manynode": __version__,
        "code": code_digest(),
        "digests": {case.name: case.resolved.digest() for case in planned},
    }
    tables.write_json(target / "what-if.json", "what-if-study/1", document)
    build_what_if(target, target / "what-if.html")
    for sentence in [*([warning] if warning else []), *said, *document["warnings"]]:
        say(sentence)
    say(f"what-if: {target / 'what-if.html'}")
    found = {"alternatives": table, "pairs": pairs, "bills": all_bills}
    return {
        "schema": "what-if-result/1",
        "page": str(target / "what-if.html"),
        **document,
        **{name: finite(frame.to_dict("records")) for name, frame in found.items()},
    }


def _plan(described: Any, planned: list[Any], bills: dict[str, Any], target: Path, told: list[str]) -> dict[str, Any]:
    """Print what the study would run, and return it as a document."""
    from manynode.measurements import MEASURED_SECTIONS

    rows, kinds = [], []
    for case in planned:
        if case.ideal:
            continue
        content, bill = case.resolved.content, bills[case.alternative]
        kind = {key: content[key] for key in MEASURED_SECTIONS}
        if kind not in kinds:
            kinds.append(kind)
        rows.append(
            {
                "name": case.alternative,
                "nodes": case.nodes,
                "ranks": case.nodes * case.resolved.ranks_per_node,
                "machine": content["machine"]["name"],
                "network": content["network"]["name"],
                "measured": kinds.index(kind),
                "cost": bill["cost"].sum(),
                "power_w": bill["power_w"].sum(),
            }
        )
    for row in rows:
        say(
            f"{row['name']}: {row['nodes']:,} nodes of {row['machine']}, {row['ranks']:,} ranks, {row['network']}; "
            f"{row['cost']:,.0f} {described.prices.currency}, {row['power_w'] / 1000:,.1f} kW"
        )
    for warning in told:
        say(warning)
    points = len(planned)
    what = "simulation" if points == 1 else "simulations"
    say(f"{points} {what} by {described.technique}; {len(kinds)} kinds of measured runs; nothing was run")
    return {
        "schema": "what-if-plan/1",
        "name": described.name,
        "output": str(target),
        "alternatives": rows,
        "warnings": told,
    }


def _confirm(
    described: Any,
    real: list[Any],
    table: Any,
    target: Path,
    times: Callable[[Any], dict[int, float]],
    run: Callable[[list[Any]], None],
) -> Any:
    """Simulate the Pareto front again with the confirming engine, and compare; None without ``confirm``."""
    from phase3_sst.studies.confirmation import comparison, second_engine
    from phase3_sst.studies.what_if.alternatives import confirming

    # Files of an earlier run with another study file would be mistaken for this study's.
    for stale in ("confirmation.parquet", "confirmation.json", "confirmation.csv"):
        (target / stale).unlink(missing_ok=True)
    if described.confirm is None:
        return None
    front = set(table.loc[table["front"] | table["maybe_front"], "name"])
    again = confirming(real, front, described.confirm)
    content = real[0].resolved.content
    lacking = second_engine.missing(described.confirm.engine, real[0].resolved.simulate)
    if not lacking:
        run(again)
    first = {case.alternative: case for case in real}
    pairs = [
        # Alternatives of different sizes are compared by the time of the whole work.
        comparison.Pair(case.alternative, described.technique, 0, times(first[case.alternative]), times(case), {})
        for case in ([] if lacking else again)
    ]
    engine = content["simulate"]["engine"]
    found = comparison.compare(pairs, engine, described.confirm.engine, content, lacking)
    sizes = {case.alternative: case.nodes for case in again}
    found.table["nodes"] = [sizes[name] for name in found.table["variant"]]
    comparison.write(found, target / "confirmation.parquet")
    found.table.to_csv(target / "confirmation.csv", index=False)
    return found
