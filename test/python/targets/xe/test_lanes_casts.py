# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Casts between all types of elements, where a lane has one element, several, or not a power of two."""

from collections.abc import Iterator

import numpy as np
import pytest
from xegpu_programs import DTYPES, assert_same, numbers, run

BITS = {"f16": 16, "bf16": 16, "f32": 32, "i8": 8, "i16": 16, "i32": 32, "i64": 64}
SEED = int(np.random.default_rng().integers(1 << 30))


def casts(source: str, target: str) -> Iterator[str]:
    """The operations that turn `source` into `target`."""
    floats = source.startswith(("f", "b")), target.startswith(("f", "b"))
    narrows = BITS[source] > BITS[target]
    if floats == (False, True):
        yield from ("sitofp", "uitofp")
    elif floats == (True, False):
        yield from ("fptosi", "fptoui")
    elif BITS[source] != BITS[target]:
        names = ("truncf",) if narrows else ("extf",)
        yield from names if floats == (True, True) else ("trunci",) if narrows else ("extsi", "extui")


@pytest.mark.parametrize("shape", [(1, 16), (16,), (1, 1), (3, 16), (5,)])
@pytest.mark.parametrize("source", BITS)
def test_casts(source, shape):
    print("seed", SEED)
    text = "x".join(map(str, shape))
    at = ", ".join(["%c0"] * len(shape))
    a = numbers(source, *shape, seed=SEED)
    lines = [f"%v = vector.load %a[{at}] : memref<{text}x{source}>, vector<{text}x{source}>"]
    if source.startswith("i"):
        lines.append(f"%magnitude = math.absi %v : vector<{text}x{source}>")
    else:
        lines.append(f"%magnitude = math.absf %v : vector<{text}x{source}>")
    results, expected = {}, {}
    kind = f"vector<{text}x{source}>"
    for target in BITS:
        for cast in casts(source, target):
            unsigned = cast in ("uitofp", "fptoui", "extui")
            name, operand = f"r{len(results)}", "magnitude" if unsigned else "v"
            lines.append(f"%{name}v = arith.{cast} %{operand} : {kind} to vector<{text}x{target}>")
            lines.append(f"vector.store %{name}v, %{name}[{at}] : memref<{text}x{target}>, vector<{text}x{target}>")
            results[name] = numbers(target, *shape, seed=SEED + 1)
            expected[name] = (np.abs(a) if unsigned else a).astype(DTYPES[target])
    run("subgroup", "\n".join(lines), a=a, **results)
    for name, result in results.items():
        assert_same(result, expected[name])


@pytest.mark.parametrize("target", ["bf16", "f16"])
@pytest.mark.parametrize("shape", [(1, 16), (16, 1), (1, 48)])
def test_rounding_to_nearest_even(target, shape):
    # Halves of the last place, those next to them, and what no narrow float holds.
    bits = {"bf16": 0x3F808000, "f16": 0x3F801000}[target]
    step = {"bf16": 0x8000, "f16": 0x1000}[target]
    patterns = [bits + step * i + j for i in range(4) for j in (-1, 0, 1)]
    patterns += [0x7F7FFFFF, 0xFF800000, 0x80000000, 0x00000001]
    a = np.resize(np.array(patterns, np.uint32), shape).view(np.float32)
    r = np.zeros(shape, DTYPES[target])
    text = "x".join(map(str, shape))
    run(
        "subgroup",
        f"""%v = vector.load %a[%c0, %c0] : memref<{text}xf32>, vector<{text}xf32>
        %t = arith.truncf %v : vector<{text}xf32> to vector<{text}x{target}>
        vector.store %t, %r[%c0, %c0] : memref<{text}x{target}>, vector<{text}x{target}>""",
        a=a,
        r=r,
    )
    with np.errstate(over="ignore"):
        assert_same(r, a.astype(DTYPES[target]))


@pytest.mark.parametrize("cast", ["sitofp", "uitofp"])
@pytest.mark.parametrize("target", ["f16", "bf16", "f32"])
def test_bits_to_floats(cast, target):
    """A signed bit that is set is -1."""
    print("seed", SEED)
    a, b = (numbers("i32", 3, 16, seed=SEED + i) for i in (0, 1))
    result = numbers(target, 3, 16, seed=SEED + 2)
    run(
        "subgroup",
        f"""
        %v = vector.load %a[%c0, %c0] : memref<3x16xi32>, vector<3x16xi32>
        %w = vector.load %b[%c0, %c0] : memref<3x16xi32>, vector<3x16xi32>
        %less = arith.cmpi slt, %v, %w : vector<3x16xi32>
        %x = arith.{cast} %less : vector<3x16xi1> to vector<3x16x{target}>
        vector.store %x, %r[%c0, %c0] : memref<3x16x{target}>, vector<3x16x{target}>
        """,
        a=a,
        b=b,
        r=result,
    )
    assert_same(result, np.where(a < b, -1 if cast == "sitofp" else 1, 0).astype(DTYPES[target]))
