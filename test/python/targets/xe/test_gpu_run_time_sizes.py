# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs whose sizes only a run knows: each is compiled once and called at many sizes, against NumPy in f64."""

import itertools

import numpy as np
import pytest
import xetile
from gpu_programs import BOTH, COLUMN, DTYPES, ROW, SWAPPED, assert_close, draw, function, generic, softmax, tensor
from xetile.errors import XeTileError
from xetile.mlir import ir

# Nothing, one, odd ones, whole tiles, more than a workgroup takes at once.
SIZES = [0, 1, 7, 32, 77, 256, 301]


def compiled(text, schedule=None, target="pvc"):
    with ir.Context(), ir.Location.unknown():
        return xetile.compile(ir.Module.parse(text), schedule=schedule, target=target, native="off")


def known(size):
    return size if isinstance(size, int) else "?"


def sizes_of(name, kind, rank, names):
    """Values of the sizes of an argument."""
    lines = [f"{size}_i = arith.constant {dim} : index\n" for dim, size in zip(range(rank), names, strict=True)]
    lines += [f"{size} = tensor.dim {name}, {size}_i : {kind}\n" for size in names]
    return "".join(lines)


def open_generic(result, inputs, sizes, dtype, maps, iterators, body, init=None):
    """A linalg.generic whose result has sizes that are numbers, or names of values."""
    shape = [known(size) for size in sizes]
    out = tensor(shape, dtype)
    text = generic(result, inputs, shape, dtype, maps, iterators, body, init)
    names = ", ".join(size for size in sizes if not isinstance(size, int))
    return text.replace(f"{result}_e = tensor.empty() : {out}", f"{result}_e = tensor.empty({names}) : {out}")


def check(kernel, arrays, expected, dtype, scale=4):
    """The call, and that it changed no argument."""
    kept = [array.copy() for array in arrays]
    got = kernel(*arrays)
    for array, before in zip(arrays, kept, strict=True):
        np.testing.assert_array_equal(array, before)
    many = got if isinstance(got, tuple) else (got,)
    for each, wanted in zip(many, expected if isinstance(expected, tuple) else (expected,), strict=True):
        assert each.shape == np.shape(wanted)
        assert_close(each, np.asarray(wanted), dtype, scale)


def chain(m, n, dtype):
    kind = "f" if dtype[0] != "i" else "i"
    body = (
        f"%1 = arith.mul{kind} %a0, %a1 : {dtype}\n%2 = arith.add{kind} %1, %a2 : {dtype}\n"
        f"%3 = arith.sub{kind} %2, %a3 : {dtype}\nlinalg.yield %3 : {dtype}\n"
    )
    rows, columns = known(m), known(n)
    kinds = [tensor(each, dtype) for each in ((rows, columns), (columns,), (rows,), (columns, rows))]
    arguments = list(zip(["%x", "%r", "%c", "%t"], kinds, strict=True))
    maps = [BOTH, ROW, COLUMN, SWAPPED, BOTH]
    return function(
        arguments,
        [("%y", kinds[0])],
        sizes_of("%x", kinds[0], 2, ["%m", "%n"]) + open_generic("%y", arguments, (m, n), dtype, maps, "pp", body),
    )


@pytest.mark.parametrize(
    ("m", "n", "dtype", "target"),
    [
        ("%m", "%n", "f32", "pvc"),
        ("%m", "%n", "f16", "bmg"),
        ("%m", "%n", "bf16", "pvc"),
        ("%m", "%n", "i32", "bmg"),
        ("%m", 96, "f32", "bmg"),
        ("%m", 77, "f16", "pvc"),
        (48, "%n", "f32", "pvc"),
    ],
)
def test_a_chain_with_broadcasts_and_a_transpose(rng, m, n, dtype, target):
    kernel = compiled(chain(m, n, dtype), "elementwise", target)
    for rows, columns in itertools.product([m] if m == 48 else SIZES, SIZES if n == "%n" else [n]):
        x, r, c, t = (draw(rng, each, dtype) for each in ((rows, columns), (columns,), (rows,), (columns, rows)))
        wide = np.int64 if dtype[0] == "i" else np.float64
        x_, r_, c_, t_ = (array.astype(wide) for array in (x, r, c, t))
        check(kernel, [x, r, c, t], x_ * r_ + c_[:, None] - t_.T, dtype)


