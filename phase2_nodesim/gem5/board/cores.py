"""Cores of the board: out-of-order ones for the ranks' threads, small ones for the helpers."""

from __future__ import annotations

from typing import Any

from m5 import objects

# Cycles of operations that the machine file does not name (2, 1 and these) are those of Intel's manuals.
_SIMD = (
    "SimdAdd SimdAddAcc SimdAlu SimdCmp SimdCvt SimdMisc SimdMult SimdMultAcc SimdShift SimdShiftAcc SimdFloatAlu "
    "SimdFloatCmp SimdFloatCvt SimdFloatMisc"
).split()
_FLOAT = "FloatMult FloatMultAcc SimdFloatMult SimdFloatMultAcc".split()
_FLOAT_ADD = "FloatAdd SimdFloatAdd".split()
_SHORT_FLOAT = "FloatCmp FloatCvt FloatMisc".split()
_FLOAT_DIVIDE = "FloatDiv FloatSqrt SimdFloatDiv SimdFloatSqrt".split()
_SIMD_DIVIDE = {"SimdDiv": 20, "SimdSqrt": 20}


def core(board: dict[str, Any], number: int, process: Any) -> Any:
    """Return an out-of-order core, not connected."""
    made = objects.X86O3CPU(cpu_id=number, **board["core"]["o3"])
    made.fuPool = _functional_units(board["core"]["units"])
    # Branches of x86 are at any byte; gem5's tables leave out the two lowest bits of their addresses by default.
    made.branchPred = getattr(objects, board["core"]["predictor"])(instShiftAmt=0)
    made.workload = process
    made.createThreads()
    return made


def helper_core(number: int, process: Any) -> Any:
    """Return the core of a rank's helper thread: one operation after the other."""
    made = objects.X86TimingSimpleCPU(cpu_id=number, workload=process)
    made.createThreads()
    return made


def connect_interrupts(cpu: Any, bus: Any) -> None:
    """Give ``cpu`` its interrupt controller, which x86 needs."""
    cpu.createInterruptController()
    for controller in cpu.interrupts:
        controller.pio = bus.mem_side_ports
        controller.int_requestor = bus.cpu_side_ports
        controller.int_responder = bus.mem_side_ports


def _functional_units(units: dict[str, int]) -> Any:
    def unit(count: int, operations: list[Any]) -> Any:
        return objects.FUDesc(opList=operations, count=count)

    def operation(name: str, cycles: int = 1, pipelined: bool = True) -> Any:
        return objects.OpDesc(opClass=name, opLat=cycles, pipelined=pipelined)

    return objects.FUPool(
        FUList=[
            unit(units["integer"], [operation("IntAlu")]),
            unit(units["multiply"], [operation("IntMult", 3), operation("IntDiv", units["divide_step"])]),
            unit(
                units["float"],
                [operation(name, units["float_latency"]) for name in _FLOAT]
                + [operation(name, units["float_add_latency"]) for name in _FLOAT_ADD]
                + [operation(name, 2) for name in _SHORT_FLOAT]
                + [operation(name) for name in _SIMD]
                + [operation(name, cycles, pipelined=False) for name, cycles in _SIMD_DIVIDE.items()],
            ),
            unit(
                units["float_divide"],
                [operation(name, units["float_divide_latency"], pipelined=False) for name in _FLOAT_DIVIDE],
            ),
            unit(units["load"], [operation("MemRead"), operation("FloatMemRead")]),
            unit(units["store"], [operation("MemWrite"), operation("FloatMemWrite")]),
            unit(1, [operation("IprAccess", 3, pipelined=False)]),
        ]
    )
