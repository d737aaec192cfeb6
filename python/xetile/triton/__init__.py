# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Triton's kernels for Intel GPUs on this machine: compiled by triton-xpu, run by xetile's runtime, counted by ocloc.

    import xetile.triton
    xetile.triton.activate(target="pvc")

    kernel[grid](x, y, n, BLOCK=256)                       # tensors of the CPU, or NumPy's arrays
    print(xetile.triton.report(kernel, x, y, n, BLOCK=256))

`activate` comes before the first import of `triton` where triton-xpu lies in a folder of its own (XETILE_TRITON), and
before kernels with `triton.autotune` are defined, which ask for the driver then. Configurations are compared by the
instructions that they take, not by seconds of a CPU.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from xetile.errors import XeTileError, expect
from xetile.triton.find import find_triton

if TYPE_CHECKING:
    from xetile.reports.report import KernelStatistics

__all__ = ["activate", "deactivate", "is_installed", "report", "statistics"]


def is_installed() -> bool:
    """True if there is a Triton with a back end for Intel GPUs, which `activate` takes."""
    try:
        find_triton()
    except XeTileError:
        return False
    return True


def activate(target: str = "pvc") -> None:
    """Makes xetile's runtime Triton's driver, for kernels that are compiled for the GPU `target`, "pvc" or "bmg".

    XeTileError if the `triton` that is imported, or would be, has no back end for Intel GPUs: with what to install.
    """
    find_triton()
    from triton.runtime import driver

    from xetile.triton.driver import Driver

    driver.set_active(Driver(target))


def deactivate() -> None:
    """Gives Triton its own driver back."""
    find_triton()
    from triton.runtime import driver

    driver.reset_active()


def statistics(
    kernel: Any, *arguments: Any, targets: Sequence[str] = ("pvc", "bmg"), **options: Any
) -> tuple[KernelStatistics, ...]:
    """The machine code of a kernel for each GPU, as `xetile.report.statistics` has it.

    `kernel` is a function of `triton.jit`, compiled for what `arguments` and `options` (numbers of `tl.constexpr`,
    `num_warps`, ...) are, and not run; or what Triton compiled, alone. The large register file is used where the kernel
    asks for it.
    """
    from xetile.reports import report as reports

    triton = find_triton()
    expect("targets", targets, (tuple, list), "a list of names of GPUs")
    compiled = kernel
    if not hasattr(compiled, "asm"):
        if not hasattr(kernel, "warmup"):
            raise XeTileError(f"kernel: expected a function of triton.jit, or what it compiled, got {kernel!r}")
        active = triton.runtime.driver.active
        if type(active).__module__ != "xetile.triton.driver":
            raise XeTileError("expected xetile.triton.activate() before kernels are compiled")
        compiled = kernel.warmup(*arguments, grid=options.pop("grid", (1,)), **options)
    elif arguments or options:
        raise XeTileError("expected no arguments for a kernel that is compiled already")
    large = True if "256-GRF" in str(getattr(compiled.metadata, "build_flags", "")) else None
    return tuple(one for target in targets for one in reports.statistics(compiled.asm["spv"], target, large))


def report(kernel: Any, *arguments: Any, targets: Sequence[str] = ("pvc", "bmg"), **options: Any) -> str:
    """A table of `statistics`: registers, spills, instructions, and what those of the loop are for."""
    from xetile.reports import report as reports

    kernels = statistics(kernel, *arguments, targets=targets, **options)
    parts = [reports.format_table(kernels)]
    for one in kernels:
        parts += filter(None, (reports.describe(one), reports.describe_messages(one)))
    return "\n\n".join(parts)
