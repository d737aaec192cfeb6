# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Roundings to bf16 and f16 on the CPU, against exact arithmetic of integers: each number is rounded once."""

from __future__ import annotations

from fractions import Fraction

import element_types
import numpy as np
import pytest
from deep_tile_cases import compile_text

DTYPES = element_types.scalars("bf16", "f16", "f32", "f64")
# Bits of the mantissa, the first one too, and the least and greatest exponent of a normal number.
FORMATS = {"bf16": (8, -126, 127), "f16": (11, -14, 15)}


def rounded(value: Fraction, kind: str) -> float:
    """To nearest, ties to even."""
    digits, least, greatest = FORMATS[kind]
    size = abs(value)
    if size == 0:
        return 0.0
    exponent = max(size.numerator.bit_length() - size.denominator.bit_length(), least - 1)
    while size >= Fraction(2) ** (exponent + 1):
        exponent += 1
    while exponent > least and size < Fraction(2) ** exponent:
        exponent -= 1
    step = Fraction(2) ** (max(exponent, least) - digits + 1)
    result = round(size / step) * step  # Python's round is to even
    if result >= Fraction(2) ** (greatest + 1):
        return float("inf") if value > 0 else float("-inf")
    return float(result) if value > 0 else -float(result)


def convert(op: str, source: str, target: str, values: np.ndarray) -> np.ndarray:
    count = values.size
    kernel = compile_text(
        f"""
  %e = tensor.empty() : tensor<{count}x{target}>
  %r = linalg.generic {{
      indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}}
      ins(%a : tensor<{count}x{source}>) outs(%e : tensor<{count}x{target}>) {{
  ^bb0(%x: {source}, %o: {target}):
    %y = {op} %x : {source} to {target}
    linalg.yield %y : {target}
  }} -> tensor<{count}x{target}>
  return %r : tensor<{count}x{target}>""",
        f"(%a: tensor<{count}x{source}>) -> tensor<{count}x{target}>",
        threads=1,
    )
    out = np.full(count, np.nan, DTYPES[target])
    kernel(values, out=out)
    return out.astype(np.float64)


def near_ties(rng: np.random.Generator, bits: int, digits: int) -> list[int]:
    """Integers of up to `bits` bits, halfway between two neighbours of `digits` digits, and one beside that: what a
    rounding on the way makes a tie of."""
    found = []
    for length in range(digits + 1, bits + 1):
        step = 1 << (length - digits)
        for _ in range(8):
            middle = int(rng.integers(1 << (digits - 1), 1 << digits)) * step + step // 2
            found += [middle - 1, middle, middle + 1]
    return [value for value in found if value < 1 << bits]


@pytest.mark.parametrize("bits", [8, 16, 32, 64])
@pytest.mark.parametrize("op", ["arith.sitofp", "arith.uitofp"])
def test_integers_are_rounded_once_to_bf16(rng, op, bits):
    signed = op == "arith.sitofp"
    top = bits - 1 if signed else bits
    values = [0, 1, (1 << top) - 1, *near_ties(rng, top, 8)]
    if bits >= 32:
        values.append(16842753)  # through f32 it becomes the tie 16842752, and that 16777216
    if signed:
        values += [-value for value in values] + [-(1 << top)]
    array = np.array([value & ((1 << bits) - 1) for value in values], f"u{bits // 8}").view(f"i{bits // 8}")
    got = convert(op, f"i{bits}", "bf16", array)
    np.testing.assert_array_equal(got, [rounded(Fraction(value), "bf16") for value in values])


@pytest.mark.parametrize("target", ["bf16", "f16"])
def test_doubles_are_rounded_once(rng, target):
    digits, least, greatest = FORMATS[target]
    ties = np.array(near_ties(rng, digits + 40, digits)[-8 * 3 * 20 :], np.float64)
    scales = np.ldexp(1.0, rng.integers(least - 60, greatest - 48, ties.size))
    values = np.concatenate([ties * scales, -ties * scales, [0.0, -0.0, 1e300, -1e300, 5e-324]])
    got = convert("arith.truncf", "f64", target, values)
    expected = [rounded(Fraction(value), target) for value in values]
    np.testing.assert_array_equal(got, expected)
    special = convert("arith.truncf", "f64", target, np.array([np.inf, -np.inf, np.nan]))
    np.testing.assert_array_equal(special, [np.inf, -np.inf, np.nan])


def test_floats_are_rounded_to_bf16_and_nan_of_any_bits_stays(rng):
    bits = rng.integers(0, 1 << 32, 4000, dtype=np.uint32)
    # Halfway, beside it, the largest finite ones, NaNs whose upper half looks like infinity.
    bits[:1000] = bits[:1000] & 0xFFFF0000 | 0x8000
    bits[1000:1100] += 1
    bits[:6] = [0x7F7FFFFF, 0x7F7F8000, 0x7F7F7FFF, 0x7F800001, 0xFF800001, 0x7FFFFFFF]
    values = bits.view(np.float32)
    got = convert("arith.truncf", "f32", "bf16", values)
    expected = [rounded(Fraction(float(value)), "bf16") if np.isfinite(value) else float(value) for value in values]
    np.testing.assert_array_equal(got, expected)
