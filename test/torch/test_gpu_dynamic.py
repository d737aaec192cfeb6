# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torch.compile(dynamic=True) on a GPU: each model is compiled once, and called with other sizes."""

import pytest
import torch
import xetile.torch
from compiled import compiled
from torch.nn import functional


class Mlp(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.down, self.norm = torch.nn.Linear(64, 96), torch.nn.Linear(96, 64), torch.nn.LayerNorm(64)

    def forward(self, x):
        return self.norm(x + self.down(functional.gelu(self.up(x))))


FUNCTIONS = {
    "chain": (lambda x, y: torch.relu(x * 2 + y), lambda n: [(n, 40), (n, 40)]),
    "softmax": (lambda x: torch.softmax(x, -1), lambda n: [(n, 2 * n + 1)]),
    "variance": (lambda x: x.var(0), lambda n: [(n + 1, 7)]),
    "f32 product": (lambda x, y: torch.relu(x @ y), lambda n: [(n, 40), (40, n + 3)]),
    "batched product": (lambda x, y: torch.softmax(x @ y, -1), lambda n: [(n, 5, 40), (n, 40, 9)]),
    "scan": (lambda x: torch.cumsum(x, 1), lambda n: [(3, n)]),
    "joined dimensions": (lambda x: torch.relu(x).flatten(0, 1), lambda n: [(n, 5, 16)]),
    "mlp of batches": (Mlp(), lambda n: [(2, n, 64)]),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_model_is_called_with_other_sizes(name):
    model, shapes = FUNCTIONS[name]
    with torch.no_grad():
        run = compiled(model, dynamic=True, target="pvc")
        for n in (5, 33):
            inputs = [torch.randn(shape) for shape in shapes(n)]
            torch.testing.assert_close(run(*inputs), model(*inputs), rtol=1e-4, atol=1e-4)


def test_an_exported_model_has_symbolic_sizes():
    model = Mlp().eval()
    any_size = torch.export.Dim.AUTO
    with torch.no_grad():
        kernel = xetile.torch.compile(
            model, (torch.randn(2, 7, 64),), target="pvc", dynamic_shapes=({0: any_size, 1: any_size},)
        )
        for shape in [(1, 1, 64), (3, 33, 64), (0, 5, 64)]:
            x = torch.randn(shape)
            torch.testing.assert_close(torch.from_numpy(kernel(x)), model(x), rtol=1e-4, atol=1e-4)
