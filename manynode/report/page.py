"""Inputs -> one HTML file: the template filled, scripts inlined, a Content-Security-Policy that forbids remote loads.

Everything from the experiment and from files passes jinja2's escaping. Data for the figures is in JSON blocks in which
``<``, ``>`` and ``&`` are escaped. The policy allows exactly the two scripts of this page, by their digests. Vega's
expressions are interpreted, not compiled, because compiling them needs ``unsafe-eval``.
"""

from __future__ import annotations

import base64
import functools
import hashlib
import importlib.metadata
import json
import os
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from manynode import tables
from manynode.command_answer import ANSWER_ID, finite
from manynode.config.own_times import machine_of
from manynode.kept_text import kept_text
from manynode.paths import ROOT
from manynode.report.answer import answer, technique_rows
from manynode.report.draws import other_computation
from manynode.report.figure import Figure, vega_lite_version
from manynode.report.figures import profile_figures, projection_figures, timing_figures
from manynode.report.headline import document
from manynode.report.interval_parts import parts_rows
from manynode.report.job_tables import job_rows, link_rows
from manynode.report.load import Inputs, load, opened
from manynode.report.markup import contents, linked, without_empty_columns
from manynode.report.own_times import own_rows
from manynode.report.phase_table import phase_rows, without_set_up
from manynode.report.picture import picture
from manynode.report.slowest import largest_ranks, slowest_rows
from manynode.report.study_page import study_pages
from manynode.report.sure_lines import sure_lines
from manynode.report.sureness import missing, sureness
from manynode.report.waiting import oversubscribed
from manynode.report.wording import count, duration, number, percent, ranges, signed, size

_HERE = Path(__file__).resolve().parent
MOST_ROWS = 200  # of a figure's data; the CSV file has all


def build_report(directory: Path, output: Path) -> None:
    """Write the report of the results in ``directory`` to ``output``; the same results give the same bytes.

    Raises :class:`InputError` for a folder without ``experiment.json`` or with a damaged file, :class:`OutputError`
    when the file cannot be written.
    """
    with opened(directory):
        tables.write_page(output, render(load(directory), documentation_from(output)))


def documentation_from(page: Path) -> str | None:
    """Return the address of docs/ as seen from a page in the checkout; for others it would be a place of this host."""
    folder = page.resolve().parent
    return Path(os.path.relpath(ROOT / "docs", folder)).as_posix() if ROOT in folder.parents else None


def render(inputs: Inputs, documentation: str | None = None) -> str:
    """Return the page; ``documentation`` as in :func:`fill`."""
    phases, set_up = without_set_up(inputs, phase_rows(inputs))
    experiment = inputs.experiment
    studies = study_pages(inputs)
    resolved = {key: value for key, value in inputs.resolved.items() if key != "application"}
    # The place of the executable differs from host to host and says nothing about the experiment.
    resolved["application"] = {k: v for k, v in inputs.resolved["application"].items() if k != "executable"}
    return fill(
        "page.html.j2",
        documentation=documentation,
        kind="manynode projection",
        title=experiment.title or experiment.name,
        subtitle=_subtitle(inputs),
        inputs=inputs,
        experiment=experiment,
        other_computation=other_computation(inputs.draws),
        oversubscribed=oversubscribed(inputs),
        answer=answer(inputs),
        answer_id=ANSWER_ID,
        answer_document=finite(document(inputs)),
        missing=missing(inputs),
        sure_lines=sure_lines(inputs),
        sureness=sureness(inputs),
        techniques=technique_rows(inputs),
        interval_parts=parts_rows(inputs),
        sections=[
            ("projection", "Projection", projection_figures(inputs)),
            *((name, study.title, study.figures) for name, study in studies.items()),
            ("timings", _whose_times(inputs), timing_figures(inputs)),
            ("profile", "Rank classes", profile_figures(inputs)),
        ],
        words={name: study.sentences for name, study in studies.items()},
        studies=studies,
        phases=phases,
        own_phases=own_rows(inputs),
        set_up=set_up,
        set_up_group=inputs.phase_labels.group,
        slowest=slowest_rows(inputs),
        slowest_of=largest_ranks(inputs),
        jobs=job_rows(inputs),
        link_jobs=link_rows(inputs),
        resolved=json.dumps(resolved, indent=1, sort_keys=True, ensure_ascii=False),
    )


