# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""cumsum and cumprod of PyTorch models: along every dimension, of every type, of odd sizes, and their gradients."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="needs the extra: pip install 'xetile[torch]'")
pytest.importorskip("torch_mlir", reason="needs the extra: pip install 'xetile[torch]'")

from compiled import compiled  # noqa: E402

SHAPES = [((1,), 0), ((7,), 0), ((1001,), 0), ((5, 33), 1), ((33, 5), 0), ((3, 70, 9), 1), ((2, 3, 4, 129), 3)]
SHAPES += [((4, 3, 5, 6), 0), ((3, 300_001), -1), ((), 0), ((4, 0), 1), ((0, 4), 0), ((3, 8, 1), 1)]
FLOATS = [torch.float32, torch.float64, torch.bfloat16, torch.float16]
OTHERS = [torch.int32, torch.int64, torch.int8, torch.uint8, torch.bool]


class Scan(torch.nn.Module):
    def __init__(self, function, dim, **more):
        super().__init__()
        self.function, self.dim, self.more = function, dim, more

    def forward(self, x):
        return self.function(x, self.dim, **self.more)


def values(shape, dtype, function, fresh):
    if not dtype.is_floating_point:
        high = 2 if dtype == torch.bool or function is torch.cumprod else 100
        return torch.randint(0, high, shape).to(dtype)
    # Products neither vanish nor overflow.
    return torch.randn(shape).to(dtype) if function is torch.cumsum else (1 + 0.05 * torch.randn(shape)).to(dtype)


def close_to_exact(got, x, function, dim):
    """Sums are rounded once: f32 in f64, narrower types in f32."""
    exact = function(x.double(), dim)
    steps = x.shape[dim] if x.ndim else 1
    inner = {torch.float32: torch.float64, torch.float64: torch.float64}.get(x.dtype, torch.float32)
    reach = torch.cumsum(x.double().abs(), dim) if function is torch.cumsum else exact.abs()
    bound = torch.finfo(x.dtype).eps * exact.abs() + 2 * steps * torch.finfo(inner).eps * reach
    # Numbers that are subnormal in the result are rounded to its smallest step.
    return ((got.double() - exact).abs() <= bound + torch.finfo(x.dtype).smallest_normal).all()


@pytest.mark.one_in(8)
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("function", [torch.cumsum, torch.cumprod], ids=lambda function: function.__name__)
@pytest.mark.parametrize("shape,dim", SHAPES, ids=str)
def test_floats(shape, dim, function, dtype, threads, fresh):
    x = values(shape, dtype, function, fresh)
    with torch.no_grad():
        got = compiled(Scan(function, dim), threads=threads)(x)
    assert got.dtype == dtype and got.shape == x.shape
    assert close_to_exact(got, x, function, dim)


@pytest.mark.one_in(8)
@pytest.mark.parametrize("dtype", OTHERS, ids=str)
@pytest.mark.parametrize("function", [torch.cumsum, torch.cumprod], ids=lambda function: function.__name__)
@pytest.mark.parametrize("shape,dim", SHAPES, ids=str)
def test_integers_are_exact(shape, dim, function, dtype, fresh):
    x = values(shape, dtype, function, fresh)
    module = Scan(function, dim)
    got, want = compiled(module)(x), module(x)
    assert got.dtype == want.dtype and torch.equal(got, want)


@pytest.mark.parametrize("function", [torch.cumsum, torch.cumprod], ids=lambda function: function.__name__)
def test_the_result_has_another_type(function, fresh):
    x = torch.randn(5, 19)
    module = Scan(function, 1, dtype=torch.float64)
    torch.testing.assert_close(compiled(module)(x), module(x))


def test_specials_stay(fresh):
    x = torch.randn(4, 50)
    x[0, 7], x[1, 9], x[2, 3], x[2, 30] = float("inf"), float("nan"), float("inf"), float("-inf")
    x[3, 0] = -0.0
    torch.testing.assert_close(compiled(Scan(torch.cumsum, 1))(x), torch.cumsum(x, 1), equal_nan=True)


def test_products_of_many_sizes_neither_vanish_nor_overflow_on_the_way(fresh):
    x = torch.tensor([[1e30, 1e-30] * 40, [1e-30, 1e30] * 40])
    torch.testing.assert_close(compiled(Scan(torch.cumprod, 1))(x), torch.cumprod(x, 1))


@pytest.mark.parametrize("shape", [(6, 77), (3, 1000)])
def test_sizes_of_the_run(shape, fresh):
    module = compiled(Scan(torch.cumsum, 1), dynamic=True)
    x = torch.randn(shape)
    torch.testing.assert_close(module(x), torch.cumsum(x, 1), rtol=2e-5, atol=2e-5)


@pytest.mark.parametrize("function", [torch.cumsum, torch.cumprod], ids=lambda function: function.__name__)
@pytest.mark.parametrize("dim", [0, 1])
def test_gradients(function, dim, fresh):
    x = (1 + 0.1 * torch.randn(9, 21)).requires_grad_()
    weights, gradients = torch.randn(9, 21), []
    for call in (compiled(Scan(function, dim)), Scan(function, dim)):
        x.grad = None
        (call(x) * weights).sum().backward()
        gradients.append(x.grad.clone())
    torch.testing.assert_close(*gradients, rtol=1e-4, atol=1e-4)


def test_a_view_that_is_not_dense(fresh):
    x = torch.randn(31, 12).T[:, 3:20:2]
    torch.testing.assert_close(compiled(Scan(torch.cumsum, 1))(x), torch.cumsum(x, 1), rtol=2e-5, atol=2e-5)
