"""The fork server: a forwarded command does and says what it does by itself, and ends as it ends; nothing outlives."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from manynode.fork_server import ADDRESS
from manynode.process_tree import command_line, descendants

# Says whether the client returned, which it does where the command must run by itself.
TOLD = "from manynode.fork_server.client import run_there; run_there('manynode'); print('returned')"
# An owner that says where its server is, and ends when its standard input does.
OWNER = "from manynode.fork_server.owner import environment; print(*environment().values(), flush=True); input()"


def command(*words: object, **variables: str) -> subprocess.CompletedProcess[str]:
    arguments = [sys.executable, *map(str, words)]
    environment = {**os.environ, **variables}
    return subprocess.run(arguments, env=environment, capture_output=True, text=True, stdin=subprocess.DEVNULL)


@pytest.fixture
def owner() -> Iterator[subprocess.Popen[str]]:
    """A process with a server of its own; its first line is the server's address."""
    environment = {name: value for name, value in os.environ.items() if name != ADDRESS}
    arguments = [sys.executable, "-c", OWNER]
    with subprocess.Popen(
        arguments, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as child:
        yield child
        child.kill()


@pytest.fixture
def address(owner: subprocess.Popen[str]) -> str:
    assert owner.stdout is not None
    return owner.stdout.readline().strip()


def server_of(owner: subprocess.Popen[str]) -> int:
    return descendants(owner.pid)[1]


def until(what: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not what():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.02)


@pytest.mark.parametrize("line", ["--version", "config default", "config check nowhere.yaml", "frobnicate"])
def test_a_command_says_and_returns_the_same_in_a_fork(line: str, address: str) -> None:
    words = line.split()
    forked = command("-m", "manynode", *words, **{ADDRESS: address})
    alone = command("-m", "manynode", *words, **{ADDRESS: ""})
    assert (forked.returncode, forked.stdout, forked.stderr) == (alone.returncode, alone.stdout, alone.stderr)


def test_a_fork_has_the_folder_the_environment_and_the_streams_of_its_command(address: str, tmp_path: Path) -> None:
    (tmp_path / "Snakefile").write_text(
        'rule here:\n    output: "told"\n    shell: "pwd > {output}; echo $SAID >> {output}; umask >> {output}"\n'
    )
    before = os.umask(0o027)
    try:
        done = subprocess.run(
            [sys.executable, "-m", "manynode.fork_server", "--cores", "1", "--quiet", "all"],
            cwd=tmp_path,
            env={**os.environ, ADDRESS: address, "SAID": "a word"},
        )
    finally:
        os.umask(before)
    assert done.returncode == 0
    assert (tmp_path / "told").read_text().splitlines() == [str(tmp_path), "a word", "0027"]


def test_the_next_command_finds_what_the_last_one_imported(owner: subprocess.Popen[str], address: str) -> None:
    def libraries() -> str:
        return Path(f"/proc/{server_of(owner)}/maps").read_text()

    until(lambda: command_line(server_of(owner)) is not None)
    assert "pydantic_core" not in libraries()
    for _ in range(2):
        assert command("-m", "manynode", "config", "default", **{ADDRESS: address}).returncode == 0
    assert "pydantic_core" in libraries()


def test_a_command_with_other_surroundings_runs_by_itself(address: str) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_CORE)
    changed: list[tuple[list[str], dict[str, str]]] = [
        (["prlimit", f"--core={0 if soft else 1}:{hard}"], {}),
        (["nice", "-n", "5"], {}),
        (["taskset", "-c", str(min(os.sched_getaffinity(0)))], {}),
        (["env", "--ignore-signal=USR1"], {}),
        ([], {"LC_ALL": "C", "PYTHONDONTWRITEBYTECODE": "1"}),
    ]
    if os.geteuid() == 0:
        changed.append((["unshare", "--mount"], {}))
    for prefix, variables in changed:
        if prefix[:1] == ["taskset"] and len(os.sched_getaffinity(0)) == 1:
            continue
        environment = {**os.environ, ADDRESS: address, **variables}
        arguments = [*prefix, sys.executable, "-c", TOLD]
        done = subprocess.run(arguments, env=environment, text=True, capture_output=True)
        assert done.stdout == "returned\n", (prefix, variables, done)


@pytest.mark.parametrize("name", ["", "manynode-1-nobody"])
def test_without_a_server_a_command_runs_by_itself(name: str) -> None:
    code = f"{TOLD}; import os; print(os.environ.get('{ADDRESS}'))"
    # What the command starts does not ask a server that is gone.
    assert command("-c", code, **{ADDRESS: name}).stdout == f"returned\n{None if name else ''}\n"


