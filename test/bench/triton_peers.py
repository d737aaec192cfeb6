# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`make bench`: machine code of Triton's kernels for Intel GPUs beside ours with the same tiles, by the same ocloc.

usage: triton_peers.py [WORD ...]      (with XETILE_TRITON, and a Python that has PyTorch; rows whose names have a word)

Counts of instructions, not times: for 2048 products of the hottest loop, of kernels without products for 16 elements of
the whole kernel. Triton makes two forms of products, by its default and its advanced path: both are shown.
"""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import xetile.triton

if not xetile.triton.is_installed():
    print("no peers by Triton: triton-xpu is not installed (scripts/bootstrap-triton)")
    sys.exit(0)
xetile.triton.activate()

import triton  # noqa: E402
import triton.language as tl  # noqa: E402
import xetile  # noqa: E402
from program_code import read  # noqa: E402
from program_code_kernels import HEADS, QUERIES, SIDE, attention, layer_norm, softmax  # noqa: E402
from xetile.reports import report  # noqa: E402
from xetile.system import tools  # noqa: E402

sys.path.insert(0, str(Path(__file__).parents[1] / "triton_kernels"))
from triton_gemm import gemm  # noqa: E402

CHIPS = ("pvc", "bmg")
SIZE = 4096  # of the GEMM, each side
PRODUCTS = 2048


@triton.jit
def attend(q, k, v, o, scale, S: tl.constexpr, KEYS: tl.constexpr, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    first, head = tl.program_id(0) * BM, tl.program_id(1).to(tl.int64)
    queries = tl.make_block_ptr(q + head * S * D, (S, D), (D, 1), (first, 0), (BM, D), (1, 0))
    keys = tl.make_block_ptr(k + head * KEYS * D, (D, KEYS), (1, D), (0, 0), (D, BN), (0, 1))
    values = tl.make_block_ptr(v + head * KEYS * D, (KEYS, D), (D, 1), (0, 0), (BN, D), (1, 0))
    most = tl.zeros([BM], dtype=tl.float32) - float("inf")
    total = tl.zeros([BM], dtype=tl.float32) + 1.0
    sums = tl.zeros([BM, D], dtype=tl.float32)
    scale *= 1.44269504
    x = tl.load(queries)
    # In the form that the advanced path takes.
    for _ in range(0, KEYS, BN):
        scores = tl.zeros([BM, BN], dtype=tl.float32)
        scores += tl.dot(x, tl.load(keys))
        now = tl.maximum(most, tl.max(scores, 1) * scale)
        scores = scores * scale - now[:, None]
        powers = tl.math.exp2(scores)
        factor = tl.math.exp2(most - now)
        total = total * factor + tl.sum(powers, 1)
        sums = sums * factor[:, None]
        sums += tl.dot(powers.to(tl.float16), tl.load(values))
        most = now
        keys, values = tl.advance(keys, (0, BN)), tl.advance(values, (BN, 0))
    out = tl.make_block_ptr(o + head * S * D, (S, D), (D, 1), (first, 0), (BM, D), (1, 0))
    tl.store(out, sums / total[:, None])


@triton.jit
def row_softmax(out, x, columns: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * columns + tl.arange(0, BLOCK)
    v = tl.load(x + i)
    v = tl.exp(v - tl.max(v, 0))
    tl.store(out + i, v / tl.sum(v, 0))


@triton.jit
def row_norm(out, x, weight, bias, eps, columns: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    v = tl.load(x + tl.program_id(0) * columns + i)
    d = v - tl.sum(v, 0) / columns
    scale = tl.rsqrt(tl.sum(d * d, 0) / columns + eps)
    tl.store(out + tl.program_id(0) * columns + i, d * scale * tl.load(weight + i) + tl.load(bias + i))


class Memory:
    """A tensor as Triton's compiler asks for it: its type, and an aligned address."""

    def __init__(self, dtype: str) -> None:
        import torch

        self.dtype = getattr(torch, dtype)

    @staticmethod
    def data_ptr() -> int:
        return 0


def counted(kernel: report.KernelStatistics, unit: float) -> str:
    """Instructions for `PRODUCTS` of the loop, or for 16 elements, of which a subgroup has `unit` times 16."""
    if kernel.loop and kernel.operations:
        # A product is two operations.
        return f"{kernel.loop.total / (kernel.operations / 2 / PRODUCTS):7.2f} of {kernel.loop['dpas']:3} dpas"
    return f"{kernel.code.total / unit:7.2f}"


@contextlib.contextmanager
def silent() -> Iterator[None]:
    """Without stderr, on which Triton's compiler writes a module that a pass refuses."""
    sys.stderr.flush()
    before, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    try:
        yield
    finally:
        os.dup2(before, 2)
        os.close(before)
        os.close(nowhere)


