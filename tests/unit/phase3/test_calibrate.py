"""``manynode calibrate``: the network file that it writes, its figure, and the shipped files made with it."""

from __future__ import annotations

import json
import re
import tomllib
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest
import typer
import yaml
from typer.testing import CliRunner, Result

from manynode import cli
from manynode.config.network import Network
from manynode.config.resolved import read_yaml
from manynode.errors import CheckFailedError, ManynodeError, UsageError
from phase3_sst.calibration.calibrate_command import calibrate

ROOT = Path(__file__).resolve().parent.parent.parent.parent
DATA = ROOT / "tests" / "data" / "calibration"
NETWORKS = ROOT / "configs" / "networks"
# The shipped files were written with these commands.
OMNI_PATH = [
    str(DATA / "dahu_opa100/pingpong_calls.csv"),
    "--cluster=dahu",
    "--base=opa100-fat-tree",
    "--name=omni-path-100",
    f"--intranode={DATA / 'dahu_opa100/memcpy.csv'}",
]
TOFU = [str(DATA / "fugaku/riken_imb_pingpong.csv"), "--base=tofu-d", "--name=tofu-d"]

app = typer.Typer(pretty_exceptions_enable=False)
app.command()(calibrate)


def run(*arguments: str) -> Result:
    result = CliRunner().invoke(app, list(arguments))
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result


