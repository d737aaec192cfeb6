# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""NaN, infinite numbers and zeros of both signs, each with each, through what bounds floats."""

from __future__ import annotations

import math

import pytest
import torch
import torch.nn.functional as F
from compiled import compiled

_VALUES = [math.nan, math.inf, -math.inf, 0.0, -0.0, 0.5, 1.0, -2.0, 3.0, 7.0, -7.25]
_TYPES = [torch.float32, torch.float64, torch.float16, torch.bfloat16]
_BOUNDS = {
    "clamp": lambda x, y: x.clamp(-1, 1),
    "clamp below and above exchanged": lambda x, y: x.clamp(1, -1),
    "clamp by NaN": lambda x, y: x.clamp(math.nan, 1),
    "clamp from below": lambda x, y: x.clamp_min(0),
    "clamp from above": lambda x, y: torch.clip(x, None, 0.1),
    "clamp by tensors": lambda x, y: torch.clamp(x, y, y + 1),
    "clamp by a tensor from below": lambda x, y: torch.clamp_min(x, y),
    "clamp by a tensor from above": lambda x, y: torch.clamp_max(x, y),
    "maximum": torch.maximum,
    "minimum": torch.minimum,
    "maximum with a number of f32": lambda x, y: torch.maximum(x, torch.tensor(0.5)),
    "hardtanh": lambda x, y: F.hardtanh(x, -2, 0.25),
    "relu6": lambda x, y: F.relu6(x),
    "relu": lambda x, y: F.relu(x),
    "hardsigmoid": lambda x, y: F.hardsigmoid(x),
    "hardswish": lambda x, y: F.hardswish(x),
    "fmax": torch.fmax,
    "fmin": torch.fmin,
    "amax": lambda x, y: x.reshape(11, 11).amax(1),
    "amin": lambda x, y: x.reshape(11, 11).amin(1),
    "logaddexp": torch.logaddexp,
}


def _compare(functions, dtype):
    x = torch.tensor(_VALUES, dtype=dtype).repeat_interleave(len(_VALUES))
    y = torch.tensor(_VALUES, dtype=dtype).repeat(len(_VALUES))

    def each(x, y):
        return tuple(function(x, y) for function in functions.values())

    torch._dynamo.reset()
    for name, got, want in zip(functions, compiled(each)(x, y), each(x, y), strict=True):
        torch.testing.assert_close(got, want, equal_nan=True, msg=lambda text, name=name: f"{name}: {text}")


@pytest.mark.parametrize("dtype", _TYPES, ids=str)
def test_bounds_of_floats_that_are_no_numbers_are_pytorchs(dtype):
    _compare(_BOUNDS, dtype)


_EQUALITY = {
    "equal": lambda x, y: x == y,
    "equal to itself": lambda x, y: x == x,  # noqa: PLR0124
    "unequal to itself": lambda x, y: x != x,  # noqa: PLR0124
    "close to itself": lambda x, y: torch.isclose(x, x),
    "close": lambda x, y: torch.isclose(x, y, rtol=0.1, atol=0.5),
    "close, NaN equal": lambda x, y: torch.isclose(x, y, equal_nan=True),
    "exactly": lambda x, y: torch.isclose(x, y, rtol=0, atol=0),
}


@pytest.mark.parametrize("dtype", _TYPES, ids=str)
def test_nan_is_equal_to_nothing(dtype):
    _compare(_EQUALITY, dtype)


_QUOTIENTS = {
    "rounded down": lambda x, y: x // y,
    "rounded down by a number": lambda x, y: x // 0.1,
    "of a number": lambda x, y: torch.div(1.0, y, rounding_mode="floor"),
    "divided, rounded down": lambda x, y: torch.div(x, y, rounding_mode="floor"),
    "divided, rounded to zero": lambda x, y: torch.div(x, y, rounding_mode="trunc"),
    "fmod": torch.fmod,
    "fmod of a number": lambda x, y: torch.fmod(x, 2.5),
    "remainder": torch.remainder,
    "remainder of a number": lambda x, y: torch.remainder(x, -2.5),
}


@pytest.mark.parametrize("dtype", _TYPES, ids=str)
def test_quotients_and_remainders_are_pytorchs(dtype):
    _compare(_QUOTIENTS, dtype)
