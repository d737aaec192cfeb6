# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""dpas on a subgroup's vectors of any size that the instruction divides, against NumPy."""

import numpy as np
import pytest
from xegpu_programs import DTYPES, assert_same, numbers, run
from xetile import XeTileError

SEED = int(np.random.default_rng().integers(1 << 30))


def load(name: str, rows: int, columns: int, dtype: str) -> str:
    tile = f"!xegpu.tensor_desc<{rows}x{columns}x{dtype}>"
    return f"""%t{name} = xegpu.create_nd_tdesc %{name} : memref<{rows}x{columns}x{dtype}> -> {tile}
      %{name}v = xegpu.load_nd %t{name}[0, 0] : {tile} -> vector<{rows}x{columns}x{dtype}>"""


def store(value: str, name: str, rows: int, columns: int, dtype: str) -> str:
    tile = f"!xegpu.tensor_desc<{rows}x{columns}x{dtype}>"
    return f"""%t{name} = xegpu.create_nd_tdesc %{name} : memref<{rows}x{columns}x{dtype}> -> {tile}
      xegpu.store_nd {value}, %t{name}[0, 0] : vector<{rows}x{columns}x{dtype}>, {tile}"""


def multiply(m: int, n: int, k: int, element: str, out: str, accumulate: bool = True) -> None:
    """Integers small enough that every order of summation is exact."""
    print("seed", SEED)
    generator = np.random.default_rng(SEED)
    low, high = (-8, 8) if element in ("i8", "i32") else (-3, 4)
    a, b = (generator.integers(low, high, shape).astype(DTYPES[element]) for shape in ((m, k), (k, n)))
    c = generator.integers(-9, 9, (m, n)).astype(DTYPES[out])
    expected = (a.astype(np.int64) @ b.astype(np.int64) + (c.astype(np.int64) if accumulate else 0)).astype(DTYPES[out])
    shapes = f"vector<{m}x{k}x{element}>, vector<{k}x{n}x{element}>"
    acc, acc_type = (", %cv", f", vector<{m}x{n}x{out}>") if accumulate else ("", "")
    body = "\n".join(
        [
            load("a", m, k, element),
            load("b", k, n, element),
            load("c", m, n, out) if accumulate else "",
            f"%d = xegpu.dpas %av, %bv{acc} : {shapes}{acc_type} -> vector<{m}x{n}x{out}>",
            store("%d", "r", m, n, out),
        ]
    )
    r = numbers(out, m, n, seed=SEED + 1)
    run("subgroup", body, a=a, b=b, c=c, r=r)
    assert_same(r, expected)


@pytest.mark.one_in(5)
@pytest.mark.parametrize("m", [1, 2, 3, 4, 5, 6, 7, 8, 24])
@pytest.mark.parametrize(
    ("element", "out", "k"), [("f16", "f32", 16), ("bf16", "f32", 32), ("i8", "i32", 32), ("f32", "f32", 16)]
)
def test_rows(m, element, out, k):
    multiply(m, 32, k, element, out)


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("element", "out"), [("f16", "f16"), ("bf16", "bf16"), ("f16", "f32"), ("i8", "i32"), ("f32", "f32")]
)
@pytest.mark.parametrize("accumulate", [True, False])
def test_accumulators(element, out, accumulate):
    multiply(16, 32, 64, element, out, accumulate)


SIGNS = {
    (np.int8, np.int8): ("i8", ""),
    (np.uint8, np.uint8): ("ui8", ""),
    (np.uint8, np.int8): ("si8", '{xetile.unsigned_operand = "a"}'),
    (np.int8, np.uint8): ("si8", '{xetile.unsigned_operand = "b"}'),
}


def dpas_of_bytes(kind: str, attributes: str) -> str:
    """8 x 16 x 64 of bytes that are seen as `kind`."""
    return "\n".join(
        [
            load("a", 8, 64, "i8"),
            load("b", 64, 16, "i8"),
            f"%x = vector.bitcast %av : vector<8x64xi8> to vector<8x64x{kind}>",
            f"%y = vector.bitcast %bv : vector<64x16xi8> to vector<64x16x{kind}>",
            f"%d = xegpu.dpas %x, %y {attributes} : vector<8x64x{kind}>, vector<64x16x{kind}> -> vector<8x16xi32>",
            store("%d", "r", 8, 16, "i32"),
        ]
    )


