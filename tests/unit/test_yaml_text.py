"""YAML of users: accepted texts, refused texts, and that no text causes a traceback or a hang."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from manynode.config import yaml_text
from manynode.config.changes import read_changes
from manynode.config.loader import load_experiment, resolve
from manynode.errors import ManynodeError, UsageError
from manynode.workflow import Plan

ROOT = Path(__file__).resolve().parent.parent.parent
DEMO = (ROOT / "configs/demo.yaml").read_text(encoding="utf-8")

pytestmark = pytest.mark.usefixtures("watchdog")


def bomb(levels: int, width: int, indent: str = "") -> str:
    """Return lines of lists; each list contains the previous one ``width`` times."""
    lists = [f"l{level}: &l{level} [{', '.join([f'*l{level - 1}'] * width)}]" for level in range(1, levels)]
    return "".join(f"{indent}{line}\n" for line in ["l0: &l0 [1, 1]", *lists])


def test_json_s_types_are_read() -> None:
    found = yaml_text.parse('a: 1\nb: [1.5, true, null, x, "y\\tz"]\nc: {1: 2}\nd: !!str 5\ne: !!float 2\n')
    assert found == {"a": 1, "b": [1.5, True, None, "x", "y\tz"], "c": {1: 2}, "d": "5", "e": 2.0}
    assert yaml_text.parse("") is None


@pytest.mark.parametrize("number", ["5e-3", "1e9", "1.5E3", ".5e+3", "-2.e1", "0e0"])
def test_a_number_with_an_exponent_needs_no_dot_and_no_sign(number: str) -> None:
    assert yaml_text.parse(f"a: {number}") == {"a": float(number)}


def test_texts_that_look_like_numbers_keep_their_type_when_they_are_written() -> None:
    texts = ["5e-3", "010", "08", "1:30", "1e9", "x"]
    assert yaml_text.parse(yaml_text.dump(texts)) == texts


def test_snakemake_runs_the_experiment_as_the_command_line_reads_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Snakemake's own reader takes 010 for 8, and 2e-2 for text."""
    path = tmp_path / "x.yaml"
    path.write_text(DEMO.replace("replicas: ", "replicas: 0"))
    with pytest.raises(SystemExit):
        Plan({}, [path])
    assert "the number '010' is ambiguous" in capsys.readouterr().err
    path.write_text(DEMO.replace("simulate:", "simulate:\n  converge: {width: 2e-2}"))
    plan = Plan({"title": "another"}, [path])
    assert (plan.experiment.title, plan.experiment.simulate.converge.width) == ("another", 0.02)


def test_aliases_stand_for_what_they_name() -> None:
    assert yaml_text.parse("a: &x [1, 2]\nb: *x\nc: *x\n") == {"a": [1, 2], "b": [1, 2], "c": [1, 2]}


