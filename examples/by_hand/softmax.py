# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Softmax of the rows of a matrix, by hand, compared with NumPy.

python examples/by_hand/softmax.py
"""

import numpy as np
import xetile
from xetile import tiles

ROWS, COLUMNS = 100, 64

# 4 subgroups, one below the other, of 8 rows of all columns each: a workgroup has 32 rows.
OWN = tiles.wg_map(sg_layout=(4, 1), sg_data=(8, COLUMNS))


# 4 workgroups; the last one hangs over the end of the matrix, where nothing is written.
@xetile.kernel(f"{ROWS}x{COLUMNS}xf32", f"{ROWS}x{COLUMNS}xf32", grid=(4,))
def softmax(x: tiles.Array, y: tiles.Array) -> None:
    at = (tiles.workgroup_id(0) * 32, 0)
    values = x.tile((32, COLUMNS), at, OWN).load()
    powers = tiles.exp(values - values.fmax(axis=1))
    y.tile((32, COLUMNS), at).store(powers / powers.sum(axis=1))


print(softmax)  # the module: the kernel in XeTile, and a function that launches it
kernel = xetile.compile(softmax, target="pvc")

x = np.random.default_rng(0).standard_normal((ROWS, COLUMNS)).astype(np.float32)
y = np.empty_like(x)
kernel(x, y)  # y is written, in place

powers = np.exp(x - x.max(axis=1, keepdims=True), dtype=np.float64)
error = np.abs(y - powers / powers.sum(axis=1, keepdims=True)).max()
print(f"{kernel}\nlargest error: {error:.1e}")
if error > 1e-6:
    raise SystemExit("the result is wrong")
