"""The whole node: a system with its processes, cores, caches and memory, connected."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from m5 import objects

from phase2_nodesim.gem5.board.caches import cache, crossbar, last_level_cache, small_cache
from phase2_nodesim.gem5.board.cores import connect_interrupts, core, helper_core
from phase2_nodesim.gem5.board.memory import controllers


@dataclass
class Slot:
    """A core for one thread of a rank, and the caches that its data go through (``l2`` may be None)."""

    cpu: Any
    l2: Any = None
    last_level: Any = None


@dataclass
class Node:
    """``slots`` in order: the threads of the first rank, those of the second, ..."""

    system: Any
    slots: list[Slot]


def build(board: dict[str, Any]) -> Node:
    """Return the node that ``board`` (board_file.py) describes."""
    system = objects.System(
        cache_line_size=board["line_bytes"], mem_mode="timing", mmap_using_noreserve=True, exit_on_work_items=True
    )
    system.clk_domain = objects.SrcClockDomain(
        clock=f"{board['frequency_hz'] / 1e9:.9f}GHz", voltage_domain=objects.VoltageDomain()
    )
    system.bus = crossbar(board["memory"]["width_bytes"], point_of_coherency=True)
    system.system_port = system.bus.cpu_side_ports
    system.mem_ranges = [objects.AddrRange(0, size=f"{board['memory']['bytes']}B")]
    system.controllers = controllers(board["memory"], system.mem_ranges[0])
    for controller in system.controllers:
        controller.port = system.bus.mem_side_ports

    processes = [
        objects.Process(
            pid=100 + index,
            cmd=guest["command"],
            executable=guest["command"][0],
            env=guest["environment"],
            cwd=guest["folder"],
        )
        for index, guest in enumerate(board["guests"])
    ]
    system.workload = objects.SEWorkload.init_compatible(board["guests"][0]["command"][0])
    slots, helpers = _cores(board, processes)
    # gem5 numbers threads in the order of its cores' names.
    for cpu in sorted([*(slot.cpu for slot in slots), *helpers], key=lambda cpu: int(cpu.cpu_id)):
        setattr(system, f"core{int(cpu.cpu_id):04d}", cpu)
    _connect_slots(board, system, slots)
    for helper in helpers:
        # Coherent, and beside the caches of the cores: what it writes goes to memory.
        helper.icache = small_cache("4KiB", is_read_only=True)
        helper.dcache = small_cache("1KiB")
        _connect_core(helper, system.bus, system.bus)
    return Node(system, slots)


def _cores(board: dict[str, Any], processes: list[Any]) -> tuple[list[Slot], list[Any]]:
    """Return the slots' cores and the helpers'.

    A new thread takes the first free core, whichever process that was meant for. So the ranks' own cores have the
    lowest numbers; then come those of the helpers, whose threads are made first, in MPI_Init; then those of further
    threads.
    """
    threads, helpers = board["threads"], []
    if board["helpers"]:
        helpers = [helper_core(len(processes) + index, process) for index, process in enumerate(processes)]
    slots, further = [], len(processes) + len(helpers)
    for index, process in enumerate(processes):
        for thread in range(threads):
            number = index if thread == 0 else further
            further += thread > 0
            slots.append(Slot(core(board, number, process)))
    return slots, helpers


def _connect_slots(board: dict[str, Any], system: Any, slots: list[Slot]) -> None:
    last_levels, buses = [], []
    for block in board["last_levels"]:
        last, bus = last_level_cache(board), crossbar(64)
        last.cpu_side, last.mem_side = bus.mem_side_ports, system.bus.cpu_side_ports
        last_levels.append(last)
        buses.append(bus)
        for members in block:
            near, second = bus, None
            if "l2" in board["caches"]:
                near, second = crossbar(64, point_of_unification=True), cache(board, "l2")
                second.cpu_side, second.mem_side = near.mem_side_ports, bus.cpu_side_ports
                # Children of a core of theirs: gem5 wants a parent for everything.
                slots[members[0]].cpu.l2, slots[members[0]].cpu.l2_bus = second, near
            for number in members:
                slot = slots[number]
                slot.l2, slot.last_level = second, last
                slot.cpu.icache = cache(board, "l1i", is_read_only=True, writeback_clean=True)
                slot.cpu.dcache = cache(board, "l1d")
                _connect_core(slot.cpu, near, system.bus)
    system.last_levels, system.last_level_buses = last_levels, buses


def _connect_core(cpu: Any, near: Any, bus: Any) -> None:
    cpu.icache_port, cpu.dcache_port = cpu.icache.cpu_side, cpu.dcache.cpu_side
    cpu.icache.mem_side = near.cpu_side_ports
    cpu.dcache.mem_side = near.cpu_side_ports
    cpu.mmu.connectWalkerPorts(near.cpu_side_ports, near.cpu_side_ports)
    connect_interrupts(cpu, bus)
