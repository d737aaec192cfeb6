# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The tables of lanes in the XeGPU RFC, against what `xetile-assign-lane-layouts` writes into the IR."""

import re

import numpy as np
import pytest
from xetile import XeTileError, passes
from xetile.mlir import ir

# Rows of the RFC: types of A and B, shape m x n x k, wi_layout and wi_data of A, of B; C is one column to a lane.
PVC = {
    "bf16": ((8, 16, 16), ((1, 16), (1, 1)), ((1, 16), (2, 1))),
    "f16": ((8, 16, 16), ((1, 16), (1, 1)), ((1, 16), (2, 1))),
    "tf32": ((8, 16, 8), ((2, 8), (1, 1)), ((1, 16), (1, 1))),
    "i8": ((8, 16, 32), ((1, 16), (1, 2)), ((1, 16), (4, 1))),
}
ARC = {
    "bf16": ((8, 8, 16), ((1, 8), (1, 2)), ((1, 8), (2, 1))),
    "f16": ((8, 8, 16), ((1, 8), (1, 2)), ((1, 8), (2, 1))),
    "tf32": ((8, 8, 8), ((1, 8), (1, 1)), ((1, 8), (1, 1))),
    "i8": ((8, 8, 32), ((1, 8), (1, 4)), ((1, 8), (4, 1))),
}
LANES = {"pvc": 16, "dg2": 8}
# Of operands and their signs, which integers alone have.
OPERANDS = [(kind, "") for kind in PVC] + [("i8", ', xetile.unsigned_operand = "a"')]


def assign(body: str, parameters: str, chip: str) -> str:
    with ir.Context():
        module = ir.Module.parse(f"""
          gpu.module @m [#xevm.target<chip = "{chip}">] {{
            gpu.func @f({parameters}) kernel {{
              {body}
              gpu.return
            }}
          }}""")
        passes.run(module, "builtin.module(gpu.module(xetile-assign-lane-layouts))")
        return str(module)


def steps(text: str, name: str) -> list[list[int]]:
    found = re.search(rf"{name} = \[((?:\[[^\]]*\](?:, )?)*)\]", text)
    return [list(map(int, part.split(","))) for part in re.findall(r"\[([^\]]*)\]", found[1])] if found else []


