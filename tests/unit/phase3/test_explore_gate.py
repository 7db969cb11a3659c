"""The gate of the explore server: what it lets in, what it refuses, and what every response carries."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from phase3_sst.explore.server.security import HEADERS, MOST_BODY_BYTES, Gate, Keys

# Drawn secrets would give the tests other names in each process.
KEYS = Keys(
    port=4711, token="the-token-of-a-link-0123456789-abcdefghijk", session="the-value-of-a-cookie-0123456789-abcdefg"
)
HOST = ("host", "127.0.0.1:4711")
ORIGIN = ("origin", "http://127.0.0.1:4711")
COOKIE = ("cookie", f"{KEYS.cookie}={KEYS.session}")
JSON = ("content-type", "application/json")


class Inner:
    """An application that notes the bodies it got."""

    def __init__(self) -> None:
        self.bodies: list[bytes] = []

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        self.bodies.append((await receive()).get("body", b""))
        # an inner header must not weaken the gate's own
        headers = [(b"content-security-policy", b"default-src *")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b"in"})


def call(
    target: str = "/api/state",
    *headers: tuple[str, str],
    method: str = "GET",
    parts: tuple[bytes, ...] = (b"",),
) -> tuple[int, list[tuple[str, str]], list[bytes]]:
    """Return status, headers, and the bodies that reached the application."""
    path, _, query = target.partition("?")
    scope = {
        "type": "http",
        "method": method,
        "path": path,
        "raw_path": path.encode(),
        "query_string": query.encode(),
        "headers": [(key.encode(), value.encode("latin-1")) for key, value in headers],
    }
    waiting = [
        {"type": "http.request", "body": part, "more_body": index + 1 < len(parts)} for index, part in enumerate(parts)
    ]
    sent: list[dict[str, Any]] = []
    inner = Inner()

    async def receive() -> dict[str, Any]:
        return waiting.pop(0)

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    asyncio.run(Gate(inner, KEYS)(scope, receive, send))
    found = [(key.decode(), value.decode()) for key, value in sent[0]["headers"]]
    return sent[0]["status"], found, inner.bodies


def status(*arguments: Any, **options: Any) -> int:
    code, headers, bodies = call(*arguments, **options)
    assert bool(bodies) == (code == 200), "only what is let in reaches the application"
    assert HEADERS.items() <= dict(headers).items(), "every response carries the headers"
    return code


def test_the_link_sets_a_cookie_that_scripts_cannot_read_and_leaves_no_token_in_the_address() -> None:
    code, headers, bodies = call(f"/?token={KEYS.token}", HOST)
    found = dict(headers)
    assert (code, found["location"], bodies) == (303, "/", [])
    assert found["set-cookie"].startswith(f"{KEYS.cookie}={KEYS.session};")
    assert {"HttpOnly", "SameSite=strict", "Path=/"} <= {part.strip() for part in found["set-cookie"].split(";")}
    assert KEYS.token not in str(headers) and KEYS.token != KEYS.session


def test_a_request_with_the_cookie_is_let_in() -> None:
    assert status("/api/state", HOST, COOKIE) == 200
    assert status("/api/state", HOST, ("cookie", f"other=1; {COOKIE[1]}")) == 200
    assert status("/api/state", ("host", "localhost:4711"), COOKIE) == 200
    assert status("/api/ask", HOST, ORIGIN, COOKIE, JSON, method="POST", parts=(b"{}",)) == 200


@pytest.mark.parametrize(
    "target",
    ["/", "/api/state", "/?token=", "/?token=x", f"/?token={KEYS.token}x", f"/?token={KEYS.token}&token=x", "/?a=b"],
)
def test_without_the_cookie_or_the_token_nothing_is_answered(target: str) -> None:
    assert status(target, HOST) == 403


@pytest.mark.parametrize("value", ["", "x", KEYS.token, KEYS.session + "x", KEYS.session[:-1], "é"])
def test_another_cookie_is_refused(value: str) -> None:
    assert status("/api/state", HOST, ("cookie", f"{KEYS.cookie}={value}")) == 403


def test_the_cookie_of_another_port_is_refused() -> None:
    assert status("/api/state", HOST, ("cookie", f"manynode-explore-4712={KEYS.session}")) == 403


@pytest.mark.parametrize(
    "hosts",
    [
        [],
        ["evil.example"],
        ["evil.example:4711"],
        ["127.0.0.1"],
        ["127.0.0.1:4712"],
        ["127.0.0.1:4711.evil.example"],
        ["0.0.0.0:4711"],
        ["[::1]:4711"],
        ["127.0.0.1:4711", "evil.example"],
    ],
)
def test_a_foreign_host_is_refused_even_with_the_cookie_and_the_token(hosts: list[str]) -> None:
    named = [("host", name) for name in hosts]
    assert status("/api/state", *named, COOKIE) == 403
    assert status(f"/?token={KEYS.token}", *named) == 403


@pytest.mark.parametrize(
    "origin",
    [
        "null",
        "http://evil.example",
        "https://127.0.0.1:4711",
        "http://127.0.0.1:4712",
        "http://localhost:4711",
        "http://127.0.0.1:4711.evil.example",
    ],
)
def test_a_foreign_origin_is_refused_even_with_the_cookie(origin: str) -> None:
    for method in ("GET", "POST"):
        assert status("/api/ask", HOST, ("origin", origin), COOKIE, JSON, method=method) == 403
    assert status("/api/ask", HOST, ORIGIN, ("origin", origin), COOKIE, JSON, method="POST") == 403


def test_another_site_may_not_even_load_a_part() -> None:
    for site in ("cross-site", "same-site"):
        assert status("/main.js", HOST, COOKIE, ("sec-fetch-site", site)) == 403
    for site in ("same-origin", "none"):
        assert status("/main.js", HOST, COOKIE, ("sec-fetch-site", site)) == 200


def test_a_post_says_where_it_comes_from_and_that_it_is_json() -> None:
    assert status("/api/ask", HOST, COOKIE, JSON, method="POST") == 403
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=application/json"):
        assert status("/api/ask", HOST, ORIGIN, COOKIE, ("content-type", kind), method="POST") == 415


@pytest.mark.parametrize("method", ["PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "CONNECT", "HEAD"])
def test_other_methods_are_refused(method: str) -> None:
    assert status("/api/state", HOST, ORIGIN, COOKIE, method=method) == 405


def test_a_body_is_bounded_with_and_without_a_length() -> None:
    post = ("/api/ask", HOST, ORIGIN, COOKIE, JSON)
    most = (b"x" * MOST_BODY_BYTES,)
    assert status(*post, method="POST", parts=most) == 200
    assert call(*post, method="POST", parts=(b"a", b"b"))[2] == [b"ab"]
    assert status(*post, method="POST", parts=(*most, b"x")) == 413
    for length in (str(MOST_BODY_BYTES + 1), "9" * 100, "-1", "x"):
        assert status(*post, ("content-length", length), method="POST") == 413


def test_a_long_address_is_refused() -> None:
    assert status("/api/answer/" + "a" * 5000, HOST, COOKIE) == 414


def test_web_sockets_are_closed() -> None:
    sent: list[dict[str, Any]] = []

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    asyncio.run(Gate(Inner(), KEYS)({"type": "websocket"}, None, send))  # type: ignore[arg-type]
    assert sent == [{"type": "websocket.close", "code": 1008}]


def test_secrets_are_not_shown() -> None:
    assert KEYS.token not in repr(KEYS) and KEYS.session not in repr(KEYS)
    assert len({Keys(1).token for _ in range(100)}) == 100 and len(Keys(1).token) >= 32
