# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Norms and softmax of PyTorch models, of odd sizes and every type, and their gradients."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="needs the extra: pip install 'xetile[torch]'")
pytest.importorskip("torch_mlir", reason="needs the extra: pip install 'xetile[torch]'")

import xetile.torch  # noqa: E402
from compiled import compiled  # noqa: E402

nn = torch.nn
MODELS = {
    "softmax": (lambda: nn.Softmax(-1), (5, 3, 37)),
    "softmax of columns": (lambda: nn.Softmax(1), (5, 33, 7)),
    "log_softmax": (lambda: nn.LogSoftmax(1), (6, 1001)),
    "layer norm": (lambda: nn.LayerNorm((3, 17)), (9, 3, 17)),
    "layer norm without weights": (lambda: nn.LayerNorm(129, elementwise_affine=False), (4, 3, 129)),
    "group norm": (lambda: nn.GroupNorm(3, 6), (5, 6, 7, 9)),
    "group norm of one place": (lambda: nn.GroupNorm(2, 24), (3, 24)),
    "instance norm": (lambda: nn.InstanceNorm2d(5), (3, 5, 8, 9)),
    "instance norm with weights": (lambda: nn.InstanceNorm1d(7, affine=True), (2, 7, 333)),
    "batch norm": (lambda: nn.BatchNorm2d(5).eval(), (3, 5, 8, 9)),
    "rms norm": (lambda: nn.RMSNorm(77), (2, 3, 77)),
}


def make(name):
    model, shape = MODELS[name]
    module = model()
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.uniform_(-1, 1)
        if isinstance(module, nn.BatchNorm2d):
            module.running_mean.uniform_(-1, 1)
            module.running_var.uniform_(0.5, 2)
    return module, torch.randn(shape) * 2 + 1


@pytest.mark.one_in(5)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.float16], ids=str)
@pytest.mark.parametrize("name", MODELS)
def test_values_are_those_of_pytorch_in_f64(name, dtype):
    module, x = make(name)
    module, x = module.to(dtype), x.to(dtype)
    with torch.no_grad():
        got = compiled(module)(x)
        exact = module.double()(x.double())
    assert got.dtype == dtype and got.shape == exact.shape
    scale = exact.abs().max().item()
    assert (got.double() - exact).abs().max().item() <= 8 * torch.finfo(dtype).eps * scale


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", MODELS)
def test_gradients_are_those_of_pytorch(name):
    module, x = make(name)
    weights = torch.randn_like(module(x))
    gradients = []
    for function in (compiled(module), module):
        module.zero_grad()
        here = x.clone().requires_grad_()
        (function(here) * weights).sum().backward()
        gradients.append([here.grad, *[parameter.grad.clone() for parameter in module.parameters()]])
    for got, expected in zip(*gradients, strict=True):
        torch.testing.assert_close(got, expected, rtol=1e-3, atol=1e-4)


def test_the_reciprocal_of_zero_is_infinite():
    x = torch.tensor([0.0, -0.0, 2.0])
    torch.testing.assert_close(torch.compile(torch.reciprocal, backend=xetile.torch.backend)(x), 1 / x)


def test_the_mean_that_a_batch_norm_of_training_takes_is_rounded_once():
    x = torch.randn(2, 24, 7, 7) * 0.003 + 0.33
    module = nn.BatchNorm2d(24)
    got, exact = compiled(module)(x), module.double()(x.double())
    # Half a unit of 0.33's last place, in standard deviations, is 5e-6; sums of f32 one after the other give 2e-5.
    assert (got.double() - exact).abs().max().item() <= 8e-6


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=str)
@pytest.mark.parametrize("update", [False, True])
def test_gradients_of_batch_norm_are_of_statistics_that_were_not_rounded(update, dtype):
    """Of two numbers the gradient is nearly 0, whatever comes from behind."""

    def norm(x, *parameters):
        if update:
            statistics = torch.zeros_like(parameters[0]), torch.ones_like(parameters[0])
            return torch.ops.aten._batch_norm_with_update(x, *parameters, *statistics, 0.1, 1e-5)[0]
        return nn.functional.batch_norm(x, None, None, *parameters, training=True)

    x = (torch.randn(2, 50) * 5).to(dtype).requires_grad_()
    parameters = [torch.ones(50, dtype=dtype).requires_grad_() for _ in range(2)]
    factors = torch.randint(-8, 9, (2, 50)).to(dtype)
    (got,) = torch.autograd.grad(compiled(norm)(x, *parameters), x, factors)
    wide = [each.detach().double().requires_grad_() for each in (x, *parameters)]
    (exact,) = torch.autograd.grad(norm(*wide), wide[0], factors.double())
    error = (got.double() - exact).abs() / torch.finfo(dtype).eps
    assert got.dtype == dtype and (error <= exact.abs() + 1e-2).all()
