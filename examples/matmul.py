# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""D = A * B + C on the GPU, or on whatever OpenCL device there is, compared with NumPy.

python examples/matmul.py
"""

import numpy as np
import xetile

M, N, K = 512, 256, 1024

# The computation: an MLIR module with one function. xetile.compile takes the path of an MLIR file, too.
module = xetile.matmul(M, N, K, dtype="f16", acc_dtype="f32")

# How it is tiled: a workgroup computes 128x128 of D, by 4x2 subgroups, and prefetches A and B two steps ahead.
schedule = xetile.schedule.matmul(workgroup_tile=(128, 128), subgroup_layout=(4, 2), k_step=32, prefetch=2)

kernel = xetile.compile(module, schedule, target="pvc")

rng = np.random.default_rng(0)
a = rng.standard_normal((M, K)).astype(np.float16)
b = rng.standard_normal((K, N)).astype(np.float16)
c = rng.standard_normal((M, N)).astype(np.float32)
d = kernel(a, b, c)  # a new array; the arguments are never changed

expected = a.astype(np.float32) @ b.astype(np.float32) + c
error = np.abs(d - expected).max() / np.abs(expected).max()
print(f"{kernel}\nlargest error: {error:.1e} of the largest element")
if error > 1e-5:
    raise SystemExit("the result is wrong")

# What the compiler made on the way, level by level, is MLIR text.
for level, text in kernel.stages.items():
    print(f"{level:20} {text.count(chr(10)):5} lines")
