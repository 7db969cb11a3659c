"""The code blocks of the documentation: each says what it is, YAML is valid, commands and options exist.

``tests/workflow/test_page_commands.py`` runs the commands.
"""

from __future__ import annotations

import ast
import functools
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import pytest
import yaml
from page_blocks import ROOT, Block, added, blocks, commands, keep, pages
from pydantic import BaseModel, TypeAdapter

from manynode.cli import app
from manynode.config.application import ApplicationDescription
from manynode.config.experiment import Experiment
from manynode.config.generate import machine_yaml
from manynode.config.loader import load_experiment
from manynode.config.measured import with_tables
from manynode.config.network import Network
from manynode.config.own_times import with_own_times
from manynode.config.prices import Prices
from manynode.config.simulate import SkeletonChoice
from manynode.derived.skeleton_model import DerivedSkeleton
from manynode.reference.commands import all_commands
from phase3_sst.studies.congestion.contract import parts
from phase3_sst.studies.strong.strong_file import Strong
from phase3_sst.studies.what_if.what_if_file import WhatIf

ALL = [block for page in pages() for block in blocks(page)]
LANGUAGES = {"sh", "text", "yaml", "csv", "json", "python", "cpp"}
# What the keys of a YAML block may be those of. The first that knows them all is meant.
MODELS: list[type[BaseModel]] = [Experiment, WhatIf, Strong, DerivedSkeleton, ApplicationDescription, Network, Prices]
RULE = re.compile(r"^rule (\w+):$", re.M)


def of(language: str) -> Any:
    return pytest.mark.parametrize(
        "block", [one for one in ALL if one.language == language], ids=lambda block: block.place
    )


def test_every_block_has_a_language_and_every_reason_is_given() -> None:
    assert [block.place for block in ALL if block.language not in LANGUAGES] == []
    reasons = [block.notes.get(word) for block in ALL for word in ("not run", "long")]
    assert all(reason is None or len(reason.split()) >= 2 for reason in reasons)
    assert sum(block.language == "sh" for block in ALL) >= 30


def test_no_code_is_only_indented() -> None:
    indented = re.compile(r"(?<=\n\n) {4}(?! *[-*\d`]).*")
    found = {
        f"{page.relative_to(ROOT)}: {match[0].strip()}"
        for page in pages()
        for match in indented.finditer(re.sub(r"^ *```.*?^ *```$", "", page.read_text(), flags=re.M | re.S))
    }
    assert found == set()


@of("sh")
def test_commands_and_their_options_exist(block: Block) -> None:
    for words in commands(block):
        _check_command(words)


def test_commands_in_sentences_exist() -> None:
    for page in pages():
        for text in re.findall(r"`(manynode [a-z][^`\n:]*)`", page.read_text(encoding="utf-8")):
            for words in commands(Block(str(page), "sh", None, text, {})):
                _check_command([word for word in words if "..." not in word])


@functools.cache
def known_commands() -> dict[str, Any]:
    return all_commands(app)


def _check_command(words: list[str]) -> None:
    """Refuse a command that does not exist, and options that it does not have."""
    known = known_commands()
    name = next((name for n in (2, 1) if (name := " ".join(["manynode", *words[:n]])) in known), None)
    if name is None:
        assert any(other.startswith(f"manynode {words[0]} ") for other in known), f"no such command: {words}"
        return
    own = words[: words.index("--")] if "--" in words else words
    options = {text for one in known[name].params for text in [*one.opts, *one.secondary_opts]} | {"--help"}
    for word in own:
        if word.startswith("-") and not re.match(r"-\d", word):
            assert word.partition("=")[0] in options, f"{name} has no option {word}"


@of("yaml")
def test_yaml_is_what_its_keys_say(block: Block, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MANYNODE_SKELETON_DIRS", str(ROOT / "docs" / "examples" / "ring"))
    _write_tables(block, tmp_path)
    content = _with_the_file(block)
    if set(content) == {"set-resources"}:
        rules = {name for file in ROOT.glob("phase*/rules.smk") for name in RULE.findall(file.read_text())}
        assert set(content["set-resources"]) <= rules
        return
    if set(content) <= set(parts.names()):
        for name, section in content.items():
            TypeAdapter(parts.get(name).section).validate_python(section)
        return
    model = next((one for one in MODELS if set(content) <= _keys(one)), None)
    assert model is not None, f"no model has all of these keys: {', '.join(content)}"
    if model is Experiment and {"name", "application", "nodes"} <= set(content):
        if not {"recorded", "derived"} & set(content["application"]):
            keep(tmp_path / "whole.yaml", block.text)
            load_experiment(tmp_path / "whole.yaml")
            return
    for key, read in (("validation", with_tables), ("own_times", with_own_times)):
        if model is Experiment and key in content:
            content[key] = read(content[key], tmp_path)
    for key in ("machine", "network", "prices"):
        if isinstance(content.get(key), str):  # the name of a file
            assert (ROOT / "configs" / f"{key}s".replace("pricess", "prices") / f"{content.pop(key)}.yaml").is_file()
    fields = {field.alias or name: field for name, field in model.model_fields.items()}
    for key, value in content.items():
        kind: Any = fields[key].annotation
        for one in fields[key].metadata:
            kind = Annotated[kind, one]
        TypeAdapter(kind).validate_python(value)


def _with_the_file(block: Block) -> dict[str, Any]:
    """Return the content of the block, added to what the blocks before it wrote to the same file."""
    content: dict[str, Any] = {}
    for other in blocks(ROOT / block.place.partition(":")[0]):
        if block.title and other.title == block.title:
            content = added(content, yaml.safe_load(other.text))
        if other == block:
            return content or yaml.safe_load(block.text)
    raise AssertionError(block.place)


def _keys(model: type[BaseModel]) -> set[str]:
    return {field.alias or name for name, field in model.model_fields.items()}


def _write_tables(block: Block, folder: Path) -> None:
    """Write the tables of the block's page, and those that a reader has."""
    page = ROOT / block.place.partition(":")[0]
    for other in blocks(page):
        if other.language == "csv" and other.title:
            keep(folder / other.title, other.text)
    keep(folder / "my-node.yaml", machine_yaml())
    (folder / "hosts.csv").write_text("rank,host\n" + "".join(f"{rank},{rank // 2}\n" for rank in range(64)))
    if not (folder / "allreduce.csv").exists():
        (folder / "allreduce.csv").write_text("collective,bytes,nodes,ranks_per_node,seconds\nallreduce,8,8,1,1e-5\n")


@of("json")
def test_json_is_an_application_of_a_job(block: Block) -> None:
    SkeletonChoice.model_validate(json.loads(block.text))


@of("python")
def test_python_is_python(block: Block) -> None:
    for node in ast.parse(block.text).body:
        if isinstance(node, ast.ImportFrom):
            exec(compile(ast.Module([node], []), block.place, "exec"))


def excerpts() -> Iterator[Block]:
    return (block for block in ALL if "part of" in block.notes)


@pytest.mark.parametrize("block", excerpts(), ids=lambda block: block.place)
def test_an_excerpt_is_what_the_build_compiles(block: Block) -> None:
    def plain(text: str) -> str:
        return "\n".join(line.strip() for line in text.splitlines() if line.strip())

    assert plain(block.text) in plain((ROOT / block.notes["part of"]).read_text(encoding="utf-8"))


def test_all_source_code_is_an_excerpt() -> None:
    assert [block.place for block in ALL if block.language == "cpp" and "part of" not in block.notes] == []
