# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The programs of the RFC's appendices, stage by stage against NumPy.

Their text is that of test/IR/rfc-appendix-*.mlir. Tiles and steps are a quarter of the RFC's, so that the host's code
compiles in seconds: grids of subgroups, numbers of pieces and the order of steps are the RFC's. A subgroup's tiles are
then smaller than the matrix unit's: the stages after distribution run at the RFC's own sizes in test_rfc_device.py.
`XETILE_SEED` repeats a failure.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from workgroups import COLUMNS, Kernel, plain_type, poisoned, wg_map
from xetile_programs import assert_same, values

PROGRAMS = Path(__file__).parents[2] / "IR"
# LLVM takes most of a minute to allocate registers for what a whole workgroup does in one piece.
each_column = pytest.mark.parametrize("column", [pytest.param("workgroup", marks=pytest.mark.exhaustive), "subgroup"])


def scaled(code: str, matrix: int, parts: int = 4) -> str:
    """Matrices of 4096 with `matrix` rows and columns, everything else but the grids by a quarter, or another part."""

    def number(match: re.Match[str]) -> str:
        value = int(match[0])
        return str(matrix if value == 4096 else value // parts if value >= parts else value)

    grids = re.split(r"(sg_layout = \[\d+, \d+\]|affine_map<.*?>|//.*)", code)
    return "".join(
        part if odd else re.sub(r"(?<![\w%#:])\d+(?=x|\b)|(?<=x)\d+(?=x)", number, part)
        for part, odd in zip(grids, [0, 1] * len(grids), strict=False)
    )


def program(appendix: str, matrix: int = 128) -> tuple[str, str]:
    """The aliases and the body of the one function of an appendix's file."""
    code = scaled((PROGRAMS / f"rfc-appendix-{appendix}.mlir").read_text(), matrix)
    aliases = "\n".join(re.findall(r"^#.*$", code, flags=re.M))
    body = re.search(r"^func\.func[^{]*\{\n(.*?)^  return", code, flags=re.M | re.S)
    assert body
    return aliases, body[1]


def gemm_arrays(rng: np.random.Generator, size: int, rows: int | None = None) -> tuple[np.ndarray, ...]:
    a, b = values(rng, "f16", rows or size, size), values(rng, "f16", size, size)
    return a, b, poisoned((rows or size, size), "f32")


def run(
    appendix: str, column: str, rng: np.random.Generator, arrays: dict[str, np.ndarray], subgroups: int, more: str = ""
) -> dict[str, np.ndarray]:
    aliases, body = program(appendix, len(arrays["a"]))
    return COLUMNS[column](Kernel(more + body, arrays, subgroups, aliases=aliases), rng)


@each_column
@pytest.mark.parametrize("appendix", ["2-1", "2-5"])
def test_gemm_with_prefetch(rng, column, appendix):
    """One prefetch distance (2.1), two levels of caches (2.5)."""
    a, b, c = gemm_arrays(rng, 128)
    arrays = run(appendix, column, rng, {"a": a, "b": b, "c": c}, 32)
    assert_same(arrays["c"], a.astype(np.float32) @ b.astype(np.float32) + np.float32(0))


@each_column
def test_transpose_broadcast_and_reduction(rng, column):
    """2.2: a transpose and a conversion through shared memory, sums of all columns by atomics."""
    a, bt, _ = gemm_arrays(rng, 128)
    bcast, res = values(rng, "f32", 128), np.zeros(128, np.float32)
    arrays = run("2-2", column, rng, {"a": a, "bt": bt, "bcast": bcast, "res": res}, 32)
    c = a.astype(np.float32) @ bt.T.astype(np.float32) + bcast
    np.testing.assert_allclose(arrays["res"], c.sum(1), rtol=1e-5, atol=1e-2)


@each_column
def test_cooperative_load_through_shared_memory(rng, column):
    """2.4: four buffers in a ring, filled three steps ahead; the barriers are the program's."""
    a, b, c = gemm_arrays(rng, 128)
    memory = "%slm_a = memref.alloca() : memref<64x32xf16, 3>\n%slm_b = memref.alloca() : memref<32x64xf16, 3>\n"
    arrays = run("2-4", column, rng, {"a": a, "b": b, "c": c}, 64, memory)
    assert_same(arrays["c"], a.astype(np.float32) @ b.astype(np.float32) + np.float32(0))


@each_column
@pytest.mark.parametrize("name", ["plain", "viewed_by_order", "transposed_as_a_vector"])
def test_programs_of_appendix_1(rng, column, name):
    """Matrices given by address, sizes at run time; B as it is, by `order`, and transposed as a vector."""
    code = scaled((PROGRAMS / "rfc-appendix-1.mlir").read_text(), 128)
    body = re.search(rf"func\.func @{name}\([^{{]*\{{\n(.*?)^  return", code, flags=re.M | re.S)
    assert body
    m, n, k = (int(size) for size in rng.integers(1, [17, 17, 9]))
    a, b = values(rng, "bf16", m, k), values(rng, "bf16", k, n)
    c = poisoned((m, n), "f32")
    given = b if name == "plain" else np.ascontiguousarray(b.T)
    addresses = ""
    for argument, array in [("A", a), ("B" if name == "plain" else "BT", given), ("C", c)]:
        kind = plain_type(array)
        addresses += (
            f"%{argument}_index = memref.extract_aligned_pointer_as_index %{argument}_memref : {kind} -> index\n"
        )
        addresses += f"%{argument} = arith.index_cast %{argument}_index : index to i64\n"
    for argument, value in [("M", m), ("N", n), ("K", k), ("i", 0), ("j", 0), ("k", 0)]:
        addresses += f"%{argument} = arith.constant {value} : index\n"
    map_ = wg_map((2, 2), (8, 8))
    mma = body[1].replace("tile_mma %va, %vb", f"tile_mma %va, %vb {{wg_map = {map_}}}")
    arrays = {"A_memref": a, ("B" if name == "plain" else "BT") + "_memref": given, "C_memref": c}
    columns = "#columns = #xetile.tile_attr<order = [0, 1]>"
    kernel = Kernel(addresses + mma, arrays, 4, aliases=columns)
    result = COLUMNS[column](kernel, rng)["C_memref"]
    assert_same(result, (a.astype(np.float32) @ b.astype(np.float32) + np.float32(0)))
