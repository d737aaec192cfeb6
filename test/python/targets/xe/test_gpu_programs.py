# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels of the schedules `elementwise` and `rows`, run on this machine's OpenCL device and compared with NumPy."""

import itertools
from functools import partial

import ml_dtypes
import numpy as np
import pytest
import xetile
from gpu_programs import (
    BOTH,
    COLUMN,
    DTYPES,
    ROW,
    SWAPPED,
    assert_close,
    draw,
    function,
    generic,
    named_softmax,
    run_poisoned,
    softmax,
    tensor,
)
from xetile.errors import XeTileError
from xetile.mlir import ir


def sampled(*lists, every=5):
    """All combinations; one of `every` in `make test`, the others are exhaustive."""
    return [
        pytest.param(*case, marks=() if number % every == 0 else pytest.mark.exhaustive)
        for number, case in enumerate(itertools.product(*lists))
    ]


@pytest.fixture
def run(compile_kernel):
    return partial(run_poisoned, compile_kernel)


@pytest.mark.parametrize(
    ("shape", "dtype", "target"),
    sampled([(129, 77), (64, 64), (1, 1), (1, 300), (65, 1), (7, 16)], DTYPES, ["pvc", "bmg"]),
)
def test_a_chain_with_broadcasts_and_a_transpose(run, rng, shape, dtype, target):
    kind = "f" if dtype[0] != "i" else "i"
    body = (
        f"%1 = arith.mul{kind} %a0, %a1 : {dtype}\n%2 = arith.add{kind} %1, %a2 : {dtype}\n"
        f"%3 = arith.sub{kind} %2, %a3 : {dtype}\nlinalg.yield %3 : {dtype}\n"
    )
    m, n = shape
    kinds = [tensor(each, dtype) for each in (shape, (n,), (m,), (n, m))]
    arguments = list(zip(["%x", "%r", "%c", "%t"], kinds, strict=True))
    text = function(
        arguments,
        [("%y", kinds[0])],
        generic("%y", arguments, shape, dtype, [BOTH, ROW, COLUMN, SWAPPED, BOTH], "pp", body),
    )
    x, r, c, t = (draw(rng, each, dtype) for each in (shape, (n,), (m,), (n, m)))
    wide = [np.int64 if kind == "i" else np.float64] * 4
    x_, r_, c_, t_ = (array.astype(each) for array, each in zip((x, r, c, t), wide, strict=True))
    expected = x_ * r_ + c_[:, None] - t_.T
    (got,) = run(text, [x, r, c, t], [np.empty(shape, DTYPES[dtype])], schedule="elementwise", target=target)
    assert_close(got, expected.astype(DTYPES[dtype]) if kind == "i" else expected, dtype, 4)


def expected_softmax(x, axis):
    wide = x.astype(np.float64)
    with np.errstate(invalid="ignore"):
        raised = np.exp(wide - wide.max(axis=axis, keepdims=True))
    return raised / raised.sum(axis=axis, keepdims=True)


@pytest.mark.one_in(5)
@pytest.mark.parametrize(
    ("shape", "dtype", "axis", "target"),
    sampled(
        [(5, 1024), (19, 100), (3, 33), (1, 1), (40, 2000), (260, 17), (2, 5000), (700, 3)],
        ["f16", "bf16", "f32"],
        [0, 1],
        ["pvc", "bmg"],
    ),
)
def test_softmax_along_rows_and_columns(run, rng, shape, dtype, axis, target):
    x = draw(rng, shape, dtype)
    (got,) = run(softmax(shape, dtype, axis), [x], [np.empty(shape, DTYPES[dtype])], target=target)
    assert_close(got, expected_softmax(x, axis), dtype, 4)


