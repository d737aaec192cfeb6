# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compilation targets: a room for each kind of machine, all with the same interface.

xetile.targets.Target("pvc").registers
[target.name for target in xetile.targets.available()]
"""

from xetile.targets.base import Option, Plan, Target
from xetile.targets.cpu import CpuTarget
from xetile.targets.nvidia import NvidiaTarget
from xetile.targets.xe import XeTarget

__all__ = ["CpuTarget", "NvidiaTarget", "Option", "Plan", "Target", "XeTarget", "available"]


def available() -> tuple[Target, ...]:
    """All targets: Intel's GPUs by name, then this CPU, then Nvidia's GPUs."""
    return tuple(Target(name) for room in (XeTarget, CpuTarget, NvidiaTarget) for name in room.names())
