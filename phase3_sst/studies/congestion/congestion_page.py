"""Writes the parts' findings: the study's page, and every table as Parquet and CSV in a folder of the part."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from manynode import __version__, tables
from manynode.config.network import Network
from manynode.provenance import code_digest
from manynode.report.congestion import PartPage, StudyPage, TablePage, build_congestion
from manynode.report.waiting import oversubscribed_study
from phase3_sst.studies.congestion.rounds import Concluded
from phase3_sst.studies.congestion.situation import Situation
from phase3_sst.studies.congestion.situation_runs import Runs
from phase3_sst.studies.congestion.study_file import Study

STUDY_SCHEMA = "congestion-study/1"


def write(
    study: Study,
    runs: Runs,
    concluded: Sequence[Concluded],
    situations: Sequence[Situation],
    digests: Mapping[str, str],
) -> Path:
    """Write tables, ``congestion.json`` and ``congestion.html`` below the study's folder; return the page."""
    output = runs.output
    for part in concluded:
        for name, (schema, frame) in part.findings.tables.items():
            tables.write_table(output / part.name / f"{name}.parquet", schema, frame, {"seed": runs.seed})
            with tables.replacing(output / part.name / f"{name}.csv") as file:
                frame.to_csv(file, index=False)
    profiles = {name: workload.timing_profile for name, workload in runs.workloads.items()}
    page = StudyPage(
        name=study.name,
        title=study.title or study.name,
        network=study.network.name,
        engine=str(runs.simulate["engine"]),
        seed=runs.seed,
        confidence=runs.confidence,
        situations=len(situations),
        failures={one.name: reason for one in situations if (reason := runs.failed(one)) is not None},
        parts=[_page(part) for part in concluded],
        manynode=__version__,
        code=code_digest(),
        tools=_tools(runs, situations),
        digests=dict(digests),
        oversubscribed=oversubscribed_study(
            {name: path for name, path in profiles.items() if path is not None and path.is_file()}
        ),
    )
    parts = {
        part.name: {
            "title": part.title,
            "sentences": list(part.sentences),
            "failure": part.failure,
            "tables": {table.name: table.schema for table in part.tables},
        }
        for part in page.parts
    }
    shared = {field.name: getattr(page, field.name) for field in fields(page) if field.name != "parts"}
    tables.write_json(output / "congestion.json", STUDY_SCHEMA, {**shared, "parts": parts})
    build_congestion(page, output / "congestion.html")
    return output / "congestion.html"


def digests(
    study: Study, settings: Mapping[str, Any], networks: Mapping[str, Network], workloads: Mapping[str, str]
) -> dict[str, str]:
    """Return the digests of the study's file and of the experiments that measure its workloads."""
    sections = [
        {name: section.model_dump(mode="json") for name, section in given.items()} for given in (settings, networks)
    ]
    content = [study.model_dump(mode="json"), *sections]
    whole = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16]
    return {"study": whole, **{f"workload {name}": digest for name, digest in workloads.items()}}


def _page(part: Concluded) -> PartPage:
    # Figures of different parts may have the same name, which is an id in the page.
    figures = [replace(figure, name=f"{part.name}-{figure.name}") for figure in part.findings.figures]
    found = [TablePage(name, schema, frame) for name, (schema, frame) in part.findings.tables.items()]
    return PartPage(part.name, part.title, part.findings.sentences, part.failure, figures, found)


def _tools(runs: Runs, situations: Sequence[Situation]) -> dict[str, str]:
    """Return the network engine and the engines of phase 2 with their versions."""
    tools = {}
    for workload in runs.workloads.values():
        if workload.timing_profile is not None and workload.timing_profile.is_file():
            profile = tables.read_json(workload.timing_profile, "timing-profile/1")
            tools[str(profile.get("engine", "unknown"))] = str(profile.get("engine_version", "unknown"))
    for situation in situations:
        if runs.failed(situation) is None:
            engine = runs.result(situation).document["engine"]
            tools[str(engine["name"])] = str(engine["version"])
            break
    return dict(sorted(tools.items()))
