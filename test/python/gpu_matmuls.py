# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What tests of matmuls on a GPU's target share: inputs whose sums are exact, calls whose results are poisoned."""

import element_types
import numpy as np
from xetile.mlir import ir

NUMPY = element_types.scalars("f16", "bf16", "f32", "i8", "u8", "i32")


def parse(text: str) -> ir.Module:
    with ir.Context():
        return ir.Module.parse(text)


def small(rng, shape, dtype):
    """Integers whose products and sums are exact in f32; few enough of them are not zero to be so in f16."""
    low = 0 if np.issubdtype(dtype, np.unsignedinteger) else -3
    return rng.integers(low, 4, shape).astype(dtype)


def tensor(shape, kind: str) -> str:
    return f"tensor<{'x'.join('?' if size is None else str(size) for size in shape)}x{kind}>"


def call(kernel, *arrays):
    """The kernel's result, written to memory that held other values; arguments must not change."""
    before = [array.copy() for array in arrays]
    spec = kernel.signature.results[0]
    if spec.is_static:
        out = np.empty(spec.shape, spec.numpy_dtype)
        out.view(np.uint8 if out.ndim == 0 else out.dtype).fill(77)
        result = kernel(*arrays, out=out)
    else:
        result = kernel(*arrays)
    for array, old in zip(arrays, before, strict=True):
        np.testing.assert_array_equal(array, old)
    return result


def batch_behind_which_comes_relu(k: int) -> str:
    """max(A[b, k, m] B[n, k], 0) as f16, of 2 batches, 24 rows and 40 columns."""
    return f"""
#a = affine_map<(b, m, n, k) -> (b, k, m)>
#b = affine_map<(b, m, n, k) -> (n, k)>
#c = affine_map<(b, m, n, k) -> (b, m, n)>
func.func @f(%a: tensor<2x{k}x24xf16>, %b: tensor<40x{k}xf16>) -> tensor<2x24x40xf16> {{
  %zero = arith.constant 0.0 : f32
  %none = tensor.empty() : tensor<2x24x40xf32>
  %init = linalg.fill ins(%zero : f32) outs(%none : tensor<2x24x40xf32>) -> tensor<2x24x40xf32>
  %d = linalg.generic {{indexing_maps = [#a, #b, #c],
                       iterator_types = ["parallel", "parallel", "parallel", "reduction"]}}
      ins(%a, %b : tensor<2x{k}x24xf16>, tensor<40x{k}xf16>) outs(%init : tensor<2x24x40xf32>) {{
  ^bb0(%x: f16, %y: f16, %o: f32):
    %x32 = arith.extf %x : f16 to f32
    %y32 = arith.extf %y : f16 to f32
    %p = arith.mulf %x32, %y32 : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  }} -> tensor<2x24x40xf32>
  %r = arith.maximumf %d, %init : tensor<2x24x40xf32>
  %h = arith.truncf %r : tensor<2x24x40xf32> to tensor<2x24x40xf16>
  return %h : tensor<2x24x40xf16>
}}
"""


def assert_batch_is_right(kernel, rng, k: int) -> None:
    """That a kernel of `batch_behind_which_comes_relu` has NumPy's numbers."""
    a, b = small(rng, (2, k, 24), np.float16), small(rng, (40, k), np.float16)
    exact = np.maximum(np.einsum("bkm,nk->bmn", a.astype(np.float64), b.astype(np.float64)), 0)
    np.testing.assert_array_equal(call(kernel, a, b), exact.astype(np.float16))
