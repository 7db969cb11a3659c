"""The explore server refuses what is not of its own page: every route, without the token and with everything wrong."""

from __future__ import annotations

import asyncio
import json
import re
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import explore_bases
import explore_site
import httpx
import pytest
from conftest import made_once

from phase3_sst.explore import works
from phase3_sst.explore.explorer import Explorer
from phase3_sst.explore.question import question_of
from phase3_sst.explore.server.app import application
from phase3_sst.explore.server.events import Hub
from phase3_sst.explore.server.security import HEADERS, MOST_BODY_BYTES

DIGEST = "0123456789abcdef"
QUESTION: dict[str, Any] = {"changes": {}, "nodes": 8, "technique": "ext-var", "losses": False}
AXES: dict[str, Any] = {
    "x": {"keys": ["network.link.bandwidth"], "kind": "bandwidth", "low": "25 Gbit/s", "high": "400 Gbit/s"},
    "y": {"keys": ["network.link.latency"], "kind": "time", "low": "10 ns", "high": "1 us"},
}
# A right body for every route that takes one; a route without an entry fails the scan.
BODIES: dict[str, dict[str, Any]] = {
    "/api/check": {"question": QUESTION},
    "/api/controls": {"question": QUESTION},
    "/api/ask": {"question": QUESTION, "tab": "testtest"},
    "/api/keep": {"digest": DIGEST},
    "/api/cancel": {"digest": DIGEST},
    "/api/pin": {"digest": None},
    "/api/note": {"digest": DIGEST, "note": "a note"},
    "/api/map": {"question": QUESTION, **AXES, "most": 4},
    "/api/inverse": {"question": QUESTION, "axis": AXES["x"], "sense": "least", "loss": 0.05},
    "/api/search/cancel": {"search": DIGEST},
    "/api/costs": {"prices": None, "together": False},
    "/api/export/study": {"question": QUESTION, **AXES},
}


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = made_once(tmp_path_factory, "explore-small", explore_bases.run_small) / "results" / "small"
    return explore_bases.copied(made, tmp_path_factory.mktemp("server"))


@pytest.fixture(scope="module")
def site(results: Path) -> Iterator[explore_site.Site]:
    with explore_site.exploring(results) as running:
        yield running


@pytest.fixture(scope="module")
def routes(results: Path) -> list[tuple[str, str]]:
    """Method and address of every route of the application, with a digest in place of a parameter."""
    found = []
    for route in application(Explorer(results, cores=1)).routes:
        methods = set(route.methods) - {"HEAD"}
        assert len(methods) == 1, f"{route.path} has several methods"
        found.append((methods.pop(), re.sub(r"\{\w+\}", DIGEST, route.path)))
    assert len(found) == len(set(found)) > 20
    return found


def sent(site: explore_site.Site, method: str, target: str, **headers: Any) -> int:
    body = json.dumps(BODIES[target]).encode() if method == "POST" else None
    status, _ = site.call(method, target, body, {key.replace("_", "-"): value for key, value in headers.items()})
    return status


def test_no_route_answers_without_the_cookie(site: explore_site.Site, routes: list[tuple[str, str]]) -> None:
    other = site.cookie[:-1] + ("a" if site.cookie[-1] != "a" else "b")
    for method, target in routes:
        for cookie in (None, "", other, site.cookie.partition("=")[0] + "="):
            assert sent(site, method, target, Cookie=cookie) == 403, f"{method} {target} answers {cookie!r}"


def test_no_route_answers_a_foreign_host_or_origin(site: explore_site.Site, routes: list[tuple[str, str]]) -> None:
    for method, target in routes:
        for host in ("evil.example", f"evil.example:{site.port}", "127.0.0.1", f"127.0.0.1:{site.port + 1}", None):
            assert sent(site, method, target, Host=host) in (400, 403), f"{method} {target} answers {host!r}"
        for origin in ("http://evil.example", "null", f"https://{site.host}", f"http://127.0.0.1:{site.port + 1}"):
            assert sent(site, method, target, Origin=origin) == 403, f"{method} {target} answers {origin!r}"
        assert sent(site, method, target, Sec_Fetch_Site="cross-site") == 403


def test_a_post_without_an_origin_or_of_another_type_is_refused(
    site: explore_site.Site, routes: list[tuple[str, str]]
) -> None:
    for method, target in routes:
        if method == "POST":
            assert sent(site, method, target, Origin=None) == 403
            assert sent(site, method, target, Content_Type="text/plain") == 415