def test_a_key_beside_a_merge_wins_over_the_merged_one() -> None:
    found = yaml_text.parse("a: &x {k: 1, l: 2}\nb: {<<: *x, l: 3}\nc: {<<: [*x, {l: 9, m: 4}]}\n")
    assert found["b"] == {"k": 1, "l": 3}
    assert found["c"] == {"k": 1, "l": 2, "m": 4}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('a: !!bool "x"', "'x' is not a boolean"),
        ('a: !!int ""', "is not a whole number"),
        ('a: !!float "x"', "is not a number"),
        ('a: !!timestamp "x"', "a date is not allowed here"),
        ("a: 2020-01-01", "a date is not allowed here; put quotes around the value"),
        ("a: !!set {x}", "'set'"),
        ("a: !!binary eA==", "'binary'"),
        ("a: !!python/object/apply:os.system ['true']", "python/object/apply:os.system"),
        ("a: !mine x", "'!mine'"),
        ("a: =", "'value'"),
        ("a: 010", "the number '010' is ambiguous; write 10, or 8 if it is octal"),
        ("a: -08", "the number '-08' is ambiguous; write -8, or put quotes"),
        ("a: [1:30, 2]", "the number '1:30' is ambiguous; YAML reads base 60: write 90 if"),
        ("a: -1:00:30.5", "write -3630.5 if"),
        ("010: a", "write 10, or 8 if it is octal"),
        ("!!map [1]", "expected 'key: value' entries"),
        ("a: &x [*x]", "an alias refers to content that contains it"),
        ("a: 1\na: 2", "key 'a' is given twice"),
        ("1: a\n0x1: b", "key '0x1' is given twice"),
        ("yes: 1", "put quotes around text"),
        ("[1, 2]: 1", "a key is neither text nor a whole number"),
        ('title: "\\ud800"', "control character U+D800"),
        ('"\\x1b[31m": 1', "control character U+001B"),
        ('a: "\\0"', "control character U+0000"),
        ("a: 1\nb: \x1b[31m", "line 2 has the control character U+001B"),
        ("a: \ud800", "line 1 has the control character U+D800"),
        ("a: 1" + ":1" * 500_000, "a number of 1000001 characters"),
        ("a: 0x" + "f" * 5_000, "a number of 5002 characters"),
        ("[" * 60 + "]" * 60, "more than 50 levels"),
        ("[" * 5_000, "more than 50 levels"),
        ("a: " + "x" * 4_200_000, "the limit is 4194304"),
        (bomb(25, 10), "with its aliases written out"),
        (bomb(40, 2), "with its aliases written out"),
        ("a: &x " + "x" * 4000 + "\nb: [" + "*x, " * 2000 + "]", "with its aliases written out"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_what_is_no_plain_data_is_refused_with_its_place(text: str, words: str) -> None:
    with pytest.raises(ValueError) as caught:
        yaml_text.parse(text)
    assert words in str(caught.value)
    assert "line" in str(caught.value) or "characters" in str(caught.value) or "levels" in str(caught.value)


def test_merges_of_merges_are_measured_before_they_are_made() -> None:
    lists = [f"m{n}: &m{n} {{<<: [{', '.join([f'*m{n - 1}'] * 10)}]}}" for n in range(1, 25)]
    with pytest.raises(ValueError, match="with its aliases written out"):
        yaml_text.parse("m0: &m0 {a: 1}\n" + "\n".join(lists))


@pytest.mark.parametrize(
    ("section", "levels", "width"),
    [("application:\n  parameters:\n", 25, 10), ("simulate:\n  sst:\n    extra_parameters:\n", 40, 2)],
)
def test_an_alias_bomb_in_an_experiment_is_refused(tmp_path: Path, section: str, levels: int, width: int) -> None:
    path = tmp_path / "bomb.yaml"
    path.write_text(f"name: bomb\n{section}{bomb(levels, width, ' ' * 6)}")
    with pytest.raises(UsageError, match="with its aliases written out"):
        load_experiment(path)


def test_a_text_of_too_many_entries_is_not_read_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(yaml_text, "_MOST_ENTRIES", 1000)
    assert len(yaml_text.parse("[" + "1," * 999 + "]")) == 999
    with pytest.raises(ValueError, match="more than 1000 entries"):
        yaml_text.parse("[" + "1," * 1000 + "{")


def test_a_control_character_is_refused_however_the_experiment_was_read(demo: dict[str, Any], tmp_path: Path) -> None:
    """Snakemake reads the file with a reader of its own; a lone surrogate would end the run at its report."""
    demo["title"] = "\ud800"
    with pytest.raises(UsageError, match=r"U\+D800"):
        resolve(demo, where="test", base=ROOT)
    path = tmp_path / "x.yaml"
    path.write_text(DEMO.replace("title:", 'title: "\\ud800"\n#'))
    with pytest.raises(UsageError, match=r"U\+D800"):
        load_experiment(path)


@pytest.mark.parametrize("value", ['!!bool "x"', '!!timestamp "x"', '"\\ud800"', "1" + ":1" * 60_000, "[" * 60_000])
def test_values_of_set_are_read_as_carefully(value: str) -> None:
    with pytest.raises(UsageError, match="not valid YAML"):
        read_changes([f"title={value}"])


_TAGS = ("bool", "int", "float", "null", "str", "timestamp", "binary", "set", "omap", "pairs", "seq", "map", "merge")
_WORDS = st.sampled_from(['"x"', "''", "[]", "{}", "[[1]]", "{a: 1}", "~", ".nan", ".inf", "-1", "0x1F", "1:30", "yes"])
_HUGE = st.sampled_from(["9" * 6_000, "x" * 30_000, "1" * 60_000 + " ns", "1" + ":1" * 30_000, "é" * 5_000])
_ESCAPES = st.sampled_from(["\\0", "\\x1b[2J", "\\ud800", "\\u202e", "\\x7f", "\\U0010ffff", "\\u2028", "\\r"])


def _value(line: str, value: str) -> str:
    """Return the line of a file with another value, if it has one."""
    key, colon, _ = line.partition(":")
    return f"{key}: {value}" if colon else line


def _mutated(data: st.DataObject, lines: list[str]) -> list[str]:
    """Return the lines of an experiment with one thing wrong."""
    place = data.draw(st.integers(0, len(lines) - 1))
    line, indent = lines[place], " " * (len(lines[place]) - len(lines[place].lstrip()))
    kind = data.draw(
        st.sampled_from(["tag", "value", "huge", "escape", "bomb", "alias", "merge", "deep", "twice", "key"])
    )
    if kind == "tag":
        tag = data.draw(st.sampled_from(_TAGS))
        new = [_value(line, f"!!{tag} {data.draw(_WORDS)}")]
    elif kind == "value":
        new = [_value(line, data.draw(_WORDS))]
    elif kind == "huge":
        new = [_value(line, data.draw(_HUGE))]
    elif kind == "escape":
        new = [_value(line, f'"{data.draw(_ESCAPES)}"')]
    elif kind == "bomb":
        new = [*bomb(data.draw(st.integers(1, 40)), data.draw(st.integers(1, 10)), indent).splitlines(), line]
    elif kind == "alias":
        new = [f"{indent}anchor: &anchor {data.draw(_WORDS)}", _value(line, "*anchor")]
    elif kind == "merge":
        new = [line, f"{indent}<<: {data.draw(st.sampled_from(['{a: 1}', '[{a: 1}, {a: 2}]', '3', '*none', '{}']))}"]
    elif kind == "deep":
        depth = data.draw(st.sampled_from([10, 49, 51, 300, 2_000]))
        new = [_value(line, "[" * depth + "]" * depth)]
    elif kind == "twice":
        new = [line, line]
    else:
        new = [f"{indent}{data.draw(st.sampled_from(['1', '~', 'yes', '[a]', 'x' * 2_000, '? {a: b}']))}: 1", line]
    return [*lines[:place], *new, *lines[place + 1 :]]


@settings(max_examples=250, deadline=None)
@given(data=st.data())
def test_no_mutated_experiment_brings_a_traceback_or_a_hang(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    lines = [line for line in DEMO.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    for _ in range(data.draw(st.integers(1, 3))):
        lines = _mutated(data, lines)
    encoding = data.draw(st.sampled_from(["utf-8", "utf-8", "utf-8", "utf-8-sig", "utf-16", "latin-1", "utf-8+nul"]))
    raw = "\n".join(lines).encode(encoding.removesuffix("+nul"), errors="replace")
    if encoding.endswith("+nul"):
        place = data.draw(st.integers(0, len(raw)))
        raw = raw[:place] + b"\0" + raw[place:]
    path = tmp_path_factory.mktemp("fuzz") / "x.yaml"
    path.write_bytes(raw)
    try:
        assert load_experiment(path).digest()
    except ManynodeError as error:
        text = error.render()
        assert all(character.isprintable() or character in "\n\t\u00a0" for character in text)
        assert len(text) < 60_000


def test_what_is_written_for_a_changed_experiment_is_read_again(demo: dict[str, Any]) -> None:
    """``--set`` leaves an experiment in which equal parts may be aliases."""
    shared = {"bandwidth": "20 Gbit/s", "latency": "90 ns"}
    assert yaml_text.parse(yaml.safe_dump({"a": shared, "b": shared, **demo})) == {"a": shared, "b": shared, **demo}
