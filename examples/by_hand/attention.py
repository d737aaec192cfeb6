# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attention, softmax(Q K^T / sqrt(D)) V, by hand in one kernel, compared with NumPy.

python examples/by_hand/attention.py
"""

import math

import numpy as np
import xetile
from xetile import tiles

HEADS, LENGTH, D = 2, 256, 64
ROWS, KEYS = 128, 64  # queries of a workgroup, keys of a step
SCALE = math.log2(math.e) / math.sqrt(D)  # powers of 2 cost less than those of e

OWN = tiles.wg_map((8, 1), (16, D))  # 8 subgroups of 16 queries each, which need all keys and values
F16 = f"{HEADS}x{LENGTH}x{D}xf16"


@xetile.kernel(F16, F16, F16, f"{HEADS}x{LENGTH}x{D}xf32", grid=(LENGTH // ROWS, HEADS))
def attention(q: tiles.Array, k: tiles.Array, v: tiles.Array, o: tiles.Array) -> None:
    row, head = tiles.workgroup_id(0) * ROWS, tiles.workgroup_id(1)
    queries = q[head].tile((ROWS, D), at=(row, 0)).load()
    # Of each row: the largest score so far, the sum of the powers, and the sum of values that they weigh.
    start = tiles.full((ROWS, 1), -1e30, "f32"), tiles.zeros((ROWS, 1), "f32"), tiles.zeros((ROWS, D), "f32")
    steps = tiles.range(0, LENGTH, KEYS, carry=start)
    for key, (largest, total, sums) in steps:
        keys = k[head].T.tile((D, KEYS), at=(0, key)).load()
        values = v[head].tile((KEYS, D), at=(key, 0)).load()
        scores = tiles.mma(queries, keys, map=OWN)
        now = tiles.fmax(largest, scores.fmax(axis=1) * SCALE)
        powers = tiles.exp2(tiles.fma(scores, SCALE, -now))
        less = tiles.exp2(largest - now)
        sums = tiles.mma(powers.to("f16"), values, sums * less, map=OWN)
        steps.carry(now, total * less + powers.sum(axis=1), sums)
    _, total, sums = steps.results
    o[head].tile((ROWS, D), at=(row, 0)).store(sums * (1.0 / total))


kernel = xetile.compile(attention, target="pvc")

rng = np.random.default_rng(0)
q, k, v = (rng.standard_normal((HEADS, LENGTH, D)).astype(np.float16) for _ in range(3))
o = np.empty((HEADS, LENGTH, D), np.float32)
kernel(q, k, v, o)

scores = np.einsum("hid,hjd->hij", q.astype(np.float64), k.astype(np.float64)) / math.sqrt(D)
powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
expected = np.einsum("hij,hjd->hid", powers / powers.sum(axis=-1, keepdims=True), v.astype(np.float64))
error = np.abs(o - expected).max() / np.abs(expected).max()
print(f"{kernel}\nlargest error: {error:.1e} of the largest element")
if error > 2e-3:
    raise SystemExit("the result is wrong")
