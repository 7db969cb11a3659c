"""``manynode calibrate-collectives``: fits a network to the measured collectives of an experiment."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from phase3_sst.calibration.collective_fit.held_out import HoldOut


def calibrate_collectives(
    experiment: Annotated[
        Path,
        typer.Argument(
            help="experiment with 'validation: collectives': its network is the base, its engine simulates, its "
            "'validation' says which algorithms, placements and starts were measured"
        ),
    ],
    name: Annotated[str, typer.Option(help="name of the calibrated network")],
    output: Annotated[Path, typer.Option(help="network file to write")],
    hold_out: Annotated[
        HoldOut,
        typer.Option(
            help="what the fit may not see, and its error is stated for. sizes: every second size of each algorithm; "
            "nodes: all but the smallest number of ranks; none"
        ),
    ] = "sizes",
    description: Annotated[
        str | None, typer.Option(help="description in the file: the machine and the source of the data")
    ] = None,
    figure: Annotated[Path | None, typer.Option(help="also draw the errors: .html, .png or .svg")] = None,
    table: Annotated[Path | None, typer.Option(help="also write measured and simulated times: .csv")] = None,
    cores: Annotated[int | None, typer.Option(min=1, help="cores to use [default: all]")] = None,
) -> None:
    """Fit overheads, latencies and rates of a network to measured collectives, and write its file."""
    from manynode import tables
    from manynode.config.loader import load_experiment
    from manynode.config.resolved import included, read_yaml
    from manynode.cores import available_cores
    from manynode.errors import UsageError
    from phase3_sst.calibration import fit_figure
    from phase3_sst.calibration.collective_fit import error_figure, file_text, held_out
    from phase3_sst.calibration.collective_fit.fit import fit_collectives
    from phase3_sst.point.contract import engines

    if figure is not None:
        fit_figure.check_format(figure)
    if output.resolve() == experiment.resolve():
        raise UsageError(
            "the network would replace the experiment", where="--output", found=str(output), remedy="give another file"
        )
    resolved = load_experiment(experiment)
    if resolved.validation is None or not resolved.validation.collectives:
        raise UsageError(
            "the experiment has no measured collectives",
            where=str(experiment),
            allowed="validation: collectives: a table (see 'manynode measured')",
        )
    named = read_yaml(experiment, "the experiment")["network"]
    folder = experiment.resolve().parent
    written = included("network", named, "networks", folder, str(experiment)) if isinstance(named, str) else named
    engine = engines.get(resolved.simulate.engine).with_settings(resolved.simulate)
    held = held_out.held_out(resolved.validation.collectives, hold_out)
    found = fit_collectives(resolved, engine, held, cores or available_cores(), lambda line: typer.echo(line, err=True))
    frame = found.comparison
    unseen = frame[frame["held_out"]]
    judged = unseen if len(unseen) else frame
    words = {"sizes": "every second size, which the fit did not see", "nodes": "more ranks than the fit saw"}
    what = words.get(hold_out, "the measurements that the fit saw: nothing was held out")
    remarks = [
        "Written by: "
        + shlex.join(
            [
                "manynode",
                "calibrate-collectives",
                experiment.name,
                "--hold-out",
                hold_out,
                "--name",
                name,
                "--output",
                output.name,
            ]
        ),
        f"Fitted to {len(frame) - len(unseen)} measured collectives by simulation (engine {resolved.simulate.engine}). "
        f"Absolute error of simulated times for {what}:",
        held_out.as_text(judged),
    ]
    if exceptions := held_out.large(judged):
        remarks.append(f"Median above {held_out.LARGE:.0%}: {'; '.join(exceptions)}.")
    notes = file_text.notes(found.parameters, found.solution)
    remarks += [f"Note: {note}." for note in notes]
    text = file_text.text(
        written,
        resolved.network.model_dump(mode="json"),
        found.parameters,
        found.solution,
        name=name,
        description=description or f"Host parameters fitted to the collectives of {experiment.name}.",
        fitted_to=f"collectives ({experiment.name})",
        remarks=remarks,
    )
    with tables.replacing(output) as part:
        part.write_text(text, encoding="utf-8")
    if table is not None:
        with tables.replacing(table) as part:
            frame.to_csv(part, index=False)
    if figure is not None:
        error_figure.write(figure, frame, f"{name}: simulated / measured - 1")
    for remark in remarks[1:]:
        typer.echo(remark)
    typer.echo(str(output))
