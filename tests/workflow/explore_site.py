"""A running ``manynode explore``: its link, requests to it, its end, and what it leaves behind."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import re
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
START_S, STOP_S = 60, 20
_LINK = re.compile(r"http://127\.0\.0\.1:(\d+)/\?token=(\S+)")
MARK = "MANYNODE_TEST_MARK"


@dataclass
class Site:
    """A server of one results folder. All that it starts inherits the mark in its environment."""

    process: subprocess.Popen[str]
    link: str
    port: int
    mark: str
    cookie: str = field(default="", repr=False)

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.port}"

    def call(
        self, method: str, target: str, body: bytes | None = None, headers: dict[str, str] | None = None
    ) -> tuple[int, bytes]:
        """Send one request exactly as it is said; ``headers`` replace those of the page (None: left out)."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        own = {"Host": self.host, "Cookie": self.cookie}
        if method == "POST":
            own |= {"Origin": f"http://{self.host}", "Content-Type": "application/json"}
        try:
            connection.putrequest(method, target, skip_host=True, skip_accept_encoding=True)
            for key, value in {**own, **(headers or {})}.items():
                if value is not None:
                    connection.putheader(key, value)
            if body is not None and "Content-Length" not in (headers or {}):
                connection.putheader("Content-Length", str(len(body)))
            connection.endheaders()
            # A server that refuses by the headers alone closes before the body has been sent.
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                if body is not None:
                    connection.send(body)
            response = connection.getresponse()
            return response.status, response.read()
        finally:
            connection.close()

    def enter(self) -> None:
        """Take the cookie, as a browser does that opens the link."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.request("GET", self.link.partition(self.host)[2])
        response = connection.getresponse()
        assert response.status == 303, response.read()
        self.cookie = response.headers["set-cookie"].partition(";")[0]
        connection.close()

    def get(self, target: str) -> Any:
        status, text = self.call("GET", target)
        assert status == 200, (target, status, text)
        return json.loads(text)

    def post(self, target: str, content: Any) -> Any:
        status, text = self.call("POST", target, json.dumps(content).encode())
        assert status in (200, 202), (target, status, text)
        return json.loads(text)

    def answered(self, question: dict[str, Any], tab: str = "testtest", patience_s: float = 60) -> dict[str, Any]:
        """Ask until the answer is there."""
        until = time.monotonic() + patience_s
        while time.monotonic() < until:
            got = self.post("/api/ask", {"question": question, "tab": tab})
            if got["state"] != "running":
                return got
            time.sleep(0.25)
        raise AssertionError(f"no answer within {patience_s} s")

    def stop(self) -> str:
        """End the server as Ctrl-C does; return what it printed since the link."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        try:
            return self.process.communicate(timeout=STOP_S)[0]
        except subprocess.TimeoutExpired:
            self.kill()
            raise

    def kill(self) -> None:
        self.process.kill()
        self.process.communicate()

    def left(self) -> list[str]:
        """Return the processes that carry the mark, the server itself excepted."""
        found = []
        for entry in Path("/proc").iterdir():
            if not entry.name.isdigit() or int(entry.name) == self.process.pid:
                continue
            with contextlib.suppress(OSError):
                if self.mark.encode() in (entry / "environ").read_bytes() and _state(entry) != "Z":
                    found.append((entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace"))
        return found

    def left_after(self, patience_s: float) -> list[str]:
        """Return what is left once ``patience_s`` have passed; nothing as soon as nothing is."""
        until = time.monotonic() + patience_s
        while (found := self.left()) and time.monotonic() < until:
            time.sleep(0.1)
        return found


def _state(process: Path) -> str:
    return (process / "stat").read_text().rpartition(")")[2].split()[0]


def start(results: Path, *options: object) -> Site:
    """Start a server and wait for its link."""
    mark = secrets.token_hex(16)
    process = subprocess.Popen(
        [sys.executable, "-m", "manynode", "explore", str(results), *map(str, options)],
        cwd=ROOT,
        env={**os.environ, MARK: mark},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert process.stdout is not None
    printed = []
    for line in process.stdout:
        printed.append(line)
        if found := _LINK.search(line):
            site = Site(process, found[0], int(found[1]), mark)
            site.enter()
            return site
    process.wait(START_S)
    raise AssertionError(f"no link: {''.join(printed)}")


@contextlib.contextmanager
def exploring(results: Path, *options: object) -> Iterator[Site]:
    """Run a server; at the end it stops by itself and leaves no process behind."""
    site = start(results, *options)
    try:
        yield site
    except BaseException:
        site.kill()
        raise
    printed = site.stop()
    assert site.process.returncode == 0, printed
    left = site.left_after(20)
    assert left == [], f"these processes are left: {left}"
    assert "Traceback" not in printed, printed