def open_softmax(m, n, dtype, axis):
    shape = (known(m), known(n))
    kind, line = tensor(shape, dtype), tensor((shape[1 - axis],), dtype)
    head, rest = softmax(shape, dtype, axis).split("{\n", 1)
    names = ", ".join(size for size in (m, n) if not isinstance(size, int))
    kept = (m, n)[1 - axis]
    rest = rest.replace(f"tensor.empty() : {kind}", f"tensor.empty({names}) : {kind}")
    if not isinstance(kept, int):
        rest = rest.replace(f"tensor.empty() : {line}", f"tensor.empty({kept}) : {line}")
    return f"{head}{{\n" + sizes_of("%x", kind, 2, ["%rows", "%columns"]) + rest


def expected_softmax(x, axis):
    wide = x.astype(np.float64)
    with np.errstate(invalid="ignore", divide="ignore"):
        raised = np.exp(wide - wide.max(axis=axis, keepdims=True, initial=-np.inf))
        return raised / raised.sum(axis=axis, keepdims=True)


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("m", "n", "dtype", "axis", "target"),
    [
        ("%rows", "%columns", "f32", 1, "pvc"),
        ("%rows", "%columns", "f16", 1, "bmg"),
        ("%rows", "%columns", "bf16", 0, "pvc"),
        ("%rows", "%columns", "f32", 0, "bmg"),
        ("%rows", 1024, "f32", 1, "pvc"),
        ("%rows", 100, "f16", 1, "pvc"),
        (48, "%columns", "f32", 1, "bmg"),
    ],
)
def test_softmax_along_rows_and_columns(rng, m, n, dtype, axis, target):
    kernel = compiled(open_softmax(m, n, dtype, axis), "rows", target)
    for rows, columns in itertools.product([m] if m == 48 else SIZES, [n] if isinstance(n, int) else [*SIZES, 1300]):
        x = draw(rng, (rows, columns), dtype)
        check(kernel, [x], expected_softmax(x, axis), dtype)


def test_nan_and_infinities_stay_in_their_rows(rng):
    kernel = compiled(open_softmax("%rows", "%columns", "f32", 1), "rows")
    for columns in (77, 128, 130):
        x = draw(rng, (12, columns), "f32")
        x[3, 5], x[7, columns - 1], x[9, 0] = np.nan, -np.inf, np.inf
        got = kernel(x)
        np.testing.assert_allclose(got, expected_softmax(x, 1), rtol=1e-5)
        assert np.flatnonzero(np.isnan(got).any(axis=1)).tolist() == [3, 9]


def reduction(axes, dtype, op, init):
    """Of a tensor of three open sizes."""
    kept = [dim for dim in range(3) if dim not in axes]
    names = ["%p", "%q", "%s"]
    kind = tensor(("?",) * 3, dtype)
    result = tensor(("?",) * len(kept), dtype)
    maps = ["(d0, d1, d2) -> (d0, d1, d2)", f"(d0, d1, d2) -> ({', '.join(f'd{dim}' for dim in kept)})"]
    iterators = "".join("r" if dim in axes else "p" for dim in range(3))
    one = "1" if dtype[0] == "i" else "1.0"
    # Zeros out of bounds would become ones.
    body = (
        f"%k = arith.constant {one} : {dtype}\n%0 = arith.add{dtype[0].replace('b', 'f')} %a0, %k : {dtype}\n"
        f"%1 = arith.{op} %0, %o : {dtype}\nlinalg.yield %1 : {dtype}\n"
    )
    return function(
        [("%x", kind)],
        [("%y", result)],
        sizes_of("%x", kind, 3, names)
        + open_generic("%y", [("%x", kind)], [names[dim] for dim in kept], dtype, maps, iterators, body, init),
    )


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("axes", "dtype", "op", "init"),
    [
        ((2,), "f32", "addf", "0.0"),
        ((0,), "f16", "addf", "0.0"),
        ((1,), "i32", "maxsi", "-100"),
        ((0, 2), "f32", "minimumf", "0x7F800000"),
        ((0, 1, 2), "i32", "addi", "0"),
    ],
)
def test_reductions_along_any_axes(rng, axes, dtype, op, init):
    kernel = compiled(reduction(axes, dtype, op, init), "rows")
    reduce = {"addf": np.add, "addi": np.add, "maxsi": np.maximum, "minimumf": np.minimum}[op]
    start = {"maxsi": -100, "minimumf": np.inf}.get(op, 0)
    for shape in [(0, 3, 4), (3, 0, 4), (4, 3, 0), (1, 1, 1), (5, 19, 33), (2, 300, 17), (33, 2, 301), (70, 64, 64)]:
        x = draw(rng, shape, dtype)
        wide = (x + x.dtype.type(1)).astype(np.int64 if dtype[0] == "i" else np.float64)
        check(kernel, [x], reduce.reduce(wide, axis=axes, initial=start), dtype, 40)


