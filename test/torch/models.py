# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Five models of the usual kinds, small."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn


@dataclass(frozen=True)
class Model:
    """`make()` is the module, `inputs(batch)` random inputs for it."""

    make: Callable[[], nn.Module]
    inputs: Callable[[int], tuple[Any, ...]]


def _mlp() -> nn.Module:
    return nn.Sequential(nn.Linear(37, 64), nn.GELU(), nn.LayerNorm(64), nn.Linear(64, 10))


def _cnn() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(8, 12, 3, stride=2, groups=4), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(12, 5),
    )  # fmt: skip


def _encoder() -> nn.Module:
    return nn.TransformerEncoderLayer(32, 4, 64, dropout=0.0, batch_first=True)


class _Gpt(nn.Module):
    """An embedding, a block with causal attention and a head."""

    def __init__(self, words: int = 53, width: int = 32, heads: int = 4, length: int = 24) -> None:
        super().__init__()
        self.heads = heads
        self.words, self.places = nn.Embedding(words, width), nn.Embedding(length, width)
        self.before, self.middle = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))
        self.head = nn.Linear(width, words, bias=False)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        batch, length = tokens.shape
        x = self.words(tokens) + self.places(torch.arange(length))
        q, k, v = (
            part.view(batch, length, self.heads, -1).transpose(1, 2)
            for part in self.attention(self.before(x)).chunk(3, dim=2)
        )
        y = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(y.transpose(1, 2).reshape(batch, length, -1))
        return self.head(x + self.mlp(self.middle(x)))


class _Lstm(nn.Module):
    """A recurrent net written out: PyTorch's own has a kernel that graphs do not show."""

    def __init__(self, inputs: int = 9, width: int = 16) -> None:
        super().__init__()
        self.gates, self.head = nn.Linear(inputs + width, 4 * width), nn.Linear(width, 3)
        self.width = width

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        state = x.new_zeros(x.shape[0], self.width)
        cell = torch.zeros_like(state)
        for step in range(x.shape[1]):
            i, f, g, o = self.gates(torch.cat([x[:, step], state], dim=1)).chunk(4, dim=1)
            cell = f.sigmoid() * cell + i.sigmoid() * g.tanh()
            state = o.sigmoid() * cell.tanh()
        return self.head(state)


MODELS = {
    "mlp": Model(_mlp, lambda batch: (torch.randn(batch, 37),)),
    "cnn": Model(_cnn, lambda batch: (torch.randn(batch, 3, 16, 16),)),
    "encoder": Model(_encoder, lambda batch: (torch.randn(batch, 11, 32),)),
    "gpt": Model(_Gpt, lambda batch: (torch.randint(53, (batch, 24)),)),
    "lstm": Model(_Lstm, lambda batch: (torch.randn(batch, 6, 9),)),
}
