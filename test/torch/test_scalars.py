# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Numbers beside tensors of f64 have all of their digits."""

from __future__ import annotations

import torch
from compiled import compiled

_FUNCTIONS = {
    "minus": lambda x: 1.2 - x,
    "rsub": lambda x: torch.rsub(x, 1.2, alpha=1.3),
    "over": lambda x: 1.2 / x,
    "power": lambda x: 1.2**x,
    "where": lambda x: torch.where(x > 1, 1.2, x),
    "fill": lambda x: x.masked_fill(x > 1, 1.2),
    "clamp": lambda x: x.clamp(0.7, 1.2),
    "full": lambda x: x + torch.full((5,), 1.2, dtype=torch.float64),
    "linspace": lambda x: x * torch.linspace(0.1, 1.2, 5, dtype=torch.float64),
    "logspace": lambda x: x * torch.logspace(0.1, 1.2, 5, dtype=torch.float64),
    "arange": lambda x: x * torch.arange(0.1, 1, 0.19, dtype=torch.float64),
    "lerp": lambda x: torch.lerp(x, 2 * x, 0.3),
    "alpha": lambda x: torch.add(x, x, alpha=1.2),
    "value": lambda x: torch.addcmul(x, x, x, value=1.2),
    "leaky": lambda x: torch.nn.functional.leaky_relu(-x, 0.123),
    "elu": lambda x: torch.nn.functional.elu(-x, 0.123),
    "gelu": torch.nn.functional.gelu,
    "huber": lambda x: torch.nn.functional.huber_loss(x, x + 0.3, delta=0.2),
    "deviation": lambda x: x.std(),
    "norm": lambda x: torch.nn.functional.layer_norm(x, (5,), eps=1.1e-5),
}


def test_numbers_beside_f64_are_f64():
    x = torch.rand(5, dtype=torch.float64) + 0.5
    results = compiled(lambda x: tuple(function(x) for function in _FUNCTIONS.values()))(x)
    for name, got, function in zip(_FUNCTIONS, results, _FUNCTIONS.values(), strict=True):
        want = function(x)
        assert got.dtype == torch.float64, name
        assert ((got - want).abs() <= 1e-13 * want.abs().clamp(min=1e-2)).all(), name
