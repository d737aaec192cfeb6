# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The elements of arrays that cases are run with."""

from __future__ import annotations

import numpy as np
from bounded import NUMPY, is_float


def draw_array(rng: np.random.Generator, shape: tuple[int, ...], dtype: str, data: str) -> np.ndarray:
    """`data`: "integers" are small ones; "special" has extremes, infinities and what is no number among the rest."""
    if dtype == "i1":
        return rng.integers(0, 2, shape).astype(np.bool_)
    if not is_float(dtype):
        info = np.iinfo(NUMPY[dtype])
        if data == "special":
            return np.asarray(rng.choice([info.min, info.max, -1, 0, 1], shape)).astype(NUMPY[dtype])
        low, high = (-4, 4) if data == "integers" else (info.min, info.max)
        return rng.integers(low, high, shape, endpoint=True).astype(NUMPY[dtype])
    if data == "integers":
        return np.asarray(rng.integers(-4, 5, shape)).astype(NUMPY[dtype])
    values = np.asarray(rng.standard_normal(shape))
    if data == "special":
        rare = np.asarray(rng.choice([np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-30, 3e4, -1.0], shape))
        values = np.where(np.asarray(rng.random(shape)) < 0.1, rare, values)
    with np.errstate(all="ignore"):
        return values.astype(NUMPY[dtype])