def ours(
    payload: object, chip: str, large: bool | None, schedule: str | None = None, **params: int
) -> list[report.KernelStatistics]:
    with tempfile.TemporaryDirectory() as folder:
        module = read(payload, Path(folder)) if isinstance(payload, str) else payload
        kernel = xetile.compile(module, schedule, target=chip, native="off", params=params)
    return list(report.statistics(kernel.spirv, chip, large))


def by_triton(kernel: object, *arguments: object, **options: object) -> dict[str, report.KernelStatistics]:
    """For each chip."""
    try:
        with silent():
            made = xetile.triton.statistics(kernel, *arguments, targets=CHIPS, threads_per_warp=16, **options)
    except (RuntimeError, xetile.XeTileError) as error:
        print(f"  {kernel.__name__} with {options} does not compile: {str(error).splitlines()[0]}")
        return {}
    return {one.chip: one for one in made}


def product_rows() -> Iterator[tuple[str, str, str, report.KernelStatistics, float]]:
    """(name, side, chip, statistics, 1)."""
    half, wide = Memory("float16"), Memory("float32")
    tiles = {"M": SIZE, "N": SIZE, "K": SIZE, "BM": 256, "BN": 256, "BK": 32}
    for path in (False, True):
        made = by_triton(
            gemm, half, half, wide, **tiles, num_warps=32, num_stages=3, grf_mode="large", advanced_path=path
        )
        for chip, one in made.items():
            yield "GEMM", "triton, advanced" if path else "triton", chip, one, 1.0
    for chip in CHIPS:
        params = {"workgroup_m": 256, "workgroup_n": 256, "subgroups_m": 8, "subgroups_n": 4, "k_step": 32}
        for one in ours(xetile.matmul(SIZE, SIZE, SIZE), chip, True, **params):
            yield "GEMM", "xetile", chip, one, 1.0
    for width, keys in ((64, 64), (128, 128)):
        name = f"attention, heads of {width}"
        sizes = {"S": QUERIES, "KEYS": QUERIES, "D": width, "BM": 128, "BN": keys}
        for path in (False, True):
            # A subgroup has 16 queries of 64 elements, 8 of 128, as ours has.
            warps = 8 if width == 64 else 16
            made = by_triton(
                attend, half, half, half, wide, 0.125, **sizes, num_warps=warps, num_stages=3, grf_mode="large",
                advanced_path=path,
            )  # fmt: skip
            for chip, one in made.items():
                yield name, "triton, advanced" if path else "triton", chip, one, 1.0
        for chip in CHIPS:
            params = {"workgroup_m": 128, "subgroups_m": 8 if width == 64 else 16, "keys": keys, "split_keys": 1}
            for one in ours(attention(width), chip, True, "attention", **params):
                yield name, "xetile", chip, one, 1.0


def row_rows() -> Iterator[tuple[str, str, str, report.KernelStatistics, float]]:
    """(name, side, chip, statistics, elements of a subgroup / 16)."""
    wide = Memory("float32")
    for name, kernel, operands, payloads in (
        # Triton's exponential is the fast one, ours is only where a schedule or program asks for powers of 2.
        ("row softmax f32", row_softmax, (wide, wide), {"": softmax("f32", False), ", exp2": softmax("f32", True)}),
        ("layer norm f32", row_norm, (wide, wide, wide, wide, 1e-5), {"": layer_norm("f32")}),
    ):
        for warps in (1, 4):
            made = by_triton(kernel, *operands, columns=SIDE, BLOCK=SIDE, num_warps=warps, grf_mode="default")
            for chip, one in made.items():
                yield name, f"triton, {warps} to a row", chip, one, SIDE / warps / 16
        for side, payload in payloads.items():
            for chip in CHIPS:
                for one in ours(payload, chip, None):
                    yield name, f"xetile{side}", chip, one, SIDE / 16


def main() -> int:
    words = sys.argv[1:]
    ocloc = tools.find_ocloc()
    if not ocloc:
        print("no machine code: ocloc was not found (scripts/install-ocloc)")
        return 0
    print(
        f"machine code of Triton's kernels and ours by {tools.ocloc_version(ocloc)}: GEMM of {SIZE}^3 f16 in tiles of"
    )
    print(f"256x256x32, attention of {HEADS} heads, {QUERIES} queries, 128 to a workgroup; instructions for {PRODUCTS}")
    print(f"products of the loop, or for 16 elements of rows of {SIDE}")
    for rows in (product_rows, row_rows):
        for name, side, chip, one, unit in rows():
            if all(word in name for word in words):
                print(
                    f"  {name:24} {side:18} {chip}  {counted(one, unit)}, {one.registers} registers, "
                    f"{one.spill_bytes} bytes spilled",
                    flush=True,
                )
    return 0


if __name__ == "__main__":
    os.chdir(Path(__file__).parent)
    sys.exit(main())
