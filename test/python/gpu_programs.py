# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs on tensors that have no matmul, as kernels of `elementwise` and `rows` take them: texts, numbers, calls."""

import element_types
import numpy as np
from xetile.mlir import ir

DTYPES = element_types.scalars("f16", "bf16", "f32", "f64", "i8", "i32", "i64")
EXACT = {"f16": 2e-3, "bf16": 2e-2, "f32": 2e-6, "f64": 1e-6}

ROW, COLUMN, BOTH, SWAPPED = "(m, n) -> (n)", "(m, n) -> (m)", "(m, n) -> (m, n)", "(m, n) -> (n, m)"
EXP = "%1 = math.exp %a0 : f32\nlinalg.yield %1 : f32\n"


def tensor(shape, dtype):
    return f"tensor<{''.join(f'{size}x' for size in shape)}{dtype}>"


def generic(result, inputs, shape, dtype, maps, iterators, body, init=None):
    """One linalg.generic; inputs are (name, type). A reduction starts from the number `init`."""
    out = tensor(shape, dtype)
    lines = [f"{result}_e = tensor.empty() : {out}"]
    start = f"{result}_e"
    if init is not None:
        lines += [
            f"{result}_n = arith.constant {init} : {dtype}",
            f"{result}_i = linalg.fill ins({result}_n : {dtype}) outs({start} : {out}) -> {out}",
        ]
        start = f"{result}_i"
    kinds = ", ".join('"parallel"' if kind == "p" else '"reduction"' for kind in iterators)
    arguments = ", ".join(f"%a{i}: {kind.rsplit('x', 1)[-1].strip('<>')}" for i, (_, kind) in enumerate(inputs))
    arguments = arguments.replace("tensor<", "")
    lines.append(
        f"{result} = linalg.generic {{indexing_maps = [{', '.join(f'affine_map<{each}>' for each in maps)}], "
        f"iterator_types = [{kinds}]}} ins({', '.join(name for name, _ in inputs)} : "
        f"{', '.join(kind for _, kind in inputs)}) outs({start} : {out}) {{\n"
        f"^bb0({arguments}, %o: {dtype}):\n{body}}} -> {out}"
    )
    return "\n".join(lines) + "\n"


def function(arguments, results, body):
    """A module with one function; arguments and results are (name, type)."""
    parameters = ", ".join(f"{name}: {kind}" for name, kind in arguments)
    kinds, names = (", ".join(each) for each in zip(*[(kind, name) for name, kind in results], strict=True))
    return f"func.func @program({parameters}) -> ({kinds}) {{\n{body}return {names} : {kinds}\n}}\n"


def softmax(shape, dtype, axis):
    """The text of a softmax of a matrix along an axis."""
    kind = tensor(shape, dtype)
    line = (shape[1 - axis],)
    kept = ROW if axis == 0 else COLUMN
    low = {"f32": "0xFF800000", "f16": "0xFC00", "bf16": "0xFF80", "f64": "0xFFF0000000000000"}[dtype]
    iterators = "rp" if axis == 0 else "pr"
    largest = f"%1 = arith.maximumf %a0, %o : {dtype}\nlinalg.yield %1 : {dtype}\n"
    exponential = f"%1 = arith.subf %a0, %a1 : {dtype}\n%2 = math.exp %1 : {dtype}\nlinalg.yield %2 : {dtype}\n"
    total = f"%1 = arith.addf %a0, %o : {dtype}\nlinalg.yield %1 : {dtype}\n"
    quotient = f"%1 = arith.divf %a0, %a1 : {dtype}\nlinalg.yield %1 : {dtype}\n"
    small = tensor(line, dtype)
    return function(
        [("%x", kind)],
        [("%y", kind)],
        generic("%m", [("%x", kind)], line, dtype, [BOTH, kept], iterators, largest, low)
        + generic("%p", [("%x", kind), ("%m", small)], shape, dtype, [BOTH, kept, BOTH], "pp", exponential)
        + generic("%s", [("%p", kind)], line, dtype, [BOTH, kept], iterators, total, "0.0")
        + generic("%y", [("%p", kind), ("%s", small)], shape, dtype, [BOTH, kept, BOTH], "pp", quotient),
    )


def named_softmax(shape, dtype, axis):
    kind = tensor(shape, dtype)
    body = (
        f"%e = tensor.empty() : {kind}\n"
        f"%y = linalg.softmax dimension({axis}) ins(%a : {kind}) outs(%e : {kind}) -> {kind}\n"
    )
    return body, [("%a", kind)]


PACK = (
    "%p = arith.constant 7.0 : f32\n%e = tensor.empty() : tensor<4x13x8x4xf32>\n"
    "%y = linalg.pack %a padding_value(%p : f32) inner_dims_pos = [0, 1] inner_tiles = [8, 4] into %e : "
    "tensor<30x50xf32> -> tensor<4x13x8x4xf32>\n"
)
UNPACK = (
    "%e = tensor.empty() : tensor<30x50xf32>\n"
    "%y = linalg.unpack %a inner_dims_pos = [0, 1] inner_tiles = [8, 4] into %e : "
    "tensor<4x13x8x4xf32> -> tensor<30x50xf32>\n"
)


def run_poisoned(compile_kernel, text, arrays, results, schedule="rows", target="pvc", **options):
    """Compiles the text of a program and calls it; results start as what would be seen."""
    with ir.Context(), ir.Location.unknown():
        kernel = compile_kernel(ir.Module.parse(text), schedule=schedule, target=target, **options)
    out = tuple(np.frombuffer(b"\xa5" * result.nbytes, result.dtype).reshape(result.shape).copy() for result in results)
    kernel(*arrays, out=out if len(out) > 1 else out[0])
    return out


def draw(rng, shape, dtype):
    if dtype[0] == "i":
        return rng.integers(-9, 10, shape).astype(DTYPES[dtype])
    return rng.standard_normal(shape).astype(DTYPES[dtype])


def assert_close(got, expected, dtype, scale=1):
    if dtype[0] == "i":
        np.testing.assert_array_equal(got, expected)
        return
    np.testing.assert_allclose(got.astype(np.float64), expected, rtol=scale * EXACT[dtype], atol=scale * EXACT[dtype])