def test_other_methods_are_refused_on_every_route(site: explore_site.Site, routes: list[tuple[str, str]]) -> None:
    for method, target in routes:
        for other in {"GET", "POST", "PUT", "DELETE", "OPTIONS", "HEAD", "PATCH"} - {method}:
            # an address may be that of another route with a parameter: then it is no digest
            wanted = (400, 405) if target == "/api/search/cancel" else (405,)
            assert site.call(other, target, b"{}" if other == "POST" else None)[0] in wanted, f"{other} {target}"


def test_every_body_is_bounded_and_strict(site: explore_site.Site, routes: list[tuple[str, str]]) -> None:
    posts = [target for method, target in routes if method == "POST"]
    assert set(posts) == set(BODIES)
    for target in posts:
        long = json.dumps({**BODIES[target], "padding": "x" * MOST_BODY_BYTES}).encode()
        assert site.call("POST", target, long)[0] == 413, target
        assert site.call("POST", target, b"", {"Content-Length": "99999999999"})[0] == 413, target
        for wrong in (b"", b"{", b"[]", b"null", b"1", b"\xff", b"[" * 5000, b'{"digest": NaN}'):
            assert site.call("POST", target, wrong)[0] == 400, (target, wrong[:20])
        unknown = {**BODIES[target], "path": "/etc/passwd"}
        assert site.call("POST", target, json.dumps(unknown).encode())[0] == 400, target
        for member in BODIES[target]:
            for value in (-7.5, ["../x"], {"$ref": "/etc/passwd"}):
                if (target, member) in {("/api/costs", "prices")} and isinstance(value, dict):
                    continue  # edited prices: refused in words
                status, text = site.call("POST", target, json.dumps({**BODIES[target], member: value}).encode())
                refused = status == 400 or (status == 200 and json.loads(text).get("state") == "refused")
                assert refused, (target, member, value, status, text)


def test_a_body_in_chunks_is_bounded_as_well(site: explore_site.Site) -> None:
    with socket.create_connection(("127.0.0.1", site.port), timeout=30) as connection:
        head = (
            f"POST /api/ask HTTP/1.1\r\nHost: {site.host}\r\nOrigin: http://{site.host}\r\nCookie: {site.cookie}\r\n"
            "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
        )
        connection.sendall(head.encode())
        for _ in range(MOST_BODY_BYTES // 1024 + 1):
            connection.sendall(b"400\r\n" + b" " * 1024 + b"\r\n")
        assert connection.recv(64).startswith(b"HTTP/1.1 413 ")


@pytest.mark.parametrize(
    "target",
    [
        "/../../../../etc/passwd",
        "/..%2f..%2f..%2fetc/passwd",
        "/%2e%2e/%2e%2e/etc/passwd",
        "//etc/passwd",
        "/web/index.html",
        "/index.html",
        "/main.js/../security.py",
        "/server/security.py",
        "/api/answer/..",
        "/api/answer/../../experiment.json",
        "/api/answer/%2e%2e%2f%2e%2e%2fexperiment.json",
        "/api/answer/" + "g" * 16,
        "/api/answer/" + "A" * 16,
        f"/api/answer/{DIGEST}%00",
        f"/api/answer/{DIGEST}?baseline=../../x",
        f"/api/export/{DIGEST}/../../x",
        "/api/export/..%2f..%2f/experiment.yaml",
        "/api/search/..",
        "/api/",
        "/docs",
        "/openapi.json",
    ],
)
def test_no_address_reaches_the_file_system(site: explore_site.Site, target: str) -> None:
    status, text = site.call("GET", target)
    assert status in (400, 404), (target, status)
    assert b"root:" not in text and b"import" not in text and b"ranks_per_node" not in text


@pytest.mark.parametrize("name", ["../../../etc/passwd", "/etc/passwd", "example.yaml", "./example", ""])
def test_a_price_file_is_one_of_the_catalogue_and_no_path(site: explore_site.Site, name: str) -> None:
    got = site.post("/api/costs", {"prices": name, "together": False})
    assert got["state"] == "refused" and "price file" in got["error"]["what"]


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("network", "../../../etc/passwd"),
        ("network", "/etc/passwd"),
        ("machine", "../../other"),
        ("application.command", ["/bin/sh", "-c", "true"]),
        ("application.executable", "/bin/sh"),
        ("own_times", "/etc/passwd"),
        ("simulate.sst.memory", "1 GB"),
        ("name", "../x"),
    ],
)
def test_a_question_brings_no_path_and_no_command(site: explore_site.Site, key: str, value: Any) -> None:
    question = {**QUESTION, "changes": {key: value}}
    got = site.post("/api/ask", {"question": question, "tab": "testtest"})
    assert got["state"] == "refused", got
    assert "root:" not in json.dumps(got)


