# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a launch costs, by the instructions of its machine code: to choose among configurations of one kernel."""

from __future__ import annotations

import functools
from dataclasses import dataclass

__all__ = ["Launched", "cost_of"]

# A spilled byte is written and read again, by messages of 64 bytes that take tens of cycles.
_CYCLES_OF_A_SPILLED_BYTE = 1.0


@dataclass(frozen=True)
class Launched:
    """A launch that was asked for and not made: the SPIR-V, its build flags, workgroups and subgroups of each."""

    spirv: bytes
    flags: str
    groups: int
    subgroups: int


def cost_of(launch: Launched, target: str) -> float:
    """A number that is less for what takes fewer instructions; of no unit.

    With matrix products: the instructions of the hottest loop for each operation of its products, as all configurations
    do the same operations. Without: all instructions, once, of all subgroups.
    """
    per_operation, each, spilled = _counts(launch.spirv, "256-GRF" in launch.flags, target)
    if per_operation:
        return per_operation * (1 + _CYCLES_OF_A_SPILLED_BYTE * spilled / max(each, 1))
    return launch.groups * launch.subgroups * (each + _CYCLES_OF_A_SPILLED_BYTE * spilled)


@functools.lru_cache(256)
def _counts(spirv: bytes, large: bool, target: str) -> tuple[float, int, int]:
    """(instructions of the loop for each operation, or 0, instructions, spilled bytes) of the module's kernels."""
    from xetile.reports import report

    kernels = report.statistics(spirv, target, True if large else None)
    kernel = max(kernels, key=lambda one: one.code.total)
    loop = kernel.loop.total / kernel.operations if kernel.loop and kernel.operations else 0.0
    return loop, kernel.code.total, kernel.spill_bytes
