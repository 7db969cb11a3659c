"""What a host says of itself, from folders as Linux has them."""

from __future__ import annotations

from pathlib import Path

import pytest

from phase2_nodesim.calibration.host import HostCache, processors_of, read_host

INFO = "model name\t: Test 9000\nflags\t\t: fpu sse2 avx2 fma\n"


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text + "\n")


def cache(root: Path, index: int, level: int, kind: str, size: str, ways: int, shared: str) -> None:
    folder = root / f"sys/devices/system/cpu/cpu0/cache/index{index}"
    for name, text in (
        ("level", str(level)),
        ("type", kind),
        ("size", size),
        ("ways_of_associativity", str(ways)),
        ("coherency_line_size", "64"),
        ("shared_cpu_list", shared),
    ):
        write(folder / name, text)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Two sockets of two cores with two threads each."""
    for cpu in range(8):
        folder = tmp_path / f"sys/devices/system/cpu/cpu{cpu}/topology"
        write(folder / "physical_package_id", str(cpu % 4 // 2))
        write(folder / "core_id", str(cpu % 2))
    cache(tmp_path, 0, 1, "Data", "48K", 12, "0,4")
    cache(tmp_path, 1, 1, "Instruction", "32K", 8, "0,4")
    cache(tmp_path, 2, 2, "Unified", "1024K", 16, "0,4")
    cache(tmp_path, 3, 3, "Unified", "32M", 0, "0-1,4-5")
    for node, processors in enumerate(("0-1,4-5", "2-3,6-7")):
        write(tmp_path / f"sys/devices/system/node/node{node}/cpulist", processors)
    write(tmp_path / "proc/cpuinfo", INFO)
    write(tmp_path / "proc/meminfo", "MemTotal: 9 kB\nMemAvailable: 1048576 kB")
    return tmp_path


def test_cores_sockets_and_domains_are_counted(root: Path) -> None:
    host = read_host(root, set(range(8)))
    assert (host.processor, host.cores, host.sockets, host.domains) == ("Test 9000", 4, 2, 2)
    assert (host.vector_bytes, host.fused, host.memory_bytes) == (32, True, 2**30)


def test_caches_have_the_keys_of_the_machine_file(root: Path) -> None:
    assert read_host(root, set(range(8))).caches == {
        "l1i": HostCache(32 * 1024, 8, 64, 1),
        "l1d": HostCache(48 * 1024, 12, 64, 1),
        "l2": HostCache(1024**2, 16, 64, 1),
        # 0 ways: any line can be anywhere.
        "last_level": HostCache(32 * 1024**2, 32 * 1024**2 // 64, 64, 2),
    }


def test_only_processors_that_may_be_used_count(root: Path) -> None:
    host = read_host(root, {0, 1})
    assert (host.cores, host.sockets, host.domains) == (2, 1, 1)
    assert read_host(root, {1, 2}).domains == 2


def test_memory_without_processors_is_no_domain(root: Path) -> None:
    # As Linux shows memory of CXL, or HBM in flat mode.
    write(root / "sys/devices/system/node/node2/cpulist", "")
    assert read_host(root, set(range(8))).domains == 2


def test_vectors_of_sve_are_as_wide_as_the_system_says(root: Path) -> None:
    write(root / "proc/cpuinfo", "CPU part\t: 0x001\nFeatures\t: fp asimd sve\n")
    assert read_host(root, {0}).vector_bytes is None
    write(root / "proc/sys/abi/sve_default_vector_length", "64")
    assert read_host(root, {0}).vector_bytes == 64
    write(root / "proc/cpuinfo", "CPU part\t: 0xd0c\nFeatures\t: fp asimd\n")
    assert read_host(root, {0}).vector_bytes == 16


def test_a_cache_before_the_last_level_may_be_missing(root: Path) -> None:
    folder = root / "sys/devices/system/cpu/cpu0/cache/index2"
    for file in folder.iterdir():
        file.unlink()
    folder.rmdir()
    assert sorted(read_host(root, set(range(8))).caches) == ["l1d", "l1i", "last_level"]


def test_a_host_that_says_nothing_is_still_a_host(tmp_path: Path) -> None:
    host = read_host(tmp_path, {0, 1})
    assert (host.cores, host.sockets, host.domains, host.caches, host.vector_bytes) == (2, 1, 1, {}, None)


def test_lists_of_processors_are_read() -> None:
    assert processors_of("0-2,5,7-8") == {0, 1, 2, 5, 7, 8}