def test_an_engine_is_found_by_its_name_alone(site: explore_site.Site) -> None:
    question = {**QUESTION, "changes": {"simulate.engine": "/bin/sh"}}
    for _ in range(2):
        got = site.post("/api/ask", {"question": question, "tab": "testtest"})
        assert got["state"] in ("refused", "running")
        until = time.monotonic() + 30
        while site.get("/api/state")["running"] and time.monotonic() < until:
            time.sleep(0.1)
        assert site.get("/api/state")["running"] == []
    status, _ = site.call("GET", f"/api/answer/{got.get('digest', DIGEST)}")
    assert status == 404


def test_every_response_carries_a_strict_policy(site: explore_site.Site, routes: list[tuple[str, str]]) -> None:
    policy = HEADERS["content-security-policy"]
    assert "unsafe" not in policy and "http" not in policy and "*" not in policy
    for target in ("/", "/main.js", "/api/state", "/nothing"):
        with socket.create_connection(("127.0.0.1", site.port), timeout=30) as connection:
            request = (
                f"GET {target} HTTP/1.1\r\nHost: {site.host}\r\nCookie: {site.cookie}\r\nConnection: close\r\n\r\n"
            )
            connection.sendall(request.encode())
            head = b"".join(iter(lambda: connection.recv(65536), b"")).partition(b"\r\n\r\n")[0].decode().lower()
        for name, value in HEADERS.items():
            assert f"{name}: {value}".lower() in head, (target, name)
        assert "access-control" not in head and "server:" not in head


def test_the_server_listens_on_the_loopback_address_alone(site: explore_site.Site) -> None:
    listening = [
        line.split()[1]
        for table in ("/proc/net/tcp", "/proc/net/tcp6")
        for line in Path(table).read_text().splitlines()[1:]
        if line.split()[3] == "0A" and line.split()[1].endswith(f":{site.port:04X}")
    ]
    assert listening == [f"0100007F:{site.port:04X}"]


def test_a_question_over_the_limits_is_refused_with_words(site: explore_site.Site) -> None:
    got = site.answered({**QUESTION, "nodes": 4000})
    assert got["state"] == "refused" and "fit" in json.dumps(got["error"])


def test_a_right_question_is_answered_beside_the_baseline(site: explore_site.Site) -> None:
    state = site.get("/api/state")
    got = site.answered({**QUESTION, "changes": {"network.link.bandwidth": "10 Gbit/s"}})
    assert got["state"] == "finished"
    assert got["baseline"]["digest"] == state["baseline"]["digest"] != got["answer"]["digest"]
    assert got["paired"]["difference_s"] == pytest.approx(got["answer"]["time_s"] - got["baseline"]["time_s"], rel=1e-9)
    assert got["paired"]["replicas"] == 5


def until(done: Any, words: str, patience_s: float = 60) -> Any:
    end = time.monotonic() + patience_s
    while time.monotonic() < end:
        if found := done():
            return found
        time.sleep(0.1)
    raise AssertionError(words)


def test_a_page_that_goes_on_gives_up_its_question_unless_it_runs_on(site: explore_site.Site) -> None:
    large = {**QUESTION, "nodes": 2000, "changes": {"simulate.replicas": 100}}
    small = {**QUESTION, "nodes": 2, "technique": "ext-const"}

    def ask(question: dict[str, Any]) -> dict[str, Any]:
        return site.post("/api/ask", {"question": question, "tab": "onetab00"})

    def runs(digest: str) -> bool:
        return digest in [each["digest"] for each in site.get("/api/state")["running"]]

    digest = ask(large)["digest"]
    assert runs(digest)
    site.answered(small, tab="onetab00")
    until(lambda: not runs(digest), "the question was not given up")
    assert ask(large)["digest"] == digest and runs(digest)
    assert site.post("/api/keep", {"digest": digest}) == {"kept": True}
    assert ask(small)["state"] == "finished"
    time.sleep(0.5)
    assert runs(digest), "a question that runs on was given up"
    assert site.post("/api/cancel", {"digest": digest}) == {"cancelled": True}
    until(lambda: not runs(digest), "the question was not cancelled")
    until(lambda: len(site.left()) <= 1, "processes are left")
    for nothing in ("/api/keep", "/api/cancel"):
        assert not any(site.post(nothing, {"digest": DIGEST}).values())


