"""What the explore server reads: strict JSON, one model per request, words for everything else."""

from __future__ import annotations

import json
from typing import Any

import pytest

from manynode.errors import UsageError
from phase3_sst.explore.server.bodies import Ask, Inverse, MapBody, Note, Of, parsed

ASK: dict[str, Any] = {"question": {"nodes": 4}, "tab": "0123456789abq"}
DIGEST = "0123456789abcdef"


def refused(text: bytes, model: Any = Ask) -> str:
    with pytest.raises(UsageError) as caught:
        parsed(text, model)
    return f"{caught.value.where}: {caught.value.found}"


def test_a_right_body_is_read() -> None:
    assert parsed(json.dumps(ASK).encode(), Ask).question == {"nodes": 4}


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b'"ask"',
        b"\xff\xfe",
        b'{"question": {"nodes": NaN}, "tab": "0123456789abq"}',
        b'{"question": {"nodes": 1e999}, "tab": "0123456789abq"}',
        b'{"question": {"nodes": ' + b"9" * 5000 + b'}, "tab": "0123456789abq"}',
        b"[" * 30000,
        b'{"question": ' + b'{"a":' * 20 + b"1" + b"}" * 20 + b', "tab": "0123456789abq"}',
    ],
)
def test_what_is_no_plain_json_object_is_refused(text: bytes) -> None:
    assert refused(text)


@pytest.mark.parametrize(
    ("member", "value"),
    [
        ("question", []),
        ("question", "nodes"),
        ("question", {str(number): 1 for number in range(9)}),
        ("tab", 12345678),
        ("tab", "../../etc/passwd"),
        ("tab", "short"),
        ("baseline", "not hexadecimal"),
        ("baseline", "../experiment"),
        ("baseline", 1),
        ("path", "/etc/passwd"),
    ],
)
def test_a_wrong_or_unknown_member_is_refused_by_name(member: str, value: Any) -> None:
    assert member in refused(json.dumps({**ASK, member: value}).encode())


def test_types_are_not_guessed() -> None:
    assert "digest" in refused(json.dumps({"digest": 1234567890123456}).encode(), Of)
    assert "note" in refused(json.dumps({"digest": DIGEST, "note": 5}).encode(), Note)
    assert "note" in refused(json.dumps({"digest": DIGEST, "note": "x" * 2001}).encode(), Note)
    axes = {"question": {}, "x": {}, "y": {}}
    for most in ("20", 20.5, True, 3, 101):
        assert "most" in refused(json.dumps({**axes, "most": most}).encode(), MapBody)
    for sense in ("fewest", 1, None):
        assert "sense" in refused(json.dumps({"question": {}, "axis": {}, "sense": sense}).encode(), Inverse)