def owners(text: str, op: str, shape: tuple[int, ...]) -> np.ndarray:
    """The lane that holds each element of what the op called `op` gives, read from its xetile.lanes."""
    line = next(line for line in text.splitlines() if op in line and "xetile.lanes" in line)
    lanes_text = line[line.index("xetile.lanes") :]
    block = list(map(int, re.search(r"block = \[([^\]]*)\]", lanes_text)[1].split(",")))
    registers, lanes = steps(lanes_text, "register"), steps(lanes_text, "lane")
    owner = np.full(block, -1)
    for number in range(1 << (len(registers) + len(lanes))):
        bits = [registers[b] if b < len(registers) else lanes[b - len(registers)]
                for b in range(len(registers) + len(lanes)) if number >> b & 1]  # fmt: skip
        place = tuple(np.bitwise_xor.reduce(np.array([[0] * len(block), *bits]), axis=0))
        assert owner[place] in (-1, number >> len(registers))
        owner[place] = number >> len(registers)
    assert owner.min() >= 0
    return np.tile(owner, [size // side for size, side in zip(shape, block, strict=True)])


def wanted(shape: tuple[int, ...], wi_layout: tuple[int, ...], wi_data: tuple[int, ...]) -> np.ndarray:
    """The same by the text of the RFC: fragments go to lanes in turn, along the last dimension first."""
    grids = np.indices(shape)
    lane = np.zeros(shape, int)
    for at, count, data in zip(grids, wi_layout, wi_data, strict=True):
        lane = lane * count + at // data % count
    return lane


def multiply(kind: str, sizes: tuple[int, int, int], chip: str, attrs: str = "") -> str:
    m, n, k = sizes
    out = "i32" if kind == "i8" else "f32"
    return assign(
        f"""
          %ta = xegpu.create_nd_tdesc %a : memref<64x64x{kind}> -> !xegpu.tensor_desc<{m}x{k}x{kind}>
          %tb = xegpu.create_nd_tdesc %b : memref<64x64x{kind}> -> !xegpu.tensor_desc<{k}x{n}x{kind}>
          %tc = xegpu.create_nd_tdesc %c : memref<64x64x{out}> -> !xegpu.tensor_desc<{m}x{n}x{out}>
          %x = xegpu.load_nd %ta[0, 0] : !xegpu.tensor_desc<{m}x{k}x{kind}> -> vector<{m}x{k}x{kind}>
          %y = xegpu.load_nd %tb[0, 0] : !xegpu.tensor_desc<{k}x{n}x{kind}> -> vector<{k}x{n}x{kind}>
          %z = xegpu.load_nd %tc[0, 0] : !xegpu.tensor_desc<{m}x{n}x{out}> -> vector<{m}x{n}x{out}>
          %d = xegpu.dpas %x, %y, %z {{tag{attrs}}}
              : vector<{m}x{k}x{kind}>, vector<{k}x{n}x{kind}>, vector<{m}x{n}x{out}> -> vector<{m}x{n}x{out}>
          xegpu.store_nd %d, %tc[0, 0] : vector<{m}x{n}x{out}>, !xegpu.tensor_desc<{m}x{n}x{out}>""",
        f"%a: memref<64x64x{kind}>, %b: memref<64x64x{kind}>, %c: memref<64x64x{out}>",
        chip,
    )


@pytest.mark.parametrize(("kind", "signs"), OPERANDS)
@pytest.mark.parametrize("chip", LANES)
def test_operands_of_dpas(chip, kind, signs):
    (m, n, k), a, b = (PVC if chip == "pvc" else ARC)[kind]
    text = multiply(kind, (m, n, k), chip, signs)
    c = ((1, LANES[chip]), (1, 1))
    loads = [line for line in text.splitlines() if "xegpu.load_nd" in line]
    for line, shape, rule in zip(loads, [(m, k), (k, n), (m, n)], [a, b, c], strict=True):
        np.testing.assert_array_equal(owners(line, "xegpu.load_nd", shape), wanted(shape, *rule))
    np.testing.assert_array_equal(owners(text, "xegpu.dpas", (m, n)), wanted((m, n), *c))


@pytest.mark.parametrize("kind", ["f16", "bf16", "f32", "i8", "i32"])
@pytest.mark.parametrize("chip", LANES)
def test_blocks_of_any_type(chip, kind):
    lanes = LANES[chip]
    text = assign(
        f"""
          %t = xegpu.create_nd_tdesc %a : memref<64x64x{kind}> -> !xegpu.tensor_desc<8x{lanes}x{kind}>
          %v = xegpu.load_nd %t[0, 0] : !xegpu.tensor_desc<8x{lanes}x{kind}> -> vector<8x{lanes}x{kind}>
          xegpu.store_nd %v, %t[8, 0] : vector<8x{lanes}x{kind}>, !xegpu.tensor_desc<8x{lanes}x{kind}>""",
        f"%a: memref<64x64x{kind}>",
        chip,
    )
    np.testing.assert_array_equal(owners(text, "load_nd", (8, lanes)), wanted((8, lanes), (1, lanes), (1, 1)))


@pytest.mark.parametrize("chip", LANES)
def test_transposed_tf32(chip):
    lanes = LANES[chip]
    text = assign(
        f"""
          %t = xegpu.create_nd_tdesc %a : memref<64x64xf32> -> !xegpu.tensor_desc<{lanes}x8xf32>
          %c = xegpu.create_nd_tdesc %b : memref<64x64xf32> -> !xegpu.tensor_desc<8x{lanes}xf32>
          %v = xegpu.load_nd %t[0, 0] <{{transpose = array<i64: 1, 0>}}>
              : !xegpu.tensor_desc<{lanes}x8xf32> -> vector<8x{lanes}xf32>
          xegpu.store_nd %v, %c[0, 0] : vector<8x{lanes}xf32>, !xegpu.tensor_desc<8x{lanes}xf32>""",
        "%a: memref<64x64xf32>, %b: memref<64x64xf32>",
        chip,
    )
    # The RFC's is that of the tile in memory.
    np.testing.assert_array_equal(owners(text, "load_nd", (8, lanes)).T, wanted((lanes, 8), (lanes, 1), (1, 1)))


@pytest.mark.parametrize("kind", ["f32", "f16", "bf16", "i8", "i32"])
@pytest.mark.parametrize("chip", LANES)
def test_rows(chip, kind):
    lanes = LANES[chip]
    data = {"f16": 2, "bf16": 2, "i8": 4}.get(kind, 1)
    size = 2 * lanes * data
    text = assign(
        f"""
          %t = xegpu.create_nd_tdesc %a : memref<1024x{kind}> -> !xegpu.tensor_desc<{size}x{kind}>
          %v = xegpu.load_nd %t[0] : !xegpu.tensor_desc<{size}x{kind}> -> vector<{size}x{kind}>
          xegpu.store_nd %v, %t[512] : vector<{size}x{kind}>, !xegpu.tensor_desc<{size}x{kind}>""",
        f"%a: memref<1024x{kind}>",
        chip,
    )
    np.testing.assert_array_equal(owners(text, "load_nd", (size,)), wanted((size,), (lanes,), (data,)))


@pytest.mark.parametrize("kind", ["f32", "f16", "i8"])
@pytest.mark.parametrize("chip", LANES)
def test_chunks(chip, kind):
    lanes, data = LANES[chip], {"f16": 2, "i8": 4}.get(kind, 1)
    text = assign(
        f"""
          %at = vector.step : vector<{lanes}xindex>
          %mask = arith.constant dense<true> : vector<{lanes}xi1>
          %v = xegpu.load %a[%at], %mask <{{chunk_size = 4 : i64}}>
              : memref<1024x{kind}>, vector<{lanes}xindex>, vector<{lanes}xi1> -> vector<{lanes}x4x{kind}>
          xegpu.store %v, %a[%at], %mask <{{chunk_size = 4 : i64}}>
              : vector<{lanes}x4x{kind}>, memref<1024x{kind}>, vector<{lanes}xindex>, vector<{lanes}xi1>""",
        f"%a: memref<1024x{kind}>",
        chip,
    )
    np.testing.assert_array_equal(owners(text, "xegpu.load", (lanes, 4)), wanted((lanes, 4), (lanes, 1), (1, data)))


def test_arc_has_layouts_but_no_code():
    with ir.Context():
        module = ir.Module.parse("gpu.module @m {}")
        with pytest.raises(XeTileError, match="dg2.*has no 2D block messages"):
            passes.run(module, "builtin.module(xetile-attach-target{chip=dg2})")
        module = ir.Module.parse('gpu.module @m [#xevm.target<chip = "dg2">] {}')
        with pytest.raises(XeTileError, match="dg2.*has no 2D block messages"):
            passes.run(module, "builtin.module(gpu.module(xetile-distribute-to-lanes))")
