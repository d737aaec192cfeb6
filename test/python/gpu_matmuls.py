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