def sleeping(folder: Path, address: str) -> tuple[subprocess.Popen[str], int]:
    """Start Snakemake with a rule that sleeps; return its client and the process that sleeps."""
    file = folder / "pid"
    (folder / "Snakefile").write_text(f'rule sleep:\n    shell: "echo $$ > {file}; exec sleep 600"\n')
    words = ["--cores", "1", "--directory", str(folder), "--snakefile", str(folder / "Snakefile")]
    client = subprocess.Popen(
        [sys.executable, "-m", "manynode.fork_server", *words],
        env={**os.environ, ADDRESS: address},
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    until(lambda: file.exists() and file.read_text().endswith("\n"))
    pid = int(file.read_text())
    assert pid not in descendants(client.pid)
    return client, pid


def ended(pid: int) -> bool:
    return command_line(pid) is None


def test_a_signal_reaches_the_fork_and_what_it_started(address: str, tmp_path: Path) -> None:
    client, pid = sleeping(tmp_path, address)
    os.killpg(client.pid, signal.SIGINT)
    output, _ = client.communicate(timeout=60)
    assert client.returncode == 1 and "Terminating processes on user request" in output
    until(lambda: ended(pid))


def test_a_killed_command_takes_its_fork_along(address: str, tmp_path: Path) -> None:
    client, pid = sleeping(tmp_path, address)
    client.kill()
    client.communicate(timeout=60)
    until(lambda: ended(pid))


def test_a_client_that_goes_at_once_takes_its_fork_along(
    owner: subprocess.Popen[str], address: str, tmp_path: Path
) -> None:
    """A fork that has no session of its own yet is ended as well: a cancelled step is often just starting."""
    (tmp_path / "Snakefile").write_text('rule sleep:\n    shell: "exec sleep 600"\n')
    words = ["--cores", "1", "--nolock", "--directory", str(tmp_path), "--snakefile", str(tmp_path / "Snakefile")]
    code = (
        "import os, signal, sys; from manynode.fork_server import client\n"
        f"connection = client.connected({address!r}); sys.argv = ['snakemake', *{words!r}]\n"
        "client._send(connection, 'snakemake'); os.kill(os.getpid(), signal.SIGKILL)"
    )
    server = server_of(owner)
    for _ in range(5):
        clients = [subprocess.Popen([sys.executable, "-c", code], env={**os.environ, ADDRESS: ""}) for _ in range(4)]
        for client in clients:
            client.wait(60)
    until(lambda: descendants(server) == [server])


def test_a_command_ends_by_a_signal_as_its_fork_does(
    owner: subprocess.Popen[str], address: str, tmp_path: Path
) -> None:
    client, pid = sleeping(tmp_path, address)
    os.kill(descendants(server_of(owner))[1], signal.SIGKILL)
    assert client.wait(60) == -signal.SIGKILL
    os.kill(pid, signal.SIGKILL)


def test_a_killed_server_ends_its_commands(owner: subprocess.Popen[str], address: str, tmp_path: Path) -> None:
    client, pid = sleeping(tmp_path, address)
    server = server_of(owner)
    fork = descendants(server)[1]
    os.kill(server, signal.SIGKILL)
    assert client.wait(60) == -signal.SIGKILL
    until(lambda: ended(fork))
    os.kill(pid, signal.SIGKILL)
    assert command("-c", TOLD, **{ADDRESS: address}).stdout == "returned\n"


def test_the_server_ends_with_its_owner_but_not_before_its_commands(
    owner: subprocess.Popen[str], address: str, tmp_path: Path
) -> None:
    client, _ = sleeping(tmp_path, address)
    server = server_of(owner)
    owner.kill()
    owner.wait()
    until(lambda: command("-c", TOLD, **{ADDRESS: address}).stdout == "returned\n")
    assert not ended(server) and client.poll() is None
    os.killpg(client.pid, signal.SIGINT)
    client.communicate(timeout=60)
    until(lambda: ended(server))


def test_the_server_has_one_thread_of_python(owner: subprocess.Popen[str], address: str) -> None:
    """Forking a process with several threads may lock the fork up. jemalloc's thread, of pyarrow, cares for itself."""
    for _ in range(2):
        assert command("-m", "manynode", "report", "--help", **{ADDRESS: address}).returncode == 0
    tasks = Path(f"/proc/{server_of(owner)}/task").iterdir()
    assert sorted({(task / "comm").read_text().strip() for task in tasks} - {"jemalloc_bg_thd"}) == ["python"]


def test_the_commands_of_tests_are_forked() -> None:
    """Else the tests take twice as long, and nothing else tells."""
    done = command("-c", TOLD, "--version")
    assert done.stdout.startswith("manynode ")
