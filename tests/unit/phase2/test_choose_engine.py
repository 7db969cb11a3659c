"""``nodesim: engine: auto``: qemu where it can be used, else valgrind, and why."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from phase2_cases import segments

from manynode.config.engine_section import unread_keys
from manynode.config.experiment import NodesimSection
from manynode.config.loader import resolve
from manynode.config.resolved import Resolved
from manynode.errors import EngineMissingError, UsageError
from manynode.qemu import choice
from manynode.tables import write_table
from manynode.workflow import Plan
from phase2_nodesim.cost import node_runs
from phase2_nodesim.jobs import choose_engine, require_sharing
from phase2_nodesim.segments import SCHEMA


@pytest.fixture
def resolved(demo: dict[str, Any], tmp_path: Path) -> Any:
    def with_settings(**nodesim: Any) -> Resolved:
        return resolve({**demo, "nodesim": {"nodes": 4, **nodesim}}, where="the demo", base=tmp_path)

    return with_settings


def lacks(monkeypatch: pytest.MonkeyPatch) -> None:
    def find(executable: str | None) -> None:
        raise EngineMissingError("QEMU's user mode was not found", found="no program")

    monkeypatch.setattr(choice, "find_qemu", find)


def has(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choice, "find_qemu", lambda executable: None)
    monkeypatch.setattr(choice, "check_guest", lambda application: None)


def test_auto_is_qemu_where_it_is_there(resolved: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    has(monkeypatch)
    assert choose_engine(resolved(engine="auto")) == ("qemu", "qemu can be used")


def test_auto_stays_with_the_engine_of_nodes_that_are_simulated_already(
    resolved: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    has(monkeypatch)
    assert choose_engine(resolved(), tmp_path)[0] == "qemu"
    path = tmp_path / "nodesim/ext/node-1/segments.parquet"
    write_table(path, SCHEMA, segments([0], 3), {"engine": "valgrind"})
    name, reason = choose_engine(resolved(), tmp_path)
    assert name == "valgrind" and "other nodes" in reason
    assert choose_engine(resolved(engine="qemu"), tmp_path)[0] == "qemu"
    path.write_bytes(b"damaged")
    assert choose_engine(resolved(), tmp_path)[0] == "qemu"


def test_only_qemu_can_simulate_a_control() -> None:
    require_sharing("qemu", "")
    with pytest.raises(UsageError, match="only the engine qemu") as caught:
        require_sharing("valgrind", "other nodes of this experiment were simulated by it")
    assert "valgrind" in str(caught.value.found) and "remove the folder nodesim" in str(caught.value.remedy)


def test_a_program_of_an_engine_is_relative_to_the_experiment(resolved: Any, tmp_path: Path) -> None:
    (tmp_path / "tools").mkdir()
    program = tmp_path / "tools" / "qemu-x86_64"
    program.touch()
    for engine in ("qemu", "gem5"):
        found = resolved(engine=engine, **{engine: {"executable": "tools/qemu-x86_64"}}).nodesim
        assert getattr(found, engine).executable == str(program)
    assert resolved(qemu={"executable": "qemu-8"}).nodesim.qemu.executable == "qemu-8"


def test_auto_is_the_default() -> None:
    assert NodesimSection().engine == "auto"


def test_auto_is_valgrind_elsewhere_and_says_why(resolved: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    lacks(monkeypatch)
    name, reason = choose_engine(resolved())
    assert name == "valgrind" and "not found: no program" in reason


def test_auto_is_valgrind_for_a_program_that_qemu_cannot_run(resolved: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    has(monkeypatch)

    def check(application: Any) -> None:
        raise UsageError("the program is linked statically", found="no dynamic linker")

    monkeypatch.setattr(choice, "check_guest", check)
    name, reason = choose_engine(resolved())
    assert name == "valgrind" and "linked statically" in reason


def test_an_executable_that_is_named_and_missing_is_an_error(resolved: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    lacks(monkeypatch)
    with pytest.raises(EngineMissingError, match="not found"):
        choose_engine(resolved(qemu={"executable": "/opt/qemu"}))


def test_an_engine_asked_for_by_name_is_taken(resolved: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    lacks(monkeypatch)
    for name in ("qemu", "valgrind", "native"):
        assert choose_engine(resolved(engine=name)) == (name, "asked for by name")


def test_results_depend_on_the_settings_of_an_engine_that_auto_may_take() -> None:
    ignored = set(unread_keys("nodesim", NodesimSection, {"engine": "auto"}))
    assert "nodesim.qemu" not in ignored and "nodesim.qemu.control" in ignored
    assert "nodesim.gem5" in ignored
    assert "nodesim.qemu" in set(unread_keys("nodesim", NodesimSection, {"engine": "valgrind"}))
    assert "nodesim.gem5" not in set(unread_keys("nodesim", NodesimSection, {"engine": "gem5"}))


def test_a_control_is_one_more_run_of_the_first_node(
    resolved: Any, demo: dict[str, Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    has(monkeypatch)
    runs = node_runs(resolved(qemu={"control": True}), tmp_path)
    assert [run.wildcards["mode"] for run in runs] == ["ext", "no-ext", "ext-control"]
    assert runs[2].ranks == runs[0].ranks and "control" in runs[2].step
    plan = Plan({**demo, "nodesim": {"nodes": 4, "qemu": {"control": True}}}, [])
    assert plan.has_control
    alone = Plan({**demo, "techniques": ["no-ext-var"], "nodesim": {"nodes": 4, "qemu": {"control": True}}}, [])
    assert alone.control_segments("") == ["results/demo/nodesim/no-ext-control/node-0/segments.parquet"]
    place = "nodesim/no-ext-control/node-0/segments.parquet"
    assert alone.steps.identity_of(place) == alone.steps.identity_of(place.replace("-control", ""))


def test_valgrind_shares_nothing_and_has_no_control(
    resolved: Any, demo: dict[str, Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    lacks(monkeypatch)
    assert len(node_runs(resolved(qemu={"control": True}), tmp_path)) == 2
    assert not Plan({**demo, "nodesim": {"nodes": 4, "qemu": {"control": True}}}, []).has_control


@pytest.mark.parametrize(
    "settings",
    [{"engine": "valgrind", "qemu": {"control": True}}, {"qemu": {"control": True, "sharing": "private"}}],
    ids=["other engine", "private"],
)
def test_a_control_without_effect_is_refused(resolved: Any, settings: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="qemu: control: has no effect"):
        resolved(**settings)
