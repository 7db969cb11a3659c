"""The machine file of a calibration: what it has from where, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from manynode.config.machine import Machine
from manynode.errors import CheckFailedError, UsageError
from phase2_nodesim.calibration.calibration import check_request
from phase2_nodesim.calibration.figures import Figure, measured
from phase2_nodesim.calibration.machine_file import merged, not_measured, read_base, text

FIGURES = {
    "frequency": measured("3.2 GHz", 0.01),
    "core.dispatch_width": measured(6, 0.02, "5.80 per cycle"),
    "caches.l1d.size": Figure("48 KiB", "host"),
    "caches.l1d.associativity": Figure(12, "host"),
    "memory.domains": Figure(1, "host"),
}


def written(base: str = "generic", **more: Figure) -> str:
    tree = merged(
        read_base(base), {**FIGURES, **{key.replace("__", "."): figure for key, figure in more.items()}}, base
    )
    return text(tree, name="mine", description="a host", remarks=["Written by: a test."])


def test_the_file_is_a_machine_with_the_measured_figures() -> None:
    machine = Machine.model_validate(yaml.safe_load(written()))
    assert (machine.name, machine.frequency, machine.core.dispatch_width) == ("mine", 3.2e9, 6)
    assert (machine.caches.l1d.size, machine.caches.l1d.associativity) == (48 * 1024, 12)
    # The base's.
    assert machine.core.reorder_buffer == 224


def test_every_figure_has_its_source_on_its_line() -> None:
    for line in written().splitlines():
        value = line.partition(":")[2]
        if line.startswith(("#", "name:", "description:")) or not value:
            continue
        assert any(word in line for word in ("# measured", "# host", "# base generic: not measured")), line


def test_the_first_lines_are_the_remarks() -> None:
    assert written().startswith("# Written by: a test.\nname: mine\n")


def test_what_is_the_bases_is_listed() -> None:
    listed = not_measured(merged(read_base("generic"), FIGURES, "generic"))
    assert "core.reorder_buffer" in listed and "core.dispatch_width" not in listed


def test_a_node_of_one_domain_has_no_remote_memory() -> None:
    assert "remote_latency" in (Path(__file__).parents[3] / "configs/machines/broadwell.yaml").read_text()
    assert "remote_latency" not in written("broadwell")


def test_half_a_cache_is_left_out() -> None:
    content = read_base("generic")
    del content["caches"]["l2"]
    tree = merged(content, {"caches.l2.size": Figure("1 MiB", "host")}, "generic")
    assert "l2" not in tree["caches"]


def test_figures_that_contradict_each_other_are_not_written() -> None:
    with pytest.raises(CheckFailedError, match="contradict each other") as error:
        written(caches__l2__latency=measured(2, 0.5))
    assert "latency" in str(error.value) and "--rounds" in str(error.value)


def test_an_unknown_base_names_the_nearest() -> None:
    with pytest.raises(UsageError, match="unknown machine") as error:
        read_base("brodwell")
    assert "'broadwell'" in str(error.value) and "--base" in str(error.value)


def test_a_base_that_is_no_machine_is_refused(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.yaml"
    wrong.write_text("name: x\n")
    with pytest.raises(UsageError, match="the base machine"):
        read_base(str(wrong))


@pytest.mark.parametrize(
    ("name", "file", "cores", "message"),
    [
        (None, "there.yaml", None, "exists already"),
        (None, "new.txt", None, "a machine file is YAML"),
        ("a name", "new.yaml", None, "no name of a machine"),
        (None, "-new.yaml", None, "no name of a machine"),
        (None, "new.yaml", 65536, "fewer cores"),
    ],
)
def test_a_request_that_cannot_be_met_is_refused_first(
    tmp_path: Path, name: str | None, file: str, cores: int | None, message: str
) -> None:
    (tmp_path / "there.yaml").write_text("name: old\n")
    with pytest.raises(UsageError, match=message):
        check_request(tmp_path / file, name=name, cores=cores, force=False)


def test_force_replaces_a_file(tmp_path: Path) -> None:
    (tmp_path / "there.yaml").write_text("name: old\n")
    assert check_request(tmp_path / "there.yaml", name=None, cores=None, force=True).cores >= 1
