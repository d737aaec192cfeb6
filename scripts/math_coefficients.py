#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Fit and print the coefficients of InlineMath.cpp and InlineGelu.cpp in cpp/xetile/Target/Cpu/Lowering, with the
largest errors in 2^-24.

Weighted least squares whose weights follow the errors (Lawson's iteration) come near the smallest largest error. The
lowest coefficient is rounded to f32 and the rest is fitted again, until all are. Needs NumPy; the last bits may differ
between its versions.
"""

import math

import numpy as np
from numpy.typing import NDArray

Points = NDArray[np.float64]

ERF_END = 3.93
ERF_SCALE = float.fromhex("0x1.5aba64p+0")
"""Of some hundred factors the one with the least error when the quotient is computed in f32."""


BF16_END, F16_END = 12.9, 5.8
"""Of t = |x| in GELU: 2^(log2 P(-t)) is no normal f32 soon after the first, t P(-t) rounds to 0 in f16 from the second.
"""


def nodes(low: float, high: float, count: int = 3000) -> Points:
    points: Points = (low + high) / 2 + (high - low) / 2 * np.cos(np.pi * (np.arange(count) + 0.5) / count)
    return points


def rounded(value: float) -> float:
    return float(np.float32(value))


def lawson(terms: Points, values: Points, weights: Points) -> Points:
    """Factors of `terms` (points x factors) whose sums are near `values`."""
    share, best, least = np.ones(len(values)) / len(values), np.zeros(0), np.inf
    for _ in range(400):
        row = np.sqrt(share) * weights
        factors = np.linalg.lstsq(terms * row[:, None], values * row, rcond=None)[0]
        error = np.abs(weights * (terms @ factors - values))
        if error.max() < least:
            least, best = error.max(), factors
        share *= error / error.max() + 1e-3
        share /= share.sum()
    return best


def polynomial(x: Points, values: Points, weights: Points, degree: int) -> tuple[float, list[float]]:
    known: list[float] = []
    left = values.copy()
    for first in range(degree + 1):
        terms = np.stack([x**power for power in range(first, degree + 1)], 1)
        known.append(rounded(lawson(terms, left, weights)[0]))
        left = left - known[-1] * x**first
    return float(np.abs(weights * left).max()), known


def quotient(x: Points, values: Points, degree: int) -> tuple[float, list[float], list[float]]:
    """P and Q with Q(0) = 1 from P - values Q = 0, divided by the Q of the step before."""
    size, below, share, least = x.max(), np.ones_like(x), np.ones(len(x)) / len(x), np.inf
    powers = np.stack([(x / size) ** power for power in range(degree + 1)], 1)
    terms = np.concatenate([powers, -values[:, None] * powers[:, 1:]], 1)
    for _ in range(600):
        row = np.sqrt(share) / np.abs(values * below)
        factors = np.linalg.lstsq(terms * row[:, None], values * row, rcond=None)[0]
        below = 1 + powers[:, 1:] @ factors[degree + 1 :]
        error = np.abs(powers @ factors[: degree + 1] / below / values - 1)
        if error.max() < least:
            least, best = error.max(), factors
        share *= error / error.max() + 1e-3
        share /= share.sum()
    units = size ** -np.arange(degree + 1.0)
    return float(least), list(best[: degree + 1] * units), [1.0, *(best[degree + 1 :] * units[1:])]


def show(name: str, error: float, coefficients: list[float]) -> None:
    print(f"{name}, {error * 2**24:.2f} of 2^-24 off:", ", ".join(value.hex() for value in coefficients))


def share_below(t: Points) -> Points:
    """The share of a normal distribution below -t."""
    return np.array([math.erfc(value / math.sqrt(2)) / 2 for value in t])


def gelu() -> None:
    """H with 2^(t H(t) - 1) = P(-t), and 2^r / 2, which is exact for r = 0."""
    for name, end, degree in (("kBf16", BF16_END, 7), ("kF16", F16_END, 6)):
        t = nodes(1e-4, end, 2000)
        below = share_below(t)
        # A quarter of the bits below -6 for bf16; f16 has fewer bits there, below 2^-14 one less for each half.
        needed = np.where(t < 6, 1, 0.25) if name == "kBf16" else np.minimum(1, 2.0**14 * t * below)
        show(name, *polynomial(t, (np.log2(below) + 1) / t, t * math.log(2) * needed, degree))
    r = nodes(-0.5, 0.5, 2000)
    r = r[np.abs(r) > 1e-3]
    error, rest = polynomial(r, (2.0**r - 1) / 2 / r, np.abs(r) / 2.0 ** (r - 1), 3)
    show("kPower", error, [0.5, *rest])


def main() -> None:
    r = nodes(-math.log(2) / 2 * 1.002, math.log(2) / 2 * 1.002, 2000)
    r = r[np.abs(r) > 1e-4]
    tail: Points = np.sum([r**k / math.factorial(k + 2) for k in range(12)], axis=0)
    show("kExp", *polynomial(r, tail, r**2 / np.exp(r), 4))
    show("kExpm1", *polynomial(r, tail, r**2 / np.abs(np.expm1(r)), 4))

    f = nodes((math.sqrt(0.5) - 1) * 1.0005, (math.sqrt(2) - 1) * 1.0005)
    series = sum((-1) ** k * f**k / (k + 3) for k in range(14))
    tail = np.where(np.abs(f) > 0.05, (np.log1p(f) - f + f * f / 2) / f**3, series)
    show("kLog", *polynomial(f, tail, np.abs(f**3 / np.log1p(f)), 7))

    square = nodes(1e-6, ERF_END**2)
    x = np.sqrt(square)
    error, above, below = quotient(square, np.array([math.erf(value) for value in x]) / x, 5)
    show("kErfAbove", error, [rounded(value * ERF_SCALE) for value in above])
    show("kErfBelow", error, [rounded(-value * ERF_SCALE) for value in below])
    gelu()


if __name__ == "__main__":
    main()