def test_nan_and_infinities_stay_in_their_rows(run, rng):
    x = draw(rng, (12, 77), "f32")
    x[3, 5], x[7, 76], x[9, 0] = np.nan, -np.inf, np.inf
    (got,) = run(softmax(x.shape, "f32", 1), [x], [x])
    expected = expected_softmax(x, 1)
    np.testing.assert_allclose(got, expected, rtol=1e-5)
    assert np.flatnonzero(np.isnan(got).any(axis=1)).tolist() == [3, 9]
    assert got[7, 76] == 0


REDUCTIONS = {
    "addf": ("0.0", np.add),
    "mulf": ("1.0", np.multiply),
    "maximumf": ("LOW", np.maximum),
    "minimumf": ("HIGH", np.minimum),
    "addi": ("0", np.add),
    "maxsi": ("-100", np.maximum),
    "minsi": ("100", np.minimum),
    "xori": ("0", np.bitwise_xor),
}
LIMITS = {"f16": ("0xFC00", "0x7C00"), "bf16": ("0xFF80", "0x7F80"), "f32": ("0xFF800000", "0x7F800000")}


KINDS = [("addf", "f16"), ("addf", "bf16"), ("addf", "f32"), ("mulf", "f32"), ("maximumf", "f16"), ("minimumf", "f32")]
KINDS += [("addi", "i32"), ("addi", "i64"), ("maxsi", "i8"), ("minsi", "i32"), ("xori", "i32")]


@pytest.mark.one_in(5)
@pytest.mark.parametrize(
    ("axes", "which", "computed"),
    sampled([(0,), (1,), (2,), (0, 2), (1, 2), (0, 1, 2)], KINDS, [False, True], every=7),
)
def test_reductions_along_any_axes(run, rng, axes, which, computed):
    """Of memory, whose loads give neutral elements, and of what is computed, where they are selected."""
    kind, dtype = which
    shape = (5, 19, 33)
    init, combine = REDUCTIONS[kind]
    init = init.replace("LOW", LIMITS.get(dtype, ("", ""))[0]).replace("HIGH", LIMITS.get(dtype, ("", ""))[1])
    kept = [dim for dim in range(3) if dim not in axes]
    element, before = "%a0", ""
    one = "1" if dtype[0] == "i" else "1.0"
    if computed:  # zeros out of bounds would become ones
        before = f"%k = arith.constant {one} : {dtype}\n%0 = arith.add{dtype[0].replace('b', 'f')} %a0, %k : {dtype}\n"
        element = "%0"
    body = before + f"%1 = arith.{kind} {element}, %o : {dtype}\nlinalg.yield %1 : {dtype}\n"
    result = tuple(shape[dim] for dim in kept)
    maps = ["(d0, d1, d2) -> (d0, d1, d2)", f"(d0, d1, d2) -> ({', '.join(f'd{dim}' for dim in kept)})"]
    text = function(
        [("%x", tensor(shape, dtype))],
        [("%y", tensor(result, dtype))],
        generic(
            "%y",
            [("%x", tensor(shape, dtype))],
            result,
            dtype,
            maps,
            "".join("r" if dim in axes else "p" for dim in range(3)),
            body,
            init,
        ),
    )
    x = (rng.uniform(0.9, 1.1, shape) if kind == "mulf" else draw(rng, shape, dtype)).astype(DTYPES[dtype])
    if computed and kind == "mulf":
        x = (x - 1).astype(np.float32)
    wide = x.astype(np.int64 if dtype[0] == "i" else np.float64) + (1 if computed else 0)
    (got,) = run(text, [x], [np.empty(result, DTYPES[dtype])])
    assert_close(got, combine.reduce(wide, axis=axes), dtype, 2 if "m" in kind else 100)


