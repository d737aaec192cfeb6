# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""schedules/match.mlir once more, as Python functions: matchers that say what fits. mypy reads it."""

from xetile.schedule import Module, define, ops, sequence
from xetile.schedule.handles import Handle, Loop, Matmul


@sequence
def is_matmul(op: Handle) -> Matmul:
    ops.match_matmul(op)
    return op.as_(Matmul)


@sequence
def is_convolution(op: Handle) -> Handle:
    ops.match_convolution(op)
    return op


@sequence
def is_elementwise(op: Handle) -> Handle:
    ops.match_structured(op, loops="parallel")
    return op


@sequence
def is_rows(op: Handle) -> Handle:
    ops.match_structured(op, inputs="projected_permutation")
    return op


@sequence
def is_windows(op: Handle) -> Handle:
    ops.match_structured(op, windows=True)
    return op


@sequence
def is_linalg(op: Handle) -> Handle:
    ops.match_structured(op)
    return op


@sequence
def cpu_matmul(op: Matmul) -> None:
    ops.annotate(op, "xetile.schedule", param="cpu_matmul")


@sequence
def cpu_convolution(op: Handle) -> None:
    ops.annotate(op, "xetile.schedule", param="cpu_convolution")


@sequence
def cpu_elementwise(op: Handle) -> None:
    ops.annotate(op, "xetile.schedule", param="cpu_elementwise")


@sequence
def cpu_rows(op: Handle) -> None:
    ops.annotate(op, "xetile.schedule", param="cpu_rows")


@sequence
def cpu_windows(op: Handle) -> None:
    ops.annotate(op, "xetile.schedule", param="cpu_windows")


@sequence
def match(module: Module) -> Module:
    return ops.foreach_match(
        module,
        ops.when(is_matmul, cpu_matmul),
        ops.when(is_convolution, cpu_convolution),
        ops.when(is_elementwise, cpu_elementwise),
        ops.when(is_rows, cpu_rows),
        ops.when(is_windows, cpu_windows),
        ops.when(is_linalg, cpu_rows),
    )


@define
def marked(module: Module) -> Module:
    return match(module)


@sequence
def unroll(loop: Loop) -> None:
    ops.annotate(loop, "mine.loop")


def of_wrong_kinds(module: Module) -> Module:
    """Nobody calls it: mypy refuses the pair, and tells of the comment where it no longer does."""
    return ops.foreach_match(module, ops.when(is_matmul, unroll))  # type: ignore[arg-type]
