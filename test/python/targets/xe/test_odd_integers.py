# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Integers of widths that SPIR-V lacks on the device, against Python's."""

from collections.abc import Callable

import numpy as np
import pytest
from xegpu_programs import run

DIVISOR = 3
SIGNED: dict[str, Callable[[int, int], int]] = {
    "arith.addi": lambda a, b: a + b,
    "arith.subi": lambda a, b: a - b,
    "arith.muli": lambda a, b: a * b,
    "arith.divsi": lambda a, b: abs(a) // b * (1 if a >= 0 else -1),
    "arith.remsi": lambda a, b: abs(a) % b * (1 if a >= 0 else -1),
    "arith.shrsi": lambda a, b: a >> b,
    "arith.shli": lambda a, b: a << b,
    "arith.maxsi": max,
    "arith.minsi": min,
}
UNSIGNED: dict[str, Callable[[int, int], int]] = {
    "arith.divui": lambda a, b: a // b,
    "arith.remui": lambda a, b: a % b,
    "arith.shrui": lambda a, b: a >> b,
    "arith.maxui": max,
    "arith.minui": min,
}

ALONE: dict[str, Callable[[int, int], int]] = {
    "math.absi": lambda a, width: abs(a),
    "math.ctpop": lambda a, width: f"{a % (1 << width):b}".count("1"),
    "math.ctlz": lambda a, width: width - (a % (1 << width)).bit_length(),
    "math.cttz": lambda a, width: next((i for i in range(width) if a >> i & 1), width),
}


def signed(value: int, width: int) -> int:
    """The low `width` bits of `value` as a signed number."""
    value &= (1 << width) - 1
    return value - (value >> (width - 1) << width)


def numbers() -> np.ndarray:
    seed = int(np.random.default_rng().integers(1 << 30))
    print("seed", seed)
    edges = [0, 1, 2, 3, 7, 8, -1, -2, 1 << 20, -(1 << 23), (1 << 23) - 1]
    values = np.random.default_rng(seed).integers(-(1 << 31), 1 << 31, 128)
    values[: len(edges)] = edges
    return values.astype(np.int32).reshape(8, 16)


def computed(width: int, op: str, x: np.ndarray) -> np.ndarray:
    """`op` of the last `width` bits of each element of x, and of three if it takes two, as a signed number."""
    operands = "%t" if op in ALONE else "%t, %three"
    kind = f"vector<8x16xi{width}>"
    cast = "trunci" if width < 32 else "extsi"
    back = "extsi" if width < 32 else "trunci"
    result = np.zeros_like(x)
    run(
        "subgroup",
        f"""%a = vector.load %x[%c0, %c0] : memref<8x16xi32>, vector<8x16xi32>
        %three = arith.constant dense<{DIVISOR}> : {kind}
        %t = arith.{cast} %a : vector<8x16xi32> to {kind}
        %r = {op} {operands} : {kind}
        %w = arith.{back} %r : {kind} to vector<8x16xi32>
        vector.store %w, %result[%c0, %c0] : memref<8x16xi32>, vector<8x16xi32>""",
        x=x,
        result=result,
    )
    return result


@pytest.mark.parametrize("width", [4, 7, 12, 24])
@pytest.mark.parametrize("op", [*SIGNED, *UNSIGNED])
def test_arithmetic(op: str, width: int):
    x = numbers()
    result = computed(width, op, x)
    for a, found in zip(x.ravel().tolist(), result.ravel().tolist(), strict=True):
        a = signed(a, width)
        exact = SIGNED[op](a, DIVISOR) if op in SIGNED else UNSIGNED[op](a % (1 << width), DIVISOR)
        assert found == signed(exact, width), (a, op, width)


@pytest.mark.parametrize("width", [4, 7, 12, 24])
@pytest.mark.parametrize("op", ALONE)
def test_of_one_operand(op: str, width: int):
    """Also the least number, which has no absolute value, and zero, which has no first bit."""
    x = numbers()
    x[0, :2] = -(1 << (width - 1)), 0
    result = computed(width, op, x)
    for a, found in zip(x.ravel().tolist(), result.ravel().tolist(), strict=True):
        exact = ALONE[op](signed(a, width), width)
        assert found == signed(exact, width), (a, op, width)


@pytest.mark.parametrize("width", [4, 12, 24])
@pytest.mark.parametrize("op", ["usub.sat", "fshl", "fshr"])
def test_saturating_differences_and_funnel_shifts(op: str, width: int):
    """Of numbers without a sign; shifts by any number, whose rest by the width counts."""
    x = numbers().reshape(-1)[:48].astype(np.int64).reshape(3, 16)
    result = np.zeros(16, np.int64)
    kind = f"i{width}"
    operands, kinds = ("%n0, %n1, %n2", [kind] * 3) if op.startswith("fsh") else ("%n0, %n1", [kind] * 2)
    loads = "\n".join(
        f"""%row{i} = arith.constant {i} : index
        %a{i} = memref.load %x[%row{i}, %lane] : memref<3x16xi64>
        %n{i} = arith.trunci %a{i} : i64 to {kind}"""
        for i in range(3)
    )
    run(
        "lane",
        f"""%lane = gpu.lane_id
        {loads}
        %r = llvm.intr.{op}({operands}) : ({", ".join(kinds)}) -> {kind}
        %w = arith.extui %r : {kind} to i64
        memref.store %w, %result[%lane] : memref<16xi64>""",
        x=x,
        result=result,
    )
    low = (1 << width) - 1
    for a, b, by, found in zip(*(x & low).tolist(), result.tolist(), strict=True):
        if op == "usub.sat":
            exact = max(0, a - b)
        else:
            both, left = a << width | b, by % width
            exact = both << left >> width if op == "fshl" else both >> left
        assert found == exact & low, (a, b, by, op, width)


