# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""schedules/gpu_model.mlir once more, as Python functions: sequences, and loops over kernels."""

from functools import partial

from xetile.schedule import Module, define, knob, ops, parts, sequence
from xetile.schedule.handles import Function, Handle


@sequence
def prepare(module: Module, target: str) -> Module:
    before = ("drop-empty-pieces", "elementwise-to-linalg", "expand-groups", "slice-reshapes")
    behind = ("decompose-linalg", "drop-unit-reductions", "split-argmax", "inline-indices", "split-concats",
              "slice-reshapes", "index-interleaves", "pad-scans", "block-scans", "split-reductions",
              "fold-transposes")  # fmt: skip
    module = ops.apply_registered_pass(module, "inline", options={"default-pipeline": ""})
    for name in before:
        module = ops.apply_registered_pass(module, f"xetile-{name}")
    module = ops.apply_registered_pass(module, "xetile-channels-last", options={"chip": target})
    for name in behind:
        options = {"chip": target} if name in ("block-scans", "index-interleaves") else {}
        module = ops.apply_registered_pass(module, f"xetile-{name}", options=options)
    module = ops.apply_registered_pass(module, "xetile-fuse-elementwise", options={"most-inputs": 16})
    ops.generalize(ops.match(module, Handle, ops=["linalg.elementwise", "linalg.map", "linalg.sub"]))
    functions = ops.match(module, Function, ops=["func.func"])
    ops.apply_cse(functions)
    ops.apply_patterns(functions, ["linalg.erase_unnecessary_inputs", "memref.resolve_ranked_shaped_type_result_dims"])
    module = ops.apply_registered_pass(module, "xetile-copy-broadcasts")
    module = ops.apply_registered_pass(module, "xetile-write-results")
    return parts.match_kernels(module)


@sequence
def matmul(module: Module, precision: str, slm_buffers: int, target: str) -> None:
    open_ = ops.constant(0)
    for name in ("widen-sums", "elementwise-to-linalg", "fuse-elementwise"):
        module = ops.apply_registered_pass(module, f"xetile-{name}")
    found = parts.find_matmul(module, open_, open_, open_, open_, open_, -1, precision, target)
    ops.check_matmul_tiling(
        found.matmul,
        found.m,
        found.n,
        found.rows,
        found.columns,
        found.k,
        found.ahead,
        target,
        slm_buffers=slm_buffers,
    )
    workgroup_matmul, workgroups = parts.tile_workgroups(found.matmul, found.init, found.tile)
    parts.tile_k(workgroup_matmul, found.k)
    parts.vectorize(workgroups, found.m, found.n, found.k)
    ops.refuse_rest(module)
    buffers = parts.bufferize(module)
    _, kernel = parts.outline_kernel(buffers, found.rows, found.columns, target)
    _, mma = parts.to_xetile(kernel, found.rows, found.columns)
    ops.set_precision(mma, precision)
    parts.prefetch_operands(mma, found.ahead)
    parts.stage_operands(mma, slm_buffers, target)


@sequence
def tiles(module: Module, target: str) -> None:
    open_ = ops.constant(0)
    parts.tile_program(module, open_, open_, open_, open_, target)


@sequence
def matmul_rows(module: Module, target: str) -> None:
    open_ = ops.constant(0)
    _, kernel = parts.tile_program(module, open_, open_, open_, open_, target)
    parts.prefetch_blocks(kernel, 3)


@sequence
def attention(module: Module, target: str) -> None:
    open_ = ops.constant(0)
    simple = ops.apply_registered_pass(module, "xetile-simplify-attention", options={"narrow": True})
    ops.split_keys(ops.match(simple, Function, ops=["func.func"]), open_, target)
    own, rest = ops.isolate_kernel(simple, schedule="attention")
    ops.foreach(rest, partial(tiles, target=target))
    function = ops.match(own, Function, ops=["func.func"])
    ops.online(function, open_, chip=target)
    outlined, kernel = parts.tile_program(own, open_, open_, open_, open_, target)
    parts.prefetch_blocks(kernel, 2)
    parts.link_rest(outlined)


@define
def gpu_model(
    module: Module,
    *,
    precision: str = knob("exact", doc="tf32 allows to multiply f32 with 10 bits of mantissa; exact does not"),
    f32_units: str = knob(
        "matrix",
        doc="where f32 is multiplied exactly: matrix, as products of its parts, where a chip gains by that; vector",
    ),
    slm_buffers: int = knob(
        0,
        min=0,
        max=8,
        doc="buffers of the rings in shared local memory that operands of matmuls go through; 0 for none",
    ),
    target: str = knob("pvc", doc="chip to compile for"),
) -> Module:
    fused = prepare(module, target)
    ops.anchor_f32_products(fused, f32_units, target)
    open_ = ops.constant(0)
    ops.split_k(fused, open_, open_, open_, open_, open_, open_, target)
    ops.assign_kernels(fused, chip=target)
    ops.extract_kernels(fused)
    ops.share_kernels(fused)
    ops.convolutions_to_products(fused, f32_units, target)
    steps = {
        "matmul": partial(matmul, precision=precision, slm_buffers=slm_buffers, target=target),
        "attention": partial(attention, target=target),
        "matmul_rows": partial(matmul_rows, target=target),
    }
    steps |= dict.fromkeys(
        ("rows", "convolution", "windows", "scan", "scatter", "gather", "elementwise"), partial(tiles, target=target)
    )
    for name, step in steps.items():
        kernels = ops.match(fused, Module, ops=["builtin.module"], op_attrs={"xetile.schedule": name})
        ops.foreach(kernels, step)
    ops.preserve_arguments(fused)
    buffers = ops.one_shot_bufferize(
        fused,
        function_boundary_type_conversion="IdentityLayoutMap",
        bufferize_function_boundaries=True,
        allow_return_allocs_from_loops=True,
    )
    ops.link_kernels(buffers)
    return ops.apply_registered_pass(buffers, "inline")
