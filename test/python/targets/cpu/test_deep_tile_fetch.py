# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Lines of B before they are needed: blocks that are packed next come to the second-level cache, rows that are read in
place to the first. Places in B, and results."""

from __future__ import annotations

import ctypes
import itertools
import re

import numpy as np
import pytest
from deep_tile_cases import Problem, blocked, check
from xetile import cpu
from xetile.codegen import engines
from xetile.kernels.function import CompiledFunction
from xetile.mlir import ir

# So small that B comes from beyond it.
SMALL = {"L1_cache_size_in_bytes": 2048, "L2_cache_size_in_bytes": 8192, "L3_cache_size_in_bytes": 65536}
TYPES = [("f32", "f32", "f32"), ("bf16", "bf16", "f32"), ("f16", "f16", "f32"), ("i8", "i8", "i32"), ("f64",) * 3]
# Sizes that blocks divide, one more, and such that a block is hardly begun.
SIZES = [(12, 192, 64), (13, 193, 65), (31, 97, 129), (5, 300, 33), (64, 65, 200)]


def fetches(kernel: cpu.Kernel) -> int:
    return len(re.findall(r"llvm\.intr\.prefetch", kernel.stages["3-llvm"]))


@pytest.mark.one_in(5)
@pytest.mark.parametrize("form", ["plain", "transposed A", "transposed B", "batch", "batch, transposed B"])
@pytest.mark.parametrize("types", TYPES, ids=lambda types: "-".join(types))
def test_results(rng, form, types):
    fetched = 0
    for m, n, k in SIZES:
        config = {
            "MBlock": 64,
            "NBlock": 32,
            "KBlock": int(rng.choice([16, 32, 256])),
            "loopOrder": int(rng.integers(6)),
        }
        problem = Problem(form, blocked(form, m, n, k), types, fill=bool(rng.integers(2)), machine=SMALL)
        kernel = check(rng, problem, config, threads=int(rng.integers(1, 4)), pack="always")
        fetched += fetches(kernel)
    assert fetched > 0


@pytest.mark.parametrize("threads", [{"NThreads": 3}, {"KThreads": 2}, {"MThreads": 2}], ids=str)
def test_threads_fetch_their_own_parts(rng, threads):
    problem = Problem("transposed B", blocked("transposed B", 24, 200, 96), ("bf16", "bf16", "f32"), machine=SMALL)
    config = {**{f"{dim}Threads": 1 for dim in "MNK"}, **threads, "NBlock": 32, "MBlock": 24, "innermostNBlock": 32}
    assert fetches(check(rng, problem, config, threads=3, pack="always")) > 0


# A third level that is far, and a first one that keeps no B.
FAR = {**SMALL, "max_vector_width": 512, "read_l2_ns": 8.0, "read_l3_ns": 36.0, "wait_l2_ns": 4.0, "wait_l3_ns": 18.0}


@pytest.mark.one_in(5)
@pytest.mark.parametrize("form", ["plain", "transposed A", "batch"])
@pytest.mark.parametrize(
    "types", [("f32",) * 3, ("f16", "f16", "f32"), ("f64",) * 3, ("i32",) * 3], ids=lambda types: types[0]
)
def test_rows_in_place_are_fetched_ahead(rng, form, types):
    """Few rows of A: those that tiles fill, one more, one tile; k and n that blocks and vectors do not divide."""
    fetched = 0
    for m, n, k in [(16, 192, 64), (5, 97, 131), (17, 300, 33), (128, 65, 77)]:
        problem = Problem(form, blocked(form, m, n, k), types, fill=bool(rng.integers(2)), machine=FAR)
        kernel = check(rng, problem, {"loopOrder": int(rng.integers(6))}, threads=int(rng.integers(1, 4)), pack="never")
        fetched += fetches(kernel)
    assert fetched > 0


MODULE = """
module attributes {dlti.target_system_spec = #dlti.target_system_spec<"CPU" = #dlti.target_device_spec<
    "L1_cache_size_in_bytes" = 1024 : i32, "L2_cache_size_in_bytes" = 8192 : i32>>} {
  func.func @f(%a: tensor<8x80xf32>, %b: tensor<ROWSxCOLUMNSxf32>, %c: tensor<8x96xf32>) -> tensor<8x96xf32> {
    %d = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (PLACES)>,
        affine_map<(m, n, k) -> (m, n)>]
        ins(%a, %b : tensor<8x80xf32>, tensor<ROWSxCOLUMNSxf32>) outs(%c : tensor<8x96xf32>) -> tensor<8x96xf32>
    return %d : tensor<8x96xf32>
  }
}
"""
CONFIG = {"MBlock": 8, "NBlock": 32, "innermostMBlock": 4, "innermostNBlock": 32, "innermostKBlock": 16, "loopOrder": 3}


@pytest.mark.parametrize("k_block", [80, 16, 32])
@pytest.mark.parametrize("transposed", [False, True], ids=["k x n", "n x k"])
def test_all_lines_of_later_blocks_are_fetched(transposed, k_block):
    """What machine code would prefetch in a call: lines of B, all but the first block's."""
    rows, columns, places = (96, 80, "n, k") if transposed else (80, 96, "k, n")
    text = MODULE.replace("ROWS", str(rows)).replace("COLUMNS", str(columns)).replace("PLACES", places)
    with ir.Context():
        module = ir.Module.parse(text)
        kernel = cpu.compile(module, config={**CONFIG, "KBlock": k_block}, threads=1, pack="always")
        called, addresses = recorded(kernel)
        memory = np.zeros(rows * columns + 16, "f4")
        b = memory[-memory.ctypes.data // 4 % 16 :][: rows * columns].reshape(rows, columns)
        called((np.ones((8, 80), "f4"), b, np.full((8, 96), 3, "f4")))
    offsets = np.array(sorted(set(addresses))) - b.ctypes.data
    assert offsets[0] >= 0 and offsets[-1] < b.nbytes
    k, n = np.meshgrid(range(80), range(96), indexing="ij")
    later = (n >= CONFIG["NBlock"]) | (k >= k_block)
    places = (n * 80 + k if transposed else k * 96 + n)[later]
    missing = set(places // 16) - set(offsets // 64)
    # In a shorter last block of k there are fewer steps to fetch in.
    assert len(missing) <= (0 if 80 % k_block == 0 else len(set(places // 16)) // 2)


@pytest.mark.parametrize("k_block", [80, 16, 32])
def test_rows_are_fetched_before_they_are_read(k_block):
    """Lines of B alone; all of them, but for those of the first steps."""
    far = ", ".join(f'"{name}" = {value} : {"f64" if "_ns" in name else "i32"}' for name, value in FAR.items())
    text = MODULE.replace('"L1_cache_size_in_bytes" = 1024 : i32, "L2_cache_size_in_bytes" = 8192 : i32', far)
    text = text.replace("ROWS", "80").replace("COLUMNS", "96").replace("PLACES", "k, n")
    with ir.Context():
        module = ir.Module.parse(text)
        kernel = cpu.compile(module, config={**CONFIG, "KBlock": k_block}, threads=1, pack="never")
        called, addresses = recorded(kernel)
        memory = np.zeros(80 * 96 + 16, "f4")
        b = memory[-memory.ctypes.data // 4 % 16 :][: 80 * 96].reshape(80, 96)
        called((np.ones((8, 80), "f4"), b, np.full((8, 96), 3, "f4")))
    offsets = np.array(addresses) - b.ctypes.data
    assert offsets.min() >= 0 and offsets.max() < b.nbytes
    rows, lines = np.divmod(offsets, 96 * 4)
    assert set(zip(rows, lines // 64, strict=True)) == {(row, line) for row in range(8, 80) for line in range(6)}
    # Two rows of tiles read each of the 80 rows of three panels of two lines.
    assert len(addresses) == 2 * 80 * 3 * 2


def recorded(kernel: cpu.Kernel) -> tuple[CompiledFunction, list[int]]:
    """The kernel with calls that note addresses in the place of prefetches, and where they are noted."""
    addresses: list[int] = []
    note = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(addresses.append)
    number = itertools.count()

    def call(found: re.Match[str]) -> str:
        name = f"%note_{next(number)}"
        place = ctypes.cast(note, ctypes.c_void_p).value
        return (
            f"{name}_at = llvm.mlir.constant({place} : i64) : i64\n"
            f"{name} = llvm.inttoptr {name}_at : i64 to !llvm.ptr\n"
            f"llvm.call {name}({found[1]}) : !llvm.ptr, (!llvm.ptr) -> ()"
        )

    text, count = re.subn(r'"llvm\.intr\.prefetch"\((%\w+)\).*', call, kernel.stages["3-llvm"])
    assert count
    function = engines.load(ir.Module.parse(text), kernel._code._signature, [], 3)
    keep_alive.append(note)
    return function, addresses


keep_alive: list[object] = []