def test_layer_norm_divides_by_a_size_of_the_run(rng):
    kind, line = "tensor<?x?xf32>", "tensor<?xf32>"
    add = "%1 = arith.addf %a0, %o : f32\nlinalg.yield %1 : f32\n"
    text = function(
        [("%x", kind)],
        [("%y", kind)],
        sizes_of("%x", kind, 2, ["%m", "%n"])
        + "%w = arith.index_cast %n : index to i32\n%f = arith.sitofp %w : i32 to f32\n"
        + open_generic("%s", [("%x", kind)], ["%m"], "f32", [BOTH, COLUMN], "pr", add, "0.0")
        + open_generic(
            "%d",
            [("%x", kind), ("%s", line)],
            ["%m", "%n"],
            "f32",
            [BOTH, COLUMN, BOTH],
            "pp",
            "%1 = arith.divf %a1, %f : f32\n%2 = arith.subf %a0, %1 : f32\nlinalg.yield %2 : f32\n",
        )
        + open_generic(
            "%q",
            [("%d", kind)],
            ["%m"],
            "f32",
            [BOTH, COLUMN],
            "pr",
            "%1 = arith.mulf %a0, %a0 : f32\n%2 = arith.addf %1, %o : f32\nlinalg.yield %2 : f32\n",
            "0.0",
        )
        + open_generic(
            "%y",
            [("%d", kind), ("%q", line)],
            ["%m", "%n"],
            "f32",
            [BOTH, COLUMN, BOTH],
            "pp",
            "%1 = arith.divf %a1, %f : f32\n%k = arith.constant 1.0e-5 : f32\n%2 = arith.addf %1, %k : f32\n"
            "%3 = math.rsqrt %2 : f32\n%4 = arith.mulf %a0, %3 : f32\nlinalg.yield %4 : f32\n",
        ),
    )
    kernel = compiled(text)
    for rows, columns in [(0, 5), (1, 1), (5, 77), (33, 256), (3, 2000)]:
        x = draw(rng, (rows, columns), "f32")
        wide = x.astype(np.float64)
        centred = wide - wide.mean(1, keepdims=True)
        check(kernel, [x], centred / np.sqrt(wide.var(1, keepdims=True) + 1e-5), "f32", 20)


OPEN = "tensor<?x?xf32>"
MOVES = {
    "concat_rows": (f"%y = tensor.concat dim(0) %x, %z : ({OPEN}, {OPEN}) -> {OPEN}\n", np.vstack),
    "pad": (
        f"%k = arith.constant 2.0 : f32\n%y = tensor.pad %x low[2, 1] high[0, 3] {{\n"
        f"^bb0(%i: index, %j: index):\ntensor.yield %k : f32\n}} : {OPEN} to {OPEN}\n",
        lambda xz: np.pad(xz[0], ((2, 0), (1, 3)), constant_values=2.0),
    ),
    "slice": (
        f"%one = arith.constant 1 : index\n%more = arith.addi %m, %one : index\n"
        f"%y = tensor.extract_slice %z[1, 0] [%m, %n] [1, 1] : {OPEN} to {OPEN}\n",
        lambda xz: xz[1][1:],
    ),
    "insert": (
        f"%y = tensor.insert_slice %x into %z[1, 0] [%m, %n] [1, 1] : {OPEN} into {OPEN}\n",
        lambda xz: np.vstack([xz[1][:1], xz[0]]),
    ),
    "transpose": (
        open_generic("%y", [("%x", OPEN)], ["%n", "%m"], "f32", [SWAPPED, BOTH], "pp", "linalg.yield %a0 : f32\n"),
        lambda xz: xz[0].T,
    ),
}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", MOVES)
def test_moves_of_elements(rng, name):
    body, move = MOVES[name]
    text = function([("%x", OPEN), ("%z", OPEN)], [("%y", OPEN)], sizes_of("%x", OPEN, 2, ["%m", "%n"]) + body)
    kernel = compiled(text, "elementwise")
    for rows, columns in itertools.product(SIZES, SIZES):
        x, z = draw(rng, (rows, columns), "f32"), draw(rng, (rows + 1, columns), "f32")
        np.testing.assert_array_equal(kernel(x, z), move((x, z)))