@pytest.fixture(scope="module")
def omni_path(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    output = tmp_path_factory.mktemp("omni") / "omni-path-100.yaml"
    return output, run(*OMNI_PATH, f"--output={output}").output


def test_the_file_is_a_network_with_the_fitted_parameters(omni_path: tuple[Path, str]) -> None:
    network = Network.model_validate(yaml.safe_load(omni_path[0].read_text(encoding="utf-8")))
    base = Network.model_validate(read_yaml(NETWORKS / "opa100-fat-tree.yaml", "the base"))
    assert network.name == "omni-path-100"
    assert network.topology == base.topology
    assert network.link == base.link
    assert network.host.eager_limit == 65536
    assert network.host.nic_bandwidth == pytest.approx(12.26e9, rel=0.01)
    assert len(network.host.overhead_send) > 1
    assert network.host.overhead_send[0].from_ == 0
    assert network.intranode.bandwidth != base.intranode.bandwidth


def test_the_file_says_where_each_value_comes_from(omni_path: tuple[Path, str]) -> None:
    text = omni_path[0].read_text(encoding="utf-8")
    assert "description: Host parameters fitted to pingpong_calls.csv." in text
    assert "manynode calibrate pingpong_calls.csv" in text
    assert str(DATA) not in text  # no path of this machine
    lines = text.splitlines()
    for key in ("overhead_send", "overhead_recv", "eager_limit", "nic_bandwidth", "gap", "nic_latency"):
        (line,) = [index for index, line in enumerate(lines) if line.strip().startswith(f"{key}:")]
        assert re.match(r"\s*# (fitted|assumed|given)", lines[line - 1]), key


def test_the_error_is_printed_by_size(omni_path: tuple[Path, str]) -> None:
    printed = omni_path[1]
    assert re.search(r"^64 KiB to 1 MiB +34 +\d\.\d% +\d\.\d%", printed, re.MULTILINE)
    assert "200 half round trips: 94.5% within 5%, 99.5% within 10%, 100.0% within 20%" in printed
    assert "gap: assumed" in printed


@pytest.mark.parametrize(("name", "arguments"), [("omni-path-100", OMNI_PATH), ("tofu-d", TOFU)])
def test_the_shipped_files_are_what_the_program_writes(name: str, arguments: list[str], tmp_path: Path) -> None:
    output = tmp_path / f"{name}.yaml"
    shipped = NETWORKS / f"{name}.yaml"
    description = read_yaml(shipped, "the network")["description"]
    run(*arguments, f"--output={output}", f"--description={description}")
    assert output.read_text(encoding="utf-8") == shipped.read_text(encoding="utf-8")


def test_the_figure_works_offline_and_holds_the_data(tmp_path: Path) -> None:
    figure = tmp_path / "fit.html"
    run(*TOFU, f"--output={tmp_path / 'x.yaml'}", f"--figure={figure}")
    page = figure.read_text(encoding="utf-8")
    assert not re.search(r"<(script|link)[^>]+(src|href)=", page)
    assert "measured: riken_imb_pingpong.csv" in page


@pytest.mark.parametrize(("ending", "magic"), [(".png", b"\x89PNG"), (".svg", b"<svg")])
def test_figures_for_documents(ending: str, magic: bytes, tmp_path: Path) -> None:
    figure = tmp_path / f"fit{ending}"
    run(*TOFU, f"--output={tmp_path / 'x.yaml'}", f"--figure={figure}")
    assert figure.read_bytes().startswith(magic)


def test_the_figure_draws_points_line_and_error() -> None:
    from phase3_sst.calibration import fit_figure, network_file, quality
    from phase3_sst.calibration.fit import fit
    from phase3_sst.calibration.measurements import read_measurements

    network = network_file.read(read_yaml(NETWORKS / "tofu-d.yaml", "the base"), "tofu-d")
    table = read_measurements([DATA / "fugaku/riken_imb_pingpong.csv"])
    fitted = fit(table, network_file.base_of(network, 3))
    errors = quality.residuals(table, fitted)
    spec = json.loads(fit_figure.chart(errors, fitted, "title").to_json())
    above, below = spec["vconcat"]
    assert [layer["mark"]["type"] for layer in above["layer"]] == ["rule", "line", "point"]
    assert below["layer"][-1]["encoding"]["y"]["field"] == "error"
    line = fit_figure.model_line(fitted, 2**22)
    # Both sides of the jump at the eager limit: the line there is vertical.
    assert {fitted.eager_limit_bytes, fitted.eager_limit_bytes + 1} <= set(line["size_bytes"])


def test_what_programs_print_can_be_calibrated_from(tmp_path: Path) -> None:
    # Recorded between two ranks of one host: the base must be as fast.
    base = yaml.safe_load((NETWORKS / "tofu-d.yaml").read_text(encoding="utf-8"))
    base["link"] = {"bandwidth": "400 Gbit/s", "latency": "1 ns"}
    base["switch_latency"] = "1 ns"
    base["host"]["nic_latency"] = "10 ns"
    (tmp_path / "base.yaml").write_text(yaml.safe_dump(base), encoding="utf-8")
    printed = [str(DATA / "printed" / f"mpi4py_osu_{test}.txt") for test in ("latency", "bw")]
    output = tmp_path / "x.yaml"
    shown = run(*printed, f"--base={tmp_path / 'base.yaml'}", "--name=x", f"--output={output}").output
    assert re.search(r"24 half round trips: (8|9|10)\d", shown)
    assert "a stream of messages reaches" in shown
    host = Network.model_validate(yaml.safe_load(output.read_text(encoding="utf-8"))).host
    # The last two sizes differ by 2 MiB and 80.61 us.
    assert host.nic_bandwidth == pytest.approx(2097152 / 80.61e-6, rel=0.1)


def test_the_program_offers_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    entry = EntryPoint("calibrate", "phase3_sst.calibration.calibrate_command:calibrate", "manynode.commands")
    pyproject = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert pyproject["project"]["entry-points"]["manynode.commands"]["calibrate"] == entry.value
    fresh = typer.Typer()
    fresh.callback()(lambda: None)
    monkeypatch.setattr(cli, "app", fresh)
    monkeypatch.setattr(cli, "entry_points", lambda group: [entry])
    monkeypatch.setattr("sys.argv", ["manynode", "calibrate", "--help"])
    cli._add_phases()
    result = CliRunner().invoke(fresh, ["calibrate", "--help"])
    assert result.exit_code == 0
    assert "--base" in result.output


@pytest.mark.parametrize("words", ["short: with a colon # and a mark", "measured by well-known-people " * 12 + "end"])
def test_descriptions_are_kept_word_by_word(words: str, tmp_path: Path) -> None:
    output = tmp_path / "x.yaml"
    run(*TOFU, f"--output={output}", f"--description={words}")
    assert read_yaml(output, "the network")["description"] == words


def test_given_values_are_kept(tmp_path: Path) -> None:
    output = tmp_path / "x.yaml"
    run(*TOFU, f"--output={output}", "--eager-limit=32 KiB", "--pieces=2")
    host = Network.model_validate(yaml.safe_load(output.read_text(encoding="utf-8"))).host
    assert host.eager_limit == 32768
    assert len(host.overhead_send) <= 2


def test_longer_paths_leave_less_to_the_hosts(tmp_path: Path) -> None:
    bases = []
    for links in (3, 5):
        output = tmp_path / f"{links}.yaml"
        run(*TOFU, f"--output={output}", f"--links={links}")
        host = Network.model_validate(yaml.safe_load(output.read_text(encoding="utf-8"))).host
        bases.append(host.overhead_send[0].time + host.overhead_recv[0].time)
    network = Network.model_validate(read_yaml(NETWORKS / "tofu-d.yaml", "tofu"))
    two_hops = 2 * (network.link.latency + network.switch_latency)
    assert bases[0] - bases[1] == pytest.approx(two_hops, rel=0.05)


REFUSED: dict[str, tuple[list[str], type[ManynodeError], str]] = {
    "an unknown base": (["--base=opa100-fat-tre"], UsageError, "did you mean 'opa100-fat-tree'?"),
    "a base that is not there": (["--base=absent.yaml"], UsageError, "the base network cannot be read"),
    "an eager limit without unit": (["--eager-limit=64"], UsageError, "the eager limit is not a size"),
    "an unknown figure": (["--figure=fit.gif"], UsageError, ".html, .png, .svg"),
    "an unknown format": (["--format=netpipe"], UsageError, "unknown format of measurements"),
    "a path slower than the measurement": (["--links=20"], CheckFailedError, "the base network is slower"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_mistakes_are_refused_and_nothing_is_written(case: str, tmp_path: Path) -> None:
    arguments, kind, said = REFUSED[case]
    with pytest.raises(kind) as caught:
        run(*TOFU, *arguments, f"--output={tmp_path / 'x.yaml'}")
    assert said in caught.value.render()
    assert list(tmp_path.iterdir()) == []
