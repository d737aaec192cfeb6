# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What makes kernels of programs short: products of windows, rows of odd pitch, folded rows of narrow elements, windows
without masks. Each with sizes that refuse it, run on this machine's OpenCL device and compared with NumPy in f64."""

import element_types
import numpy as np
import pytest
from gpu_programs import BOTH, COLUMN, ROW, function, generic, tensor
from xetile.mlir import ir

DTYPES = element_types.scalars("f16", "f32", "i8", "i32")


@pytest.fixture
def run(compile_kernel):
    """Compiles the text of a program, calls it, and gives its result and the XeTile that it went through."""

    def run_(text, arrays, result, target="pvc", **options):
        with ir.Context(), ir.Location.unknown():
            kernel = compile_kernel(ir.Module.parse(text), schedule="rows", target=target, **options)
        out = np.frombuffer(b"\xa5" * result.nbytes, result.dtype).reshape(result.shape).copy()
        kernel(*arrays, out=out)
        return out, kernel.stages

    return run_


def convolution(image, kernel, stride, dilation, dtype, result_dtype):
    """Text of a 2D convolution of channels last, and the shape of its result."""
    height, width = ((image[1 + dim] - (kernel[dim] - 1) * dilation - 1) // stride + 1 for dim in (0, 1))
    shape = (image[0], height, width, kernel[3])
    x, k, y = tensor(image, dtype), tensor(kernel, dtype), tensor(shape, result_dtype)
    body = f"""%e = tensor.empty() : {y}
%zero = arith.constant 0.5 : {result_dtype}
%i = linalg.fill ins(%zero : {result_dtype}) outs(%e : {y}) -> {y}
%y = linalg.conv_2d_nhwc_hwcf {{dilations = dense<{dilation}> : tensor<2xi64>,
  strides = dense<{stride}> : tensor<2xi64>}}
  ins(%x, %k : {x}, {k}) outs(%i : {y}) -> {y}
"""
    return function([("%x", x), ("%k", k)], [("%y", y)], body), shape


def convolved(x, k, shape, stride, dilation):
    """In f64."""
    total = np.full(shape, 0.5)
    _, height, width, _ = shape
    for p in range(k.shape[0]):
        for q in range(k.shape[1]):
            part = x[:, p * dilation :: stride, q * dilation :: stride][:, :height, :width].astype(np.float64)
            total += np.einsum("nhwc,cf->nhwf", part, k[p, q].astype(np.float64))
    return total


@pytest.mark.parametrize(
    ("image", "kernel", "stride", "dilation", "result", "multiplies"),
    [
        ((2, 10, 34, 32), (3, 3, 32, 64), 1, 1, "f32", True),
        ((1, 9, 35, 48), (3, 3, 48, 40), 1, 1, "f16", True),
        ((2, 11, 21, 40), (3, 2, 40, 24), 2, 1, "f32", True),
        ((1, 12, 23, 16), (3, 3, 16, 8), 1, 2, "f32", True),
        ((1, 13, 19, 32), (3, 3, 32, 16), 3, 2, "f16", True),
        # Fewer channels than one product takes.
        ((1, 9, 20, 8), (3, 3, 8, 16), 1, 1, "f32", False),
    ],
)
def test_convolutions_are_products_without_copies_of_windows(
    run, rng, image, kernel, stride, dilation, result, multiplies
):
    text, shape = convolution(image, kernel, stride, dilation, "f16", result)
    x, k = (rng.standard_normal(each).astype(np.float16) for each in (image, kernel))
    got, stages = run(text, [x, k], np.empty(shape, DTYPES[result]))
    assert ("xetile.tile_mma" in stages["1-xetile-workgroup"]) == multiplies
    scale = np.sqrt(np.prod(kernel[:3])) * (1e-2 if result == "f16" else 1e-3)
    np.testing.assert_allclose(got.astype(np.float64), convolved(x, k, shape, stride, dilation), rtol=0, atol=scale)


def test_products_of_f32_are_none_of_the_matrix_unit(run, rng):
    text, shape = convolution((1, 6, 18, 16), (3, 3, 16, 16), 1, 1, "f32", "f32")
    x, k = (rng.standard_normal(each).astype(np.float32) for each in ((1, 6, 18, 16), (3, 3, 16, 16)))
    got, stages = run(text, [x, k], np.empty(shape, np.float32))
    assert "tile_mma" not in stages["1-xetile-workgroup"]
    np.testing.assert_allclose(got, convolved(x, k, shape, 1, 1), rtol=2e-5, atol=2e-5)


def chain(shape, dtype):
    """x * r + c."""
    m, n = shape
    kind = "i" if dtype[0] == "i" else "f"
    body = (
        f"%1 = arith.mul{kind} %a0, %a1 : {dtype}\n%2 = arith.add{kind} %1, %a2 : {dtype}\nlinalg.yield %2 : {dtype}\n"
    )
    kinds = [tensor(each, dtype) for each in (shape, (n,), (m,))]
    inputs = list(zip(["%x", "%r", "%c"], kinds, strict=True))
    return function(
        inputs, [("%y", kinds[0])], generic("%y", inputs, shape, dtype, [BOTH, ROW, COLUMN, BOTH], "pp", body)
    )


@pytest.mark.parametrize(
    ("shape", "dtype", "target", "moves"),
    [
        ((33, 141), "f32", "pvc", True),
        ((33, 141), "f16", "bmg", True),
        ((9, 65), "i8", "pvc", True),
        ((64, 201), "i32", "bmg", True),
        # Fewer rows or columns than a tile has, and rows that blocks take.
        ((7, 77), "f32", "bmg", False),
        ((65, 33), "f16", "pvc", False),
        ((33, 192), "f32", "pvc", False),
    ],
)
def test_last_tiles_of_an_odd_pitch_end_where_the_matrix_does(run, rng, shape, dtype, target, moves):
    m, n = shape
    x, r, c = (rng.integers(-9, 10, each).astype(DTYPES[dtype]) for each in (shape, (n,), (m,)))
    got, stages = run(chain(shape, dtype), [x, r, c], np.empty(shape, DTYPES[dtype]), target=target)
    wide = x.astype(np.int64) * r + c[:, None]
    np.testing.assert_array_equal(got, wide.astype(DTYPES[dtype]))
    # No element is asked for whether it exists.
    text = stages["4-xegpu"]
    assert ("arith.cmpi" not in text and "store_nd" in text and "boundary_check = false" in text) == moves


@pytest.mark.parametrize(("columns", "folds"), [(1024, True), (544, True), (528, False), (2048, True)])
def test_rows_of_narrow_elements_are_folded_to_whole_lines(run, rng, columns, folds):
    shape = (5, columns)
    kind, line = tensor(shape, "f16"), tensor((5,), "f32")
    body = "%1 = arith.extf %a0 : f16 to f32\n%2 = arith.addf %1, %o : f32\nlinalg.yield %2 : f32\n"
    text = function(
        [("%x", kind)], [("%y", line)], generic("%y", [("%x", kind)], (5,), "f32", [BOTH, COLUMN], "pr", body, "0.0")
    )
    x = rng.standard_normal(shape).astype(np.float16)
    got, stages = run(text, [x], np.empty(5, np.float32))
    np.testing.assert_allclose(got, x.astype(np.float64).sum(1), rtol=1e-5, atol=1e-3)
    assert ("x32xf16" in stages["1-xetile-workgroup"]) == folds


@pytest.mark.parametrize(
    ("rows", "columns", "dtype", "in_turn"),
    [
        (12288, 256, "f32", 3),
        (8192 + 1024, 256, "f16", 2),
        (4096, 2048, "f16", 2),
        (8191, 256, "f32", 1),
        (12290, 256, "f32", 2),
        # Two subgroups share a row: beside it, a gain and a bias do not fit the registers of one.
        pytest.param(8192, 704, "f32", 4, marks=pytest.mark.exhaustive),
    ],
)
def test_many_rows_share_what_all_of_them_read(run, rng, rows, columns, dtype, in_turn):
    shape = (rows, columns)
    kind, line, weights = tensor(shape, dtype), tensor((rows,), "f32"), tensor((columns,), dtype)
    wide = lambda name, to: f"%{to} = arith.extf %{name} : f16 to f32\n" if dtype == "f16" else ""  # noqa: E731
    x, w, b = ("%x0", "%w0", "%b0") if dtype == "f16" else ("%a0", "%a2", "%a3")
    squares = f"{wide('a0', 'x0')}%2 = arith.mulf {x}, {x} : f32\n%3 = arith.addf %2, %o : f32\nlinalg.yield %3 : f32\n"
    scale = f"{wide('a0', 'x0')}{wide('a2', 'w0')}{wide('a3', 'b0')}"
    scale += f"%2 = math.rsqrt %a1 : f32\n%3 = arith.mulf {x}, %2 : f32\n%4 = arith.mulf %3, {w} : f32\n"
    scale += f"%5 = arith.addf %4, {b} : f32\n"
    scale += (
        "%6 = arith.truncf %5 : f32 to f16\nlinalg.yield %6 : f16\n" if dtype == "f16" else "linalg.yield %5 : f32\n"
    )
    inputs = [("%x", kind), ("%s", line), ("%w", weights), ("%b", weights)]
    text = function(
        [("%x", kind), ("%w", weights), ("%b", weights)],
        [("%y", kind)],
        generic("%s", [("%x", kind)], (rows,), "f32", [BOTH, COLUMN], "pr", squares, "0.0")
        + generic("%y", inputs, shape, dtype, [BOTH, COLUMN, ROW, ROW, BOTH], "pp", scale),
    )
    arrays = [rng.standard_normal(each).astype(DTYPES[dtype]) for each in (shape, (columns,), (columns,))]
    arrays[0][5, 7], arrays[0][rows - 1, 3] = np.nan, np.inf
    got, stages = run(text, arrays, np.empty(shape, DTYPES[dtype]))
    x64, w64, b64 = (each.astype(np.float64) for each in arrays)
    with np.errstate(all="ignore"):
        expected = x64 / np.sqrt((x64**2).sum(1, keepdims=True)) * w64 + b64
    np.testing.assert_allclose(
        got, expected, rtol=2e-3 if dtype == "f16" else 1e-5, atol=1e-3 if dtype == "f16" else 1e-6
    )
    tiles = stages["1-xetile-workgroup"]
    assert ("scf.for" in tiles) == (in_turn > 1)
    # A gain and a bias are loaded once, before all rows.
    if in_turn > 1:
        before = tiles[: tiles.index("scf.for")]
        assert before.count("xetile.load_tile") == 2
        assert f"blocks in (%c1, %c{rows // in_turn}" in tiles


@pytest.mark.parametrize(
    ("planes", "side", "window", "stride", "dtype"),
    [
        (2, (16, 64), 2, 2, "f16"),
        (2, (16, 64), 2, 2, "f32"),
        (3, (15, 33), 3, 2, "f32"),
        (1, (20, 70), 2, 1, "i32"),
        (2, (50, 118), 2, 2, "f32"),
        (1, (37, 131), 3, 2, "f32"),
        (1, (22, 66), 2, 2, "i32"),
        (2, (18, 38), 2, 2, "f16"),
        # Lanes have pairs of results, of windows that begin with a word.
        (2, (16, 64), 2, 2, "f16"),
        (1, (22, 132), 2, 2, "f16"),
        (1, (17, 66), 3, 2, "f16"),
        (1, (34, 134), 2, 4, "f16"),
        # Rows of the image or of results, or windows, that begin in the middle of words.
        (1, (37, 131), 3, 2, "f16"),
        (1, (18, 65), 2, 2, "f16"),
        (1, (24, 118), 2, 2, "f16"),
        (1, (26, 102), 3, 3, "f16"),
        (1, (29, 101), 3, 3, "f32"),
    ],
)
def test_pools_of_whole_and_hanging_tiles(run, rng, planes, side, window, stride, dtype):
    shape = tuple((extent - window) // stride + 1 for extent in side)
    x, y = tensor((1, planes, *side), dtype), tensor((1, planes, *shape), dtype)
    low = {"f32": "0xFF800000", "f16": "0xFC00", "i32": "-2147483648"}[dtype]
    body = f"""%e = tensor.empty() : {y}
%w = tensor.empty() : tensor<{window}x{window}x{dtype}>
%low = arith.constant {low} : {dtype}
%i = linalg.fill ins(%low : {dtype}) outs(%e : {y}) -> {y}
%y = linalg.pooling_nchw_max {{dilations = dense<1> : tensor<2xi64>,
  strides = dense<{stride}> : tensor<2xi64>}}
  ins(%x, %w : {x}, tensor<{window}x{window}x{dtype}>) outs(%i : {y}) -> {y}
"""
    image = rng.integers(-99, 100, (1, planes, *side)).astype(DTYPES[dtype])
    if dtype != "i32":
        most = np.finfo(DTYPES[dtype]).max
        for number in (np.nan, -np.nan, np.inf, -np.inf, most, -most, -0.0):
            image.ravel()[rng.choice(image.size, image.size // 40, replace=False)] = number
    got, stages = run(function([("%x", x)], [("%y", y)], body), [image], np.empty((1, planes, *shape), DTYPES[dtype]))
    windows = np.lib.stride_tricks.sliding_window_view(image, (window, window), axis=(2, 3))
    expected = windows[:, :, ::stride, ::stride].max(axis=(4, 5))
    np.testing.assert_array_equal(got, expected)
    # Tiles of gathers that lie inside need no masks, nor do tiles of blocks.
    assert ("arith.cmpi ult" not in stages["1-xetile-workgroup"]) == (side != (15, 33))
    words = dtype != "f16" or stride % 2 == side[1] % 2 == shape[1] % 2 == 0
    if stride > 1 and shape[0] >= 8 and shape[1] >= 32:
        assert ("store_scatter" in stages["1-xetile-workgroup"]) == words


def test_slices_in_steps_along_rows_are_tiles(run, rng):
    source, shape = tensor((67, 64), "f32"), (22, 64)
    kind = tensor(shape, "f32")
    body = "%1 = arith.addf %a0, %a0 : f32\nlinalg.yield %1 : f32\n"
    text = function(
        [("%x", source)],
        [("%y", kind)],
        f"%s = tensor.extract_slice %x[1, 0] [22, 64] [3, 1] : {source} to {kind}\n"
        + generic("%y", [("%s", kind)], shape, "f32", [BOTH, BOTH], "pp", body),
    )
    x = rng.standard_normal((67, 64)).astype(np.float32)
    got, stages = run(text, [x], np.empty(shape, np.float32))
    np.testing.assert_array_equal(got, 2 * x[1:67:3])
    assert "load_gather" not in stages["1-xetile-workgroup"]