def fill(template: str, *, documentation: str | None = None, **values: object) -> str:
    """Return the page that a template of this folder makes of ``values``, with styles, scripts and policy.

    ``documentation`` is the address of docs/ as seen from the page; without it, the page names documents only.
    """
    bundle, script = vega_bundle(), _inline((_HERE / "page.js").read_text(encoding="utf-8"))
    environment = jinja2.Environment(
        loader=jinja2.ChoiceLoader([jinja2.FileSystemLoader(_HERE), jinja2.FunctionLoader(_at_path)]),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals["MOST_ROWS"] = MOST_ROWS
    environment.filters |= {
        "duration": duration,
        "percent": percent,
        "number": number,
        "ranges": ranges,
        "json_block": json_block,
        "harmless": harmless,
        "count": count,
        "signed": signed,
        "size": size,
        "picture": picture,
        "without_empty_columns": without_empty_columns,
        "contents": contents,
        "linked": functools.partial(linked, documentation=documentation),
    }
    return environment.get_template(template).render(
        **values,
        style=Markup((_HERE / "page.css").read_text(encoding="utf-8")),  # noqa: S704 - a file of this package
        bundle=Markup(bundle),  # noqa: S704 - made by vl-convert, nothing of the experiment in it
        script=Markup(script),  # noqa: S704 - a file of this package
        policy=_policy([bundle, script]),
    )


def _at_path(name: str) -> str | None:
    """Return the template at the path ``name``: that of a study, which lies in the study's folder."""
    path = Path(name)
    return path.read_text(encoding="utf-8") if path.is_absolute() and path.is_file() else None


def json_block(figure: Figure) -> Markup:
    """Return the figure's specification for a script element."""
    return harmless(figure.spec())


def harmless(document: Any) -> Markup:
    """Return the document as JSON that is harmless inside a script element, whatever it contains."""
    text = json.dumps(document, allow_nan=False, separators=(",", ":"))
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text)  # noqa: S704 - no character that HTML knows is left


def _whose_times(inputs: Inputs) -> str:
    return "Compute times of the simulated node" if inputs.own_times is None else "Your own compute times"


def _subtitle(inputs: Inputs) -> str:
    experiment = inputs.experiment
    application = experiment.application
    parts = [
        f"{application.title} ({application.problem})" if application.problem else application.title,
        f"node: {machine_of(inputs.resolved)}, {count(experiment.ranks_per_node, 'rank')}",
        f"network: {experiment.network.name}",
    ]
    return " · ".join(parts)


@functools.cache
def vega_bundle() -> str:
    """Return Vega, Vega-Lite and Vega-Embed as one script.

    Making it takes more than a second, about half the time of a page: the user's cache folder keeps it.
    """
    import platformdirs
    import vl_convert

    version = vega_lite_version()
    made_by = importlib.metadata.version("vl-convert-python")
    return kept_text(
        platformdirs.user_cache_path("manynode") / f"vega-lite-{version}-of-vl-convert-{made_by}.js",
        lambda: _inline(vl_convert.javascript_bundle(vl_version=version)),  # type: ignore[call-arg]  # typed too strictly there
    )


def _inline(script: str) -> str:
    """Return a script that can stand inside a script element."""
    return script.replace("</script", "<\\/script").replace("<!--", "<\\!--").replace("\r", "")


def _policy(scripts: list[str]) -> str:
    digests = " ".join(
        f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'" for script in scripts
    )
    rules: dict[str, Any] = {
        "default-src": "'none'",
        "script-src": digests,
        "style-src": "'unsafe-inline'",
        "img-src": "data: blob:",
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    return "; ".join(f"{name} {value}" for name, value in rules.items())
