# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Schedules of the package once more, as Python functions. mypy reads them, too."""

from xetile.schedule import Module, define, knob, ops, parts
from xetile.schedule.handles import Function

_ROWS = "rows of a workgroup's tile; 0 leaves it to the compiler, here and below"
_PLAIN = ("xetile-drop-empty-pieces", "xetile-elementwise-to-linalg", "xetile-fuse-elementwise")


@define
def elementwise(
    module: Module,
    *,
    workgroup_m: int = knob(0, min=0, doc=_ROWS),
    workgroup_n: int = knob(0, min=0, doc="columns of a workgroup's tile"),
    subgroups_m: int = knob(0, min=0, doc="subgroups along the rows of a workgroup's tile"),
    subgroups_n: int = knob(0, min=0, doc="subgroups along the columns of a workgroup's tile"),
    target: str = knob("pvc", doc="chip to compile for"),
) -> Module:
    for name in ("drop-empty-pieces", "elementwise-to-linalg", "decompose-linalg", "fuse-elementwise"):
        module = ops.apply_registered_pass(module, f"xetile-{name}")
    function = ops.match(module, Function, ops=["func.func"])
    given = (workgroup_m, workgroup_n, subgroups_m, subgroups_n)
    tiles = ops.to_tiles(function, *given, chip=target, elementwise=True)
    parts.clean_tiles(module)
    buffers = parts.bufferize(module)
    outlined, kernel = parts.outline_kernel(buffers, tiles.subgroups_m, tiles.subgroups_n, target)
    ops.apply_registered_pass(kernel, "xetile-infer-wg-map")
    return outlined


@define
def rows(
    module: Module,
    *,
    workgroup_m: int = knob(0, min=0, doc=_ROWS),
    workgroup_n: int = knob(0, min=0, doc="columns of a workgroup's tile"),
    subgroups_m: int = knob(0, min=0, doc="subgroups along the rows of a workgroup's tile"),
    subgroups_n: int = knob(0, min=0, doc="subgroups along the columns of a workgroup's tile"),
    target: str = knob("pvc", doc="chip to compile for"),
) -> Module:
    steps = ("drop-empty-pieces", "elementwise-to-linalg", "decompose-linalg", "split-argmax", "fuse-elementwise")
    for name in steps:
        module = ops.apply_registered_pass(module, f"xetile-{name}")
    return parts.tile_program(module, workgroup_m, workgroup_n, subgroups_m, subgroups_n, target).outlined


@define
def convolution(
    module: Module,
    *,
    workgroup_m: int = knob(0, min=0, doc=_ROWS),
    workgroup_n: int = knob(0, min=0, doc="columns of a workgroup's tile"),
    subgroups_m: int = knob(0, min=0, doc="subgroups along the rows of a workgroup's tile"),
    subgroups_n: int = knob(0, min=0, doc="subgroups along the columns of a workgroup's tile"),
    target: str = knob("pvc", doc="chip to compile for"),
) -> Module:
    for name in _PLAIN:
        module = ops.apply_registered_pass(module, name)
    return parts.tile_program(module, workgroup_m, workgroup_n, subgroups_m, subgroups_n, target).outlined


@define
def windows(
    module: Module,
    *,
    workgroup_m: int = knob(0, min=0, doc=_ROWS),
    workgroup_n: int = knob(0, min=0, doc="columns of a workgroup's tile"),
    subgroups_m: int = knob(0, min=0, doc="subgroups along the rows of a workgroup's tile"),
    subgroups_n: int = knob(0, min=0, doc="subgroups along the columns of a workgroup's tile"),
    target: str = knob("pvc", doc="chip to compile for"),
) -> Module:
    for name in _PLAIN:
        module = ops.apply_registered_pass(module, name)
    return parts.tile_program(module, workgroup_m, workgroup_n, subgroups_m, subgroups_n, target).outlined


@define
def gather(
    module: Module,
    *,
    workgroup_m: int = knob(0, min=0, doc=_ROWS),
    workgroup_n: int = knob(0, min=0, doc="columns of a workgroup's tile"),
    subgroups_m: int = knob(0, min=0, doc="subgroups along the rows of a workgroup's tile"),
    subgroups_n: int = knob(0, min=0, doc="subgroups along the columns of a workgroup's tile"),
    target: str = knob("pvc", doc="chip to compile for"),
) -> Module:
    for name in _PLAIN:
        module = ops.apply_registered_pass(module, name)
    function = ops.match(module, Function, ops=["func.func"])
    tiles = ops.to_tiles(function, workgroup_m, workgroup_n, subgroups_m, subgroups_n, elementwise=True)
    parts.clean_tiles(module)
    buffers = parts.bufferize(module)
    outlined, kernel = parts.outline_kernel(buffers, tiles.subgroups_m, tiles.subgroups_n, target)
    ops.apply_registered_pass(kernel, "xetile-infer-wg-map")
    return outlined


