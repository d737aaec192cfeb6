# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations on f16 and bf16 that PyTorch rounds once, and the types of its statistics."""

from __future__ import annotations

import pytest
import torch
from compiled import compiled

NARROW = pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)


def steps(got, want, exact):
    """How far away the results are from f64, in steps of the type, ours and eager's."""
    scale = torch.finfo(got.dtype).eps * exact.abs().clamp(min=torch.finfo(got.dtype).smallest_normal)
    return [((each.double() - exact).abs() / scale).max().item() for each in (got, want)]


_ROUNDED_ONCE = {
    "number": lambda x, y: x * 3.14159265,
    "number added": lambda x, y: x + 0.1,
    "alpha": lambda x, y: torch.add(x, y, alpha=0.3),
    "logaddexp2": torch.logaddexp2,
    "addcmul": lambda x, y: torch.addcmul(x, y, y, value=0.7),
    "lerp": lambda x, y: torch.lerp(x, y, 0.3),
    "silu": lambda x, y: torch.nn.functional.silu(x),
    "softplus": lambda x, y: torch.nn.functional.softplus(y),
}


@pytest.mark.one_in(3)
@NARROW
@pytest.mark.parametrize("name", _ROUNDED_ONCE)
def test_what_eager_computes_in_one_operation_is_rounded_once(name, dtype):
    x, y = (1 + 2 * torch.rand(2, 40, 30)).to(dtype)
    function = _ROUNDED_ONCE[name]
    got = compiled(function)(x, y)
    ours, eagers = steps(got, function(x, y), function(x.double(), y.double()))
    assert got.dtype == dtype and ours <= max(0.52, eagers), (ours, eagers)


@NARROW
@pytest.mark.parametrize("decimals", [1, 3])
def test_decimals_are_rounded_of_unrounded_products(decimals, dtype):
    """0.12451171875 times 1000 is 124.5 in bf16, which would be rounded down; 20,000 numbers have some of that kind."""
    x = torch.linspace(-0.3, 0.3, 20000).to(dtype).unique()
    function = lambda x: torch.round(x, decimals=decimals)  # noqa: E731
    assert torch.equal(compiled(function)(x), function(x))


@NARROW
def test_results_that_two_operations_share_are_rounded_between_them(dtype):
    x = torch.rand(50).to(dtype)
    function = lambda x: ((x * 1.7) * 1.3, x * 1.7)  # noqa: E731
    for got, want in zip(compiled(function)(x), function(x), strict=True):
        assert torch.equal(got, want)


@NARROW
def test_bilinear_products_are_not_rounded_between(dtype):
    x, y, weight = torch.randn(7, 30).to(dtype), torch.randn(7, 40).to(dtype), torch.randn(5, 30, 40).to(dtype)
    got = compiled(torch.nn.functional.bilinear)(x, y, weight)
    exact = torch.nn.functional.bilinear(x.double(), y.double(), weight.double())
    assert torch.equal(got, exact.to(dtype)) or steps(got, got, exact)[0] <= 0.6


@NARROW
def test_numbers_of_a_range_are_rounded_once(dtype):
    got = compiled(lambda: torch.arange(1.0, 5.0, 0.1, dtype=dtype))()
    assert steps(got, got, torch.arange(1.0, 5.0, 0.1, dtype=torch.float64))[0] <= 0.52


@NARROW
@pytest.mark.parametrize("mixed", [False, True])
def test_statistics_of_batch_norm_have_the_parameters_type(mixed, dtype):
    x, kind = torch.randn(4, 3, 5).to(dtype), torch.float32 if mixed else dtype
    weight, mean, variance = torch.rand(3).to(kind), torch.rand(3).to(kind), 1 + torch.rand(3).to(kind)

    def update(x, *parameters):
        weight, mean, variance = (parameter.clone() for parameter in parameters)
        return (*torch.ops.aten._batch_norm_with_update(x, weight, weight, mean, variance, 0.1, 1e-5), mean, variance)

    def use(x, weight, mean, variance):
        return torch.native_batch_norm(x, weight, weight, mean, variance, False, 0.1, 1e-5)

    arguments = (x, weight, mean, variance)
    for function in (update, use):
        results = (
            compiled(function)(*arguments),
            function(*arguments),
            function(*(each.double() for each in arguments)),
        )
        for got, want, exact in zip(*results, strict=True):
            assert got.dtype == want.dtype and got.shape == want.shape
            # Eager rounds a small difference of large numbers more often than we do.
            ours, eagers = ((each.double() - exact.double()).abs() for each in (got, want))
            limit = torch.finfo(got.dtype).eps if got.is_floating_point() else 0
            assert (ours <= torch.maximum(2 * eagers, limit * exact.double().abs() + 1e-5)).all()


def test_sums_add_what_is_not_rounded_before():
    torch.manual_seed(3)
    x = torch.randn(64, 2, 3, 4).half()
    weight = torch.ones(2).half()

    def gradient(x, weight):
        weight = weight.detach().requires_grad_()
        y = torch.nn.functional.instance_norm(x, weight=weight)
        return torch.autograd.grad((y * x).sum(), weight)[0]

    got, exact = compiled(gradient)(x, weight), gradient(x.double(), weight.double())
    # Gradients of 64 images, each rounded, would be some steps away.
    assert steps(got, got, exact)[0] <= 0.52


def test_a_rounding_that_the_model_asks_for_is_not_left_out():
    x = torch.full((1000,), 1 + 2.0**-13)
    got = compiled(lambda x: (x.half().sum(), x.half().float().sum(), (2 * x).half().reshape(10, 100).sum(0)))(x)
    assert [each.flatten()[0].item() for each in got] == [1000.0, 1000.0, 20.0]
