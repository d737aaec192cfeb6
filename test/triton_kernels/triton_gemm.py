# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Triton's GEMM by block pointers, for tests and `make bench`: import it when `xetile.triton` is active."""

import triton
import triton.language as tl


@triton.jit
def gemm(
    a, b, c, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr
):
    across: tl.constexpr = (N + BN - 1) // BN
    m, n = tl.program_id(0) // across * BM, tl.program_id(0) % across * BN
    x = tl.make_block_ptr(a, (M, K), (K, 1), (m, 0), (BM, BK), (1, 0))
    y = tl.make_block_ptr(b, (K, N), (N, 1), (0, n), (BK, BN), (1, 0))
    sums = tl.zeros((BM, BN), dtype=tl.float32)
    for _ in range(0, K, BK):
        sums += tl.dot(tl.load(x, boundary_check=(0, 1)), tl.load(y, boundary_check=(0, 1)))
        x, y = tl.advance(x, (0, BK)), tl.advance(y, (BK, 0))
    tl.store(tl.make_block_ptr(c, (M, N), (N, 1), (m, n), (BM, BN), (1, 0)), sums, boundary_check=(0, 1))
