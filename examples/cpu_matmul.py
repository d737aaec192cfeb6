# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A layer of a neural network on the CPU, matmul and bias and ReLU in one pass over memory, compared with NumPy.

python examples/cpu_matmul.py
"""

import numpy as np
import xetile
from xetile.mlir import ir

# Whatever of linalg surrounds the matmul is computed on its blocks while they are in cache. `?` is any number of rows.
LAYER = """
#rows = affine_map<(m, n) -> (m, n)>
#bias = affine_map<(m, n) -> (n)>
func.func @layer(%x: tensor<?x512xf32>, %w: tensor<512x384xf32>, %b: tensor<384xf32>) -> tensor<?x384xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %m = tensor.dim %x, %c0 : tensor<?x512xf32>
  %empty = tensor.empty(%m) : tensor<?x384xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x384xf32>) -> tensor<?x384xf32>
  %xw = linalg.matmul ins(%x, %w : tensor<?x512xf32>, tensor<512x384xf32>)
                      outs(%zeros : tensor<?x384xf32>) -> tensor<?x384xf32>
  %y = linalg.generic {indexing_maps = [#rows, #bias, #rows], iterator_types = ["parallel", "parallel"]}
      ins(%xw, %b : tensor<?x384xf32>, tensor<384xf32>) outs(%empty : tensor<?x384xf32>) {
    ^bb0(%value: f32, %bias: f32, %_: f32):
      %sum = arith.addf %value, %bias : f32
      %relu = arith.maximumf %sum, %zero : f32
      linalg.yield %relu : f32
  } -> tensor<?x384xf32>
  return %y : tensor<?x384xf32>
}
"""

with ir.Context():
    module = ir.Module.parse(LAYER)

kernel = xetile.compile(module, target="cpu", params={"threads": 2})

rng = np.random.default_rng(0)
w = rng.standard_normal((512, 384), np.float32)
b = rng.standard_normal(384, np.float32)
for rows in (1, 100):
    x = rng.standard_normal((rows, 512), np.float32)
    y = kernel(x, w, b)
    expected = np.maximum(x @ w + b, 0)
    error = np.abs(y - expected).max() / np.abs(expected).max()
    print(f"{rows:3} rows: largest error {error:.1e} of the largest element")
    if error > 1e-5:
        raise SystemExit("the result is wrong")
