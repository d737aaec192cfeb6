# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Orders of workgroups that transform.xetile.order writes: their arithmetic, evaluated for each workgroup of a grid."""

from __future__ import annotations

import re

import pytest
from xetile import passes
from xetile.mlir import ir

KERNEL = """
gpu.module @m {{
  gpu.func @f(%A: memref<?x?xf32>, %v: f32) kernel attributes {{known_grid_size = array<i32: {0}, {1}, 1>}} {{
    %x = gpu.block_id x
    %y = gpu.block_id y
    memref.store %v, %A[%y, %x] : memref<?x?xf32>
    gpu.return
  }}
}}
module attributes {{transform.with_named_sequence}} {{
  transform.named_sequence @__transform_main(%root: !transform.any_op {{transform.readonly}}) {{
    %by = transform.param.constant "{2}" -> !transform.any_param
    %size = transform.param.constant {3} : i64 -> !transform.param<i64>
    %kernels = transform.structured.match ops{{["gpu.func"]}} in %root : (!transform.any_op) -> !transform.any_op
    transform.xetile.order %kernels by = %by size = %size
        : !transform.any_op, !transform.any_param, !transform.param<i64>
    transform.yield
  }}
}}"""
WRAP = 1 << 32
ARITH = {
    "addi": lambda a, b: (a + b) % WRAP,
    "subi": lambda a, b: (a - b) % WRAP,
    "muli": lambda a, b: a * b % WRAP,
    "divui": lambda a, b: a // b,
    "remui": lambda a, b: a % b,
    "minui": min,
    "maxui": max,
    "andi": lambda a, b: a & b,
    "xori": lambda a, b: a ^ b,
    "shrui": lambda a, b: a >> b,
}
COMPARED = {"ult": lambda a, b: a < b, "ne": lambda a, b: a != b}


def places(width: int, height: int, by: str, size: int) -> list[tuple[int, int]]:
    """Row and column of each workgroup in the order in which they are started."""
    with ir.Context():
        module = ir.Module.parse(KERNEL.format(width, height, by, size))
        passes.run(module, "transform-interpreter")
        text = str(module)
    lines = text[text.index("gpu.func") : text.index("gpu.return")].splitlines()[1:]

    def place(x: int, y: int) -> tuple[int, int]:
        known: dict[str, int] = {}
        for line in map(str.strip, lines):
            if found := re.match(r"(%\S+) = gpu.block_id  ([xy])", line):
                known[found[1]] = {"x": x, "y": y}[found[2]]
            elif found := re.match(r"(%\S+) = arith.constant (\S+)(?: : i32)?$", line):
                known[found[1]] = {"true": 1, "false": 0}.get(found[2]) if found[2].isalpha() else int(found[2])
            elif found := re.match(r"(%\S+) = arith.index_cast(?:ui)? (%\S+) :", line):
                known[found[1]] = known[found[2]]
            elif found := re.match(r"(%\S+) = arith.cmpi (\w+), (%\S+), (%\S+) :", line):
                known[found[1]] = int(COMPARED[found[2]](known[found[3]], known[found[4]]))
            elif found := re.match(r"(%\S+) = arith.select (%\S+), (%\S+), (%\S+) :", line):
                known[found[1]] = known[found[3] if known[found[2]] else found[4]]
            elif found := re.match(r"(%\S+) = arith.(\w+) (%\S+), (%\S+) :", line):
                known[found[1]] = ARITH[found[2]](known[found[3]], known[found[4]])
            elif found := re.match(r"memref.store \S+, \S+\[(%\S+), (%\S+)\]", line):
                return known[found[1]], known[found[2]]
        raise AssertionError(text)

    return [place(x, y) for y in range(height) for x in range(width)]


GRIDS = [(1, 1), (1, 7), (7, 1), (5, 7), (8, 8), (9, 10), (4, 16), (17, 3)]


@pytest.mark.parametrize("size", [2, 4, 16])
@pytest.mark.parametrize("by", ["groups", "hilbert"])
@pytest.mark.parametrize("grid", GRIDS)
def test_each_place_has_one_workgroup(grid, by, size):
    width, height = grid
    assert sorted(places(width, height, by, size)) == [(y, x) for y in range(height) for x in range(width)]


def test_groups_go_down_their_rows_first():
    # Three rows at a time, of which the last group has one.
    assert places(2, 4, "groups", 3) == [(0, 0), (1, 0), (2, 0), (0, 1), (1, 1), (2, 1), (3, 0), (3, 1)]


@pytest.mark.parametrize(("grid", "size"), [((8, 8), 8), ((8, 8), 2), ((16, 4), 4)])
def test_neighbours_on_hilberts_curve_are_neighbours_in_the_grid(grid, size):
    width, height = grid
    order = places(width, height, "hilbert", size)
    steps = [abs(a[0] - b[0]) + abs(a[1] - b[1]) for a, b in zip(order, order[1:], strict=False)]
    # From the end of one row of squares to the begin of the next one it is farther.
    assert [step for step in steps if step != 1] == [width - 1 + size] * (height // size - 1)


def test_what_no_square_covers_comes_last():
    assert places(3, 3, "hilbert", 2)[4:] == [(0, 2), (1, 2), (2, 0), (2, 1), (2, 2)]
