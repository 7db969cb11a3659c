"""Questions: check, ask, answer beside a baseline, keep running, cancel, pin, note."""

from __future__ import annotations

import re
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from manynode.errors import ManynodeError, UsageError
from phase3_sst.explore.answer import Answer
from phase3_sst.explore.question import question_of
from phase3_sst.explore.server.bodies import Ask, Check, Note, Of, Pin, body
from phase3_sst.explore.server.described import described
from phase3_sst.explore.server.site import Site, worded
from phase3_sst.explore.server.wording import missing, no, reply

_DIGEST = re.compile(r"[0-9a-f]{12,64}")


def digest_of(text: str | None, what: str) -> str:
    """Return a digest from an address; raises UsageError for anything else."""
    if text is None or not _DIGEST.fullmatch(text):
        raise UsageError("this is no digest of a question", where=what, allowed="12 to 64 hexadecimal digits")
    return text


def beside(site: Site, digest: str, baseline: str | None) -> dict[str, Any] | None:
    """Return the answer of ``digest`` with the baseline and how the two differ; None without an answer.

    The paired difference is None where the two have no replica in common or are the same.
    """
    answer = site.explorer.known_by(digest)
    if answer is None:
        return None
    other = site.explorer.known_by(baseline) if baseline else site.baseline()
    if other is None:
        raise UsageError("the baseline has no answer", found=baseline, remedy="pin another question")
    return {"answer": answer.as_json(), "baseline": other.as_json(), "paired": _paired(answer, other)}


def _paired(answer: Answer, other: Answer) -> dict[str, Any] | None:
    if answer.digest == other.digest:
        return None
    try:
        found = answer.paired(other)
    except ValueError:
        return None
    models = answer.models_error(other)
    return {**vars(found), "models": models, "words": found.words(models)}


def routes(site: Site) -> list[Route]:
    explorer = site.explorer

    async def check(request: Request) -> Response:
        asked = await body(request, Check)
        try:
            question = question_of(asked.question)
            digest = explorer.digest(question)
        except ManynodeError as error:
            return no(error)
        return reply({"digest": digest, "question": question.as_json()})

    async def controls(request: Request) -> Response:
        asked = await body(request, Check)
        try:
            question = question_of(asked.question)
            return reply({"controls": [described(control) for control in explorer.controls(question)]})
        except ManynodeError as error:
            return no(error)

    async def ask(request: Request) -> Response:
        asked = await body(request, Ask)
        try:
            question = question_of(asked.question)
            digest = explorer.digest(question)
            known = explorer.known(question)
        except ManynodeError as error:
            site.asking.withdraw(asked.tab)
            return no(error)
        said = {"digest": digest, "question": question.as_json()}
        found = beside(site, digest, asked.baseline) if known is not None else None
        if found is None:
            site.asking.ask(question, digest, asked.tab)
            return reply({**said, "state": "running"}, 202)
        # The page may still wait for this very answer, which then ends as finished, not as cancelled.
        site.asking.withdraw(asked.tab, but=digest)
        await explorer.answer(question)  # it is there: this only notes that it was asked
        site.hub.publish("questions", {})
        return reply({**said, "state": "finished", **found})

    async def answer(request: Request) -> Response:
        digest = digest_of(request.path_params["digest"], "answer")
        baseline = request.query_params.get("baseline")
        found = beside(site, digest, digest_of(baseline, "baseline") if baseline is not None else None)
        return reply(found) if found is not None else missing("this answer")

    async def keep(request: Request) -> Response:
        return reply({"kept": site.asking.keep((await body(request, Of)).digest)})

    async def cancel(request: Request) -> Response:
        return reply({"cancelled": site.asking.cancel((await body(request, Of)).digest)})

    async def pin(request: Request) -> Response:
        asked = await body(request, Pin)
        explorer.pin(asked.digest)
        site.hub.publish("questions", {})
        return reply({"pinned": asked.digest})

    async def note(request: Request) -> Response:
        asked = await body(request, Note)
        explorer.note(asked.digest, asked.note)
        site.hub.publish("questions", {})
        return reply({"note": asked.note})

    return [
        Route("/api/check", worded(check), methods=["POST"]),
        Route("/api/controls", worded(controls), methods=["POST"]),
        Route("/api/ask", worded(ask), methods=["POST"]),
        Route("/api/answer/{digest}", worded(answer), methods=["GET"]),
        Route("/api/keep", worded(keep), methods=["POST"]),
        Route("/api/cancel", worded(cancel), methods=["POST"]),
        Route("/api/pin", worded(pin), methods=["POST"]),
        Route("/api/note", worded(note), methods=["POST"]),
    ]
