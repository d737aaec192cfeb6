# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Slices, pads, windows, packs and insertions on GPUs: which elements are read, and none from outside of a tensor."""

from functools import partial

import numpy as np
import pytest
from gpu_programs import (
    BOTH,
    COLUMN,
    DTYPES,
    PACK,
    UNPACK,
    draw,
    function,
    generic,
    run_poisoned,
    tensor,
)
from xetile.mlir import ir


@pytest.fixture
def run(compile_kernel):
    return partial(run_poisoned, compile_kernel)


def test_slices_pads_concatenations_and_reversed_reads(run, rng):
    body = """
%z = arith.constant 7.0 : f32
%s = tensor.extract_slice %x[3, 1] [20, 16] [2, 3] : tensor<50x60xf32> to tensor<20x16xf32>
%p = tensor.pad %s low[1, 0] high[0, 2] {
^bb0(%i: index, %j: index):
  tensor.yield %z : f32
} : tensor<20x16xf32> to tensor<21x18xf32>
%c = tensor.concat dim(0) %p, %w : (tensor<21x18xf32>, tensor<4x18xf32>) -> tensor<25x18xf32>
""" + generic(
        "%y",
        [("%c", "tensor<25x18xf32>")],
        (25, 18),
        "f32",
        ["(i, j) -> (i, -j + 17)", "(i, j) -> (i, j)"],
        "pp",
        "%n = linalg.index 0 : index\n%1 = arith.index_cast %n : index to i32\n%2 = arith.sitofp %1 : i32 to f32\n"
        "%3 = arith.addf %2, %a0 : f32\nlinalg.yield %3 : f32\n",
    )
    text = function([("%x", "tensor<50x60xf32>"), ("%w", "tensor<4x18xf32>")], [("%y", "tensor<25x18xf32>")], body)
    x, w = draw(rng, (50, 60), "f32"), draw(rng, (4, 18), "f32")
    padded = np.pad(x[3:43:2, 1:49:3], ((1, 0), (0, 2)), constant_values=7)
    expected = np.concatenate([padded, w])[:, ::-1] + np.arange(25, dtype=np.float32)[:, None]
    (got,) = run(text, [x, w], [expected], schedule="elementwise")
    np.testing.assert_array_equal(got, expected)


def test_diagonals_are_neither_rows_nor_columns(run, rng):
    """Two dimensions that follow one loop: elements are gathered."""
    kinds = [("%x", "tensor<48x48xf32>"), ("%w", "tensor<48xf32>")]
    body = "%1 = arith.addf %a0, %a1 : f32\nlinalg.yield %1 : f32\n"
    maps = ["(i) -> (i, i)", "(i) -> (i)", "(i) -> (i)"]
    text = function(kinds, [("%y", "tensor<48xf32>")], generic("%y", kinds, (48,), "f32", maps, "p", body))
    x, w = draw(rng, (48, 48), "f32"), draw(rng, (48,), "f32")
    (got,) = run(text, [x, w], [w])
    np.testing.assert_array_equal(got, x.diagonal() + w)


def test_windows_overlap_and_products_are_exact(run, rng):
    """A 3 x 3 convolution of two channels, f32, with a stride."""
    maps = [
        "(f, i, j, c, k, l) -> (c, i * 2 + k, j * 2 + l)",
        "(f, i, j, c, k, l) -> (f, c, k, l)",
        "(f, i, j, c, k, l) -> (f, i, j)",
    ]
    kinds = [("%x", "tensor<2x21x35xf32>"), ("%w", "tensor<3x2x3x3xf32>")]
    body = "%1 = arith.mulf %a0, %a1 : f32\n%2 = arith.addf %1, %o : f32\nlinalg.yield %2 : f32\n"
    text = function(
        kinds, [("%y", "tensor<3x10x17xf32>")], generic("%y", kinds, (3, 10, 17), "f32", maps, "ppprrr", body, "0.0")
    )
    x, w = (rng.integers(-4, 5, shape).astype(np.float32) for shape in ((2, 21, 35), (3, 2, 3, 3)))
    windows = np.lib.stride_tricks.sliding_window_view(x, (3, 3), axis=(1, 2))[:, ::2, ::2]
    (got,) = run(text, [x, w], [np.empty((3, 10, 17), np.float32)])
    np.testing.assert_array_equal(got, np.einsum("cijkl,fckl->fij", windows, w))