def product(tail, result="%h", dtype="f16"):
    kind = f"tensor<?x?x{dtype}>"
    return (
        sizes_of("%x", kind, 2, ["%m", "%k"])
        + f"%p = tensor.dim %w, %k_i : {kind}\n%e = tensor.empty(%m, %p) : {OPEN}\n%nil = arith.constant 0.0 : f32\n"
        + f"%f = linalg.fill ins(%nil : f32) outs(%e : {OPEN}) -> {OPEN}\n"
        + f"{result} = linalg.matmul ins(%x, %w : {kind}, {kind}) outs(%f : {OPEN}) -> {OPEN}\n"
        + tail
    )


PRODUCTS = [(0, 5, 9), (5, 0, 9), (5, 9, 0), (1, 1, 1), (33, 64, 40), (64, 32, 64), (70, 17, 130)]


def test_a_matmul_with_an_epilogue(rng):
    body = (
        "%1 = arith.addf %a0, %a1 : f32\n%z = arith.constant 0.0 : f32\n"
        "%2 = arith.maximumf %1, %z : f32\nlinalg.yield %2 : f32\n"
    )
    tail = open_generic(
        "%y", [("%h", OPEN), ("%b", "tensor<?xf32>")], ["%m", "%p"], "f32", [BOTH, ROW, BOTH], "pp", body
    )
    arguments = [("%x", "tensor<?x?xf16>"), ("%w", "tensor<?x?xf16>"), ("%b", "tensor<?xf32>")]
    kernel = compiled(function(arguments, [("%y", OPEN)], product(tail)))
    for m, k, n in PRODUCTS:
        x, w, b = draw(rng, (m, k), "f16"), draw(rng, (k, n), "f16"), draw(rng, (n,), "f32")
        check(kernel, [x, w, b], np.maximum(x.astype(np.float64) @ w + b, 0), "f32", 20)


def test_a_product_of_f32_is_exact(rng):
    arguments = [("%x", OPEN), ("%w", OPEN)]
    kernel = compiled(function(arguments, [("%y", OPEN)], product("", "%y", "f32")))
    for m, k, n in [*PRODUCTS, (9, 1500, 20)]:
        x, w = draw(rng, (m, k), "f32"), draw(rng, (k, n), "f32")
        check(kernel, [x, w], x.astype(np.float64) @ w.astype(np.float64), "f32", 40)


def test_a_matmul_then_two_reductions_are_several_kernels(rng):
    add = "%1 = arith.addf %a0, %o : f32\nlinalg.yield %1 : f32\n"
    tail = open_generic("%s", [("%h", OPEN)], ["%m"], "f32", [BOTH, COLUMN], "pr", add, "0.0") + open_generic(
        "%t", [("%h", OPEN)], ["%p"], "f32", [BOTH, ROW], "rp", add, "0.0"
    )
    arguments = [("%x", "tensor<?x?xf16>"), ("%w", "tensor<?x?xf16>")]
    lines = [("%s", "tensor<?xf32>"), ("%t", "tensor<?xf32>")]
    kernel = compiled(function(arguments, lines, product(tail)))
    for m, k, n in PRODUCTS:
        x, w = draw(rng, (m, k), "f16"), draw(rng, (k, n), "f16")
        wide = x.astype(np.float64) @ w.astype(np.float64)
        check(kernel, [x, w], (wide.sum(1), wide.sum(0)), "f32", 100)


