"""What lets a request in: the token of the link, the cookie that stands for it, Host, Origin, and the size of a body.

The server is on the loopback address, but every program and every web page of this host can reach it there. A request
is therefore answered only if it names this server as its host (a foreign name that was made to resolve to the loopback
address does not), comes from this server's own page, and carries the cookie that the link with the token has set.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, MutableMapping
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qs

from starlette.responses import PlainTextResponse, RedirectResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

MOST_BODY_BYTES = 64 * 1024
MOST_TARGET_BYTES = 4096

# Vega draws with attributes and interprets its expressions: neither inline styles nor compiled scripts are needed.
POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data: blob:",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    )
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
    "cache-control": "no-store",
}


@dataclass(frozen=True)
class Keys:
    """The port of a server and its two secrets: the token in the link, and the value of the cookie."""

    port: int
    token: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)
    session: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)

    @property
    def cookie(self) -> str:
        """The cookie's name; cookies do not tell ports apart, so that it has the port."""
        return f"manynode-explore-{self.port}"

    @property
    def hosts(self) -> frozenset[str]:
        return frozenset(f"{name}:{self.port}" for name in ("127.0.0.1", "localhost"))

    @property
    def link(self) -> str:
        return f"http://127.0.0.1:{self.port}/?token={self.token}"


class Gate:
    """The outermost layer of the application: refuses what :func:`refusal` names, and bounds each body."""

    def __init__(self, app: ASGIApp, keys: Keys) -> None:
        self.app = app
        self.keys = keys

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return
        send = _with_headers(send)
        refused = refusal(scope, self.keys)
        if refused is not None:
            status, words = refused
            await PlainTextResponse(f"{words}\n", status)(scope, receive, send)
            return
        if scope["path"] == "/" and scope["query_string"]:
            response = RedirectResponse("/", 303)
            response.set_cookie(self.keys.cookie, self.keys.session, httponly=True, samesite="strict", path="/")
            await response(scope, receive, send)
            return
        if scope["method"] == "POST":
            body = await _body(receive)
            if body is None:
                words = f"refused: the body is longer than {MOST_BODY_BYTES} bytes"
                await PlainTextResponse(f"{words}\n", 413)(scope, receive, send)
                return
            receive = _replayed(body, receive)
        await self.app(scope, receive, send)


def refusal(scope: Scope, keys: Keys) -> tuple[int, str] | None:
    """Return status and words if the request of ``scope`` is refused before anything looks at its body."""
    if len(scope.get("raw_path") or b"") + len(scope["query_string"]) > MOST_TARGET_BYTES:
        return 414, "refused: the address is too long"
    if scope["method"] not in ("GET", "POST"):
        return 405, "refused: only GET and POST are answered"
    host = _only(scope, b"host")
    if host not in keys.hosts:
        return 403, "refused: the request names another host than this server"
    origins = _all(scope, b"origin")
    if origins and origins != [f"http://{host}"]:
        return 403, "refused: the request comes from another page than this server's"
    if not set(_all(scope, b"sec-fetch-site")) <= {"same-origin", "none"}:
        return 403, "refused: the request comes from another site; paste the link into the browser's address bar"
    if scope["method"] == "POST":
        if not origins:
            return 403, "refused: the request does not say from which page it comes"
        if (_only(scope, b"content-type") or "").partition(";")[0].strip().lower() != "application/json":
            return 415, "refused: only application/json is read"
        length = _only(scope, b"content-length")
        if length is not None and (not length.isdecimal() or len(length) > 12 or int(length) > MOST_BODY_BYTES):
            return 413, f"refused: the body is longer than {MOST_BODY_BYTES} bytes"
    if scope["path"] == "/" and scope["query_string"]:
        given = parse_qs(scope["query_string"].decode("latin-1")).get("token", [])
        if len(given) == 1 and _same(given[0], keys.token):
            return None
        return 403, "refused: the token of this link is not this server's; use the link that it printed when it started"
    if not any(_same(value, keys.session) for value in _cookies(scope, keys.cookie)):
        return 403, "refused: open the link with the token that manynode explore printed"
    return None


def _same(given: str, secret: str) -> bool:
    return secrets.compare_digest(given.encode("utf-8", "replace"), secret.encode())


def _all(scope: Scope, name: bytes) -> list[str]:
    return [value.decode("latin-1") for key, value in scope["headers"] if key == name]


def _only(scope: Scope, name: bytes) -> str | None:
    """Return the header's value if it is there once."""
    values = _all(scope, name)
    return values[0] if len(values) == 1 else None


def _cookies(scope: Scope, name: str) -> Iterable[str]:
    for header in _all(scope, b"cookie"):
        try:
            jar = SimpleCookie(header)
        except CookieError:
            continue
        if name in jar:
            yield jar[name].value


def _with_headers(send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            kept = [(key, value) for key, value in message.get("headers", []) if key.decode().lower() not in HEADERS]
            message["headers"] = [*kept, *((key.encode(), value.encode()) for key, value in HEADERS.items())]
        await send(message)

    return sending


async def _body(receive: Receive) -> bytes | None:
    """Return the body, or None if it is too long; a client that goes away has sent an empty one."""
    parts, size = [], 0
    while True:
        message: MutableMapping[str, Any] = await receive()
        if message["type"] == "http.disconnect":
            return b""
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if size > MOST_BODY_BYTES:
            return None
        if not message.get("more_body"):
            return b"".join(parts)


def _replayed(body: bytes, receive: Receive) -> Receive:
    waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def receiving() -> Message:
        return waiting.pop() if waiting else await receive()

    return receiving
