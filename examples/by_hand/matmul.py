# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""C = A * B by hand, of sizes that are no multiples of the tiles, compared with NumPy.

python examples/by_hand/matmul.py
"""

import numpy as np
import xetile
from xetile import tiles

M, N, K = 200, 136, 120
ROWS, COLUMNS, STEP = 128, 64, 32

# 4 x 2 subgroups of 32 x 32 of C each. That they have their rows of A and their columns of B follows.
OF_C = tiles.wg_map((4, 2), (32, 32))


@xetile.kernel(f"{M}x{K}xf16", f"{K}x{N}xf16", f"{M}x{N}xf32", grid=(-(-N // COLUMNS), -(-M // ROWS)))
def matmul(a: tiles.Array, b: tiles.Array, c: tiles.Array) -> None:
    column, row = tiles.workgroup_id(0) * COLUMNS, tiles.workgroup_id(1) * ROWS
    start = (
        a.tile((ROWS, STEP), at=(row, 0)),
        b.tile((STEP, COLUMNS), at=(0, column)),
        tiles.zeros((ROWS, COLUMNS), "f32"),
    )
    # The body is recorded once; what goes from one turn to the next is carried. Behind the edges tiles read zero.
    steps = tiles.range(0, K, STEP, carry=start)
    for _, (a_tile, b_tile, sums) in steps:
        a_tile.move(0, 2 * STEP).prefetch()
        b_tile.move(2 * STEP, 0).prefetch()
        sums = tiles.mma(a_tile.load(), b_tile.load(), sums, map=OF_C)
        steps.carry(a_tile.move(0, STEP), b_tile.move(STEP, 0), sums)
    _, _, product = steps.results
    c.tile((ROWS, COLUMNS), at=(row, column)).store(product)


kernel = xetile.compile(matmul, target="bmg")

rng = np.random.default_rng(0)
a, b = rng.standard_normal((M, K)).astype(np.float16), rng.standard_normal((K, N)).astype(np.float16)
c = np.empty((M, N), np.float32)
kernel(a, b, c)

expected = a.astype(np.float64) @ b.astype(np.float64)
error = np.abs(c - expected).max() / np.abs(expected).max()
print(f"{kernel}\nlargest error: {error:.1e} of the largest element")
if error > 1e-5:
    raise SystemExit("the result is wrong")
