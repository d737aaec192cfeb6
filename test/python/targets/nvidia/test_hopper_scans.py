# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Scans along rows for Hopper GPUs, in tiles that all of a workgroup scan together: PTX on this CPU, against f64."""

import re

import ml_dtypes
import numpy as np
import pytest
import xetile
from hopper_kernels import compiled, on_this_cpu, ptx_of
from xetile.errors import XeTileError

if "sm_90a" not in [target.name for target in xetile.targets.available()]:
    pytest.skip("built without the target sm_90a", allow_module_level=True)

DTYPES = {"f32": np.float32, "f16": np.float16, "bf16": ml_dtypes.bfloat16, "i32": np.int32, "i64": np.int64}
DTYPES |= {"i8": np.int8}
WIDE = {"f32": "f64", "f16": "f32", "bf16": "f32"}
EPS = {"f32": 2**-24, "f16": 2**-11, "bf16": 2**-8}


def payload(shape, dim, dtype, op="addf", neutral="0.0") -> str:
    wide = WIDE.get(dtype, dtype)
    axes = "abcd"[: len(shape)]
    kept = ", ".join(axis for number, axis in enumerate(axes) if number != dim)
    kinds = ", ".join('"reduction"' if number == dim else '"parallel"' for number in range(len(shape)))
    kind = "tensor<" + "x".join(map(str, shape)) + f"x{dtype}>"
    left = "tensor<" + "".join(f"{size}x" for number, size in enumerate(shape) if number != dim) + f"{wide}>"
    maps = f"affine_map<({', '.join(axes)}) -> ({', '.join(axes)})>"
    convert = wide != dtype
    widen = f"%w = arith.extf %e : {dtype} to {wide}" if convert else ""
    narrow = f"%r = arith.truncf %s : {wide} to {dtype}" if convert else ""
    return f"""func.func @f(%x: {kind}) -> {kind} {{
  %c = arith.constant {neutral} : {wide}
  %e0 = tensor.empty() : {left}
  %i = linalg.fill ins(%c : {wide}) outs(%e0 : {left}) -> {left}
  %a = tensor.empty() : {kind}
  %y, %l = linalg.generic {{indexing_maps = [{maps}, {maps}, affine_map<({", ".join(axes)}) -> ({kept})>],
      iterator_types = [{kinds}]}} ins(%x : {kind}) outs(%a, %i : {kind}, {left}) {{
  ^bb0(%e: {dtype}, %_: {dtype}, %b: {wide}):
    {widen}
    %s = arith.{op} %b, {"%w" if convert else "%e"} : {wide}
    {narrow}
    linalg.yield {"%r" if convert else "%s"}, %s : {dtype}, {wide}
  }} -> ({kind}, {left})
  return %y : {kind}
}}"""


def values(rng, shape, dtype) -> np.ndarray:
    if dtype.startswith("i"):
        return rng.integers(-9, 9, shape).astype(DTYPES[dtype])
    return rng.standard_normal(shape).astype(DTYPES[dtype])


@pytest.mark.parametrize("schedule", ["scan", "gpu_model"])
@pytest.mark.parametrize(
    "shape",
    [(1,), (17,), (4097,), (3, 1), (5, 17), (3, 1000), (2, 4097), (9, 64), (40, 8), (2, 8192), (2, 3, 20), (1, 30000)],
)
def test_sums_of_rows_of_any_length(driver, tmp_path, rng, shape, schedule):
    x = values(rng, shape, "f32")
    text = payload(shape, len(shape) - 1, "f32")
    (got,) = on_this_cpu(compiled(text, schedule=schedule, params={}), driver, tmp_path, [x])
    want = np.cumsum(x.astype(np.float64), -1)
    np.testing.assert_allclose(got, want, rtol=2**-24, atol=1e-12)


@pytest.mark.parametrize("dtype", ["f16", "bf16", "i8", "i32", "i64"])
def test_other_types(driver, tmp_path, rng, dtype):
    x = values(rng, (3, 1000), dtype)
    op, neutral = ("addi", "0") if dtype.startswith("i") else ("addf", "0.0")
    (got,) = on_this_cpu(
        compiled(payload(x.shape, 1, dtype, op, neutral), schedule="scan", params={}), driver, tmp_path, [x]
    )
    if dtype.startswith("i"):
        np.testing.assert_array_equal(got, np.cumsum(x, -1, dtype=x.dtype))
        return
    want, reach = np.cumsum(x.astype(np.float64), -1), np.cumsum(np.abs(x.astype(np.float64)), -1)
    assert (np.abs(got.astype(np.float64) - want) <= EPS[dtype] * np.abs(want) + 1000 * 2**-24 * reach).all()


@pytest.mark.parametrize("op,neutral,function", [("mulf", "1.0", np.cumprod), ("maximumf", "0xFFF0000000000000", None)])
def test_products_and_maxima(driver, tmp_path, rng, op, neutral, function):
    x = (1 + 0.05 * rng.standard_normal((3, 1500))).astype(np.float32)
    text = payload(x.shape, 1, "f32", op, neutral)
    (got,) = on_this_cpu(compiled(text, schedule="scan", params={}), driver, tmp_path, [x])
    wide = x.astype(np.float64)
    want = function(wide, -1) if function else np.maximum.accumulate(wide, -1)
    np.testing.assert_allclose(got, want, rtol=2**-23)