def test_a_layer_norm_is_one_kernel(run, rng):
    m, n = 37, 768
    kind, line = tensor((m, n), "f32"), tensor((m,), "f32")
    weights = tensor((n,), "f32")
    total = "%1 = arith.addf %a0, %o : f32\nlinalg.yield %1 : f32\n"
    mean = f"%k = arith.constant {float(n)} : f32\n%1 = arith.divf %a0, %k : f32\nlinalg.yield %1 : f32\n"
    square = (
        f"%k = arith.constant {float(n)} : f32\n%1 = arith.subf %a0, %a1 : f32\n%2 = arith.mulf %1, %1 : f32\n"
        "%3 = arith.divf %2, %k : f32\n%4 = arith.addf %3, %o : f32\nlinalg.yield %4 : f32\n"
    )
    norm = (
        "%k = arith.constant 1.0e-5 : f32\n%1 = arith.subf %a0, %a1 : f32\n%2 = arith.addf %a2, %k : f32\n"
        "%3 = math.rsqrt %2 : f32\n%4 = arith.mulf %1, %3 : f32\n%5 = arith.mulf %4, %a3 : f32\n"
        "%6 = arith.addf %5, %a4 : f32\nlinalg.yield %6 : f32\n"
    )
    text = function(
        [("%x", kind), ("%w", weights), ("%b", weights)],
        [("%y", kind)],
        generic("%s", [("%x", kind)], (m,), "f32", [BOTH, COLUMN], "pr", total, "0.0")
        + generic("%mean", [("%s", line)], (m,), "f32", ["(m) -> (m)", "(m) -> (m)"], "p", mean)
        + generic("%v", [("%x", kind), ("%mean", line)], (m,), "f32", [BOTH, COLUMN, COLUMN], "pr", square, "0.0")
        + generic(
            "%y",
            [("%x", kind), ("%mean", line), ("%v", line), ("%w", weights), ("%b", weights)],
            (m, n),
            "f32",
            [BOTH, COLUMN, COLUMN, ROW, ROW, BOTH],
            "pp",
            norm,
        ),
    )
    x, w, b = draw(rng, (m, n), "f32"), draw(rng, (n,), "f32"), draw(rng, (n,), "f32")
    wide = x.astype(np.float64)
    centred = wide - wide.mean(axis=1, keepdims=True)
    expected = centred / np.sqrt((centred**2).mean(axis=1, keepdims=True) + 1e-5) * w + b
    (got,) = run(text, [x, w, b], [x])
    assert_close(got, expected, "f32", 10)


def test_two_results_of_one_shape(run, rng):
    kind = tensor((33, 50), "f32")
    body = generic(
        "%y", [("%x", kind)], (33, 50), "f32", [BOTH, BOTH], "pp", "%1 = arith.negf %a0 : f32\nlinalg.yield %1 : f32\n"
    )
    body += generic(
        "%z",
        [("%y", kind), ("%x", kind)],
        (33, 50),
        "f32",
        [SWAPPED.replace("(n, m)", "(m, n)"), BOTH, BOTH],
        "pp",
        "%1 = arith.mulf %a0, %a1 : f32\nlinalg.yield %1 : f32\n",
    )
    x = draw(rng, (33, 50), "f32")
    y, z = run(function([("%x", kind)], [("%y", kind), ("%z", kind)], body), [x], [x, x], schedule="elementwise")
    np.testing.assert_array_equal(y, -x)
    np.testing.assert_array_equal(z, -x * x)


@pytest.mark.parametrize(
    "params",
    [{"workgroup_m": 64, "workgroup_n": 32, "subgroups_m": 2, "subgroups_n": 2}, {"workgroup_m": 8, "subgroups_m": 1}],
    ids=str,
)
def test_tiles_can_be_given(run, rng, params):
    x = draw(rng, (70, 100), "f32")
    (got,) = run(softmax(x.shape, "f32", 1), [x], [x], params=params)
    assert_close(got, expected_softmax(x, 1), "f32", 4)


def test_what_reduces_is_no_chain():
    with ir.Context(), ir.Location.unknown(), pytest.raises(XeTileError, match="the schedule 'rows' takes reductions"):
        xetile.compile(ir.Module.parse(softmax((8, 8), "f32", 1)), schedule="elementwise", native="off")


