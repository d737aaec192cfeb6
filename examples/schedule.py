# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A schedule as a Python function: the steps of schedules/matmul.mlir, op by op the same.

python examples/schedule.py
"""

import numpy as np
import xetile
from xetile.schedule import Module, define, knob, ops, parts


@define
def matmul(
    module: Module,
    *,
    workgroup_m: int = knob(0, min=0, doc="rows of C per workgroup; 0 leaves it to the compiler, here and below"),
    workgroup_n: int = knob(0, min=0, doc="columns of C per workgroup"),
    subgroups_m: int = knob(0, min=0, doc="subgroups along the rows of a workgroup's tile"),
    subgroups_n: int = knob(0, min=0, doc="subgroups along the columns of a workgroup's tile"),
    k_step: int = knob(0, min=0, doc="columns of A and rows of B per step of the k loop"),
    prefetch: int = knob(
        -1,
        min=-1,
        max=64,
        doc="steps of the k loop that prefetches run ahead; 0 for none, -1 leaves it open",
    ),
    prefetch_far: int = knob(
        0,
        min=0,
        max=64,
        doc="steps that prefetches to the second-level cache run ahead besides; 0 for none",
    ),
    load_ahead: int = knob(0, min=0, max=8, doc="steps that loads run ahead, in registers; 0 for none"),
    order: str = knob(
        "rows", doc="of workgroups: rows as they are started, groups of order_size rows, hilbert in squares"
    ),
    order_size: int = knob(8, min=0, max=1024, doc="rows of a group; side of a square, a power of two up to 64"),
    slm_buffers: int = knob(
        0, min=0, max=8, doc="buffers of the rings in shared local memory that A and B go through; 0 for none"
    ),
    split_k: int = knob(
        0, min=0, max=1024, doc="parts of k that workgroups share and a second kernel adds up; 1 for none"
    ),
    precision: str = knob(
        "exact", doc="tf32 allows to multiply f32 with 10 bits of mantissa; exact refuses f32 on Intel's chips"
    ),
    target: str = knob("pvc", doc="chip to compile for"),
) -> Module:
    # Sums of f16 and bf16 are made in f32 and rounded once.
    wide = ops.apply_registered_pass(module, "xetile-widen-sums")
    linalg = ops.apply_registered_pass(wide, "xetile-elementwise-to-linalg")
    # Transposed weights are read as they are, what follows on a result becomes one op.
    straight = ops.apply_registered_pass(linalg, "xetile-fold-transposes")
    fused = ops.apply_registered_pass(straight, "xetile-fuse-elementwise")
    ops.refuse_rest(fused)
    # Of few tiles and a long k: parts of k are the matmul, what adds them up is a kernel of the rest.
    ops.split_k(fused, split_k, workgroup_m, workgroup_n, subgroups_m, subgroups_n, k_step, target, precision=precision)
    own, rest = ops.isolate_kernel(fused, schedule="matmul")
    ops.foreach(rest, lambda other: parts.tile_rest(other, target))
    found = parts.find_matmul(
        own, workgroup_m, workgroup_n, subgroups_m, subgroups_n, k_step, prefetch, precision, target
    )
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
    ops.refuse_rest(own)
    buffers = parts.bufferize(own)
    outlined, kernel = parts.outline_kernel(buffers, found.rows, found.columns, target)
    tiled, mma = parts.to_xetile(kernel, found.rows, found.columns)
    ops.set_precision(mma, precision)
    parts.prefetch_far(mma, prefetch_far)
    parts.prefetch_operands(mma, found.ahead)
    parts.stage_operands(mma, slm_buffers, target)
    parts.load_ahead(tiled, load_ahead)
    parts.order_workgroups(tiled, order, order_size)
    return parts.link_rest(outlined)


def main() -> None:
    print(matmul.explain())

    # As a file's: values for parameters, and a step more.
    small = matmul.with_params(workgroup_m=64, workgroup_n=64, subgroups_m=2, subgroups_n=2, k_step=32)
    tagged = small.extend(lambda module: ops.annotate(module, "mine.tag"))
    kernel = xetile.compile(xetile.matmul(256, 128, 64), tagged, target="pvc")

    rng = np.random.default_rng(0)
    a = rng.standard_normal((256, 64)).astype(np.float16)
    b = rng.standard_normal((64, 128)).astype(np.float16)
    c = rng.standard_normal((256, 128)).astype(np.float32)
    expected = a.astype(np.float64) @ b.astype(np.float64) + c
    error = np.abs(kernel(a, b, c) - expected).max() / np.abs(expected).max()
    print(f"{kernel}\nlargest error: {error:.1e} of the largest element")
    if error > 1e-5:
        raise SystemExit("the result is wrong")

    # print(matmul) writes a file: what it includes is in it, mlir-opt runs it with XeTile's plugin.
    print(f"as a file: {str(matmul).count(chr(10))} lines")


if __name__ == "__main__":
    main()