def test_sizes_that_do_not_fit_are_named(rng):
    kernel = compiled(chain("%m", "%n", "f32"), "elementwise")
    x, r, c, t = (draw(rng, each, "f32") for each in ((4, 6), (5,), (4,), (6, 4)))
    with pytest.raises(XeTileError, match=r"argument 0, dimension 1 \(6\) == argument 1, dimension 0 \(5\)"):
        kernel(x, r, c, t)


def test_all_types_have_a_size_of_the_run(rng):
    for dtype in DTYPES:
        kind = f"tensor<?x{dtype}>"
        add = f"arith.add{'i' if dtype[0] == 'i' else 'f'}"
        body = f"%1 = {add} %a0, %a0 : {dtype}\nlinalg.yield %1 : {dtype}\n"
        text = function(
            [("%x", kind)],
            [("%y", kind)],
            sizes_of("%x", kind, 1, ["%n"])
            + open_generic("%y", [("%x", kind)], ["%n"], dtype, ["(d0) -> (d0)"] * 2, "p", body),
        )
        kernel = compiled(text, "elementwise")
        for size in SIZES:
            x = draw(rng, (size,), dtype)
            check(kernel, [x], x.astype(np.int64 if dtype[0] == "i" else np.float64) * 2, dtype)


@pytest.mark.parametrize("step", [2, 3])
def test_rows_in_steps(rng, step):
    rows = (48 - 2) // step
    text = function(
        [("%x", "tensor<48x?xf32>")],
        [("%y", f"tensor<{rows}x?xf32>")],
        "%one = arith.constant 1 : index\n%n = tensor.dim %x, %one : tensor<48x?xf32>\n"
        f"%y = tensor.extract_slice %x[1, 0] [{rows}, %n] [{step}, 1] : tensor<48x?xf32> to tensor<{rows}x?xf32>\n",
    )
    kernel = compiled(text, "elementwise")
    for columns in SIZES:
        x = draw(rng, (48, columns), "f32")
        np.testing.assert_array_equal(kernel(x), x[1 : 1 + rows * step : step])


# x - x of integers folds: of what is reduced, nothing is left that subgroups could share.
SUM_OF_ZEROS = """
func.func @f(%x: tensor<3x?xi8>, %start: tensor<i8>) -> tensor<i8> {
  %one = arith.constant 1 : index
  %n = tensor.dim %x, %one : tensor<3x?xi8>
  %e = tensor.empty(%n) : tensor<3x?xi8>
  %z = linalg.map ins(%x, %x : tensor<3x?xi8>, tensor<3x?xi8>) outs(%e : tensor<3x?xi8>) (%a: i8, %b: i8, %o: i8) {
    %d = arith.subi %a, %b : i8
    linalg.yield %d : i8
  }
  %s = linalg.reduce ins(%z : tensor<3x?xi8>) outs(%start : tensor<i8>) dimensions = [0, 1] (%a: i8, %b: i8) {
    %t = arith.addi %a, %b : i8
    linalg.yield %t : i8
  }
  return %s : tensor<i8>
}
"""


@pytest.mark.parametrize("schedule", [None, "gpu_model"])
def test_zeros_that_are_reduced_are_one_subgroup_s(schedule):
    kernel = compiled(SUM_OF_ZEROS, schedule, "bmg")
    for size in (0, 1, 33, 301):
        x = np.arange(3 * size).astype(np.int8).reshape(3, size)
        check(kernel, [x, np.array(-7, np.int8)], np.int8(-7), "i8")


NUMBER_AND_MASK = """
func.func @f(%mask: tensor<48x?xi1>, %x: tensor<48xf16>) -> (tensor<f16>, tensor<48x?xi1>) {
  %zero = arith.constant 0.0 : f16
  %e = tensor.empty() : tensor<f16>
  %start = linalg.fill ins(%zero : f16) outs(%e : tensor<f16>) -> tensor<f16>
  %y = linalg.reduce ins(%x : tensor<48xf16>) outs(%start : tensor<f16>) dimensions = [0] (%a: f16, %b: f16) {
    %m = arith.maximumf %a, %b : f16
    linalg.yield %m : f16
  }
  return %y, %mask : tensor<f16>, tensor<48x?xi1>
}
"""


