# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which subgroup owns which part of a tile: the distribution of xetile-wg-to-sg, subgroup by subgroup."""

import random
import re

import pytest
from xetile import layout as layouts
from xetile import passes
from xetile.mlir import ir

CASES = [
    # tile, sg_layout, sg_data, first element and owners of some pieces
    ((128, 128), (2, 2), (32, 128), {(0, 0): {0, 1}, (32, 0): {2, 3}, (64, 0): {0, 1}, (96, 0): {2, 3}}),
    ((256, 32), (8, 4), (32, 32), {(32 * i, 0): set(range(4 * i, 4 * i + 4)) for i in range(8)}),
    ((32, 256), (8, 4), (32, 64), {(0, 64 * j): set(range(j, 32, 4)) for j in range(4)}),
    ((256, 32), (32, 1), (8, 32), {(8 * i, 0): {i} for i in range(32)}),
    ((256, 128), (32, 1), (8, 1), {(8 * i, j): {i} for i in range(32) for j in range(128)}),
    ((64, 64), (8, 8), (16, 16), None),
]


def owners(shape, layout, data):
    """The subgroups that own each piece, by its first element, read from the code that places their tiles."""
    encoding = f"#xetile.tile_attr<wg_map = <sg_layout = {list(layout)}, sg_data = {list(data)}>>"
    tile = f"!xetile.tile<{shape[0]}x{shape[1]}xf16, {encoding}>"
    code = f"""func.func @f(%A: memref<4096x4096xf16>) {{
      %t = xetile.init_tile %A[0, 0] : memref<4096x4096xf16> -> {tile}
      xetile.prefetch_tile %t locality<3> : {tile}
      return
    }}"""
    found: dict[tuple[int, int], set[int]] = {}
    with ir.Context(), ir.Location.unknown():
        module = ir.Module.parse(code)
        passes.run(module, "xetile-wg-to-sg")
        text = str(module)
        # Asked for once, or not at all where all subgroups own the same.
        assert text.count("gpu.subgroup_id") <= 1
        for subgroup in range(layout[0] * layout[1]):
            placed = ir.Module.parse(re.sub(r"gpu.subgroup_id[^:]*: index", f"arith.constant {subgroup} : index", text))
            passes.run(placed, "canonicalize")
            for row, column in re.findall(r"init_tile %\w+\[(\d+), (\d+)\]", str(placed)):
                found.setdefault((int(row), int(column)), set()).add(subgroup)
    return found


@pytest.mark.parametrize(("shape", "layout", "data", "expected"), CASES)
def test_pieces_go_to_their_subgroups(shape, layout, data, expected):
    if expected is None:
        # Fewer pieces than subgroups in both dimensions: both wrap around.
        expected = {}
        for row in range(layout[0]):
            for column in range(layout[1]):
                piece = (row % 4 * data[0], column % 4 * data[1])
                expected.setdefault(piece, set()).add(row * layout[1] + column)
    assert owners(shape, layout, data) == expected


def test_python_says_what_the_pass_does(seed):
    rng = random.Random(seed)
    for _ in range(20):
        shape, layout, data = [], [], []
        for _ in range(2):
            piece, pieces, other = rng.choice([1, 8, 12, 32]), rng.randint(1, 6), rng.randint(1, 4)
            data.append(piece)
            # More pieces than subgroups, or the reverse.
            subgroups, pieces = rng.choice([(pieces, pieces * other), (pieces * other, pieces)])
            layout.append(subgroups)
            shape.append(piece * pieces)
        told = layouts.wg_map_owners(shape, layout, data)
        assert {place: set(ids) for place, ids in told.items()} == owners(shape, layout, data), (shape, layout, data)
        assert all(list(ids) == sorted(set(ids)) for ids in told.values())
