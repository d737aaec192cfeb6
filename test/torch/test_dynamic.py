# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models whose batches are of any size, compiled once: `dynamic=True`."""

from __future__ import annotations

import copy

import pytest

torch = pytest.importorskip("torch", reason="needs the extra: pip install 'xetile[torch]'")
pytest.importorskip("torch_mlir", reason="needs the extra: pip install 'xetile[torch]'")

from compiled import close, compiled  # noqa: E402
from models import MODELS  # noqa: E402

NAMES = ["mlp", *(pytest.param(name, marks=pytest.mark.exhaustive) for name in MODELS if name != "mlp")]


@pytest.mark.parametrize("bf16", [False, True], ids=["f32", "bf16"])
@pytest.mark.parametrize("name", NAMES)
def test_inference(name, bf16, fresh, caplog):
    model = MODELS[name]
    module = model.make().eval()
    function = compiled(module, dynamic=True)
    with torch.no_grad(), torch.autocast("cpu", torch.bfloat16, enabled=bf16):
        for batch in (3, 7, 4):
            inputs = model.inputs(batch)
            close(function(*inputs), module(*inputs), 0.05 if bf16 else 2e-5)
    assert not [record.message for record in caplog.records if record.name == "xetile.torch"]


def gradients(run, owner, inputs, weights, bf16=False):
    owner.zero_grad()
    with torch.autocast("cpu", torch.bfloat16, enabled=bf16):
        result = run(*inputs)
    (result.float() * weights).sum().backward()
    return torch.cat([parameter.grad.double().flatten() for parameter in owner.parameters()])


@pytest.mark.parametrize("bf16", [False, True], ids=["f32", "bf16"])
@pytest.mark.parametrize("name", NAMES)
def test_training(name, bf16, fresh):
    """Gradients of batches of several sizes, from one state. Those of bf16 are as near to f32's as PyTorch's are."""
    model = MODELS[name]
    module = model.make().train()
    expected = copy.deepcopy(module)
    function = compiled(module, dynamic=True)
    for batch in (4, 6):
        inputs = model.inputs(batch)
        weights = torch.randn_like(expected(*inputs))
        got = gradients(function, module, inputs, weights, bf16)
        exact = gradients(expected, expected, inputs, weights)
        bound = 5e-5 * exact.norm()
        if bf16:
            bound = 2 * (gradients(expected, expected, inputs, weights, bf16) - exact).norm() + 0.01 * exact.norm()
        assert (got - exact).norm() <= bound


class Views(torch.nn.Module):
    """Dimensions become one and several, of sizes that are known and that are not."""

    def forward(self, x):
        a, b, c = x.shape
        flat = x.reshape(a * b, c) * 2
        split = flat.view(a, b, 3, c // 3).transpose(1, 2).reshape(a * 3, b, -1) + 1
        return split, flat.reshape(-1) + 3, x.sum(2).view(b, a) + 4, x.reshape(a, 1, b * c) + 5, flat.view(b, c, a) + 6


def test_views(fresh):
    function = compiled(Views(), dynamic=True)
    for shape in ((4, 5, 6), (2, 7, 9), (5, 3, 12)):
        x = torch.randn(shape)
        for got, want in zip(function(x), Views()(x), strict=True):
            torch.testing.assert_close(got, want, rtol=1e-5, atol=1e-5)
