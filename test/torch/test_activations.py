# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Activations of PyTorch models in every type: of one sign, of both, and of what is no ordinary number."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs the extra: pip install 'xetile[torch]'")
pytest.importorskip("torch_mlir", reason="needs the extra: pip install 'xetile[torch]'")

import xetile.torch  # noqa: E402
from compiled import compiled  # noqa: E402

nn = torch.nn
MODELS = {
    "elu": lambda: nn.ELU(),
    "elu of 0.7": lambda: nn.ELU(0.7),
    "selu": lambda: nn.SELU(),
    "celu": lambda: nn.CELU(),
    "celu of 2.5": lambda: nn.CELU(2.5),
    "softplus": lambda: nn.Softplus(),
    "softplus of 0.5, 3": lambda: nn.Softplus(0.5, 3),
    "gelu": lambda: nn.GELU(),
    "gelu by tanh": lambda: nn.GELU("tanh"),
    "sigmoid": lambda: nn.Sigmoid(),
    "log sigmoid": lambda: nn.LogSigmoid(),
    "silu": lambda: nn.SiLU(),
    "mish": lambda: nn.Mish(),
    "tanh": lambda: nn.Tanh(),
    "hardshrink of 0.1": lambda: nn.Hardshrink(0.1),
}
ALLOWED = {torch.float32: 3e-6, torch.bfloat16: 1.6e-2, torch.float16: 2e-3}


def inputs(rng: np.random.Generator) -> torch.Tensor:
    """Rows of an odd length: of numbers above and below zero, of both, and of few of the other sign; large ones."""
    x = rng.standard_normal((24, 133)) * 3
    x[::5], x[1::5] = np.abs(x[::5]), -np.abs(x[1::5])
    x[2::5] = np.where(rng.random(x[2::5].shape) < 0.03, -1, 1) * np.abs(x[2::5])
    x[3::5] *= 12
    return torch.from_numpy(x)


@pytest.mark.one_in(5)
@pytest.mark.parametrize("dtype", ALLOWED)
@pytest.mark.parametrize("name", MODELS)
def test_activation_is_that_of_pytorch(rng, name, dtype):
    x = inputs(rng).to(dtype)
    module = MODELS[name]()
    with torch.no_grad():
        got = compiled(module, threads=1)(x).double()
        expected = module(x.double())
    assert got.shape == expected.shape
    torch.testing.assert_close(got, expected, rtol=ALLOWED[dtype], atol=ALLOWED[dtype])


@pytest.mark.parametrize("name", MODELS)
def test_activation_of_what_is_no_ordinary_number(rng, name):
    special = [0.0, -0.0, np.nan, np.inf, -np.inf, 1e-42, -1e-42, 3e38, -3e38, 88.8, -88.8, 104, -104]
    if "softplus" in name or name in ("mish", "log sigmoid", "gelu"):
        # PyTorch answers NaN where infinity is right, and the other way round.
        special = [value for value in special if abs(value) < 1e38]
    x = torch.from_numpy(rng.choice(np.array(special, np.float32), (9, 77)))
    module = MODELS[name]()
    with torch.no_grad():
        got, expected = compiled(module, threads=1)(x), module(x)
    torch.testing.assert_close(got, expected, rtol=3e-6, atol=1e-37, equal_nan=True)


@pytest.mark.parametrize("name", ["elu of 0.7", "selu", "celu of 2.5", "softplus", "gelu"])
def test_gradients(rng, name):
    module = MODELS[name]()
    x = inputs(rng).float().requires_grad_()
    weight = torch.from_numpy(rng.standard_normal(x.shape)).float()
    (compiled(module, threads=1)(x) * weight).sum().backward()
    got, x.grad = x.grad, None
    (module(x) * weight).sum().backward()
    torch.testing.assert_close(got, x.grad, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", ["elu", "selu", "celu", "softplus"])
def test_numbers_that_need_no_function_skip_it(name):
    kernel = xetile.torch.compile(MODELS[name](), (torch.zeros(16, 64),), threads=1)
    assert "vector.reduce." in kernel.stages["3-llvm"] or "vector_reduce" in kernel.stages["3-llvm"]
    assert "f64" not in kernel.stages["2-memory"].split("linalg.generic")[-1].split("truncf")[0]


@pytest.mark.parametrize("function", [torch.softmax, torch.log_softmax])
@pytest.mark.parametrize("gradient", [False, True])
def test_softmax_of_a_number_is_left_to_pytorch(function, gradient, caplog):
    # torch-mlir rewrites it without an end: this test hangs where it is asked for it.
    number = torch.tensor(2.0, requires_grad=gradient)
    with caplog.at_level("INFO", logger="xetile.torch"):
        got = compiled(lambda x: function(x, 0) + x)(number)
    assert "does not end at a softmax of a tensor without dimensions" in caplog.text
    torch.testing.assert_close(got, function(number, 0) + number)
    if gradient:
        torch.testing.assert_close(*torch.autograd.grad(got, number), torch.ones(()))