def test_a_mask_that_is_passed_on_is_a_kernel_s_beside_a_reduction():
    """It is an argument, but copied, from bits to bytes."""
    kernel = compiled(NUMBER_AND_MASK, target="lnl")
    assert kernel.schedule.name == "gpu_model"
    rng = np.random.default_rng(7)
    for size in (0, 1, 64):
        mask, x = rng.random((48, size)) < 0.5, rng.standard_normal(48).astype(np.float16)
        number, copy = kernel(mask, x)
        assert number == max(x.max(), 0)
        np.testing.assert_array_equal(copy, mask)


SIZES_OF_BITS = """
func.func @f(%bits: tensor<?xi1>, %x: tensor<?x?xf16>, %z: tensor<f32>) -> (tensor<?x?x1xf32>, tensor<f32>) {
  %zero = arith.constant 0 : index
  %half = arith.constant 0.5 : f16
  %rows = tensor.dim %x, %zero : tensor<?x?xf16>
  %columns = tensor.dim %bits, %zero : tensor<?xi1>
  %m = tensor.empty(%rows, %columns) : tensor<?x?xi1>
  %large = linalg.map ins(%x : tensor<?x?xf16>) outs(%m : tensor<?x?xi1>) (%a: f16, %o: i1) {
    %b = arith.cmpf ogt, %a, %half : f16
    linalg.yield %b : i1
  }
  %again = tensor.dim %large, %zero : tensor<?x?xi1>
  %e = tensor.empty(%again, %columns) : tensor<?x?xf32>
  %wide = linalg.map ins(%x : tensor<?x?xf16>) outs(%e : tensor<?x?xf32>) (%a: f16, %o: f32) {
    %w = arith.extf %a : f16 to f32
    linalg.yield %w : f32
  }
  %view = tensor.expand_shape %wide [[0], [1, 2]] output_shape [%again, %columns, 1]
      : tensor<?x?xf32> into tensor<?x?x1xf32>
  %table = arith.constant dense<[[0.0, 3.0], [1.5, 0.5]]> : tensor<2x2xf32>
  %most = linalg.reduce { arith.maxnumf } ins(%table : tensor<2x2xf32>) outs(%z : tensor<f32>) dimensions = [0, 1]
  return %view, %most : tensor<?x?x1xf32>, tensor<f32>
}
"""


def test_what_only_sizes_are_asked_of_is_not_computed(rng):
    """Bits that are an argument, and ones that an operation would compute: both would be left to the host."""
    kernel = compiled(SIZES_OF_BITS, target="bmg")
    assert kernel.schedule.name == "gpu_model"
    assert "cmpf" not in str(kernel.stages.stage("1-xetile-workgroup").module)
    for rows, columns in itertools.product((0, 1, 33), (0, 1, 77)):
        x = draw(rng, (rows, columns), "f16")
        view, most = kernel(np.ones(columns, bool), x, np.array(-1, np.float32))
        np.testing.assert_array_equal(view, x.astype(np.float32)[..., None])
        assert most == 3


def test_arguments_of_open_sizes_that_are_only_passed_on_are_copied_by_kernels():
    text = """func.func @program(%x: tensor<?x3xf32>, %y: tensor<?xi8>)
    -> (tensor<?x3xf32>, tensor<?xi8>, tensor<?xf32>) {
  %r = tensor.collapse_shape %x [[0, 1]] : tensor<?x3xf32> into tensor<?xf32>
  return %x, %y, %r : tensor<?x3xf32>, tensor<?xi8>, tensor<?xf32>
}
"""
    with ir.Context(), ir.Location.unknown():
        kernel = xetile.compile(ir.Module.parse(text), target="bmg", native="off")
    for rows in (5, 1, 0, 33):
        x, y = np.random.default_rng(rows).random((rows, 3), np.float32), np.arange(rows + 2, dtype=np.int8)
        for got, expected in zip(kernel(x, y), (x, y, x.ravel()), strict=True):
            assert np.array_equal(got, expected)
