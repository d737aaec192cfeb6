# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Recurrent layers: left to PyTorch in inference, written out step by step for gradients."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="needs the extra: pip install 'xetile[torch]'")
pytest.importorskip("torch_mlir", reason="needs the extra: pip install 'xetile[torch]'")

from compiled import check, compiled  # noqa: E402


class Recurrent(torch.nn.Module):
    def __init__(self, kind, **settings):
        super().__init__()
        self.steps = kind(7, 9, 2, **settings)
        self.head = torch.nn.Linear(9 * (2 if self.steps.bidirectional else 1), 4)

    def forward(self, x):
        steps, last = self.steps(x)
        return self.head(steps).relu(), last[0] if isinstance(last, tuple) else last


@pytest.mark.one_in(3)
@pytest.mark.parametrize("kind", [torch.nn.LSTM, torch.nn.GRU, torch.nn.RNN])
@pytest.mark.parametrize("settings", [{}, {"batch_first": True, "bidirectional": True}, {"bias": False}])
def test_recurrent_layers(kind, settings):
    with torch._dynamo.config.patch(allow_rnn=True):
        check(Recurrent(kind, **settings).eval(), torch.randn(3, 5, 7))


def test_gradients_of_recurrent_layers():
    module, x = Recurrent(torch.nn.GRU), torch.randn(3, 2, 7)
    with torch._dynamo.config.patch(allow_rnn=True):
        function = compiled(module)
        found = []
        for each in (function, module):
            module.zero_grad()
            sum(result.sin().sum() for result in each(x)).backward()
            found.append([parameter.grad.clone() for parameter in module.parameters()])
    for got, want in zip(*found, strict=True):
        torch.testing.assert_close(got, want, rtol=1e-4, atol=1e-4)