@pytest.mark.parametrize("target", ["pvc", "bmg"])
@pytest.mark.parametrize(("dtype", "axis"), [("f16", 1), ("f32", 0), ("bf16", 0)])
def test_a_softmax_of_linalg(run, rng, dtype, axis, target):
    x = draw(rng, (19, 100), dtype)
    body, arguments = named_softmax(x.shape, dtype, axis)
    (got,) = run(function(arguments, [("%y", arguments[0][1])], body), [x], [x], schedule=None, target=target)
    assert_close(got, expected_softmax(x, axis), dtype, 4)


@pytest.mark.parametrize(
    ("dtype", "which", "axis"), [("f32", "max", 1), ("f16", "min", 0), ("bf16", "max", 0), ("i32", "min", 1)]
)
def test_argmax_and_argmin_find_the_first(run, rng, dtype, which, axis):
    """As PyTorch exports them, along rows of many blocks; a NaN is the largest and the smallest element."""
    shape = (5, 3000) if axis else (300, 7)
    x = draw(rng, shape, dtype) if dtype == "i32" else rng.integers(-9, 10, shape).astype(DTYPES[dtype])
    kept = tensor((shape[1 - axis],), dtype)
    indices = kept.replace(dtype, "i64")
    low = {"f32": "0xFF800000", "f16": "0x7C00", "bf16": "0xFF80", "i32": "2147483647"}[dtype]
    operation = f"arith.{which}imumf" if dtype != "i32" else f"arith.{which}si"
    order = {"max": "gt", "min": "lt"}[which]
    compare = f"arith.cmpf o{order}" if dtype != "i32" else f"arith.cmpi s{order}"
    maps = ", ".join(f"affine_map<{each}>" for each in [BOTH, *[COLUMN if axis else ROW] * 2])
    kinds = '"parallel", "reduction"' if axis else '"reduction", "parallel"'
    body = f"""
%zero = arith.constant 0 : i64
%low = arith.constant {low} : {dtype}
%ie = tensor.empty() : {indices}
%i = linalg.fill ins(%zero : i64) outs(%ie : {indices}) -> {indices}
%me = tensor.empty() : {kept}
%m = linalg.fill ins(%low : {dtype}) outs(%me : {kept}) -> {kept}
%r, %at = linalg.generic {{indexing_maps = [{maps}], iterator_types = [{kinds}]}}
    ins(%x : {tensor(shape, dtype)}) outs(%m, %i : {kept}, {indices}) {{
^bb0(%in: {dtype}, %best: {dtype}, %o: i64):
  %index = linalg.index {axis} : index
  %here = arith.index_cast %index : index to i64
  %1 = {operation} %in, %best : {dtype}
  %is = {compare}, %in, %best : {dtype}
  %2 = arith.select %is, %here, %o : i64
  linalg.yield %1, %2 : {dtype}, i64
}} -> ({kept}, {indices})
"""
    if dtype != "i32":
        x[3, 5], x[4, 5], x[2, 6] = np.nan, np.nan, -np.inf
    wide = x.astype(np.float64)
    text = function([("%x", tensor(shape, dtype))], [("%r", kept), ("%at", indices)], body)
    expected = getattr(np, which)(wide, axis=axis).astype(x.dtype)
    at = getattr(np, f"arg{which}")(wide, axis=axis)
    values, got = run(text, [x], [expected, at], schedule=None)
    np.testing.assert_array_equal(got, at)
    np.testing.assert_array_equal(values.astype(np.float64), expected.astype(np.float64))


def test_booleans_are_bytes_in_memory(run):
    kind, mask = tensor((9, 50), "f32"), tensor((9, 50), "i1")
    body = (
        "%1 = arith.cmpf olt, %a0, %a1 : f32\n%2 = arith.andi %1, %a2 : i1\n%3 = arith.constant true\n"
        "%4 = arith.xori %2, %3 : i1\nlinalg.yield %4 : i1\n"
    )
    inputs = [("%x", kind), ("%y", kind), ("%m", mask)]
    text = function(inputs, [("%r", mask)], generic("%r", inputs, (9, 50), "i1", [BOTH] * 4, "pp", body))
    rng = np.random.default_rng(1)
    x, y = rng.standard_normal((2, 9, 50)).astype(np.float32)
    m = rng.integers(2, size=(9, 50)).astype(bool)
    (got,) = run(text, (x, y, m), [np.empty((9, 50), bool)], schedule="elementwise")
    np.testing.assert_array_equal(got.view(np.uint8), ~((x < y) & m))


