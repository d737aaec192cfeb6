# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Numbers of kernels for Hopper GPUs where there is none: their PTX runs on this CPU (ptx_machine)."""

from collections.abc import Callable

import ml_dtypes
import numpy as np
import ptx_machine
import pytest
import xetile
from hopper_kernels import compiled, on_this_cpu

if "sm_90a" not in [target.name for target in xetile.targets.available()]:
    pytest.skip("built without the target sm_90a", allow_module_level=True)


@pytest.fixture
def run(driver, tmp_path) -> Callable[..., list[np.ndarray]]:
    """What a payload gives for arrays."""

    def run_(text: str, *arrays: np.ndarray, schedule: str = "gpu_model") -> list[np.ndarray]:
        return on_this_cpu(compiled(text, schedule=schedule, params={}), driver, tmp_path, arrays)

    return run_


def generic(m: int, n: int, maps: list[str], kinds: str, body: str, out: str) -> str:
    indexing = ", ".join(f"affine_map<(m, n) -> ({text})>" for text in maps)
    iterators = ", ".join(f'"{kind}"' for kind in kinds.split())
    return (
        f"linalg.generic {{indexing_maps = [{indexing}], iterator_types = [{iterators}]}} "
        f"ins(%A : tensor<{m}x{n}xf32>) outs({out}) {{\n^bb0(%a: f32, %o: f32):\n{body}\n}}"
    )


def sums(m: int, n: int) -> str:
    body = "%s = arith.addf %a, %o : f32\nlinalg.yield %s : f32"
    return f"""func.func @f(%A: tensor<{m}x{n}xf32>) -> tensor<{m}xf32> {{
      %zero = arith.constant 0.0 : f32
      %e = tensor.empty() : tensor<{m}xf32>
      %z = linalg.fill ins(%zero : f32) outs(%e : tensor<{m}xf32>) -> tensor<{m}xf32>
      %D = {generic(m, n, ["m, n", "m"], "parallel reduction", body, f"%z : tensor<{m}xf32>")} -> tensor<{m}xf32>
      return %D : tensor<{m}xf32>
    }}"""


@pytest.mark.parametrize("shape", [(3, 512), (5, 77), (2, 1024)])
def test_sums_of_rows(run, shape):
    """Those of a power of two go to memory as scattered tiles of one element."""
    array = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
    (got,) = run(sums(*shape), array)
    np.testing.assert_allclose(got, array.sum(1), rtol=1e-5, atol=1e-4)


def test_a_softmax_of_rows(run):
    text = """func.func @f(%A: tensor<4x200xf32>) -> tensor<4x200xf32> {
      %e = tensor.empty() : tensor<4x200xf32>
      %D = linalg.softmax dimension(1) ins(%A : tensor<4x200xf32>) outs(%e : tensor<4x200xf32>) -> tensor<4x200xf32>
      return %D : tensor<4x200xf32>
    }"""
    array = np.random.default_rng(1).standard_normal((4, 200)).astype(np.float32) * 4
    (got,) = run(text, array)
    powers = np.exp(array.astype(np.float64) - array.max(1, keepdims=True))
    np.testing.assert_allclose(got, powers / powers.sum(1, keepdims=True), rtol=2e-6)


def test_windows_that_begin_before_the_first_column(run):
    """Chunks of four elements of which the first is none: what is beside an array is another row, or nobody's."""
    text = """func.func @f(%A: tensor<1x2x12x12xf32>) -> tensor<1x2x12x12xf32> {
      %low = arith.constant 0xFF800000 : f32
      %p = tensor.pad %A low[0, 0, 1, 1] high[0, 0, 1, 1] {
      ^bb0(%a: index, %b: index, %c: index, %d: index):
        tensor.yield %low : f32
      } : tensor<1x2x12x12xf32> to tensor<1x2x14x14xf32>
      %w = tensor.empty() : tensor<3x3xf32>
      %e = tensor.empty() : tensor<1x2x12x12xf32>
      %l = linalg.fill ins(%low : f32) outs(%e : tensor<1x2x12x12xf32>) -> tensor<1x2x12x12xf32>
      %D = linalg.pooling_nchw_max ins(%p, %w : tensor<1x2x14x14xf32>, tensor<3x3xf32>)
          outs(%l : tensor<1x2x12x12xf32>) -> tensor<1x2x12x12xf32>
      return %D : tensor<1x2x12x12xf32>
    }"""
    array = np.random.default_rng(2).standard_normal((1, 2, 12, 12)).astype(np.float32)
    (got,) = run(text, array)
    padded = np.pad(array, ((0, 0), (0, 0), (1, 1), (1, 1)), constant_values=-np.inf)
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(2, 3))
    np.testing.assert_array_equal(got, windows.max((-1, -2)))


