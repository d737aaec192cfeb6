# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""NaN, infinite numbers and zeros of both signs, each with each, through what bounds floats."""

from __future__ import annotations

import math

import pytest
import torch
import torch.nn.functional as F
import xetile.torch
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
    "logaddexp2": torch.logaddexp2,
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


def test_nan_is_equal_to_nothing_in_an_exported_model():
    class Equal(torch.nn.Module):
        def forward(self, x, y):
            return tuple(function(x, y) for function in _EQUALITY.values())

    x = torch.tensor(_VALUES).repeat_interleave(len(_VALUES))
    y = torch.tensor(_VALUES).repeat(len(_VALUES))
    kernel = xetile.torch.compile(Equal(), (x, y))
    for name, got, want in zip(_EQUALITY, kernel(x, y), Equal()(x, y), strict=True):
        assert torch.from_numpy(got).equal(want), name


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


_PLACES = {
    "argmax": lambda x: (x.argmax(1), x.argmax(), x.argmax(0, keepdim=True)),
    "argmin": lambda x: (x.argmin(1), x.argmin(), x.argmin(0, keepdim=True)),
    "max": lambda x: tuple(x.max(1)),
    "min": lambda x: tuple(x.min(0, keepdim=True)),
}


@pytest.mark.parametrize("dtype", _TYPES, ids=str)
@pytest.mark.parametrize("name", _PLACES)
def test_the_place_of_an_extreme_is_that_of_the_first_nan_or_extreme(name, dtype):
    x = torch.randint(-3, 3, (7, 9)).to(dtype)
    x[1, 4] = x[1, 6] = math.nan
    x[3] = math.inf
    x[4] = -math.inf
    for got, want in zip(compiled(_PLACES[name])(x), _PLACES[name](x), strict=True):
        torch.testing.assert_close(got, want, rtol=0, atol=0, equal_nan=True)


def test_extremes_of_bools_are_or_and_and():
    x, y = torch.tensor([False, False, True, True]), torch.tensor([False, True, False, True])

    def each(x, y):
        return torch.maximum(x, y), torch.minimum(x, y), torch.clamp_min(x, y), torch.clamp_max(x, y)

    for got, want in zip(compiled(each)(x, y), each(x, y), strict=True):
        assert torch.equal(got, want)


_EAGER = {
    "logcumsumexp": (lambda x: torch.logcumsumexp(x, 1), "overflow"),
    "cummax": (lambda x: torch.cummax(x, 1).indices, "running extremes"),
    "places of windows": (lambda x: F.max_pool2d(x[None, None], 2, return_indices=True)[1], "places of NaN"),
}


@pytest.mark.parametrize("name", _EAGER)
def test_what_has_no_kernel_is_pytorchs(name, caplog):
    function, reason = _EAGER[name]
    x = 200 * torch.randn(4, 6)
    x[2, 3] = math.nan
    torch._dynamo.reset()
    caplog.set_level("INFO", "xetile.torch")
    # The rest of a graph is compiled.
    torch.testing.assert_close(compiled(lambda x: function(x) + 1)(x), function(x) + 1, equal_nan=True)
    said = " ".join(record.message for record in caplog.records if record.name == "xetile.torch")
    assert reason in said
