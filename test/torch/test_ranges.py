# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ranges of numbers: integers between two numbers are those of PyTorch, to the last bit of what they are cut from."""

from __future__ import annotations

import random

import pytest
import torch
import xetile
import xetile.torch
from compiled import check, compiled


@pytest.mark.parametrize("dtype", [torch.int8, torch.uint8, torch.int16, torch.int32, torch.int64], ids=str)
def test_integers_between_numbers_are_eager_s(dtype):
    seed = random.randrange(1 << 31)
    rng = random.Random(seed)
    ends = [(rng.uniform(0, 127), rng.randint(0, 127), rng.randint(2, 200)) for _ in range(6)]

    def spaces(x):
        return tuple(x + torch.linspace(*each, dtype=dtype) for each in [*ends, (4.7, 17, 50), (3, 9, 1)]) + tuple(
            x + torch.logspace(low / 60, high / 60, steps, dtype=dtype) for low, high, steps in ends
        )

    x = torch.zeros((), dtype=dtype)
    for got, want in zip(compiled(spaces)(x), spaces(x), strict=True):
        assert got.dtype == dtype and torch.equal(got, want), (seed, ends)


def test_integers_at_the_last_bit_are_those_of_vectors_that_multiply_and_add():
    # Of one range in fifteen a number is another one if the product is rounded before it is added to.
    ends = [(start, end, steps) for start in (-19, 3) for end in range(21, 90, 4) for steps in (11, 50, 99)]

    def spaces(x):
        return tuple(x + torch.linspace(*each, dtype=torch.int64) for each in ends)

    for each, got, want in zip(ends, compiled(spaces)(torch.tensor(1)), spaces(torch.tensor(1)), strict=True):
        assert torch.equal(got, want), each


def test_integers_between_tensors_are_eager_s():
    start, end = torch.tensor(4.3), torch.tensor(17)

    def spaces(start, end):
        return (
            torch.linspace(start, end, 50, dtype=torch.int64),
            torch.linspace(start, 20, 7, dtype=torch.int32) + 1,
            torch.linspace(1.9, end, 9, dtype=torch.uint8),
        )

    for got, want in zip(compiled(spaces)(start, end), spaces(start, end), strict=True):
        assert got.dtype == want.dtype and torch.equal(got, want)


@pytest.mark.parametrize("target", [None, "bmg"])
@pytest.mark.parametrize("dtype", [torch.int8, torch.uint8, torch.int16, torch.int32, torch.int64], ids=str)
def test_steps_of_integers_between_floats_are_as_many_as_eager_s(dtype, target):
    ends = ((0, 3.1), (0.5, 3.1), (-2.5, 2.5, 1), (0, 9, 2.5), (5.5, 0, -1.5), (120, 130.5), (-0.9, 4), (0, 3, 1.0))

    def ranges(x):
        return tuple(x + torch.arange(*each, dtype=dtype) for each in ends) + (torch.arange(3.1, dtype=dtype) + x,)

    x = torch.ones((), dtype=dtype)
    for each, got, want in zip((*ends, 3.1), compiled(ranges, target=target)(x), ranges(x), strict=True):
        assert got.dtype == dtype and torch.equal(got, want), each


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_floats_between_numbers_are_near_eager_s(dtype):
    check(lambda x: x + torch.linspace(-1.5, 2, 77, dtype=dtype), torch.ones(77, dtype=dtype))


def test_an_exported_model_has_integers_between_numbers():
    class Frames(torch.nn.Module):
        def forward(self, x):
            return x[torch.linspace(0, x.shape[0] - 1, 7, dtype=torch.int64)] + torch.linspace(
                3, 9, 7, dtype=torch.uint8
            )

    x = torch.rand(33)
    kernel = xetile.compile(xetile.torch.export(Frames(), (x,)), target="cpu")
    torch.testing.assert_close(torch.from_numpy(kernel(x.numpy())), Frames()(x))