@pytest.mark.parametrize("signs", SIGNS)
def test_signs_of_bytes(signs):
    print("seed", SEED)
    generator = np.random.default_rng(SEED)
    a, b = (
        generator.integers(np.iinfo(sign).min, np.iinfo(sign).max, shape, sign, endpoint=True)
        for sign, shape in zip(signs, ((8, 64), (64, 16)), strict=True)
    )
    r = numbers("i32", 8, 16)
    run("subgroup", dpas_of_bytes(*SIGNS[signs]), a=a.view(np.int8), b=b.view(np.int8), r=r)
    assert_same(r, a.astype(np.int32) @ b.astype(np.int32))


@pytest.mark.parametrize(("kind", "attributes"), [("si8", ""), ("i8", '{xetile.unsigned_operand = "a"}')])
def test_bytes_whose_signs_are_not_told_are_refused(kind, attributes):
    a, b, r = numbers("i8", 8, 64), numbers("i8", 64, 16), numbers("i32", 8, 16)
    with pytest.raises(XeTileError, match=r"multiplies .*i8.* xetile.unsigned_operand; expected it on products of si8"):
        run("subgroup", dpas_of_bytes(kind, attributes), a=a, b=b, r=r)


def test_nibbles():
    """Four bits an element, the lower nibble first; B is packed along k in dwords."""
    generator = np.random.default_rng(SEED)
    a, b = generator.integers(-8, 8, (8, 64)), generator.integers(-8, 8, (64, 16))
    packed_a = ((a[:, 0::2] & 15) | ((a[:, 1::2] & 15) << 4)).astype(np.uint8).view(np.int8)
    nibbles = (b.reshape(8, 8, 16).transpose(0, 2, 1) & 15).astype(np.uint32)
    packed_b = np.zeros((8, 16), np.uint32)
    for i in range(8):
        packed_b |= nibbles[:, :, i] << np.uint32(4 * i)
    r = numbers("i32", 8, 16)
    body = "\n".join(
        [
            load("a", 8, 32, "i8"),
            load("b", 8, 16, "i32"),
            """%a4 = vector.bitcast %av : vector<8x32xi8> to vector<8x64xi4>
            %b4 = vector.bitcast %bv : vector<8x16xi32> to vector<8x128xi4>
            %b3 = vector.shape_cast %b4 : vector<8x128xi4> to vector<8x16x8xi4>
            %d = xegpu.dpas %a4, %b3 : vector<8x64xi4>, vector<8x16x8xi4> -> vector<8x16xi32>""",
            store("%d", "r", 8, 16, "i32"),
        ]
    )
    run("subgroup", body, a=packed_a, b=packed_b.view(np.int32), r=r)
    assert_same(r, (a @ b).astype(np.int32))


def test_packed_b():
    a, b = numbers("f16", 8, 16, seed=SEED), numbers("f16", 16, 16, seed=SEED + 1)
    r = numbers("f32", 8, 16)
    body = f"""{load("a", 8, 16, "f16")}
      %tb = xegpu.create_nd_tdesc %b : memref<16x16xf16> -> !xegpu.tensor_desc<16x16xf16>
      %bv = xegpu.load_nd %tb[0, 0] <{{packed}}> : !xegpu.tensor_desc<16x16xf16> -> vector<8x16x2xf16>
      %d = xegpu.dpas %av, %bv : vector<8x16xf16>, vector<8x16x2xf16> -> vector<8x16xf32>
      {store("%d", "r", 8, 16, "f32")}"""
    run("subgroup", body, a=a, b=b, r=r)
    assert_same(r, a.astype(np.float32) @ b.astype(np.float32))