def test_a_question_that_is_asked_again_while_it_ends_is_told_as_finished(
    results: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An answer is in the store a moment before those who wait for it have it; a long one if another server made it."""
    monkeypatch.setattr(works, "_LOOK_S", 3.0)
    asked = {**QUESTION, "changes": {"network.link.bandwidth": "19 Gbit/s"}}

    async def play() -> list[str]:
        maker, explorer, hub = Explorer(results, cores=1), Explorer(results, cores=1), Hub()
        stream = hub.stream()
        heard = [await anext(stream)]
        try:
            await maker.rehearse()  # the answer takes less than the moment then
            making = asyncio.create_task(maker.answer(question_of(asked)))
            while "running" not in [each.state for each in maker.running()]:
                assert not making.done()
                await asyncio.sleep(0.01)
            transport = httpx.ASGITransport(application(explorer, hub))
            async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as page:

                async def ask() -> str:
                    reply = await page.post("/api/ask", json={"question": asked, "tab": "onetab00"})
                    return str(reply.json()["state"])

                assert await ask() == "running"
                await making
                assert await ask() == "finished"
                # Pages are told in the moment in which nobody waits any more.
                while (await page.get("/api/state")).json()["running"]:
                    await asyncio.sleep(0.01)
            hub.close()
            heard += [text async for text in stream]
        finally:
            await maker.close()
            await explorer.close()
        return [found[1] for text in heard if (found := re.match(r"event: (\w+)", text))]

    kinds = asyncio.run(play())
    assert kinds.count("finished") == 1 and "cancelled" not in kinds, kinds
    assert "questions" in kinds, "pages are not told that the log has changed"


def test_the_cheapest_network_is_found_with_its_price(site: explore_site.Site) -> None:
    names = ["opa100-fat-tree", "paper-torus", "fugaku"]
    asked = {
        **{"question": {**QUESTION, "changes": {"simulate.replicas": 2}}, "sense": "cheapest", "time_s": 1.0},
        **{"axis": {"keys": ["network"], "kind": "choice", "scale": "linear", "values": names}, "prices": "example"},
    }
    search = site.post("/api/inverse", asked)["search"]
    found = until(
        lambda: (state := site.get(f"/api/search/{search}"))["state"] not in ("running",) and state, "no end", 120
    )
    assert found["state"] == "finished", found
    content = found["content"]
    assert content["value"] in names and "cheapest" in content["words"]
    cost = content["holds"]["number"]
    front = site.post("/api/costs", {"prices": "example", "together": True})
    row = next(row for row in front["rows"] if row["digest"] == content["holds"]["digest"])
    assert row["cost"] == cost > 0


@pytest.mark.long
def test_a_map_is_started_cancelled_and_taken_up_again(site: explore_site.Site) -> None:
    changes = {"simulate.replicas": 2, "simulate.preflight.enabled": False, "network.flow_control": "none"}
    asked = {"question": {**QUESTION, "nodes": 2, "changes": changes}, **AXES, "most": 6}
    search = site.post("/api/map", asked)["search"]
    until(
        lambda: ((site.get(f"/api/search/{search}")["content"] or {}).get("simulated") or 0) >= 2, "nothing simulated"
    )
    assert site.post("/api/search/cancel", {"search": search}) == {"cancelled": True}
    cancelled = until(
        lambda: (state := site.get(f"/api/search/{search}"))["state"] == "cancelled" and state, "not cancelled"
    )
    before = {cell["digest"] for cell in cancelled["content"]["cells"] if cell["state"] == "simulated"}
    until(lambda: len(site.left()) <= 1, "processes are left")
    assert site.post("/api/map", asked)["search"] == search
    found = until(lambda: (state := site.get(f"/api/search/{search}"))["state"] == "finished" and state, "no end", 120)
    after = {cell["digest"] for cell in found["content"]["cells"] if cell["state"] == "simulated"}
    assert before and before <= after and found["content"]["asked"] <= 6
    kinds = {cell["state"] for cell in found["content"]["cells"]}
    assert kinds == {"simulated", "interpolated"}
