# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Configurations of matmuls for this CPU that were measured, where the cost model's own choice is only its best guess.

for found in xetile.tune("model.mlir", threads=2):      # measures what is not known yet
    print(found)
kernel = xetile.compile("model.mlir", target="cpu", threads=2, tune=True)

For each matmul the configurations that the model finds cheapest are compiled and called in turns, in the whole
function, on random arrays: the fastest is kept if it beats the model's own choice by more than 2 per cent. It is
written at once to a file of its own in XeTile's cache, which holds for the machine, the number of threads, the matmul's
sizes, maps and types, and the build of XeTile. What runs beside this process is measured, too: tune on a quiet machine.
"""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike

from xetile.compiling.compiler import read_payload
from xetile.errors import XeTileError
from xetile.facts.measured_configs import Effort, Tuned
from xetile.mlir import ir
from xetile.targets import CpuTarget, Target

__all__ = ["Effort", "Tuned", "tune"]


def tune(
    module_or_path: ir.Module | str | PathLike[str],
    target: str = "cpu",
    *,
    threads: int | None = None,
    candidates: int = 5,
    seconds: float = 0.2,
    again: bool = False,
    on_found: Callable[[Tuned], None] | None = None,
) -> tuple[Tuned, ...]:
    """Measures configurations of the matmuls of a function, and keeps the fastest for `compile(..., tune=True)`.

    `candidates`  configurations of each matmul, at most.
    `seconds`     for the calls of each of them, beside the time to compile them.
    `again`       measures those that are known, too.
    `on_found`    is called with each when it is there. If the process dies then, these are kept.

    XeTileError for other targets than "cpu", for sizes that are known at run time only, and for what cannot be
    compiled.
    """
    room = Target(target)
    if not isinstance(room, CpuTarget):
        raise XeTileError(f"tune: expected the target cpu, got {room}: kernels for GPUs cannot be timed here")
    payload = module_or_path if isinstance(module_or_path, ir.Module) else read_payload(module_or_path)
    plan = room.plan(None, {}, {"threads": threads, "tune": Effort(candidates, seconds, again)})
    found: list[Tuned] = []

    def keep(tuned: Tuned) -> None:
        found.append(tuned)
        if on_found is not None:
            on_found(tuned)

    plan.tuned(plan.prepared(payload), plan.signature(payload), keep)
    if not found:
        raise XeTileError("tune: there is no matmul on tensors of static sizes; expected a linalg contraction")
    return tuple(found)
