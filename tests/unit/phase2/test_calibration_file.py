"""The machine file of a calibration: what it has from where, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from manynode.config.machine import Machine
from manynode.errors import CheckFailedError, OutputError, UsageError
from phase2_nodesim.calibration import calibration
from phase2_nodesim.calibration.calibrate_node_command import calibrate_node
from phase2_nodesim.calibration.calibration import Calibration, check_request, command_line
from phase2_nodesim.calibration.figures import Cycles, Figure, measured
from phase2_nodesim.calibration.host import Host
from phase2_nodesim.calibration.machine_file import merged, not_measured, prefetcher_note, read_base, text
from phase2_nodesim.calibration.measurements import Series
from phase2_nodesim.calibration.plan import CLOCK

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


@pytest.mark.parametrize("name", ["7742", "1.10", "true", "on", "null", "2024-01-01", "0x1F", "1_000", "plain-name"])
def test_a_name_that_looks_like_another_type_stays_a_name(name: str) -> None:
    tree = merged(read_base("generic"), FIGURES, "generic")
    content = yaml.safe_load(text(tree, name=name, description="a host", remarks=[]))
    assert Machine.model_validate(content).name == name


def test_a_remark_is_not_broken_at_the_dashes_of_a_command() -> None:
    tree = merged(read_base("generic"), FIGURES, "generic")
    command = "Written by: manynode calibrate-node mine.yaml" + 12 * " --some-option value"
    lines = text(tree, name="mine", description="a host", remarks=[command]).splitlines()
    comments = [line.removeprefix("# ") for line in lines if line.startswith("# ")]
    assert len(comments) > 1 and " ".join(comments) == command


def test_the_first_lines_are_the_remarks() -> None:
    assert written().startswith("# Written by: a test.\nname: mine\n")


def test_what_is_the_bases_is_listed() -> None:
    listed = not_measured(merged(read_base("generic"), FIGURES, "generic"))
    assert "core.reorder_buffer" in listed and "core.dispatch_width" not in listed


def test_a_base_without_prefetchers_is_named() -> None:
    note = prefetcher_note(merged(read_base("generic"), FIGURES, "generic"), "generic")
    assert note is not None and "prefetchers were not measured" in note and "base generic" in note and "--base" in note
    assert prefetcher_note(merged(read_base("epyc-9654"), FIGURES, "epyc-9654"), "epyc-9654") is None


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


def test_a_folder_of_that_name_is_refused_even_with_force(tmp_path: Path) -> None:
    (tmp_path / "folder.yaml").mkdir()
    with pytest.raises(UsageError, match="cannot be written") as error:
        check_request(tmp_path / "folder.yaml", name=None, cores=None, force=True)
    assert "a folder of that name" in str(error.value)


@pytest.mark.parametrize("force", [False, True])
def test_a_folder_that_cannot_be_written_is_refused_first(tmp_path: Path, force: bool) -> None:
    # Root may write into any folder, but not below a file.
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="could not be written") as error:
        check_request(tmp_path / "file" / "new.yaml", name=None, cores=None, force=force)
    assert str(tmp_path / "file" / "new.yaml") in str(error.value)


def test_the_trial_of_the_folder_leaves_nothing(tmp_path: Path) -> None:
    check_request(tmp_path / "later" / "new.yaml", name=None, cores=None, force=False)
    assert list(tmp_path.iterdir()) == []


def test_the_command_of_the_file_has_every_option_that_changes_it() -> None:
    plain = command_line(Path("a.yaml"), base="generic", rounds=7, name=None, cores=None, quick=False)
    assert plain == "manynode calibrate-node a.yaml --base generic --rounds 7"
    full = command_line(Path("x/a.yaml"), base="my files/b.yaml", rounds=2, name="mine", cores=3, quick=True)
    assert full == (
        "manynode calibrate-node x/a.yaml --base 'my files/b.yaml' --rounds 2 --cores 3 --name mine --quick"
    )


def calibrated_as(monkeypatch: pytest.MonkeyPatch, **more: Figure) -> None:
    """Let the command find these figures without measuring."""

    def calibrate(host: Host, cores: int, *, rounds: int, quick: bool, tell: object) -> Calibration:
        figures = {**FIGURES, **{key.replace("__", "."): figure for key, figure in more.items()}}
        clock = Cycles({CLOCK.label(): Series(1, [1e-9])})
        return Calibration(host, cores, rounds, quick, 1.0, clock, figures, ["a note"])

    monkeypatch.setattr(calibration, "calibrate", calibrate)


def test_the_command_writes_the_file_and_its_own_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calibrated_as(monkeypatch)
    monkeypatch.chdir(tmp_path)
    calibrate_node(Path("mine.yaml"), base="generic", rounds=2, name="7742", cores=1, quick=True, force=False)
    written = (tmp_path / "mine.yaml").read_text()
    assert written.startswith(
        "# Written by: manynode calibrate-node mine.yaml --base generic --rounds 2 --cores 1 --name 7742 --quick\n"
    )
    assert yaml.safe_load(written)["name"] == "7742"


def test_figures_that_contradict_the_base_are_printed_before_they_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    calibrated_as(monkeypatch, caches__l2__latency=measured(2, 0.5))
    with pytest.raises(CheckFailedError, match="contradict each other"):
        calibrate_node(
            tmp_path / "mine.yaml", base="generic", rounds=7, name=None, cores=None, quick=False, force=False
        )
    printed = capsys.readouterr().out
    assert "caches.l2.latency" in printed and "note: a note" in printed and "not measured, from generic" in printed
    assert not (tmp_path / "mine.yaml").exists()


def test_force_replaces_a_file(tmp_path: Path) -> None:
    (tmp_path / "there.yaml").write_text("name: old\n")
    assert check_request(tmp_path / "there.yaml", name=None, cores=None, force=True).cores >= 1