def packed(x):
    """`x` in blocks of 8 x 4, with 7 around it."""
    (m, n), padded = (
        x.shape,
        np.pad(x, [(0, -size % block) for size, block in zip(x.shape, (8, 4), strict=True)], constant_values=7),
    )
    return padded.reshape(-(-m // 8), 8, -(-n // 4), 4).transpose(0, 2, 1, 3)


def test_packs_and_unpacks(run, rng):
    x = draw(rng, (30, 50), "f32")
    rows, blocks = "tensor<30x50xf32>", "tensor<4x13x8x4xf32>"
    (got,) = run(function([("%a", rows)], [("%y", blocks)], PACK), [x], [packed(x)], schedule=None)
    np.testing.assert_array_equal(got, packed(x))
    (got,) = run(function([("%a", blocks)], [("%y", rows)], UNPACK), [packed(x).copy()], [x], schedule=None)
    np.testing.assert_array_equal(got, x)


def test_elements_beyond_a_row_read_by_quotients_are_neutral(run):
    kind, line = tensor((5, 19), "f32"), tensor((10,), "f32")
    largest = "%1 = arith.maximumf %a0, %o : f32\nlinalg.yield %1 : f32\n"
    body = generic(
        "%y", [("%x", kind)], (10,), "f32", ["(m, n) -> (m floordiv 2, n)", COLUMN], "pr", largest, "0xFF800000"
    )
    x = -1 - np.arange(95, dtype=np.float32).reshape(5, 19)
    (got,) = run(function([("%x", kind)], [("%y", line)], body), [x], [np.empty(10, np.float32)])
    np.testing.assert_array_equal(got, np.repeat(x.max(axis=1), 2))


@pytest.mark.one_in(3)
@pytest.mark.parametrize("dtype", DTYPES)
def test_elements_are_inserted_with_steps(run, rng, dtype):
    """As transposed convolutions do it; the row at the end is at the last place that there is."""
    kind, whole, row = (tensor(shape, dtype) for shape in ((3, 5, 7), (4, 11, 25), (5, 7)))
    body = (
        f"%a = tensor.insert_slice %x into %z[1, 2, 0] [3, 5, 7] [1, 2, 4] : {kind} into {whole}\n"
        f"%y = tensor.insert_slice %r into %a[3, 0, 3] [1, 5, 7] [1, 2, 3] : {row} into {whole}\n"
    )
    text = function([("%x", kind), ("%z", whole), ("%r", row)], [("%y", whole)], body)
    x, z, r = (draw(rng, shape, dtype) for shape in ((3, 5, 7), (4, 11, 25), (5, 7)))
    expected = z.copy()
    expected[1:4, 2:11:2, 0:25:4] = x
    expected[3, 0:10:2, 3:22:3] = r
    (got,) = run(text, [x, z, r], [expected], schedule="elementwise", target=str(rng.choice(["pvc", "bmg"])))
    assert got.tobytes() == expected.tobytes()


def test_what_is_inserted_with_steps_is_computed_before(run, rng):
    kind, whole = tensor((9, 20), "f32"), tensor((18, 20), "f32")
    body = generic("%q", [("%x", kind)], (9, 20), "f32", [BOTH, BOTH], "pp", SQUARES)
    body += (
        f"%c = arith.constant 0.5 : f32\n%e = tensor.empty() : {whole}\n"
        f"%f = linalg.fill ins(%c : f32) outs(%e : {whole}) -> {whole}\n"
        f"%i = tensor.insert_slice %q into %f[1, 0] [9, 20] [2, 1] : {kind} into {whole}\n"
    )
    body += generic("%y", [("%i", whole)], (18, 20), "f32", [BOTH, BOTH], "pp", SQUARES)
    x = rng.standard_normal((9, 20)).astype(np.float32)
    expected = np.full((18, 20), 0.5, np.float32)
    expected[1::2] = x * x
    (got,) = run(function([("%x", kind)], [("%y", whole)], body), [x], [expected], schedule="gpu_model")
    np.testing.assert_array_equal(got, expected * expected)


# What is read outside of a tensor along dimensions that a tile does not run along.
OUTSIDE = {
    "pad": (
        "%z = arith.constant 3.0 : f32\n"
        "%y = tensor.pad %x low[2, 1, 0, 3] high[1, 2, 1, 0] {\n^bb0(%i: index, %j: index, %k: index, %l: index):\n"
        "tensor.yield %z : f32\n} : tensor<4x5x6x7xf32> to tensor<7x8x7x10xf32>\n",
        lambda x: np.pad(x, ((2, 1), (1, 2), (0, 1), (3, 0)), constant_values=3),
    ),
    "insertion": (
        "%z = arith.constant 3.0 : f32\n%e = tensor.empty() : tensor<9x8x7x10xf32>\n"
        "%f = linalg.fill ins(%z : f32) outs(%e : tensor<9x8x7x10xf32>) -> tensor<9x8x7x10xf32>\n"
        "%y = tensor.insert_slice %x into %f[4, 1, 1, 2] [4, 5, 6, 7] [1, 1, 1, 1] : "
        "tensor<4x5x6x7xf32> into tensor<9x8x7x10xf32>\n",
        lambda x: np.pad(x, ((4, 1), (1, 2), (1, 0), (2, 1)), constant_values=3),
    ),
    "concatenation": (
        "%y = tensor.concat dim(0) %x, %x, %x : (tensor<4x5x6x7xf32>, tensor<4x5x6x7xf32>, tensor<4x5x6x7xf32>) "
        "-> tensor<12x5x6x7xf32>\n",
        lambda x: np.concatenate([x, x, x]),
    ),
}
SQUARES = "%1 = arith.mulf %a0, %a0 : f32\nlinalg.yield %1 : f32\n"


@pytest.mark.parametrize("computed", [False, True], ids=["memory", "computed"])
@pytest.mark.parametrize("name", OUTSIDE)
def test_what_is_outside_along_other_dimensions_than_the_tiles_is_not_read(run, name, computed):
    body, reference = OUTSIDE[name]
    x = np.random.default_rng(1).standard_normal((4, 5, 6, 7)).astype(np.float32)
    result = reference(x * x if computed else x)
    kind = tensor(x.shape, "f32")
    if computed:
        same = "(a, b, c, d) -> (a, b, c, d)"
        squares = generic("%q", [("%x", kind)], x.shape, "f32", [same, same], "pppp", SQUARES)
        body = squares + body.replace("%x", "%q")
    text = function([("%x", kind)], [("%y", tensor(result.shape, "f32"))], body)
    (got,) = run(text, (x,), [result], schedule="elementwise")
    np.testing.assert_array_equal(got, result)


@pytest.mark.parametrize(
    ("rows", "widths", "target", "are_parts"),
    [
        (21, (32, 32, 64), "pvc", True),
        (9, (64, 64), "bmg", True),
        # Parts that are no blocks, and few rows: elements of all inputs are read, and selected.
        (21, (24, 40), "bmg", False),
        (5, (32, 32), "pvc", False),
    ],
)
def test_parts_of_rows_are_read_where_they_are(compile_kernel, rng, rows, widths, target, are_parts):
    """As halves of turned heads: inputs beside each other, times numbers of each column."""
    width, kinds = sum(widths), [tensor((rows, each), "f32") for each in widths]
    whole, line = tensor((rows, width), "f32"), tensor((width,), "f32")
    names = [f"%x{i}" for i in range(len(widths))]
    body = f"%c = tensor.concat dim(1) {', '.join(names)} : ({', '.join(kinds)}) -> {whole}\n" + generic(
        "%y", [("%c", whole), ("%w", line)], (rows, width), "f32", [BOTH, "(m, n) -> (n)", BOTH], "pp",
        "%1 = arith.mulf %a0, %a1 : f32\nlinalg.yield %1 : f32\n",
    )  # fmt: skip
    text = function([*zip(names, kinds, strict=True), ("%w", line)], [("%y", whole)], body)
    parts, weights = [draw(rng, (rows, each), "f32") for each in widths], draw(rng, (width,), "f32")
    expected = np.concatenate(parts, 1) * weights
    with ir.Context():
        kernel = compile_kernel(ir.Module.parse(text), schedule="elementwise", target=target)
    np.testing.assert_array_equal(kernel(*parts, weights), expected)
    assert ("arith.select" not in kernel.stages["1-xetile-workgroup"]) == are_parts


@pytest.mark.parametrize("computed", [False, True], ids=["memory", "computed"])
@pytest.mark.parametrize("low, high", [((3, 0), (0, 0)), ((0, 0), (2, 0)), ((1, 2), (3, 1))])
def test_what_is_padded_is_read_by_indices(run, rng, low, high, computed):
    """Rows of an odd number of elements, one after the other: no tile of what is padded is one of the result."""
    x = rng.standard_normal((9, 9)).astype(np.float32)
    kind = tensor(x.shape, "f32")
    body = generic("%q", [("%x", kind)], x.shape, "f32", [BOTH, BOTH], "pp", SQUARES) if computed else ""
    padded = np.pad(x * x if computed else x, tuple(zip(low, high, strict=True)), constant_values=5)
    whole, result = tensor(padded.shape, "f32"), tensor((padded.size,), "f32")
    body += (
        f"%z = arith.constant 5.0 : f32\n%p = tensor.pad {'%q' if computed else '%x'} low{[*low]} high{[*high]} {{\n"
        f"^bb0(%i: index, %j: index):\ntensor.yield %z : f32\n}} : {kind} to {whole}\n"
        f"%y = tensor.collapse_shape %p [[0, 1]] : {whole} into {result}\n"
    )
    (got,) = run(function([("%x", kind)], [("%y", result)], body), [x], [padded.ravel()], schedule="gpu_model")
    np.testing.assert_array_equal(got, padded.ravel())


def test_a_tensor_of_one_element_becomes_a_number(run, rng):
    one, number, kind = tensor((1,), "f32"), tensor((), "f32"), tensor((129,), "f32")
    body = generic("%q", [("%v", one)], (1,), "f32", ["(i) -> (i)"] * 2, "p", SQUARES)
    body += f"%n = tensor.collapse_shape %q [] : {one} into {number}\n"
    body += generic(
        "%y",
        [("%x", kind), ("%n", number)],
        (129,),
        "f32",
        ["(i) -> (i)", "(i) -> ()", "(i) -> (i)"],
        "p",
        "%1 = arith.addf %a0, %a1 : f32\nlinalg.yield %1 : f32\n",
    )
    x, v = rng.standard_normal(129).astype(np.float32), rng.standard_normal(1).astype(np.float32)
    text = function([("%x", kind), ("%v", one)], [("%y", kind)], body)
    (got,) = run(text, [x, v], [x], schedule="gpu_model")
    np.testing.assert_array_equal(got, x + v * v)