@pytest.mark.parametrize("width", [2, 5, 8, 20, 32, 64])
def test_reversed_bits(width: int):
    x = numbers().reshape(-1)[:16].astype(np.int64)
    result = np.zeros_like(x)
    kind = f"i{width}"
    there, back = ("arith.trunci", "arith.extsi") if width < 64 else ("arith.bitcast", "arith.bitcast")
    run(
        "lane",
        f"""%lane = gpu.lane_id
        %a = memref.load %x[%lane] : memref<16xi64>
        %t = {there} %a : i64 to {kind}
        %r = llvm.intr.bitreverse(%t) : ({kind}) -> {kind}
        %w = {back} %r : {kind} to i64
        memref.store %w, %result[%lane] : memref<16xi64>""",
        x=x,
        result=result,
    )
    for a, found in zip(x.tolist(), result.tolist(), strict=True):
        text = f"{a % (1 << width):0{width}b}"
        assert found == signed(int(text[::-1], 2), width)


def test_transposed_by_reversing_bits():
    # LLVM makes the address of element (i, j) of lane 2 j + i a reversal of the lane's last two bits.
    x = np.arange(4, dtype=np.float16).reshape(4, 1)
    result = np.zeros((2, 2), np.float16)
    run(
        "subgroup",
        """%a = vector.load %x[%c0, %c0] : memref<4x1xf16>, vector<4x1xf16>
        %b = vector.shape_cast %a : vector<4x1xf16> to vector<2x2xf16>
        vector.transfer_write %b, %result[%c0, %c0] {permutation_map = affine_map<(d0, d1) -> (d1, d0)>}
            : vector<2x2xf16>, memref<2x2xf16>""",
        x=x,
        result=result,
    )
    np.testing.assert_array_equal(result, x.reshape(2, 2).T)


@pytest.mark.parametrize(("count", "width"), [(8, 4), (32, 4), (4, 2), (40, 2), (5, 3), (3, 12)])
def test_vectors_in_memory(count: int, width: int):
    # Their bits lie side by side. Lanes have 16 bytes each, and must leave alone what is behind the vector.
    used = (count * width + 7) // 8
    x = np.random.default_rng(count).integers(0, 256, (16, 16), np.uint8)
    result = np.full((16, 16), 0xAB, np.uint8)
    kind = f"vector<{count}xi{width}>"
    place = """%{0}_at = memref.extract_aligned_pointer_as_index %{0} : memref<16x16xi8> -> index
        %{0}_own = arith.addi %{0}_at, %offset : index
        %{0}_number = arith.index_cast %{0}_own : index to i64
        %{0}_pointer = llvm.inttoptr %{0}_number : i64 to !llvm.ptr<1>"""
    run(
        "lane",
        f"""%lane = gpu.lane_id
        %bytes = arith.constant 16 : index
        %offset = arith.muli %lane, %bytes : index
        {place.format("x")}
        {place.format("result")}
        %v = llvm.load %x_pointer {{alignment = 1 : i64}} : !llvm.ptr<1> -> {kind}
        %one = arith.constant dense<1> : {kind}
        %next = arith.addi %v, %one : {kind}
        llvm.store %next, %result_pointer {{alignment = 1 : i64}} : {kind}, !llvm.ptr<1>""",
        x=x.view(np.int8),
        result=result.view(np.int8),
    )
    for before, after in zip(x, result, strict=True):
        number, found = (int.from_bytes(row[:used].tobytes(), "little") for row in (before, after))
        low = (1 << width) - 1
        expected = sum((((number >> i * width) + 1) & low) << i * width for i in range(count))
        assert found == expected
        assert (after[used:] == 0xAB).all()


@pytest.mark.parametrize("width", [3, 8])
def test_extended_by_signs_and_then_by_zeros(width: int):
    x = numbers()
    result = np.zeros_like(x)
    run(
        "subgroup",
        f"""%a = vector.load %x[%c0, %c0] : memref<8x16xi32>, vector<8x16xi32>
        %t = arith.trunci %a : vector<8x16xi32> to vector<8x16xi{width}>
        %s = arith.extsi %t : vector<8x16xi{width}> to vector<8x16xi16>
        %w = arith.extui %s : vector<8x16xi16> to vector<8x16xi32>
        vector.store %w, %result[%c0, %c0] : memref<8x16xi32>, vector<8x16xi32>""",
        x=x,
        result=result,
    )
    expected = [signed(a, width) & 0xFFFF for a in x.ravel().tolist()]
    assert result.ravel().tolist() == expected
