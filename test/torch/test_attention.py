# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attention of PyTorch models: masks, heads that share keys, odd sizes, every type, gradients."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="needs the extra: pip install 'xetile[torch]'")
pytest.importorskip("torch_mlir", reason="needs the extra: pip install 'xetile[torch]'")

import xetile.torch  # noqa: E402
from compiled import compiled  # noqa: E402

nn, functional = torch.nn, torch.nn.functional


class Attention(nn.Module):
    def __init__(self, **options):
        super().__init__()
        self.options = options

    def forward(self, q, k, v, mask=None):
        return functional.scaled_dot_product_attention(q, k, v, attn_mask=mask, **self.options)


class Written(nn.Module):
    """As models write it: a mask that is a buffer, heads behind places, one factor."""

    def __init__(self, places):
        super().__init__()
        self.register_buffer("seen", torch.tril(torch.ones(places, places))[None, None])

    def forward(self, q, k, v):
        q, k, v = (x.transpose(1, 2) for x in (q, k, v))
        scores = q @ k.transpose(-2, -1) * q.shape[-1] ** -0.5
        scores = scores.masked_fill(self.seen[:, :, : q.shape[2], : k.shape[2]] == 0, float("-inf"))
        y = torch.softmax(scores, -1) @ v
        return y.transpose(1, 2).flatten(2)


def inputs(batch, heads, rows, keys, inner, values, key_heads=None):
    key_heads = key_heads or heads
    return (
        torch.randn(batch, heads, rows, inner),
        torch.randn(batch, key_heads, keys, inner),
        torch.randn(batch, key_heads, keys, values),
    )


def hidden(rows, keys):
    """A mask of bool that leaves nothing of one row."""
    mask = torch.rand(rows, keys) < 0.6
    mask[:, 0] = True
    mask[rows // 2] = False
    return mask


def causal_heads(*sizes):
    return tuple(x.transpose(1, 2).contiguous() for x in inputs(*sizes))


CASES = {
    "no mask": lambda: (Attention(), inputs(2, 3, 197, 197, 64, 64)),
    "one head": lambda: (Attention(), inputs(1, 1, 301, 509, 24, 24)),
    "other lengths": lambda: (Attention(), inputs(2, 4, 77, 513, 32, 32)),
    "other values": lambda: (Attention(scale=0.3), inputs(1, 4, 130, 131, 40, 17)),
    "bias": lambda: (Attention(), (*inputs(2, 3, 150, 140, 32, 32), torch.randn(2, 1, 150, 140))),
    "bias of heads": lambda: (Attention(), (*inputs(2, 3, 150, 140, 32, 32), torch.randn(3, 150, 140))),
    "mask": lambda: (Attention(), (*inputs(2, 3, 150, 140, 32, 32), hidden(150, 140))),
    "mask of keys": lambda: (Attention(), (*inputs(2, 3, 150, 140, 32, 32), hidden(2, 140)[:, None, None])),
    "causal": lambda: (Attention(is_causal=True), inputs(1, 8, 256, 256, 64, 64)),
    "causal, other lengths": lambda: (Attention(is_causal=True), inputs(2, 2, 200, 230, 33, 33)),
    "shared keys": lambda: (Attention(enable_gqa=True), inputs(2, 6, 130, 140, 32, 32, key_heads=2)),
    "three dimensions": lambda: (Attention(), tuple(x[0] for x in inputs(1, 4, 150, 150, 32, 32))),
    "written, several blocks": lambda: (Written(900), causal_heads(1, 3, 857, 857, 33, 33)),
    "written": lambda: (Written(256), causal_heads(2, 3, 200, 200, 32, 32)),
}


def attempt(name, threads):
    module, arguments = CASES[name]()
    kernel = xetile.torch.compile(module.eval(), arguments, threads=threads)
    return module, arguments, kernel


@pytest.mark.one_in(5)
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("name", CASES)
def test_attention_is_as_in_pytorch(name, threads):
    module, arguments, kernel = attempt(name, threads)
    assert "attention: blocks of" in kernel.explain()
    with torch.no_grad():
        want = module(*arguments)
    got = torch.full_like(want, float("nan"), memory_format=torch.contiguous_format)
    kernel(*arguments, out=got)
    torch.testing.assert_close(got, want.contiguous(), rtol=2e-5, atol=2e-5)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=str)
@pytest.mark.parametrize("name", ["no mask", "bias", "mask", "causal", "written", "written, several blocks"])
def test_narrow_types_are_rounded_as_in_pytorch(name, dtype):
    module, arguments = CASES[name]()
    narrow = [x.to(dtype) if x.is_floating_point() else x for x in arguments]
    with torch.no_grad():
        got = compiled(module.to(dtype), threads=2)(*narrow)
        exact = module.double()(*(x.double() if x.is_floating_point() else x for x in narrow))
    assert got.dtype == dtype
    scale = exact.abs().max().item()
    assert (got.double() - exact).abs().max().item() <= 8 * torch.finfo(dtype).eps * scale


@pytest.mark.parametrize("name", ["no mask", "bias", "causal", "shared keys"])
def test_gradients_are_those_of_pytorch(name):
    module, arguments = CASES[name]()
    weights = torch.randn_like(module(*arguments))
    gradients = []
    for function in (compiled(module, threads=2), module):
        leaves = [x.clone().requires_grad_() for x in arguments]
        (function(*leaves) * weights).sum().backward()
        gradients.append([x.grad for x in leaves])
    for got, want in zip(*gradients, strict=True):
        torch.testing.assert_close(got, want, rtol=1e-4, atol=1e-4)


def test_layers_of_a_model_have_attention_each():
    layer = nn.TransformerEncoderLayer(64, 4, 96, batch_first=True, dropout=0.0)
    module = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False).eval()
    x = torch.randn(2, 150, 64)
    kernel = xetile.torch.compile(module, (x,), threads=2)
    assert kernel.explain().count("attention: blocks of") == 2
    with torch.no_grad():
        torch.testing.assert_close(compiled(module, threads=2)(x), module(x), rtol=2e-5, atol=2e-5)