@pytest.mark.parametrize("columns", [17, 1000, 4095, 4097])
def test_an_exclusive_scan_is_one_kernel(driver, tmp_path, rng, columns):
    """What is before a scan is read with it, and stored as wide as rows of the result are aligned."""
    x = values(rng, (3, columns), "f32")
    x[0, 5] = np.inf
    text = payload((3, columns), 1, "f32").replace("func.func @f", "func.func private @scan")
    wide = f"tensor<3x{columns + 1}xf32>"
    text += f"""
    func.func @f(%x: tensor<3x{columns}xf32>) -> {wide} {{
      %first = arith.constant dense<0.0> : tensor<3x1xf32>
      %y = call @scan(%x) : (tensor<3x{columns}xf32>) -> tensor<3x{columns}xf32>
      %z = tensor.concat dim(1) %first, %y : (tensor<3x1xf32>, tensor<3x{columns}xf32>) -> {wide}
      return %z : {wide}
    }}"""
    kernel = compiled(text, schedule="gpu_model", params={})
    (got,) = on_this_cpu(kernel, driver, tmp_path, [x])
    np.testing.assert_array_equal(got[:, 0], 0)
    np.testing.assert_allclose(got[:, 1:], np.cumsum(x.astype(np.float64), -1), rtol=2**-24, atol=1e-12)
    assert ptx_of(kernel).count(".visible .entry") == 1
    assert ("st.global.v4" in ptx_of(kernel)) == ((columns + 1) % 4 == 0)


def test_specials_begin_where_they_stand(driver, tmp_path, rng):
    """Nothing before them is NaN, as a product with ones and zeros would make it."""
    x = values(rng, (4, 1000), "f32")
    x[0, 7], x[1, 900], x[2, 3], x[2, 500], x[3, 0] = np.inf, np.nan, np.inf, -np.inf, -0.0
    (got,) = on_this_cpu(compiled(payload(x.shape, 1, "f32"), schedule="scan", params={}), driver, tmp_path, [x])
    with np.errstate(invalid="ignore"):
        want = np.cumsum(x.astype(np.float64), -1)
    np.testing.assert_allclose(got, want, rtol=2**-24, atol=1e-12)


def test_what_a_row_ends_with_goes_on_in_the_next_tile(driver, tmp_path, rng):
    x = values(rng, (2, 1200), "f32")
    kernel = compiled(payload(x.shape, 1, "f32"), schedule="scan", params={"workgroup_m": 1, "workgroup_n": 512})
    assert "step %c512" in kernel.stages["1-xetile-workgroup"]  # three tiles are one at a time
    (got,) = on_this_cpu(kernel, driver, tmp_path, [x])
    np.testing.assert_allclose(got, np.cumsum(x.astype(np.float64), -1), rtol=2**-24, atol=1e-12)


def test_a_long_row_has_all_threads_and_loads_of_16_bytes():
    """A warp's lanes read what is in one place; before, each walked over a row of its own."""
    kernel = compiled(payload((128, 32768), 1, "f32"), schedule="gpu_model", params={})
    ptx = ptx_of(kernel)
    assert ptx.count(".visible .entry") == 1 and ".reqntid 512" in ptx
    assert len(re.findall(r"ld\.global\.v4", ptx)) == len(re.findall(r"st\.global\.v4", ptx)) == 8
    assert not re.search(r"[sl][td]\.global\.[bf]32", ptx)
    assert len(re.findall(r"bar\.sync", ptx)) == 4
    # Two tiles are on their way before the first is scanned.
    assert "bar.sync" not in ptx[ptx.index("ld.global") : ptx.rindex("ld.global")]


def test_blocks_of_few_rows(driver, tmp_path, rng):
    x = values(rng, (1, 40000), "f32")
    (got,) = on_this_cpu(compiled(payload(x.shape, 1, "f32"), schedule="gpu_model", params={}), driver, tmp_path, [x])
    np.testing.assert_allclose(got, np.cumsum(x.astype(np.float64), -1), rtol=2**-24, atol=1e-12)


def test_few_rows_are_blocks():
    assert ptx_of(compiled(payload((2, 1 << 20), 1, "f32"), schedule="gpu_model", params={})).count(".entry") == 3
    assert ptx_of(compiled(payload((200, 40000), 1, "f32"), schedule="gpu_model", params={})).count(".entry") == 1


def test_short_rows_are_scanned_several_at_a_time():
    stage = compiled(payload((65536, 100), 1, "f32"), schedule="scan", params={}).stages["1-xetile-workgroup"]
    assert "vector<32x128xf64>" in stage and "scf.for" not in stage


def test_sizes_of_a_run_are_walked_over(driver, tmp_path, rng):
    text = payload(("?", "?"), 1, "f32").replace("tensor.empty() : tensor<?xf64>", "tensor.empty(%m) : tensor<?xf64>")
    text = text.replace("tensor.empty() : tensor<?x?xf32>", "tensor.empty(%m, %n) : tensor<?x?xf32>")
    sizes = "%0 = arith.constant 0 : index\n%1 = arith.constant 1 : index\n"
    sizes += "".join(f"%{name} = tensor.dim %x, %{dim} : tensor<?x?xf32>\n" for dim, name in enumerate("mn"))
    kernel = compiled(text.replace("%c =", sizes + "%c ="), schedule="scan", params={})
    x = values(rng, (3, 100), "f32")
    (got,) = on_this_cpu(kernel, driver, tmp_path, [x])
    np.testing.assert_allclose(got, np.cumsum(x.astype(np.float64), -1), rtol=2**-24, atol=1e-12)


def test_a_tile_that_threads_cannot_share_is_refused():
    with pytest.raises(XeTileError, match="make workgroup_n a power of two"):
        compiled(payload((64, 4000), 1, "f32"), schedule="scan", params={"workgroup_m": 1, "workgroup_n": 1200})
