# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models of many layers, whose loop nests become functions, and recurrent ones."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="needs the extra: pip install 'xetile[torch]'")
pytest.importorskip("torch_mlir", reason="needs the extra: pip install 'xetile[torch]'")

import xetile.torch  # noqa: E402


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


@pytest.fixture(autouse=True)
def fresh():
    print(f"torch.manual_seed({torch.seed()})")
    torch._dynamo.reset()
    yield
    torch._dynamo.reset()


def check(module, *inputs, **settings):
    options = {"strict": True, **settings}
    function = torch.compile(module, backend=xetile.torch.backend, options=options, dynamic=False)
    with torch.no_grad():
        got, want = function(*inputs), module(*inputs)
    for each, expected in zip(*(r if isinstance(r, tuple) else (r,) for r in (got, want)), strict=True):
        torch.testing.assert_close(each, expected, rtol=2e-5, atol=2e-5)


@pytest.mark.parametrize("threads", [1, 2])
def test_a_model_of_many_layers(threads):
    module = Dense(5, 12).eval()
    for norm in module.norms:
        norm.running_mean.uniform_(-1, 1), norm.running_var.uniform_(0.5, 2)
    check(module, torch.randn(3, 5, 13, 11), threads=threads)


def test_equal_layers_have_weights_of_their_own():
    layers = [part for _ in range(20) for part in (torch.nn.Linear(17, 17), torch.nn.LayerNorm(17), torch.nn.Tanh())]
    check(torch.nn.Sequential(*layers).eval(), torch.randn(5, 17))


class Recurrent(torch.nn.Module):
    def __init__(self, kind, **settings):
        super().__init__()
        self.steps = kind(7, 9, 2, **settings)
        self.head = torch.nn.Linear(9 * (2 if self.steps.bidirectional else 1), 4)

    def forward(self, x):
        steps, last = self.steps(x)
        return self.head(steps).relu(), last[0] if isinstance(last, tuple) else last


@pytest.mark.parametrize("kind", [torch.nn.LSTM, torch.nn.GRU, torch.nn.RNN])
@pytest.mark.parametrize("settings", [{}, {"batch_first": True, "bidirectional": True}, {"bias": False}])
def test_recurrent_layers(kind, settings):
    with torch._dynamo.config.patch(allow_rnn=True):
        check(Recurrent(kind, **settings).eval(), torch.randn(3, 5, 7))


def test_gradients_of_recurrent_layers():
    module, x = Recurrent(torch.nn.GRU), torch.randn(3, 2, 7)
    with torch._dynamo.config.patch(allow_rnn=True):
        function = torch.compile(module, backend=xetile.torch.backend, options={"strict": True}, dynamic=False)
        found = []
        for each in (function, module):
            module.zero_grad()
            sum(result.sin().sum() for result in each(x)).backward()
            found.append([parameter.grad.clone() for parameter in module.parameters()])
    for got, want in zip(*found, strict=True):
        torch.testing.assert_close(got, want, rtol=1e-4, atol=1e-4)
