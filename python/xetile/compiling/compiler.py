# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""From a payload to a kernel: `compile` runs the levels of a target one by one and keeps what each one made.

kernel = xetile.compile("schedules/payloads/matmul_f16.mlir", schedule="matmul", target="pvc")
print(kernel.stages["4-xegpu"])                 # the module at that level
d = kernel(a, b, c)                             # arrays in, a new one out
xetile.compile("matmul.mlir", target="cpu", threads=2)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from os import PathLike
from typing import Any

from xetile import pages
from xetile import schedule as schedules
from xetile.errors import XeTileError, expect_function, told
from xetile.kernels.kernel import Kernel, Stage, Stages
from xetile.kernels.signature import Signature
from xetile.mlir import ir
from xetile.passes.diagnostics import parse_file
from xetile.schedule import Schedule
from xetile.system import files
from xetile.targets import Plan, Target
from xetile.tiles import TileKernel

__all__ = ["compile", "lower", "read_payload", "resume", "show"]

_DEFAULT = "pvc"


def compile(
    module_or_path: ir.Module | TileKernel | str | PathLike[str],
    schedule: str | PathLike[str] | Schedule | None = None,
    target: str | Target | None = None,
    params: Mapping[str, int | str] | None = None,
    *,
    on_stage: Callable[[Stage], None] | None = None,
    **options: Any,
) -> Kernel:
    """Compiles a payload, which stays as it is.

    `module_or_path`   a module at level 0, or the path of a file with one; it has one public function. For a GPU also
                       one that holds kernels, at any level that has XeTile or XeGPU: its function is on memory and
                       launches them (`gpu.launch_func`). Without a schedule, stages begin with that level; one that is
                       named edits the kernels.
                       Or what `xetile.kernel` built.
    `schedule`         a Schedule, the name of one that comes with the package, or a path; by default what
                       `xetile.schedule.suggest` says for a GPU ("matmul" with params), "cpu_model" for "cpu", whose
                       parameters are options then.
    `target`           a Target or its name: a chip, or "cpu"; by default the schedule's own.
    `params`           values for parameters of the schedule; for "cpu" without one those of "cpu_matmul".
    `options`          what the target has besides: `native`, `native_chips`, `large_registers` of GPUs, `config`,
                       `threads`, `pack`, `fuse`, `tune` of "cpu". `Target.options` tells what they mean.
    `on_stage`         is called with each level when it was made, also those before one that fails.

    XETILE_TRACE=DIR in the environment writes a page of all levels to DIR as they are made (`xetile.pages`).

    XeTileError with the compiler's diagnostics for whatever cannot be compiled, and for an option that the target does
    not have.
    """
    if on_stage is not None:
        expect_function("on_stage", on_stage, "a Stage")
    payload = _module(module_or_path)
    plan = _plan(schedule, target, params, options).for_payload(payload)
    signature = plan.signature(payload)
    trace = pages.from_environment(signature.name, plan)
    kernel = _compile(payload, plan, signature, trace, on_stage)
    if trace is not None:
        trace.finish(kernel)
    return kernel


def resume(kernel: Kernel, module: ir.Module, level: str) -> Kernel:
    """A kernel with an edited module at a level: levels behind it are made once more, of this one.

    XeTileError if the kernel's function takes other memory there.
    """
    stages = [kernel.stages.stage(name) for name in kernel.stages]
    number = list(kernel.stages).index(level)
    was, now = (_function_type(each, kernel.name) for each in (stages[number].module, module.operation))
    if was != now:
        raise XeTileError(f"the edit has another interface: before it {was}, after it {now}")
    kept = Stages([*stages[:number], Stage(level, 0.0, module.operation)])
    return kernel.with_stages(kept, level)


def _function_type(module: ir.Operation, name: str) -> str:
    """Of a function, of LLVM's dialect, too."""
    for op in module.regions[0].blocks[0].operations:
        attributes = op.operation.attributes
        if "sym_name" in attributes and ir.StringAttr(attributes["sym_name"]).value == name:
            return str(attributes["function_type"])
    raise XeTileError(f"the edit has no function @{name}")


def show(
    module_or_path: ir.Module | TileKernel | str | PathLike[str],
    schedule: str | PathLike[str] | Schedule | None = None,
    target: str | Target | None = None,
    params: Mapping[str, int | str] | None = None,
    *,
    path: str | PathLike[str],
    printed_to: str | PathLike[str] | None = None,
    check: bool = False,
    on_stage: Callable[[Stage], None] | None = None,
    **options: Any,
) -> Kernel:
    """Compiles as `compile` does, and writes the page of `Kernel.page` level by level as they are made.

    A page of what does not compile has the levels before, and the error.
    """
    payload = _module(module_or_path)
    plan = _plan(schedule, target, params, options).for_payload(payload)
    signature = plan.signature(payload)
    folder = None if printed_to is None else files.path_of(printed_to, "cannot print passes")
    trace = pages.Trace(files.path_of(path, "cannot write a page"), signature.name, plan, folder)
    kernel = _compile(payload, plan, signature, trace, on_stage)
    trace.finish(kernel, payload if check else None)
    return kernel


def _compile(
    payload: ir.Module,
    plan: Plan,
    signature: Signature,
    trace: pages.Trace | None,
    on_stage: Callable[[Stage], None] | None,
) -> Kernel:
    made = []
    for stage in plan.lower(payload) if trace is None else trace.follow(payload):
        made.append(stage)
        if on_stage is not None:
            on_stage(stage)
    stages = Stages(made)
    signature = plan.finish(stages, signature)
    return Kernel(signature, plan.target.name, plan.code(stages, signature), stages, plan.schedule, plan)


def lower(
    module_or_path: ir.Module | TileKernel | str | PathLike[str],
    schedule: str | PathLike[str] | Schedule | None = None,
    target: str | Target | None = None,
    params: Mapping[str, int | str] | None = None,
    **options: Any,
) -> Iterator[Stage]:
    """The levels that `compile` goes through, with its arguments. Each is made when it is asked for.

    A level that fails raises XeTileError then; the ones before it have been there.
    """
    payload = _module(module_or_path)
    plan = _plan(schedule, target, params, options).for_payload(payload)
    signature = plan.signature(payload)  # refuses other modules before the first level
    trace = pages.from_environment(signature.name, plan)
    return plan.lower(payload) if trace is None else trace.follow(payload)


def read_payload(path: str | PathLike[str]) -> ir.Module:
    """The module in a file of MLIR text or bytecode. XeTileError if it cannot be read or is not valid."""
    if not isinstance(path, (str, PathLike)):
        raise XeTileError(f"expected a module or the path of a file with one, got {told(path)}")
    with ir.Context():
        return parse_file(path, "the module")


def _module(module_or_path: ir.Module | TileKernel | str | PathLike[str]) -> ir.Module:
    if isinstance(module_or_path, TileKernel):
        return module_or_path.module
    return module_or_path if isinstance(module_or_path, ir.Module) else read_payload(module_or_path)


def _plan(
    schedule: str | PathLike[str] | Schedule | None,
    target: str | Target | None,
    params: Mapping[str, int | str] | None,
    options: Mapping[str, Any],
) -> Plan:
    """Everything that was chosen, checked. A schedule may have its target as a parameter."""
    values = schedules.values_of(params)
    chosen = None
    if schedule is not None:
        chosen = schedule if isinstance(schedule, Schedule) else schedules.load(schedule)
    if target is None:
        own = chosen.params.get("target") if chosen else None
        target = str(own.value) if own else _DEFAULT
    room = target if isinstance(target, Target) else Target(target)
    return room.plan(chosen, values, options)
