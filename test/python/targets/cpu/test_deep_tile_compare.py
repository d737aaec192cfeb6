# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the comparison of deep-tiled matmuls must see: a product that is lost, sums that are rounded too often."""

from __future__ import annotations

import element_types
import numpy as np
import pytest
from deep_tile_cases import Problem, blocked, compare

NARROW = element_types.dtypes("bf16", "f16")
each_type = pytest.mark.parametrize("kind", NARROW)


def problem(kind: str, k: int) -> Problem:
    return Problem("plain", blocked("plain", 20, 30, k), (kind,) * 3, fill=True)


def operands(rng: np.random.Generator, kind: str, k: int) -> list[np.ndarray]:
    shapes = ((20, k), (k, 30), (20, 30))
    return [rng.uniform(-1, 1, shape).astype(NARROW[kind]) for shape in shapes]


@each_type
def test_sums_in_f32_that_are_rounded_once_pass(rng, kind):
    a, b, c = operands(rng, kind, 1000)
    compare(problem(kind, 1000), [a, b, c], (a.astype("f4") @ b.astype("f4")).astype(NARROW[kind]))


@each_type
def test_a_lost_product_fails(rng, kind):
    a, b, c = operands(rng, kind, 300)
    less = (a[:, :-1].astype("f4") @ b[:-1].astype("f4")).astype(NARROW[kind])
    with pytest.raises(AssertionError, match="times the error that is allowed"):
        compare(problem(kind, 300), [a, b, c], less)


@each_type
def test_a_lost_product_of_one_element_fails(rng, kind):
    a, b, c = operands(rng, kind, 300)
    a[3, -1], b[-1, 7] = 0.5, 0.5
    result = (a.astype("f4") @ b.astype("f4")).astype(NARROW[kind])
    # Where the sum is small: its own rounding does not hide a quarter.
    a[3, 0] = NARROW[kind].type(float(a[3, 0]) - float(result[3, 7]) / float(b[0, 7]))
    right = (a.astype("f4") @ b.astype("f4")).astype(NARROW[kind])
    compare(problem(kind, 300), [a, b, c], right)
    right[3, 7] = NARROW[kind].type(float(right[3, 7]) - 0.25)
    with pytest.raises(AssertionError, match="times the error that is allowed"):
        compare(problem(kind, 300), [a, b, c], right)


@each_type
def test_sums_that_are_rounded_in_each_step_fail(rng, kind):
    a, b, c = operands(rng, kind, 1000)
    total = np.zeros((20, 30), NARROW[kind])
    for k in range(1000):
        total = (total.astype("f4") + np.outer(a[:, k].astype("f4"), b[k].astype("f4"))).astype(NARROW[kind])
    with pytest.raises(AssertionError, match="times the error that is allowed"):
        compare(problem(kind, 1000), [a, b, c], total)


def test_what_is_no_number_fails(rng):
    a, b, c = operands(rng, "f16", 5)
    result = (a.astype("f4") @ b.astype("f4")).astype("f2")
    result[-1, -1] = np.nan
    with pytest.raises(AssertionError, match="times the error that is allowed"):
        compare(problem("f16", 5), [a, b, c], result)