@define
def scan(
    module: Module,
    *,
    workgroup_m: int = knob(0, min=0, doc=_ROWS),
    workgroup_n: int = knob(0, min=0, doc="columns of a workgroup's tile"),
    subgroups_m: int = knob(0, min=0, doc="subgroups along the rows of a workgroup's tile"),
    subgroups_n: int = knob(0, min=0, doc="subgroups along the columns of a workgroup's tile"),
    target: str = knob("pvc", doc="chip to compile for"),
) -> Module:
    for name in ("elementwise-to-linalg", "fuse-elementwise"):
        module = ops.apply_registered_pass(module, f"xetile-{name}")
    return parts.tile_program(module, workgroup_m, workgroup_n, subgroups_m, subgroups_n, target).outlined


@define
def attention(
    module: Module,
    *,
    workgroup_m: int = knob(0, min=0, doc="queries of a workgroup; 0 leaves it to the compiler, here and below"),
    workgroup_n: int = knob(0, min=0, doc="elements of a value that a workgroup computes"),
    subgroups_m: int = knob(0, min=0, doc="subgroups of a workgroup, which share its queries"),
    keys: int = knob(0, min=0, doc="keys of a step"),
    split_keys: int = knob(
        0, min=0, max=1024, doc="parts of the keys that workgroups share, put together by a second kernel; 1 for none"
    ),
    prefetch: int = knob(2, min=0, max=64, doc="steps that prefetches of keys and values run ahead; 0 for none"),
    lazy: int = knob(
        0, min=0, max=111, doc="a new maximum only where a sum of powers passes 2^lazy; 0 for one each step"
    ),
    target: str = knob("pvc", doc="chip to compile for"),
) -> Module:
    for name in ("elementwise-to-linalg", "decompose-linalg", "split-argmax", "inline-indices"):
        module = ops.apply_registered_pass(module, f"xetile-{name}")
    module = ops.apply_registered_pass(module, "xetile-simplify-attention", options={"narrow": True})
    ops.split_keys(ops.match(module, Function, ops=["func.func"]), split_keys, target)
    own, rest = ops.isolate_kernel(module, schedule="attention")
    ops.foreach(rest, lambda other: parts.tile_rest(other, target))
    ops.online(ops.match(own, Function, ops=["func.func"]), keys, lazy=lazy, chip=target)
    outlined, kernel = parts.tile_program(own, workgroup_m, workgroup_n, subgroups_m, 0, target)
    parts.prefetch_blocks(kernel, prefetch)
    return parts.link_rest(outlined)


@define
def mlp(
    module: Module,
    *,
    workgroup_m: int = knob(0, min=0, doc="rows of a workgroup; 0 leaves it to the compiler, here and below"),
    subgroups_m: int = knob(0, min=0, doc="subgroups of a workgroup, which share its rows"),
    hidden: int = knob(0, min=0, doc="hidden values of a step"),
    prefetch: int = knob(2, min=0, max=64, doc="steps that prefetches of weights run ahead; 0 for none"),
    target: str = knob("pvc", doc="chip to compile for"),
) -> Module:
    for name in ("widen-sums", "elementwise-to-linalg"):
        module = ops.apply_registered_pass(module, f"xetile-{name}")
    module = ops.apply_registered_pass(module, "xetile-simplify-attention", options={"narrow": True})
    ops.online(ops.match(module, Function, ops=["func.func"]), hidden, products=True)
    outlined, kernel = parts.tile_program(module, workgroup_m, 0, subgroups_m, 0, target)
    parts.prefetch_blocks(kernel, prefetch)
    return outlined


def of_wrong_kinds(module: Module) -> Module:
    """Nobody calls it: mypy refuses each line, and tells of the comment where it no longer does."""
    function = ops.match(module, Function, ops=["func.func"])
    parts.tile_k(module, 16)  # type: ignore[arg-type]
    ops.apply_licm(function)  # type: ignore[arg-type]
    ops.online(module, "64")  # type: ignore[arg-type]
    ops.one_shot_bufferize(module, function_boundary_type_conversion="Identity")  # type: ignore[arg-type]
    return ops.apply_registered_pass(function, "canonicalize")  # type: ignore[return-value]