@pytest.mark.parametrize(
    ("element", "k", "out"), [("f16", 32, "f32"), ("bf16", 16, "f32"), ("i8", 64, "i32"), ("f32", 16, "f32")]
)
@pytest.mark.parametrize("way", ["load", "vector"])
def test_b_transposed_in_memory(element, k, out, way):
    """B is n x k in memory: transposed by the load, in dwords, or by vector.transpose."""
    generator = np.random.default_rng(SEED)
    a, b = (generator.integers(-4, 5, (rows, k)).astype(DTYPES[element]) for rows in (16, 32))
    r = numbers(out, 16, 32)
    tile = f"!xegpu.tensor_desc<32x{k}x{element}>"
    if way == "load":
        turned = f"""%bv = xegpu.load_nd %tb[0, 0] <{{transpose = array<i64: 1, 0>}}> : {tile}
          -> vector<{k}x32x{element}>"""
    else:
        turned = f"""%bt = xegpu.load_nd %tb[0, 0] : {tile} -> vector<32x{k}x{element}>
          %bv = vector.transpose %bt, [1, 0] : vector<32x{k}x{element}> to vector<{k}x32x{element}>"""
    body = f"""{load("a", 16, k, element)}
      %tb = xegpu.create_nd_tdesc %b : memref<32x{k}x{element}> -> {tile}
      {turned}
      %d = xegpu.dpas %av, %bv : vector<16x{k}x{element}>, vector<{k}x32x{element}> -> vector<16x32x{out}>
      {store("%d", "r", 16, 32, out)}"""
    run("subgroup", body, a=a, b=b, r=r)
    assert_same(r, (a.astype(np.float64) @ b.astype(np.float64).T).astype(DTYPES[out]))


def test_attention_of_one_subgroup():
    """dpas, softmax of its rows, dpas: the result's lanes become those of an operand."""
    q, k, v = (numbers("f16", 16, 64, seed=SEED + i) / np.float16(16) for i in range(3))
    q, k, v = (x.astype(np.float16) for x in (q, k, v))
    r = numbers("f32", 16, 64)
    body = f"""{load("q", 16, 64, "f16")}
      %tk = xegpu.create_nd_tdesc %k : memref<16x64xf16> -> !xegpu.tensor_desc<16x64xf16>
      %kt = xegpu.load_nd %tk[0, 0] <{{transpose = array<i64: 1, 0>}}>
        : !xegpu.tensor_desc<16x64xf16> -> vector<64x16xf16>
      {load("v", 16, 64, "f16")}
      %s = xegpu.dpas %qv, %kt : vector<16x64xf16>, vector<64x16xf16> -> vector<16x16xf32>
      %low = arith.constant dense<-1.0e30> : vector<16xf32>
      %zero = arith.constant dense<0.0> : vector<16xf32>
      %max = vector.multi_reduction <maximumf>, %s, %low [1] : vector<16x16xf32> to vector<16xf32>
      %c = vector.shape_cast %max : vector<16xf32> to vector<16x1xf32>
      %mb = vector.broadcast %c : vector<16x1xf32> to vector<16x16xf32>
      %d = arith.subf %s, %mb : vector<16x16xf32>
      %e = math.exp %d : vector<16x16xf32>
      %sum = vector.multi_reduction <add>, %e, %zero [1] : vector<16x16xf32> to vector<16xf32>
      %p = arith.truncf %e : vector<16x16xf32> to vector<16x16xf16>
      %o = xegpu.dpas %p, %vv : vector<16x16xf16>, vector<16x64xf16> -> vector<16x64xf32>
      %sc = vector.shape_cast %sum : vector<16xf32> to vector<16x1xf32>
      %sb = vector.broadcast %sc : vector<16x1xf32> to vector<16x64xf32>
      %w = arith.divf %o, %sb : vector<16x64xf32>
      {store("%w", "r", 16, 64, "f32")}"""
    run("subgroup", body, q=q, k=k, v=v, r=r)
    s = q.astype(np.float32) @ k.astype(np.float32).T
    e = np.exp(s - s.max(1, keepdims=True))
    expected = e.astype(np.float16).astype(np.float32) @ v.astype(np.float32) / e.sum(1, keepdims=True)
    np.testing.assert_allclose(r, expected, rtol=2e-3, atol=1e-3)