def test_bf16_is_rounded_once_from_f64(run, rng):
    """Half way between two numbers but for what f32 does not hold, and all kinds of others."""
    x = np.concatenate([rng.standard_normal(200), 1 + 2.0**-8 + np.array([2.0**-40, -(2.0**-40), 0.0])])
    x = np.concatenate([x, -x, [np.inf, -np.inf, np.nan, 1e300, -1e300, 1e-300, 0.0, -0.0]])
    kind = tensor(x.shape, "f64")
    same = "(a) -> (a)"
    body = generic(
        "%n",
        [("%x", kind)],
        x.shape,
        "bf16",
        [same, same],
        "p",
        "%1 = arith.truncf %a0 : f64 to bf16\nlinalg.yield %1 : bf16\n",
    )
    narrow = tensor(x.shape, "bf16")
    body += generic(
        "%y",
        [("%n", narrow)],
        x.shape,
        "f64",
        [same, same],
        "p",
        "%1 = arith.extf %a0 : bf16 to f64\nlinalg.yield %1 : f64\n",
    )
    text = function([("%x", kind)], [("%n", narrow), ("%y", kind)], body)
    # The nearest of the numbers that f32's upper half has, ties to even.
    with np.errstate(all="ignore"):
        scale = np.exp2(np.floor(np.log2(np.abs(x))) - 7)
        expected = np.where(np.isfinite(x) & (x != 0), np.rint(x / scale) * scale, x)
        expected = expected.astype(ml_dtypes.bfloat16)
    n, y = run(text, [x], [expected, x], schedule="elementwise")
    np.testing.assert_array_equal(n.astype(np.float64), expected.astype(np.float64))
    np.testing.assert_array_equal(y, expected.astype(np.float64))


def test_arith_on_tensors_is_elementwise(run, rng):
    x = rng.standard_normal((9, 20)).astype(np.float32)
    kind = tensor(x.shape, "f32")
    text = function([("%x", kind)], [("%y", kind)], f"%y = arith.mulf %x, %x : {kind}\n")
    (got,) = run(text, [x], [x], schedule=None)
    np.testing.assert_array_equal(got, x * x)


def test_rows_of_merged_dimensions(run, rng):
    """As PyTorch's norms: what is computed is merged to a matrix, reduced along its rows, and expanded again."""
    cube, identity = "tensor<3x7x50xf32>", "(i, j, k) -> (i, j, k)"
    text = softmax((21, 50), "f32", 1).split("{\n", 1)[1].split("return")[0].replace("%x", "%flat")
    body = (
        generic(
            "%e",
            [("%x", cube)],
            (3, 7, 50),
            "f32",
            [identity, identity],
            "ppp",
            "%1 = math.exp %a0 : f32\nlinalg.yield %1 : f32\n",
        )
        + "%flat = tensor.collapse_shape %e [[0, 1], [2]] : tensor<3x7x50xf32> into tensor<21x50xf32>\n"
        + text
        + "%all = tensor.expand_shape %y [[0, 1], [2]] output_shape [3, 7, 50] : tensor<21x50xf32> "
        + f"into {cube}\n"
    )
    x = draw(rng, (3, 7, 50), "f32")
    (got,) = run(function([("%x", cube)], [("%all", cube)], body), [x], [x])
    assert_close(got, expected_softmax(np.exp(x.astype(np.float64)).reshape(21, 50), 1).reshape(3, 7, 50), "f32", 10)
