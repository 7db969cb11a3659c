"""``manynode delay``: fits the delay models to measured tables, and applies them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    import pandas as pd

    from manynode.config.network import Network

app = typer.Typer(help="Estimate message delays from link stalls, and run times from delays.", no_args_is_help=True)

NetworkName = Annotated[str, typer.Option(help="a file of configs/networks by name, or a path ending in .yaml")]
Stalls = Annotated[Path, typer.Option(help="table stalled-links/1: run, start_s, end_s, source, target, stalled_share")]


@app.command("fit")
def fit(
    network: NetworkName,
    stalls: Stalls,
    round_trips: Annotated[
        Path, typer.Option(help="table round-trips/1: run, source_node, target_node, start_s, end_s, round_trip_s")
    ],
    output: Annotated[Path, typer.Option(help="model to write (JSON, delay-model/1)")],
    runs: Annotated[
        Path | None, typer.Option(help="table application-runs/1: run, application, nodes, start_s, end_s")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="seed of the intervals of sensitivities")] = 1,
    confidence: Annotated[float, typer.Option(min=0.5, max=0.999, help="confidence level of the intervals")] = 0.95,
) -> None:
    """Fit the latency of messages; with --runs also the delay sensitivity of applications."""
    from phase3_sst.studies.congestion.delay import delay_model_file, fitting, tables_in

    model = fitting.fit_tables(
        _network(network),
        tables_in.read_stalls(stalls),
        tables_in.read_round_trips(round_trips),
        None if runs is None else tables_in.read_runs(runs),
        seed,
        confidence,
    )
    delay_model_file.write_model(output, model)
    trained = model.trained
    words = "" if trained.correlation is None else f"correlation {trained.correlation:.3f}, "
    typer.echo(f"{trained.round_trips} round trips: {words}three quarters are met within {trained.error_p75:.0%}")
    for name, line in model.sensitivities.items():
        known = f"{line.sensitivity:.3g} ({line.low:.3g} to {line.high:.3g})" if line.varies else "0: does not vary"
        typer.echo(f"{name}: delay sensitivity {known}, {line.runs} runs")
    typer.echo(str(output))


@app.command("estimate")
def estimate(
    network: NetworkName,
    stalls: Stalls,
    model: Annotated[Path, typer.Option(help="model from 'manynode delay fit'")],
    output: Annotated[Path, typer.Option(help="table to write, .csv or .parquet")],
    round_trips: Annotated[Path | None, typer.Option(help="round trips to estimate, with or without times")] = None,
    runs: Annotated[Path | None, typer.Option(help="runs of applications to estimate")] = None,
) -> None:
    """Estimate round trips, or run times of applications, under measured stalls."""
    from manynode.errors import UsageError
    from phase3_sst.studies.congestion.delay import fitting, tables_in
    from phase3_sst.studies.congestion.delay.delay_model_file import read_model

    if (round_trips is None) == (runs is None):
        raise UsageError("give either round trips or runs to estimate", allowed="--round-trips or --runs, one of them")
    fitted, machine, table = read_model(model), _network(network), tables_in.read_stalls(stalls)
    if round_trips is not None:
        wanted = tables_in.read_round_trips(round_trips, measured=False)
        found = fitting.estimate_round_trips(fitted, machine, table, wanted)
        schema = fitting.ROUND_TRIP_ESTIMATES_SCHEMA
    else:
        assert runs is not None
        found = fitting.estimate_runs(fitted, machine, table, tables_in.read_runs(runs))
        schema = fitting.RUN_ESTIMATES_SCHEMA
    _write(output, schema, found)
    typer.echo(f"{len(found)} rows: {output}")


def _network(name: str) -> Network:
    from manynode.config.network import Network
    from manynode.config.resolved import checked, included

    return checked(Network, included("network", name, "networks", Path(), "--network"), name, "the network")


def _write(path: Path, schema: str, frame: pd.DataFrame) -> None:
    from manynode import tables
    from manynode.errors import UsageError

    if path.suffix == ".parquet":
        tables.write_table(path, schema, frame)
    elif path.suffix == ".csv":
        with tables.replacing(path) as part:
            frame.to_csv(part, index=False)
    else:
        raise UsageError("unknown format of a table", where="--output", found=path.name, allowed=".csv, .parquet")
