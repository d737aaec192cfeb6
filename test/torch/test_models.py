# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whole models: xetile.torch.export and xetile.torch.compile."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="needs the extra: pip install 'xetile[torch]'")
pytest.importorskip("torch_mlir", reason="needs the extra: pip install 'xetile[torch]'")

import numpy as np  # noqa: E402
import xetile  # noqa: E402
import xetile.torch  # noqa: E402
from models import MODELS  # noqa: E402
from xetile import XeTileError  # noqa: E402

SLOW = [pytest.param(name, marks=pytest.mark.exhaustive) for name in MODELS if name != "mlp"]


@pytest.mark.parametrize("name", ["mlp", *SLOW])
def test_kernels_of_models(name):
    model = MODELS[name]
    module = model.make().eval()
    inputs = model.inputs(3)
    kernel = xetile.torch.compile(module, inputs)
    with torch.no_grad():
        expected = module(*inputs).numpy()
        assert len(kernel.arguments) == 1 and kernel.results[0].shape == expected.shape
        assert np.abs(kernel(*inputs) - expected).max() <= 2e-5 * np.abs(expected).max()
        # Arrays are as good, and parameters are read where they are.
        for parameter in module.parameters():
            parameter.mul_(0.5)
        got = kernel(*(each.numpy() for each in inputs))
        assert np.abs(got - module(*inputs).numpy()).max() <= 2e-5 * np.abs(expected).max()


def test_sizes_that_the_run_knows():
    module = torch.nn.Linear(8, 5).eval()
    kernel = xetile.torch.compile(module, (torch.randn(3, 8),), dynamic_shapes=({0: torch.export.Dim.DYNAMIC},))
    for batch in (3, 6):
        x = torch.randn(batch, 8)
        assert np.abs(kernel(x) - module(x).detach().numpy()).max() < 1e-5


def test_modules_are_linalg_with_parameters_behind_inputs():
    module = torch.nn.Linear(8, 16).eval()
    exported = xetile.torch.export(module, (torch.randn(4, 8),))
    text = str(exported)
    assert "func.func @linear(%arg0: tensor<4x8xf32>, %arg1: tensor<16x8xf32>, %arg2: tensor<16xf32>)" in text
    assert "linalg.matmul" in text
    kernel = xetile.compile(exported, target="cpu", threads=1)
    x = torch.randn(4, 8)
    got = kernel(x, module.weight.detach(), module.bias.detach())
    assert np.abs(got - module(x).detach().numpy()).max() < 1e-5


@pytest.mark.parametrize(
    ("make", "inputs", "told"),
    [
        (
            lambda: torch.nn.BatchNorm1d(4).train(),
            lambda: (torch.randn(3, 4),),
            r"the model changes \w+.* call its eval\(\)",
        ),
        (
            lambda: torch.nn.Linear(4, 4),
            lambda: torch.randn(3, 4),
            "inputs: expected a tuple of what the model takes, got Tensor",
        ),
        (lambda: 7, lambda: (), "expected a torch.nn.Module, got int"),
        (
            lambda: Sorted(),
            lambda: (torch.randn(5),),
            "operations that only PyTorch computes.*aten.sort.default: linalg has no sorting",
        ),
        (lambda: Branch(), lambda: (torch.randn(5),), "the model is no single graph of PyTorch's: "),
    ],
    ids=["changes buffers", "no tuple", "no model", "sorts", "branches"],
)
def test_what_is_refused(make, inputs, told):
    with pytest.raises(XeTileError, match=f"(?s){told}"):
        xetile.torch.export(make(), inputs())


class Sorted(torch.nn.Module):
    def forward(self, x):
        return torch.sort(x).values + 1


class Branch(torch.nn.Module):
    def forward(self, x):
        return x + 1 if x.sum() > 0 else x - 1


def test_files_cannot_have_parameters(tmp_path):
    kernel = xetile.torch.compile(torch.nn.Linear(4, 4).eval(), (torch.randn(3, 4),))
    with pytest.raises(XeTileError, match="a file would not have the model's 2 parameters; save "):
        kernel.save(tmp_path / "kernel.so")
    with pytest.raises(XeTileError, match="@linear: expected 1 inputs of the model, got 2"):
        kernel(torch.randn(3, 4), torch.randn(3, 4))
