# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Short names for kernels on this CPU; see `xetile.targets.cpu` for what holds of them.

kernel = xetile.cpu.compile("matmul.mlir", threads=2)       # xetile.compile(..., target="cpu", threads=2)
c = kernel(a, b)                        # a new array
kernel(a, b, out=c)                     # into an array that is there
print(xetile.cpu.explain("matmul.mlir"))
"""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from typing import Any

from xetile.compiling.compiler import compile as compile_for
from xetile.compiling.compiler import read_payload
from xetile.errors import XeTileError, expect
from xetile.kernels.kernel import Kernel
from xetile.mlir import ir
from xetile.schedule import Schedule
from xetile.schedule.matmul_config import MatmulConfig
from xetile.system.tools import find_libomp
from xetile.targets import Target
from xetile.targets.cpu import explain_matmuls

__all__ = ["STAGES", "MatmulConfig", "compile", "explain", "find_libomp"]

STAGES = Target("cpu").levels
"""Names of the levels that a kernel's `stages` has, in order."""


def compile(
    module_or_path: ir.Module | str | PathLike[str],
    *,
    config: MatmulConfig | Mapping[str, int] | None = None,
    threads: int | None = None,
    pack: str = "auto",
    fuse: bool = True,
    attention: bool = True,
    tune: bool = False,
    schedule: Schedule | None = None,
) -> Kernel:
    """Compiles the one public function of a module on tensors for this CPU.

    `config`   fields of the configuration, for all matmuls; the heuristic chooses the others.
    `threads`  threads to use, by default one for each core.
    `pack`     copies of blocks of A and B: "auto", "always" or "never".
    `fuse`     whether elementwise ops before and after a matmul are computed block by block inside its loops.
    `attention` whether attention is computed block by block of its rows, without all of its scores in memory; not where
               there is a `config`.
    `tune`     measures configurations that are not known yet, see `xetile.tune`.
    `schedule` tiles the matmuls instead: the options above are its parameters then, and must not be given.

    XeTileError with the compiler's diagnostics for whatever cannot be compiled.
    """
    expect("pack", pack, str, "one of auto, always, never")
    expect("fuse", fuse, bool, "True or False")
    expect("attention", attention, bool, "True or False")
    options: dict[str, Any] = {
        "config": config,
        "threads": threads,
        "pack": pack,
        "fuse": fuse,
        "attention": attention,
        "tune": tune,
    }
    if schedule is not None:
        expect("schedule", schedule, Schedule, "a xetile.schedule.Schedule, as xetile.schedule.load gives it")
        own = MatmulConfig.of(config) == MatmulConfig() and threads is None and pack == "auto"
        if not own or not fuse or not attention or tune:
            raise XeTileError(
                "schedule: expected no config, threads, pack, fuse, attention or tune beside it; set its parameters"
            )
        options = {}
    return compile_for(module_or_path, schedule, "cpu", **options)


def explain(
    module_or_path: ir.Module | str | PathLike[str],
    *,
    config: MatmulConfig | Mapping[str, int] | None = None,
    threads: int | None = None,
) -> str:
    """The configuration of each matmul, as JSON, and below it the terms that it was chosen by; then how other ops are
    computed: in which blocks of rows, or alone, and why."""
    module = module_or_path if isinstance(module_or_path, ir.Module) else read_payload(module_or_path)
    params = {"config": config, "threads": threads}
    return explain_matmuls(module, {name: value for name, value in params.items() if value is not None})


def __getattr__(name: str) -> Any:
    renamed = {"CpuKernel": "xetile.Kernel", "compile_target": "xetile.compile(..., target='cpu')"}
    if name in renamed:
        raise AttributeError(f"xetile.cpu.{name} is {renamed[name]} now")
    raise AttributeError(f"module 'xetile.cpu' has no attribute {name!r}")
