"""Files of derived skeletons: what is read, what is compiled, and where mistakes are."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from manynode.derived import skeleton_file
from manynode.derived.call_forms import CALL_FORMS
from manynode.errors import InputError
from manynode.paths import ROOT

CONTENT: dict[str, Any] = {
    "schema": "derived-skeleton/1",
    "name": "toy",
    "program": {"command": ["toy", "--nx", "16"], "mpi": "mpich"},
    "parameters": {"nx": {"default": 16, "recorded": [8, 16]}, "iterations": {"default": 4}},
    "grid": {"rule": "least-surface", "dimensions": 3, "periodic": [False, False, True]},
    "communicators": [{"name": "rows", "color": "c1", "key": "c0"}],
    "definitions": {"face": "nx * nx * 8", "edge": "face // nx"},
    "phases": ["setup", "MPI_Wait@a.c:9 run -> MPI_Send@a.c:12 run"],
    "distributions": {"border": {"values": [800, 1200], "persistence": 0.8}},
    "body": [
        {"compute": "setup"},
        {"call": "MPI_Irecv", "when": "c0 > 0", "peer": "at(-1, 0, 0)", "bytes": "face", "tag": 3, "request": "halo"},
        {"call": "MPI_Isend", "peer": "null", "bytes": {"draw": "border"}, "request": "halo"},
        {"call": "MPI_Waitall", "requests": ["halo"]},
        {"repeat": "iterations", "index": "i", "when": "P > 1", "do": [
            {"call": "MPI_Allreduce", "bytes": 8, "communicator": "rows"},
            {"when": "c0 == i", "do": [{"call": "MPI_Alltoallv", "sent": "k * edge", "received": "k"}]},
        ]},
        {"free": ["halo"]},
    ],
    "doubts": [{"at": "body/1/when", "says": "c0 > 0", "or": ["c1 > 0"]}],
}  # fmt: skip


def changed(place: str, value: Any) -> dict[str, Any]:
    """Return CONTENT with another value at a place; ``None`` removes the key."""
    content: Any = copy.deepcopy(CONTENT)
    *path, last = [int(part) if part.isdigit() else part for part in place.split("/")]
    inner = content
    for part in path:
        inner = inner[part]
    if value is None:
        del inner[last]
    else:
        inner[last] = value
    return content  # type: ignore[no-any-return]


def test_a_file_is_read_and_compiled_to_what_the_interpreter_needs(tmp_path: Path) -> None:
    path = tmp_path / "toy.yaml"
    path.write_text(yaml.safe_dump(CONTENT, sort_keys=False))
    skeleton = skeleton_file.read(path)
    compiled = skeleton_file.compile(skeleton, {"nx": 8})
    assert compiled["schema"] == "derived-program/1"
    assert compiled["parameters"] == {"nx": 8, "iterations": 4}
    assert compiled["definitions"] == [["face", "nx * nx * 8"], ["edge", "face // nx"]]
    assert compiled["body"][1]["tag"] == "3" and compiled["body"][2]["bytes"] == {"draw": "border"}
    assert compiled["body"][4]["do"][0] == {"call": "MPI_Allreduce", "bytes": "8", "communicator": "rows"}
    assert not compiled.keys() & {"program", "doubts", "recorded", "assumptions"}
    digest = skeleton_file.write_compiled(tmp_path / "toy.json", skeleton)
    text = (tmp_path / "toy.json").read_text()
    assert digest == skeleton_file.digest_of(text) and json.loads(text) == skeleton_file.compile(skeleton)


def test_the_scope_has_all_ranks_of_a_job() -> None:
    skeleton = skeleton_file.checked(CONTENT, "toy.yaml")
    scope = skeleton_file.scope_of(skeleton, 12, {"nx": 4})
    assert scope.value("d0") == 3 and scope.value("edge") == 32
    last = skeleton_file.parse("at(0, 0, 1) if c2 == 0 else rank", "here").evaluate(scope)
    assert isinstance(last, np.ndarray) and last.shape == (12,)
    with pytest.raises(InputError, match="did you mean 'nx'"):
        skeleton_file.scope_of(skeleton, 12, {"nxx": 4})
    with pytest.raises(InputError, match="no whole number"):
        skeleton_file.values_of(skeleton, {"nx": True})


def test_extents_by_hand_precede_the_rule() -> None:
    section = {"rule": "line", "dimensions": 3, "extents": {12: [2, 2, 3]}}
    skeleton = skeleton_file.checked(changed("grid", section), "toy.yaml")
    found = [skeleton_file.grid_of(skeleton.grid, ranks) for ranks in (12, 13)]
    assert [grid and grid.extents for grid in found] == [(2, 2, 3), (13, 1, 1)]
    stated = skeleton_file.checked(changed("grid", {"extents": {12: [2, 2, 3]}}), "toy.yaml")
    with pytest.raises(InputError, match="no extents for this number of ranks"):
        skeleton_file.grid_of(stated.grid, 13)


def test_null_needs_no_quotes() -> None:
    content = yaml.safe_load(yaml.safe_dump(changed("body/2/peer", "null"), sort_keys=False).replace("'null'", "null"))
    assert content["body"][2]["peer"] is None
    skeleton = skeleton_file.checked(content, "toy.yaml")
    assert skeleton_file.compile(skeleton)["body"][2]["peer"] == "null"
    neighbors = {"call": "MPI_Neighbor_alltoall", "bytes": 8, "sources": [None, "rank"], "destinations": []}
    skeleton = skeleton_file.checked(changed("body/3", neighbors), "toy.yaml")
    assert skeleton_file.compile(skeleton)["body"][3]["sources"] == ["null", "rank"]


@pytest.mark.parametrize(
    ("place", "value", "found"),
    [
        ("schema", "derived-skeleton/2", "schema: Input should be 'derived-skeleton/1'"),
        ("name", "a b", "name: String should match"),
        ("body", None, "body: this key is missing"),
        ("bodie", [], "bodie: unknown key; did you mean 'body'?"),
        ("parameters/P", {"default": 1}, "'P' cannot be a name"),
        ("parameters/nx/default", True, "parameters/nx/default: Input should be a valid integer"),
        ("parameters/face", {"default": 1}, "the name 'face' is given twice"),
        ("definitions/rank", "1", "'rank' cannot be a name"),
        ("definitions/face", "edge * 2", "definitions/face"),
        ("communicators/0/name", "world", "the name 'world' is given twice"),
        ("communicators/0/color", "k", "communicators/0/color"),
        ("phases", ["setup", "setup"], "the name 'setup' is given twice"),
        ("grid", {}, "grid: a grid needs a 'rule' or 'extents'"),
        ("grid/rule", "least_surface", "did you mean 'least-surface'?"),
        ("grid/dimensions", None, "a grid with a 'rule' needs 'dimensions'"),
        ("grid/periodic", [True], "periodic: 1 values for 3 dimensions"),
        ("grid", {"rule": "squarest", "dimensions": 3}, "'squarest' has 2 dimensions"),
        ("grid", {"extents": {12: [2, 2, 2]}}, "is no grid of 12 ranks in 3 dimensions"),
        ("distributions/border/values", [], "distributions/border/values: List should have at least 1 item"),
        ("distributions/border/persistence", 1.5, "distributions/border/persistence: Input should be less"),
        ("body/0/call", "MPI_Barrier", "body/0: an item has exactly one of"),
        ("body/0", {"when": "1"}, "body/0: an item has exactly one of"),
        ("body/0/compute", "setuq", "body/0/compute"),
        ("body/0/bytes", 8, "body/0: bytes: not with 'compute'"),
        ("body/1/call", "MPI_Irec", "body/1: call: there is no 'MPI_Irec'; did you mean 'MPI_Irecv'?"),
        ("body/1/peer", None, "body/1: peer: MPI_Irecv needs this key"),
        ("body/1/request", None, "body/1: request: MPI_Irecv needs this key"),
        ("body/1/sent", "k", "body/1: sent: MPI_Irecv has no such key; allowed: peer, bytes, request, tag"),
        ("body/1/bytes", "fase", "body/1/bytes"),
        ("body/1/bytes", "i", "body/1/bytes"),
        ("body/1/when", "c0 >", "body/1/when"),
        ("body/1/when", "at(1, 0) > 0", "body/1/when"),
        ("body/1/wen", "1", "body/1/wen: unknown key; did you mean 'when'?"),
        ("body/2/bytes", {"draw": "borders"}, "did you mean 'border'?"),
        ("body/2/bytes", 1.5, "body/2/bytes"),
        ("body/3/requests", [], "body/3/requests: List should have at least 1 item"),
        ("body/3/order", "oldest", "body/3/order: Input should be 'made', 'names' or 'newest'"),
        ("body/4/index", "nx", "body/4/index"),
        ("body/4/index", "c0", "body/4/index"),
        ("body/4/repeat", None, "body/4: index: only with 'repeat'"),
        ("body/4/do/0/communicator", "row", "did you mean 'rows'?"),
        ("body/4/do/0/bytes", {"draw": "border"}, "body/4/do/0: bytes: only sizes of messages"),
        ("body/4/do/1/do/0/sent", "kk", "body/4/do/1/do/0/sent"),
        ("body/4/do/1/do/0/sent", {"draw": "border"}, "body/4/do/1/do/0: sent: drawn are the blocks of MPI_Alltoallv"),
        ("body/5/free", [], "body/5/free: List should have at least 1 item"),
        ("body/5/requests", ["halo"], "body/5: requests: not with 'free'"),
        ("doubts/0/at", 5, "doubts/0/at"),
    ],
)
def test_a_mistake_is_named_with_its_place(place: str, value: Any, found: str) -> None:
    with pytest.raises(InputError) as error:
        skeleton_file.checked(changed(place, value), "toy.yaml")
    assert found in str(error.value) and "toy.yaml" in str(error.value)


def test_a_file_that_is_no_yaml_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "toy.yaml"
    path.write_text("schema: [")
    with pytest.raises(InputError, match="a derived skeleton cannot be used"):
        skeleton_file.read(path)


def test_the_calls_are_those_of_the_interface_of_skeletons() -> None:
    text = (ROOT / "skeletons" / "include" / "manynode" / "call.hpp").read_text()
    names = text[text.index("kCallNames = {") : text.index("};", text.index("kCallNames = {"))].split('"')[1::2]
    names = names[: names.index("MPI_Put")]  # derived skeletons have no one-sided calls
    blocking = [name for name in names if name not in ("compute", "MPI_Isend", "MPI_Irecv")]
    nonblocking = ["MPI_Isend", "MPI_Irecv"] + [
        f"MPI_I{name[4:].lower()}" for name in blocking[blocking.index("MPI_Barrier") :] if "Wait" not in name
    ]
    assert set(CALL_FORMS) == {*blocking, *nonblocking}


def test_a_compiled_file_that_is_there_already_stays(tmp_path: Path) -> None:
    skeleton = skeleton_file.checked({"schema": "derived-skeleton/1", "name": "one", "body": []}, "test")
    path = tmp_path / "one.json"
    digest = skeleton_file.write_compiled(path, skeleton)
    written = path.stat().st_mtime_ns, path.stat().st_ino
    assert skeleton_file.write_compiled(path, skeleton) == digest
    assert (path.stat().st_mtime_ns, path.stat().st_ino) == written
    path.write_text(path.read_text()[:60])
    assert skeleton_file.write_compiled(path, skeleton) == digest
    assert skeleton_file.digest_of(path.read_text()) == digest