@pytest.mark.parametrize("shape", [(40, 36, 20), (33, 50, 45)])
def test_products_of_f32_on_vector_units(run, shape):
    """Columns of A and rows of B are read in shared memory."""
    m, n, k = shape
    text = f"""func.func @f(%A: tensor<{m}x{k}xf32>, %B: tensor<{k}x{n}xf32>) -> tensor<{m}x{n}xf32> {{
      %zero = arith.constant 0.0 : f32
      %e = tensor.empty() : tensor<{m}x{n}xf32>
      %z = linalg.fill ins(%zero : f32) outs(%e : tensor<{m}x{n}xf32>) -> tensor<{m}x{n}xf32>
      %D = linalg.matmul ins(%A, %B : tensor<{m}x{k}xf32>, tensor<{k}x{n}xf32>) outs(%z : tensor<{m}x{n}xf32>)
          -> tensor<{m}x{n}xf32>
      return %D : tensor<{m}x{n}xf32>
    }}"""
    rng = np.random.default_rng(3)
    a, b = rng.standard_normal((m, k)).astype(np.float32), rng.standard_normal((k, n)).astype(np.float32)
    (got,) = run(text, a, b)
    np.testing.assert_allclose(got, a.astype(np.float64) @ b, rtol=1e-5, atol=1e-5)


def test_the_machine_refuses_accesses_that_no_array_has():
    memory = ptx_machine.Memory([(4096, np.zeros(64, np.uint8))])
    assert memory.load(np.array([4096], np.uint64), 4).shape == (1, 4)
    for address in (4096 + 64, 4097, 100):
        with pytest.raises(IndexError):
            memory.load(np.array([address], np.uint64), 4)


def test_the_machine_rounds_and_converts_as_ptx_says():
    ptx = """.visible .entry f(.param .u64 .ptr .align 1 f_param_0)
{
  ld.param.b64 %rd1, [f_param_0];
  ld.global.b32 %r1, [%rd1];
  cvt.rn.bf16x2.f32 %r2, %r1, %r1;
  cvt.rzi.s32.f32 %r3, %r1;
  st.global.v2.b32 [%rd1], {%r2, %r3};
  ret;
}
"""
    array = np.array([-2.7, 0], np.float32).view(np.uint8)
    entry = ptx_machine.parse(ptx)["f"]
    memory = ptx_machine.Memory([(256, array)])
    ptx_machine.launch(entry, (1, 1, 1, 1, 1, 1), 0, {"f_param_0": (256).to_bytes(8, "little")}, memory)
    assert array.view(ml_dtypes.bfloat16)[:2].tolist() == [float(ml_dtypes.bfloat16(-2.7))] * 2
    assert array.view(np.int32)[1] == -2


@pytest.mark.parametrize("shape", [(33, 1000), (5, 333), (2, 5000), (700, 72), (1, 40)])
def test_chains_of_any_size(run, shape):
    """Tiles of long rows, whose last ones are beyond the edge, and rows that begin anywhere."""
    m, n = shape
    body = "%q = arith.mulf %a, %a : f32\n%s = arith.subf %q, %a : f32\nlinalg.yield %s : f32"
    chain = generic(m, n, ["m, n", "m, n"], "parallel parallel", body, f"%e : tensor<{m}x{n}xf32>")
    text = f"""func.func @f(%A: tensor<{m}x{n}xf32>) -> tensor<{m}x{n}xf32> {{
      %e = tensor.empty() : tensor<{m}x{n}xf32>
      %D = {chain} -> tensor<{m}x{n}xf32>
      return %D : tensor<{m}x{n}xf32>
    }}"""
    array = np.random.default_rng(1).standard_normal(shape).astype(np.float32)
    array[0, 0], array[-1, -1] = np.nan, np.inf
    (got,) = run(text, array)
    wide = array.astype(np.float64)
    with np.errstate(invalid="ignore"):
        expected = wide * wide - wide
    np.testing.assert_allclose(got, expected, rtol=1e-6, atol=1e-6)


def test_a_softmax_of_halves_with_masks(run):
    """Powers and quotients that are less exact are within the rounding of f16, of large scores and of masks, too."""
    text = """func.func @f(%A: tensor<6x200xf16>) -> tensor<6x200xf16> {
      %e = tensor.empty() : tensor<6x200xf32>
      %W = arith.extf %A : tensor<6x200xf16> to tensor<6x200xf32>
      %S = linalg.softmax dimension(1) ins(%W : tensor<6x200xf32>) outs(%e : tensor<6x200xf32>) -> tensor<6x200xf32>
      %D = arith.truncf %S : tensor<6x200xf32> to tensor<6x200xf16>
      return %D : tensor<6x200xf16>
    }"""
    array = np.random.default_rng(2).standard_normal((6, 200))
    array[3:] *= 40
    array[:, ::7] = -np.inf
    array = array.astype(np.float16)
    (got,) = run(text, array)
    powers = np.exp(array.astype(np.float64) - array.astype(np.float64).max(1, keepdims=True))
    np.testing.assert_allclose(got, powers / powers.sum(1, keepdims=True), rtol=2.0**-10, atol=2.0**-24)
