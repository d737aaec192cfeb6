# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models of many layers, whose loop nests become functions."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="needs the extra: pip install 'xetile[torch]'")
pytest.importorskip("torch_mlir", reason="needs the extra: pip install 'xetile[torch]'")

from compiled import check  # noqa: E402


class Dense(torch.nn.Module):
    """Each layer reads what all before it gave."""

    def __init__(self, width, layers):
        super().__init__()
        self.layers = torch.nn.ModuleList(torch.nn.Conv2d(width + 3 * i, 3, 3, padding=1) for i in range(layers))
        self.norms = torch.nn.ModuleList(torch.nn.BatchNorm2d(3) for _ in range(layers))

    def forward(self, x):
        for layer, norm in zip(self.layers, self.norms, strict=True):
            x = torch.cat([x, norm(layer(x)).relu()], 1)
        return torch.nn.functional.max_pool2d(x, 3, 2, 1).mean((2, 3))


@pytest.mark.parametrize("threads", [1, 2])
def test_a_model_of_many_layers(threads):
    module = Dense(5, 12).eval()
    for norm in module.norms:
        norm.running_mean.uniform_(-1, 1), norm.running_var.uniform_(0.5, 2)
    check(module, torch.randn(3, 5, 13, 11), threads=threads)


def test_equal_layers_have_weights_of_their_own():
    layers = [part for _ in range(20) for part in (torch.nn.Linear(17, 17), torch.nn.LayerNorm(17), torch.nn.Tanh())]
    check(torch.nn.Sequential(*layers).eval(), torch.randn(5, 17))
